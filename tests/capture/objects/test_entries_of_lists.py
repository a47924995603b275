"""Numbers that functions put in the places of lists from outside: set behind the program, without steps in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

LINES = [np.random.default_rng(seed).standard_normal(40) * (seed + 1) for seed in range(4)]
BEST = [0.0, 1.0]


class Seen:
    """Has lists of numbers, one of them in another object."""

    def __init__(self) -> None:
        self.extremes: Any = [np.inf, -np.inf]
        self.counts = [0, 0, 0]
        self.total = 0.0

    def add(self, value: Any) -> None:
        self.extremes[0] = min(self.extremes[0], value)
        self.extremes[1] = max(self.extremes[1], value)
        self.counts[-1] += 1


def in_a_loop(seen: Any, x: Any) -> Any:
    for value in x:
        seen.add(value)
    return seen.extremes[1] - seen.extremes[0]


def in_branches(seen: Any, x: Any) -> Any:
    if x.sum() > 0.0:
        seen.counts[0] += 1
    else:
        seen.counts[1] = seen.counts[0] - 5
    seen.total += float(x.sum())
    return x * seen.counts[0]


def straight(seen: Any, x: Any) -> Any:
    seen.extremes[0] = x.max()
    seen.extremes[1] = 2.5
    seen.counts[0], seen.counts[1] = seen.counts[1] + 1, seen.counts[0]
    return sum(seen.counts), len(seen.extremes)


def named_twice(seen: Any, x: Any) -> Any:
    other = seen.counts
    other[0] += 3
    return x[seen.counts[0] % 5], seen.counts


def of_a_module(seen: Any, x: Any) -> Any:
    BEST[0] = max(BEST[0], float(x.max()))
    return BEST[0] + BEST[1]


def in_turns_of_turns(seen: Any, x: Any) -> Any:
    k = 0
    while k < x[0] * 10 + 30:
        for j in range(k):
            if x[j % 40] > 1.0:
                seen.counts[0] += 1
        seen.counts[1] += k
        k += 1
    return seen.counts[0] + k


FUNCTIONS = [in_a_loop, in_branches, straight, named_twice, of_a_module, in_turns_of_turns]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_entries_are_set_behind_the_program(function: Callable[..., Any]) -> None:
    compiled, one, other = xjit.jit(function, strict=True), Seen(), Seen()
    kept = other.extremes, other.counts
    for x in (*LINES, *LINES):
        before = list(BEST)
        wanted = function(one, x)
        theirs, BEST[:] = list(BEST), before
        found = compiled(other, x)
        check_same(found, wanted)
        assert theirs == BEST
        check_same(other.extremes, one.extremes)
        check_same(other.counts, one.counts)
    assert (other.extremes, other.counts) == kept and other.extremes is kept[0] and other.counts is kept[1]
    assert compiled.stats().traces <= 4 or function is in_turns_of_turns  # its integers leave no bounds
    assert compiled.stats().fallbacks == 0


def outside(seen: Any, x: Any) -> Any:
    seen.counts[0] = 7
    seen.counts[3] = x[0]


def failing(seen: Any, x: Any) -> Any:
    seen.counts[0] += 1
    if x[0] > -99.0:
        raise KeyError(3)


@pytest.mark.parametrize(("function", "error"), [(outside, IndexError), (failing, KeyError)])
def test_errors_leave_what_numpy_leaves(function: Callable[..., Any], error: type[Exception]) -> None:
    compiled, one, other = xjit.jit(function), Seen(), Seen()
    with split():
        for _ in range(3):
            for called, seen in ((function, one), (compiled, other)):
                with pytest.raises(error):
                    called(seen, LINES[0])
            assert other.counts == one.counts


def text(seen: Any, x: Any) -> Any:
    seen.counts[0] = "much" if len(x) > 3 else "little"
    return x + 1


def arrays(seen: Any, x: Any) -> Any:
    seen.counts[0] = x * 2
    return x + 1


def slices(seen: Any, x: Any) -> Any:
    seen.counts[1:] = [x[0], x[1]]
    return x + 1


def longer(seen: Any, x: Any) -> Any:
    seen.counts[0] = x[0]
    seen.counts.append(x.sum())
    return x + 1


@pytest.mark.parametrize("function", [text, arrays, slices, longer])
def test_others_are_set_as_before(function: Callable[..., Any]) -> None:
    compiled, one, other = xjit.jit(function), Seen(), Seen()
    with split():
        for x in LINES:
            check_same(compiled(other, x), function(one, x))
            check_same(other.counts, one.counts)
