"""The variables of loops and branches: which are assigned and carried, and how a runtime reads and sets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.capture.rewriting.random_functions import function_of
from xjit.capture.rewriting.python_runtime import PythonRuntime
from xjit.capture.rewriting.rewrite import rebuild, rewrite
from xjit.capture.rewriting.runtime_protocol import UNBOUND, Site


def sites(body: str, kind: str) -> list[Site]:
    """Return the loops or branches of a function in the order of the text."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    function, _ = function_of(f"def f(n, x, t):\n{indented}", f"<{body}>")
    return sorted((site for site in rewrite(function).sites if site.kind == kind), key=lambda site: site.line)


WHILE = {
    # body: assigned, carried, of use at the start of a turn
    "while t(): x = x + 1": ("x", "x", "x"),
    "while t(): x = 1": ("x", "", ""),
    "while t(): x = 1\nreturn x": ("x", "x", "x"),
    "while t():\n    y = n\n    x += y\nreturn x": ("y x", "x", "x"),
    "while t():\n    if n: y = 1\n    x += y\nreturn x": ("y x", "y x", "y x"),
    "while x: n, x = x, n": ("n x", "n x", "n x"),
    "while t():\n    y = 1\n    def g(): return y": ("y g", "y", "y"),
    "while t(): y = [k for k in x]\nk = 1\nreturn y, k": ("y", "y", "y"),
    "while t():\n    for k in x: y = k\n    n = y": ("k y n", "y", "y"),
    "try:\n    while t():\n        y = t()\n        x = y\nexcept ValueError: return x": ("y x", "x", "x"),
    "while t():\n    with t(): x = 1\n    n = x": ("x n", "x", "x"),
    "while t():\n    y = 1\n    del y": ("y", "", ""),
    "while t():\n    global x1\n    x1 = 2": ("", "", ""),
    "while t():\n    x: int = 3\n    x.y = n\n    n[0] = x": ("x", "", ""),
}


@pytest.mark.parametrize("body", WHILE)
def test_variables_of_while(body: str) -> None:
    (site,) = sites(body, "while")
    names, carried, at_start = (text.split() for text in WHILE[body])
    assert (list(site.names), list(site.carried), list(site.at_start)) == (names, carried, at_start)


FOR = {
    "for k in x: n += k\nreturn n": ("k n", "n", "n"),
    "for k in x: n += k\nreturn n, k": ("k n", "k n", "k n"),
    "for k in x: k = k + 1": ("k", "", ""),
    "for k, (l, *m) in x: n = k": ("k l m n", "", ""),
    "for x[n] in t: y = n": ("y", "", ""),
}


@pytest.mark.parametrize("body", FOR)
def test_variables_of_for(body: str) -> None:
    (site,) = sites(body, "for")
    names, carried, at_start = (text.split() for text in FOR[body])
    assert (list(site.names), list(site.carried), list(site.at_start)) == (names, carried, at_start)


IF = {
    "if n: x = 1\nreturn x": ("x", "x", "x"),
    "if n: x = 1\nelse: x = 2\nreturn x": ("x", "x", ""),
    "if n: y = 1; x = y\nelse: x = 2\nreturn x": ("y x", "x", ""),
    "if n: y = x; x = y\nreturn n": ("y x", "", "x"),
    "if (y := n): x = 1\nreturn x, y": ("x", "x", "x"),
    "if n: del x\nreturn x": ("x", "x", "x"),
    "if n: x = 1\nreturn lambda: x": ("x", "x", "x"),
}


@pytest.mark.parametrize("body", IF)
def test_variables_of_if(body: str) -> None:
    (site,) = sites(body, "if")
    names, carried, at_start = (text.split() for text in IF[body])
    assert (list(site.names), list(site.carried), list(site.at_start)) == (names, carried, at_start)


def test_variable_of_an_enclosing_function_is_carried() -> None:
    text = "def make():\n  x = 1\n  def f(t):\n    nonlocal x\n    while t(): x = 2\n  return f\nf = make()\n"
    function, _ = function_of(text, "<outer>")
    (site,) = rewrite(function).sites
    assert site.names == site.carried == site.at_start == ("x",)


def test_private_names_are_those_of_the_cells() -> None:
    text = "class _A:\n    def f(self, n):\n        while n: __x = n\n        return __x\nf = _A.f\n"
    function, _ = function_of(text, "<private>")
    assert rewrite(function).sites[0].names == ("_A__x",)


JUMPS = {
    "for k in x:\n    if t(): break\nreturn k": (1, 0),
    "for k in x:\n    if t(): continue\n    n = k": (0, 0),
    "for k in x:\n    if t():\n        if t(): continue\n        n = 1\n    n = k": (0, 1),
    "for k in x:\n    if t(): return k\nreturn n": (1, 1),
    "if t(): return 1\nif t(): return 2\nreturn 3": (0, 0),
    "while True:\n    if t(): return k": (1, 0),
    "for k in x:\n    if t(): break\nelse: n = 1\nreturn n": (1, 1),
    "for k in x: pass\nelse: n = 1\nreturn n": (0, 0),
}


@pytest.mark.parametrize("body", JUMPS)
def test_flags_are_few(body: str) -> None:
    """Count the loops that have a flag, and the branches that are there only to ask a flag."""
    loops = [*sites(body, "for"), *sites(body, "while")]
    guards = len(sites(body, "if")) - body.count("if ")
    assert (sum(site.stop is not None for site in loops), guards) == JUMPS[body]


class Watching(PythonRuntime):
    """Python's meaning, with the variables seen at each branch, which may be set."""

    def __init__(self, change: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda values: values) -> None:
        self.seen: list[dict[str, Any]] = []
        self.change = change

    def if_(self, test: Any, then: Any, otherwise: Any, site: Site) -> None:
        state = site.state(then, otherwise)
        self.seen.append(dict(zip(state.names, state.get(), strict=True)))
        state.set(self.change(state.get()))
        super().if_(test, then, otherwise, site)


TEXT = "def f(t, x=5):\n    if t:\n        y = x\n        x = 2\n        del x\n    return y, x\n"


def test_state_reads_and_sets_cells() -> None:
    function, _ = function_of(TEXT, "<state>")
    runtime = Watching()
    with pytest.raises(UnboundLocalError, match="'x'"):
        rebuild(function, runtime)(True)
    assert runtime.seen == [{"y": UNBOUND, "x": 5}]
    assert repr(UNBOUND) == "UNBOUND"
    assert rebuild(function, Watching(lambda values: (7, 8)))(False) == (7, 8)


def test_state_unbinds() -> None:
    function, _ = function_of(TEXT, "<state>")
    with pytest.raises(UnboundLocalError, match="local variable 'x' where it is not associated with a value"):
        rebuild(function, Watching(lambda values: (3, UNBOUND)))(False)


def test_state_tells_temporaries() -> None:
    function, _ = function_of(
        "def f(t):\n    while t():\n        y = 1\n        x = y\n    return x\n", "<temporary>"
    )
    found: list[Any] = []

    class Runtime(PythonRuntime):
        def while_(self, test: Any, body: Any, going: Any, site: Site) -> None:
            found.append(site.state(test, body))

    with pytest.raises(UnboundLocalError):
        rebuild(function, Runtime())(None)
    (state,) = found
    assert (state.names, state.carried, state.temporary) == (("y", "x"), ("x",), ("y",))
    assert state.get() == (UNBOUND, UNBOUND)
