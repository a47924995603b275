"""The source of a function is used only if it is the function's; everything else is refused in words."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import sys
import traceback
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.rewriting import cases_blocks, cases_loops
from tests.capture.rewriting.random_functions import function_of, over_python
from xjit.capture.rewriting.python_runtime import PythonRuntime
from xjit.capture.rewriting.rewrite import rebuild, rewrite
from xjit.capture.rewriting.source_lookup import NotRewritable
from xjit.errors import FallbackWarning

HEAD = "import functools\nimport numpy as np\n"


def imported(path: Path, text: str) -> Any:
    """Write a module and import it."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    linecache.checkcache(str(path))
    return module


def refusal(function: Any) -> str:
    """Return the words with which a function is refused."""
    with pytest.raises(NotRewritable) as error:
        rewrite(function)
    return str(error.value)


LOOP = "def f(n):\n    while n > 2:\n        n -= 2\n    return n\n"
SHAPES = {
    "plain": LOOP,
    "comments around": "# before\n" + LOOP.replace("while n > 2:", "while n > 2:  # why") + "# after\nf2 = f\n",
    "decorated": "def same(g): return g\n@same\n@functools.wraps(\n    same\n)\ndef g(n): pass\n@same\n" + LOOP,
    "signature over lines": "def f(\n    n,\n    *,\n    m={\n        1: 2,\n    },\n):\n    return n and m[1]\n",
    "text to the left": 'def f(n):\n    text = """\nleft\n  of the code"""\n    return n and len(text)\n',
    "bracket to the left": "def f(n):\n    return (n and [\n1,\n] or\n0\n)\n",
    "backslash": "def f(n):\n    return n \\\nor 1\n",
    "one line": "def f(n): return n or 1\n",
    "semicolons": "def f(n): n += 1; return n or 1\n",
    "tabs": "def f(n):\n\tif n:\n\t\treturn 1\n\treturn 2\n",
    "in a branch": "if functools:\n    def f(n):\n        if n: return 1\n        return 2\nelse:\n    f = None\n",
    "global trailing": "def f(n):\n    if n: return 1\n    'text behind'\n    # comment\n\nx = 1\n",
    "numpy calls": "def f(n):\n    while n > 2: n -= int(np.abs(np.linalg.norm([2.0])))\n    return n\n",
    "imports in a try": "try:\n    import math as m\nexcept OSError: m = 1\ndef f(n):\n    return n and m.sin(n)\n",
    "imports in brackets": "from os import (\n    path,\n    sep as s,\n)\ndef f(n): return n and path.join(s)\n",
    "lambda": "f = lambda n: n and 1\n",
    "two lambdas": "f, g = lambda n: n and 1, lambda n: n and 2\n",
    "lambda over lines": "f = (\n    lambda n:\n        n\n        and 1\n)\n",
    "lambda in a call": "f = functools.partial(lambda n, m: n and\n    m, m=3)\n",
    "future": "from __future__ import annotations\ndef f(n: unknown) -> unknown:\n    return n or 1\n",
    "old name": "def g(n):\n    return n or 1\nf = g\ndef g(n): pass\n",
    "twice": "def f(n):\n    return n and 1\ndef f(n):\n    return n and 2\n",
    "in a class": "class A:\n  class B:\n    def g(self, n): return n and self.__x\n    _B__x = 4\nf = A.B().g\n",
    "in a function": "def make():\n    k = 1\n    def f(n): return n and f and k\n    return f\nf = make()\n",
    "class in a function": "def m():\n class A:\n  def g(self, n): return n and __class__\n return A\nf = m()().g\n",
    "declared global": "def make():\n    global f\n    def f(n):\n        return n or 1\nmake()\n",
}


@pytest.mark.parametrize("name", SHAPES)
def test_source_is_found(tmp_path: Path, name: str) -> None:
    text = SHAPES[name]
    module = imported(tmp_path / "found.py", text if text.startswith("from __future__") else HEAD + text)
    function = module.f
    if isinstance(function, functools.partial):
        assert over_python(function.func)(7, 3) == function(7)
    else:
        plain = getattr(function, "__func__", function)
        own = (function.__self__,) if plain is not function else ()
        for n in (0, 3, 7):
            assert over_python(plain)(*own, n) == function(n)
        assert over_python(plain).__code__.co_firstlineno == plain.__code__.co_firstlineno


def test_source_of_each_lambda_of_a_line_is_its_own(tmp_path: Path) -> None:
    module = imported(tmp_path / "lambdas.py", SHAPES["two lambdas"])
    assert (over_python(module.f)(5), over_python(module.g)(5)) == (1, 2)


EDITS = {
    "other constant": ("n > 2", "n > 3"),
    "other type": ("n -= 2", "n -= 2.0"),
    "other sign": ("+ 0.0", "+ -0.0"),
    "other operator": ("n > 2", "n < 2"),
    "other column": ("n -= 2", "n  -= 2"),
    "other name": ("return n", "return m"),
    "lines before": ("def f", "# new\ndef f"),
    "broken": ("while n > 2:", "while n > 2"),
    "gone": ("f(n)", "g(n)"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_file_is_refused(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "edited.py"
    text = LOOP.replace("return n", "return n + 0.0")
    module = imported(path, text)
    path.write_text(text.replace(*EDITS[edit]), encoding="utf-8")
    linecache.checkcache(str(path))
    assert refusal(module.f) == "differs from its source, which may have been edited since it was imported"


def test_edit_behind_the_function_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "longer.py"
    module = imported(path, LOOP)
    path.write_text(LOOP + "x = 1\n", encoding="utf-8")
    linecache.checkcache(str(path))
    assert over_python(module.f)(7) == 1


def test_cached_lines_of_an_older_file_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "older.py"
    path.write_text("x = 1\n", encoding="utf-8")
    assert linecache.getlines(str(path)) == ["x = 1\n"]
    path.write_text(LOOP, encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(LOOP, str(path), "exec"), namespace)
    assert over_python(namespace["f"])(7) == 1


def test_function_without_source_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec(compile(LOOP, "<typed in>", "exec"), namespace)
    assert refusal(namespace["f"]) == "has no source that could be read: it was typed in or made by exec"


def test_source_of_a_notebook_is_found() -> None:
    function, _ = function_of("x = 1\n" + LOOP, "<cell 7>")
    assert over_python(function)(7) == 1


DEEP = "".join(f"    elif n == {k}: return {k}\n" for k in range(1, 400))
REFUSED = {
    "def f(n):\n    m = yield n\n": "uses what is sent to it",
    "def f(n):\n    try: yield n\n    except ValueError: pass\n": "yields within try or with",
    "async def f(n):\n    return n\n": "is a coroutine",
    "async def f(n):\n    yield n\n": "is an asynchronous generator",
    "def f(n):\n    return locals()\n": "calls locals(), which looks at its variables",
    "def f(n):\n    return [vars() for _ in n]\n": "calls vars(), which looks at its variables",
    "def f(n):\n    return eval('n')\n": "calls eval, which may look at its variables",
    "def f(n):\n    if n: exec('n')\n": "calls exec, which may look at its variables",
    "import sys\ndef f(n):\n    return sys._getframe(0)\n": "calls _getframe, which may look at its variables",
    "def f(n):\n    while n:\n        try: n -= 1\n        finally: break\n": "has a jump in a finally block",
    "def f(n):\n    try: n -= 1\n    finally:\n        return n\n": "has a jump in a finally block",
    "class A:\n    def f(*args):\n        if args: super()\nf = A.f\n": "calls super() without a first argument",
    f"def f(n):\n    if n == 0: return 0\n{DEEP}": "is nested too deeply",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[-30:])
def test_refusals_say_why(text: str) -> None:
    function, _ = function_of(text, "<refused>")
    assert refusal(function) == REFUSED[text]


@pytest.mark.parametrize("method", ["super().__init__() if n else None", "super().__init__(); n = n or 1"])
def test_classes_with_their_own_super(method: str) -> None:
    text = f"class A:\n    def f(self, n):\n        for k in [0, 1]: {method}\n        return n, __class__\n"
    function, namespace = function_of(text + "f = A.f\n", "<class>")
    assert over_python(function)(namespace["A"](), 0) == function(namespace["A"](), 0)


def test_name_lines_and_attributes_are_kept() -> None:
    function = cases_loops.newton
    rebuilt = over_python(function)
    assert rebuilt.__code__.co_filename == function.__code__.co_filename
    assert rebuilt.__code__.co_firstlineno == function.__code__.co_firstlineno
    assert rebuilt.__code__.co_name == "newton" and rebuilt.__qualname__ == function.__qualname__
    assert rebuilt.__annotations__ == function.__annotations__ and rebuilt.__globals__ is function.__globals__


def test_traceback_shows_the_lines_of_the_user() -> None:
    function = over_python(cases_blocks.raise_in_loop)
    with pytest.raises(KeyError) as error:
        function(2, lambda *_: None)
    frames = [one for one in traceback.extract_tb(error.value.__traceback__) if one.filename == cases_blocks.__file__]
    assert {one.name for one in frames} == {"raise_in_loop"}
    assert frames[-1].line == "raise KeyError(k)"
    assert [one.line for one in frames][:2] == ["for k in range(n):", "if k:"]


def test_cells_are_shared() -> None:
    function, count = counter()
    assert over_python(function)(2) == function(0) == count() == 2


def counter() -> Any:
    count = 0

    def step(n: int) -> int:
        nonlocal count
        for _ in range(n):
            count += 1
        return count

    return step, lambda: count


def test_other_globals_and_cells() -> None:
    function, _ = function_of("def f(n):\n    return g(n) if n else k\nk = 1\ndef g(n): return n\n", "<globals>")
    other = rebuild(function, PythonRuntime(), {"k": 5, "g": lambda n: -n})
    assert (other(0), other(3)) == (5, -3)
    step, _ = counter()
    assert isinstance(step, FunctionType)
    cell = type(step.__closure__[0])(40)
    assert rebuild(step, PythonRuntime(), closure={"count": cell})(2) == 42


def test_rewriting_is_done_once() -> None:
    assert rewrite(cases_loops.newton) is rewrite(cases_loops.newton)


def test_equal_code_in_two_files(tmp_path: Path) -> None:
    one, other = imported(tmp_path / "one.py", LOOP), imported(tmp_path / "other.py", LOOP)
    assert one.f.__code__ == other.f.__code__
    assert over_python(other.f).__code__.co_filename == str(tmp_path / "other.py")
    assert over_python(one.f).__code__.co_filename == str(tmp_path / "one.py")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no such syntax")
def test_type_parameters() -> None:
    function, _ = function_of("def f[T](n: T) -> T:\n    while n and T: n -= 1\n    return n\n", "<generic>")
    assert over_python(function)(3) == 0


_TYPED = """
def total(x):
    found = 0.0
    for value in x:
        if value > 1:
            found += value
    return found

def doubled_if_large(x):
    if x.sum() > 3:
        return x * 2
    return x
"""


@pytest.mark.parametrize("name", ["total", "doubled_if_large"])
def test_warnings_say_that_the_source_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    namespace: dict[str, Any] = {"__name__": "typed"}
    exec(_TYPED, namespace)
    x = np.arange(5.0)
    with pytest.warns(FallbackWarning) as told:
        np.testing.assert_array_equal(xjit.jit(namespace[name])(x), namespace[name](x))
    lines = str(told[0].message).splitlines()
    assert lines[-1].startswith(f"  fix: {name} has no source that could be read") and " lt " not in str(lines)
