"""Lists that turns and branches make anew: a variable keeps one list of the run where that has no other name."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from xjit.capture.rewriting.list_names import lone_lists
from xjit.capture.rewriting.scope_names import scope_names

RNG = np.random.default_rng(2)
EDGES = RNG.integers(0, 60, (60, 3))
FLOATS = RNG.standard_normal(40)
LINES = [(FLOATS,), (-np.abs(FLOATS),), (np.abs(FLOATS),), (np.zeros(0),)]


def by_levels(edges: Any, start: int) -> Any:
    found = np.full(len(edges), -1)
    found[start] = 0
    frontier, level, widths = [start], 0, []
    while frontier:
        level += 1
        widths.append(len(frontier))
        nxt = []
        for u in frontier:
            for v in edges[u]:
                if found[v] < 0:
                    found[v] = level
                    nxt.append(v)
        frontier = nxt
    return found, level, widths


def doubled(x: Any) -> Any:
    now, turns = [int(x[0])], 0
    while len(now) < 40 and turns < 50:
        later = []
        for v in now:
            later.append(2 * v)
            if v % 6 == 4:
                later.append((v - 1) // 3)
        now = later
        turns += 1
    return now, turns


def in_pairs(x: Any) -> Any:
    now = list(x)
    turns = 0
    while len(now) > 1:
        later = []
        for k in range(0, len(now) - 1, 2):
            later.append(now[k] + now[k + 1])
        if len(now) % 2:
            later.append(now[-1])
        now = later
        turns += 1
    return now[0], turns


def test_lists_that_the_next_turn_goes_through() -> None:
    check_whole(by_levels, (EDGES, 0), (EDGES, 7), (np.zeros((3, 0), int), 1))
    check_whole(doubled, (np.array([1]),), (np.array([4]),))
    check_whole(in_pairs, (FLOATS,), (FLOATS[:1],))


def runs(x: Any) -> Any:
    sums, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            if len(run) > 0:
                sums.append(sum(run))
            run = []
    return sums, run


def longest(x: Any) -> Any:
    best, run = 0, []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            run = [v]
        best = max(best, len(run))
    return best, run


def either(x: Any) -> Any:
    above, below = [], []
    for v in x:
        if v > 0.5:
            above.append(v)
            below = []
        elif v < -0.5:
            below.append(v)
            above = []
        else:
            above = []
            below = []
    return above, below


@pytest.mark.parametrize("function", [runs, longest, either])
def test_lists_that_branches_begin_again(function: Any) -> None:
    check_whole(function, *LINES)


def of_two_names(x: Any) -> Any:
    run = []
    first = run
    for v in x:
        if v > 0:
            run.append(v)
        else:
            run = []
    return len(run), first


def gone_through(x: Any) -> Any:
    run, total = [1.0], 0.0
    for _ in range(3):
        for v in run:
            total += v
            if v > 1.0:
                run = []
        run = []
        for v in x:
            run.append(v)
    return total, run


def lists_in_a_list(x: Any) -> Any:
    found, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            found.append(run)
            run = []
    return found, run


def read_afterwards(x: Any) -> Any:
    now = [1.0]
    later = now
    for v in x:
        later = []
        for u in now:
            later.append(u + v)
        if v > 0:
            later.append(v)
        now = later
    later.append(0.0)
    return now, now is later


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [of_two_names, gone_through, lists_in_a_list, read_afterwards])
def test_lists_with_other_names_are_as_in_python(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for arguments in LINES:
        for _ in range(2):
            assert compiled(*arguments) == function(*arguments)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = []\nfor v in x:\n    a = []\n    a.append(v)\nreturn len(a), a", {"a"}),
        ("a = []\nb = a\na.append(1)", set()),
        ("a, b = [], 0\na = []", {"a"}),
        ("(a, b), c = x\na = []", set()),
        ("a = []\nf(a)", set()),
        ("a = []\ng = (v for v in a)", set()),
        ("a = []\nt = sum(v for v in a)", {"a"}),
        ("a = []\na += [1]", set()),
        ("a = []\nb = lambda: a", set()),
        ("a = b = []", set()),
        ("a = [1]\nwhile a or b:\n    n = []\n    n.append(2)\n    a = n", {"a", "n"}),
        ("a = [1]\nwhile a:\n    n = []\n    n.append(2)\n    a = n\n    n.append(3)", set()),
        ("a = [1]\nm = a[0], len(a)\nh = np.array(a)", {"a"}),
    ],
)
def test_names_of_lone_lists(text: str, wanted: set[str]) -> None:
    source = "def f(x):\n" + "".join(f"    {line}\n" for line in text.splitlines())
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    found = lone_lists(function.body, scope_names(function))
    assert found.names == wanted
