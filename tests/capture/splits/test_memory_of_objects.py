"""Objects of the run that show arrays of the graph: reads see what NumPy's see, and writes are left to NumPy."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, check_split, split

LINE = np.arange(5.0)


def written_behind(x: Any) -> Any:
    y = x * 2
    parts = np.split(y, np.flatnonzero(x > 2))
    y[0] = 9
    return parts[0].sum(), parts


def written_through(x: Any) -> Any:
    parts = np.split(x, np.flatnonzero(x > 2))
    s = x.sum()
    parts[0][:1] = 50
    return s, x


def changed_in_place(x: Any) -> Any:
    y = x * 2
    first = np.split(y, np.flatnonzero(x > 2))[0]
    first += 1
    return y


def sorted_in_place(x: Any) -> Any:
    y = -x
    first = np.split(y, np.flatnonzero(x > 2))[0]
    first.sort()
    return y


def written_by_a_function(x: Any) -> Any:
    k = np.flatnonzero(x > 2)
    np.putmask(k.swapaxes(0, -1), k.swapaxes(0, -1) > 1, 77)
    return k


def added_at(x: Any) -> Any:
    k = np.flatnonzero(x > 2)
    np.add.at(k.swapaxes(0, -1), [0, 0], 7)
    return k


def written_where_a_view_is_seen(x: Any) -> Any:
    k = np.flatnonzero(x > 2)
    turned = k.swapaxes(0, -1)
    k[:1] = 5
    return turned.sum()


def constants_written(x: Any) -> Any:
    y = np.zeros(5)
    parts = np.split(y, np.flatnonzero(x > 2))
    before = parts[0].sum()
    y[0] = 3
    return parts[0].sum(), before


def replaced_in_place(x: Any) -> Any:
    y = np.log(x - 3)
    s = y.sum()
    np.nan_to_num(y, copy=False)
    return y, s


def into_an_output_by_place(x: Any) -> Any:
    y = x * 1
    s = y.sum()
    np.add.outer(x, x).sum(1, None, y)
    return y, s


def into_an_output_of_an_object(x: Any) -> Any:
    y = x * 1
    s = y.sum()
    np.bincount(x.astype(int)).reshape(1, 5).sum(0, None, y)
    return y, s


def view_of_what_was_written(x: Any) -> Any:
    x[0] = 9
    return np.split(x, np.flatnonzero(x > 2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of logarithms
@pytest.mark.parametrize(
    "function",
    [
        written_behind,
        written_through,
        changed_in_place,
        sorted_in_place,
        written_by_a_function,
        added_at,
        written_where_a_view_is_seen,
        constants_written,
        replaced_in_place,
        into_an_output_by_place,
        into_an_output_of_an_object,
        view_of_what_was_written,
    ],
    ids=lambda one: one.__name__,
)
def test_writes_to_what_an_object_shows_are_left_to_numpy(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            own, theirs = LINE.copy(), LINE.copy()
            check_same(compiled(theirs), function(own))
            np.testing.assert_array_equal(theirs, own)
    assert compiled.stats().fallbacks == 2


def parts_of_what_stays(x: Any) -> Any:
    y = x * 2
    parts = np.split(y, np.flatnonzero(x > 2))
    return parts, len(parts), y + parts[0][0]


def copies_of_what_is_written(x: Any) -> Any:
    k = np.flatnonzero(x > 2)
    others = np.delete(x, k)
    both = np.concatenate([x, np.split(k, k)[0]])
    x[0] = 9
    return others, both, x.sum()


def written_once_nobody_looks(x: Any) -> Any:
    y = x * 2
    count = len(np.split(y, np.flatnonzero(x > 2)))
    y[0] = count
    return y


@pytest.mark.parametrize("function", [parts_of_what_stays, copies_of_what_is_written, written_once_nobody_looks])
def test_what_nobody_could_notice_is_split(function: Callable[..., Any]) -> None:
    check_split(function, LINE)


def reshaped(x: Any) -> Any:
    return x[x > 0].reshape(2, -1)


def test_results_of_methods_can_be_written_to() -> None:
    check_split(reshaped, LINE)
    with split():
        assert xjit.jit(reshaped)(LINE).flags.writeable


def memory_of_arguments(x: Any) -> Any:
    return np.split(x, np.flatnonzero(x > 2))


def test_views_of_arguments_are_views_of_them() -> None:
    compiled, x = xjit.jit(memory_of_arguments), LINE.copy()
    with split():
        assert all(np.shares_memory(part, x) for part in compiled(x))
    assert compiled.stats().fallbacks == 0


def descends(A: Any, x: Any) -> Any:
    value = x @ A @ x
    for step in range(12):
        gradient = A @ x
        rate = 1.0
        while True:
            new = x - rate * gradient
            lower = new @ A @ new
            if lower <= value or rate < 1e-3:
                break
            rate *= 0.5
        x[:] = new
        value = lower
        if step % 10 == 0:
            print(f"step {step}")
    return value


def test_native_parts_leave_objects_alone() -> None:
    """A copy of an object between loops that run natively counts as one more name of it."""
    A = np.diag(np.linspace(1.0, 3.0, 100))
    x = np.ones(100)
    compiled = check_split(descends, A, x)
    gc.collect()  # what the trace left behind, or it would go at any time
    names = sys.getrefcount(x)
    with split():
        for _ in range(20):
            compiled(A, x)
    assert sys.getrefcount(x) == names
