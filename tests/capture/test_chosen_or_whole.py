"""Arrays of which only the run tells if they are what a mask chose, or the array that they were before.

A first call chooses, a second one does not: the name then is the caller's own array, or shows another one's memory.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

UP = np.array([1.0, -2.0, 3.0, 0.5, 2.0, -1.0, 0.25, -4.0, 6.0, 1.5])
DOWN = -np.array([1.0, 2.0, 3.0, 0.5, 2.5, 1.25, 0.25, 4.0, 6.0, 1.5])
CALLS = [(UP, DOWN), (DOWN, UP), (UP, UP.copy()), (DOWN, DOWN.copy())]


def one_arm(x: Any, w: Any) -> Any:
    y = x
    if x[0] > 0:
        y = x[x > 0]
    return y


def no_turn(x: Any, w: Any) -> Any:
    y = x
    while y.sum() > 0:
        y = y[y < y.max()]
    return y


def two_arms(x: Any, w: Any) -> Any:
    y = x
    if x[0] > 0:
        y = x[x > 0]
    if w[0] > 0:
        y = y[y > -2.5]
    return y, y is x


def its_end(x: Any, w: Any) -> Any:
    y = x
    if x[0] > 0:
        y = x[x > 0]
    return y[1:], y[:1].sum()


def of_another(x: Any, w: Any) -> Any:
    y = x[:3]
    y = y * 1
    for _ in range((w > 0).sum()):
        y = w[w > 0]
    y -= 1
    return y


def alone(x: Any, w: Any) -> Any:
    y = x.copy()
    for _ in range(3):
        y -= 0.5
        if y[0] > w[0]:
            y = y[y > y.min()]
    return y


def shorter_argument(x: Any, w: Any) -> Any:
    y = x
    both = np.concatenate([w, w])
    for _ in range((w > 0).sum()):
        y = both[both > 0]
    return y, y is x


def written(x: Any, w: Any) -> Any:
    y = x
    if x[0] > 0:
        y = x[x > 0]
    y[0] = 5.0
    return y.sum()


def written_behind_a_loop(x: Any, w: Any) -> Any:
    y = x
    while y.sum() > 0:
        y = y[y < y.max()]
    y -= 1
    return y.sum()


def written_in_turns(x: Any, w: Any) -> Any:
    y = x
    for _ in range(3):
        y -= 1
        if y[0] > -1.5:
            y = y[y < y.max()]
    return y.sum()


def other_is_written(x: Any, w: Any) -> Any:
    y = x
    if w[0] > 0:
        y = x[x > -2.5]
    if w[1] > 0:
        y = y[y > 0.5]
    x *= 2
    return y.sum()


def beside_an_array_of_its_own(x: Any, w: Any) -> Any:
    z = w * 2
    y = z
    if x[0] > 0:
        y = z[z > 0]
    y += 1
    return y.sum(), z


def two_results(x: Any, w: Any) -> Any:
    z = w * 2
    y = z
    if x[0] > 0:
        y = z[z > 0]
    return y, z


def second_name_in_turns(x: Any, w: Any) -> Any:
    z = x.copy()
    y = z
    for _ in range(3):
        y -= 0.5
        if y[0] > w[0]:
            y = y[y > y.min()]
    return y.sum(), z


def two_chosen(x: Any, w: Any) -> Any:
    y = w[w > -2.5]
    z = y
    if x[0] > 0:
        y = y[y > -1.0]
    return y is z, y.sum()


WHOLE = [one_arm, no_turn, two_arms, its_end, of_another, alone, shorter_argument]
LEFT_TO_NUMPY = [
    written,
    written_behind_a_loop,
    written_in_turns,
    other_is_written,
    beside_an_array_of_its_own,
    two_results,
    second_name_in_turns,
    two_chosen,
]


def described(result: Any, arguments: Any) -> Any:
    """Numbers and types of a result and of the arguments, and which of the arrays share memory, or are one."""
    parts = result if isinstance(result, tuple) else (result,)
    arrays = [*arguments, *(one for one in parts if isinstance(one, np.ndarray))]
    sharing = [[np.shares_memory(one, other) for one in arrays] for other in arrays]
    same = [[one is other for one in arrays] for other in arrays]
    texts = [(type(one), np.round(np.asarray(one, float), 9).tolist()) for one in (*parts, *arguments)]
    return texts, sharing, same


def check(function: Callable[..., Any], strict: bool) -> None:
    """Check calls beside NumPy's: results, their identities and memory, and what is written."""
    compiled = xjit.jit(function, strict=strict)
    for arguments in CALLS:
        own, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        assert described(compiled(*own), own) == described(function(*theirs), theirs), arguments


@pytest.mark.parametrize("function", WHOLE)
def test_an_array_that_no_turn_or_arm_replaces_is_itself(function: Callable[..., Any]) -> None:
    check(function, strict=True)


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", LEFT_TO_NUMPY)
def test_numpy_writes_where_only_the_run_tells_whose_memory_it_is(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    check(function, strict=False)
