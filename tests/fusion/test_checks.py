"""Conditions that only the run can tell: checked by the kernels that need them, in no pass of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import KERNEL_EXECUTORS, one_kernel_for_each, run_unrolled
from xjit.inspect.explain import Explanation

RANDOM = np.random.default_rng(3)
TABLE = RANDOM.normal(size=50)
PLACES = RANDOM.integers(-50, 50, 61)
MATRIX = RANDOM.normal(size=(11, 7))
WIDE = RANDOM.normal(size=(11, 40))
ROWS = RANDOM.integers(-11, 11, 23)
LARGE_TABLE = np.zeros(10_000, np.float32)
LARGE_PLACES = np.zeros(1_000_000, np.int64)
EXECUTORS = [*KERNEL_EXECUTORS.values(), run_unrolled]

Function = Callable[..., Any]

# Each is called with an array to take from and positions along its first axis.
PROGRAMS: dict[str, tuple[Function, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {
    "stored": (lambda x, i: x[i] + 1.0, TABLE, PLACES),
    "as it is": (lambda x, i: x[i], TABLE, PLACES),
    "summed": (lambda x, i: np.tanh(x[i]).sum(), TABLE, PLACES),
    "with rare arguments": (lambda x, i: np.sin(x[i] * 1e6).sum(), TABLE, PLACES),
    "searched": (lambda x, i: x[i].argmax(), TABLE, PLACES),
    "accumulated": (lambda x, i: np.cumsum(x[i]), TABLE, PLACES),
    "rows": (lambda x, i: x[i] * 2.0, MATRIX, ROWS),
    "sums of rows": (lambda x, i: np.exp(x[i]).sum(axis=1), MATRIX, ROWS),
    "softmax of rows": (lambda x, i: np.exp(x[i] - x[i].max(axis=1)[:, None]), MATRIX, ROWS),
    "sums of columns": (lambda x, i: x[i].sum(axis=0), MATRIX, ROWS),
    "taken along": (lambda x, i: np.take_along_axis(x, i[:, None], axis=0) * 2.0, MATRIX, ROWS),
    "two results": (lambda x, i: (x[i], i + 1), TABLE, PLACES),
    "a part": (lambda x, i: x[i][:5] + 1.0, TABLE, PLACES),
    "nothing of it": (lambda x, i: x[i][:0], TABLE, PLACES),
    "one element of it": (lambda x, i: x[i][-1], TABLE, PLACES),
    "backwards": (lambda x, i: x[i][::-1] * x[i], TABLE, PLACES),
    "before a library": (lambda x, i: np.sort(x[i]) * 2.0, TABLE, PLACES),
    "positions before a library": (lambda x, i: np.sort(np.take(x, i, mode="clip") + x[i]), TABLE, PLACES),
    "after a library": (lambda x, i: np.sort(x)[i] * 2.0, TABLE, PLACES),
    "beside a library": (lambda x, i: (np.sort(x) * 2.0, x[i] + x[0]), TABLE, PLACES),
    "computed": (lambda x, i: x[i * 2 // 2], TABLE, PLACES),
    "of one": (lambda x, i: x[i] + 1.0, TABLE, PLACES[:1]),
}
UNUSED = ("nothing of it",)
"""Programs in whose result no element needs the positions."""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("run", EXECUTORS, ids=lambda run: str(run.__name__))
def test_results_are_numpys(run: Any, name: str) -> None:
    function, values, places = PROGRAMS[name]
    found, expected = run(function, (values, places)), function(values, places)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in UNUSED])
@pytest.mark.parametrize("wrong", [1000, -(2**62)])
@pytest.mark.parametrize("run", EXECUTORS, ids=lambda run: str(run.__name__))
def test_one_wrong_position_is_an_error(run: Any, name: str, wrong: int) -> None:
    """Wherever it is, and without a read out of bounds: the uncompiled source would notice."""
    function, values, places = PROGRAMS[name]
    for where in {0, len(places) - 1}:
        changed = places.copy()
        changed[where] = wrong
        with pytest.raises(IndexError):
            function(values, changed)
        with pytest.raises(IndexError, match=f"out of bounds for axis 0 with size {len(values)}"):
            run(function, (values, changed))


def test_unfused_programs_check_too() -> None:
    for name, (function, values, places) in PROGRAMS.items():
        with one_kernel_for_each():
            compiled = xjit.jit(function)
            compiled(values, places)
            if name not in UNUSED:
                with pytest.raises(IndexError):
                    compiled(values, places + 1000)


@pytest.mark.parametrize("size", [len(TABLE) - 1, -len(TABLE)])
def test_the_last_positions_in_range(size: int) -> None:
    places = np.full(3, size)
    np.testing.assert_array_equal(xjit.jit(lambda x, i: x[i])(TABLE, places), TABLE[places])


def test_the_error_names_the_users_line() -> None:
    def take(x: Any, i: Any) -> Any:
        scaled = x * 2.0
        return scaled[i]

    compiled = xjit.jit(take)
    with pytest.raises(IndexError) as caught:
        compiled(TABLE, PLACES + 1000)
    line = inspect.getsourcelines(take)[1] + 2
    message, at, fix = str(caught.value).splitlines()
    assert message == "indexing: an index is out of bounds for axis 0 with size 50"
    assert at.strip() == f"at {__file__}:{line}, in take" and fix.strip().startswith("fix: ")


def test_of_several_errors_the_first_one_is_raised() -> None:
    compiled = xjit.jit(lambda x, y, i: (x[i] + 1.0).sum() + (y[i] * 2.0).sum())
    places = np.array([12])
    with pytest.raises(IndexError, match="size 10"):
        compiled(TABLE[:10], TABLE[:11], places)
    with pytest.raises(IndexError, match="size 11"):
        compiled(TABLE[:20], TABLE[:11], places)


def test_a_call_that_failed_leaves_nothing_behind() -> None:
    compiled = xjit.jit(lambda x, i: x[i] + 1.0)
    for _ in range(3):
        with pytest.raises(IndexError):
            compiled(TABLE, PLACES + 1000)
        np.testing.assert_array_equal(compiled(TABLE, PLACES), TABLE[PLACES] + 1.0)
    assert compiled.stats().traces == 1


def test_libraries_run_behind_the_checks_of_what_they_read() -> None:
    """Positions out of range are read at 0: a matrix with two equal rows, which has no inverse."""
    square = np.array([[2.0, 1.0], [1.0, 3.0]])
    for compiled in (xjit.jit(lambda x, i: np.linalg.inv(x[i[:2]])), xjit.jit(lambda x, i: np.linalg.inv(x[i][:2]))):
        np.testing.assert_allclose(compiled(square, np.array([1, 0, 1])), np.linalg.inv(square[[1, 0]]))
        with pytest.raises(IndexError):
            compiled(square, np.array([0, 5, 1]))


def explained(function: Function, *arguments: Any) -> Explanation:
    return xjit.jit(function).explain(*arguments)


def test_a_gather_and_a_sum_move_no_more_than_they_have_to() -> None:
    plan = explained(lambda x, i: np.tanh(x[i]).sum(), LARGE_TABLE, LARGE_PLACES)
    assert len(plan.kernels) == len(plan.steps) == 2  # chunks, and their sum
    assert plan.bytes_moved <= 1.001 * plan.minimum_bytes


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, i: x[i] * 2.0, (LARGE_TABLE, LARGE_PLACES)),
        (lambda x, i: np.take(x, i) * 2.0, (LARGE_TABLE, LARGE_PLACES)),
        (lambda x, i: x[i].sum(axis=1), (MATRIX, ROWS)),
        (lambda x, i: x[i].sum(axis=0), (MATRIX, ROWS)),
        (lambda x, i: x[i].sum(axis=0), (WIDE, ROWS)),
        (lambda x, i: np.exp(x[i] - x[i].max(axis=1)[:, None]), (MATRIX, ROWS)),
        (lambda x, i, j: x[i, j] + 1.0, (MATRIX, ROWS, ROWS % 7)),
        (lambda x, i: np.take_along_axis(x, i, axis=1) + 1.0, (MATRIX, np.zeros((11, 3), np.int64))),
        (lambda x, y, i: x[i] + y[i], (TABLE, TABLE[:20], PLACES)),
        (lambda i, x, y: np.choose(i, (x, y)) + 1.0, (np.zeros(50, np.int64), TABLE, TABLE)),
        (lambda x: np.nanargmax(x, axis=1), (MATRIX,)),
        (lambda x, w: np.average(x, axis=1, weights=w), (MATRIX, MATRIX)),
    ],
)
def test_conditions_are_checked_where_values_are_needed(function: Function, arguments: tuple[Any, ...]) -> None:
    plan = explained(function, *arguments)
    assert len(plan.kernels) == len(plan.steps) == 1
    assert plan.bytes_moved <= plan.minimum_bytes and plan.temporary_bytes == 0  # of a table as much as is read
    assert "require" in plan.kernels[0].operations


def test_positions_of_which_few_are_read_are_checked_by_a_kernel_of_their_own() -> None:
    plan = explained(lambda x, i: x[i][:5] + 1.0, TABLE, PLACES)
    assert sorted(kernel.domain for kernel in plan.kernels) == [(5,), (61,)]
    assert [kernel.bytes_written for kernel in plan.kernels if kernel.domain == (61,)] == [0]
