"""Lists and dicts that are arguments, and are reached in another way, too: one object, whichever name changes it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome
from tests.capture.splits.split_calls import split

X = np.random.default_rng(5).standard_normal(20)
MODULE: list[Any] = [1000, 2000]


class Holder:
    """Has a list and a dict of numbers, and a list of arrays."""

    def __init__(self) -> None:
        self.counts: list[Any] = [1000, 2000]
        self.table: dict[str, Any] = {"n": 1000}
        self.parts: list[Any] = [np.ones(3), np.zeros(3)]
        self.seen: set[Any] = {1}
        self.last: Any = None


def counted(one: Any, s: Any, x: Any) -> Any:
    s.counts[0] += 1
    return x[:3] * one[0], one[0], len(one)


def appended(one: Any, s: Any, x: Any) -> Any:
    before = len(one)
    s.counts.append(float(x.sum()))
    return before, len(one), one[-1], x + len(s.counts)


def tabled(one: Any, s: Any, x: Any) -> Any:
    s.table["n"] += 1
    s.table["new"] = float(x[0])
    return one["n"], len(one), x * one["n"]


def in_a_loop(one: Any, s: Any, x: Any) -> Any:
    found = 0
    for value in x:
        if value > 0:
            s.counts[1] += 1
        found += one[1]
    return found, x * 2


def of_the_module(one: Any, s: Any, x: Any) -> Any:
    MODULE[1] += 5
    return one[1], x * one[1]


def changed_by_the_argument(one: Any, s: Any, x: Any) -> Any:
    one[0] = 7
    one.append(3)
    return s.counts[0], len(s.counts), x * s.counts[0]


def compared(one: Any, s: Any, x: Any) -> Any:
    return x * 2 if one is s.counts else x * 3


def kept(one: Any, s: Any, x: Any) -> Any:
    s.last = one
    return x * 2


def other_set(one: Any, s: Any, x: Any) -> Any:
    s.seen.add(5)
    return 5 in one.seen, x * 2


def other_list(one: Any, s: Any, x: Any) -> Any:
    s.counts[0] += 1
    return one.counts[0], x * one.counts[0]


def within(one: Any, s: Any, x: Any) -> Any:
    s.counts[0] += 1
    return one[0][0], x * one[1]


def of_arrays(one: Any, s: Any, x: Any) -> Any:
    s.counts[0] += 1
    return one[0] + s.counts[0], x * 2


CASES: dict[str, tuple[Callable[..., Any], Callable[[Holder], Any], Callable[[], Any]]] = {
    "a list is counted in": (counted, lambda s: s.counts, lambda: [1000, 3]),
    "a list grows": (appended, lambda s: s.counts, lambda: [1000, 3]),
    "a dict gets entries": (tabled, lambda s: s.table, lambda: {"n": 5}),
    "a loop counts": (in_a_loop, lambda s: s.counts, lambda: [3, 1000]),
    "a list of the module": (of_the_module, lambda s: MODULE, lambda: [1, 2]),
    "by the name of the argument": (changed_by_the_argument, lambda s: s.counts, lambda: [3, 4]),
    "compared by is": (compared, lambda s: s.counts, lambda: [1000, 2000]),
    "kept in an attribute": (kept, lambda s: s.counts, lambda: [1, 2]),
    "sets of two objects": (other_set, lambda s: s, Holder),
    "lists of two objects": (other_list, lambda s: s, Holder),
    "a list in a list": (within, lambda s: [s.counts, 2.5], lambda: [[1000, 3], 2.5]),
    "a list of arrays": (of_arrays, lambda s: s.parts, lambda: [X[:3], X[3:6]]),
}
"""A function, its first argument that is a part of the second one, and one that is not."""


def outcomes(function: Callable[..., Any], name: str, order: tuple[bool, ...]) -> Any:
    """The outcomes of some calls, what is in the holder behind each, and which names are one list in the end."""
    _, part, apart = CASES[name]
    MODULE[:] = [1000, 2000]
    s, found = Holder(), []
    for shared in order:
        one = part(s) if shared else apart()
        result = outcome(function, one, s, X)
        same = s.last is one
        if s.last is not None:
            s.last.append(2.5)  # seen in all names of the list
        seen = vars(one) if isinstance(one, Holder) else one
        found.append((copy.deepcopy(result), str(vars(s)), str(seen), same))
    return found, list(MODULE)


@pytest.mark.parametrize("order", [(True, True, False, True), (False, True, False, True), (False, False, True, True)])
@pytest.mark.parametrize("name", CASES)
def test_all_names_see_a_change(name: str, order: tuple[bool, ...]) -> None:
    function = CASES[name][0]
    wanted = outcomes(function, name, order)
    with split():
        identical(outcomes(xjit.jit(function), name, order), wanted)


@pytest.mark.parametrize("name", ["a list is counted in", "a list grows", "a list of arrays"])
def test_other_lists_are_no_hindrance(name: str) -> None:
    function, compiled = CASES[name][0], xjit.jit(CASES[name][0])
    with split():
        for _ in range(3):
            one, other = Holder(), Holder()
            identical(compiled([X[:3], X[3:6]], one, X), function([X[:3], X[3:6]], other, X))
            assert one.counts == other.counts
    assert compiled.stats().fallbacks == 0
    assert compiled.stats().traces <= 2


def two_names(one: Any, other: Any, x: Any) -> Any:
    one[0] += 1
    return other[0], x[:3] * other[0]


def two_compared(one: Any, other: Any, x: Any) -> Any:
    return x * 2 if one is other else x * 3


@pytest.mark.parametrize("function", [two_names, two_compared])
@pytest.mark.parametrize("make", [lambda: [1000, 2.5], lambda: [X[:3].copy(), 1], dict, lambda: [[1], [2]]])
def test_one_list_as_two_arguments(function: Callable[..., Any], make: Callable[[], Any]) -> None:
    compiled = xjit.jit(function)
    with split():
        for shared in (True, False, True, False):
            found = []
            for called in (function, compiled):
                one, other = make(), make()
                found.append(copy.deepcopy((outcome(called, one, one if shared else other, X), str(one), str(other))))
            identical(found[1], found[0])
