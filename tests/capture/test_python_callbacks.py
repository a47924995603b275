"""Functions of NumPy that call the user's, and lists with traced values where NumPy makes arrays of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_split
from xjit.errors import CaptureError

LINE = np.array([3.0, 1.0, 2.5, -4.0, 7.0])
CUBE = np.arange(24.0).reshape(2, 3, 4)
KINDS = [(LINE,), (LINE.astype(np.float32),), (LINE.astype(np.int8),), (LINE[:0],)]


def test_folds_of_lists() -> None:
    check_whole(lambda x: np.maximum.reduce([x, x[::-1], x * 2]), *KINDS)
    check_whole(lambda x: (np.add.reduce([x, x]), np.minimum.accumulate((x, 2 - x)), np.add.reduce([1, 2])), *KINDS)
    check_whole(lambda x: np.fmin.reduce([x[0], x[1], 3.0]), *KINDS[:2])
    check_whole(lambda x: np.logical_and.reduce([x > 0, x < 3, x != 1]), *KINDS)


def test_ufuncs_stay_what_they_are() -> None:
    table = {"sum": np.add}

    def function(x: Any) -> Any:
        assert isinstance(np.add, np.ufunc) and np.add is np.add and table["sum"] == np.add
        y = np.zeros(5)
        np.add.at(y, [0, 1, 1, 4, 4], x)
        return table["sum"](x, 1), np.add.outer(x, x), np.multiply.reduce(x), y, np.add

    check_whole(function, (LINE,))


def test_pieces_of_folds() -> None:
    check_whole(lambda x, places: np.add.reduceat(x, places) * 2, (LINE, np.array([0, 3, 1])))
    check_whole(lambda x: np.maximum.reduceat(x, [0, 3]) + 1, (LINE,))


def test_rows_of_arrays_of_open_sizes() -> None:
    def function(x: Any) -> Any:
        changes = np.flatnonzero(np.diff(x > 2.0))
        return np.r_[0, changes + 1, len(x)], np.r_[x[x > 2], 0:3, 1.5], np.r_[x[0], x[x < 0]]

    check_whole(function, *KINDS[:3], (LINE[::-1],), (LINE * 0,))


def test_lists_of_few_elements() -> None:
    check_whole(lambda x: (x.tolist(), x.sum().tolist(), [v + 1 for v in (x[1:] * 2).tolist()]), *KINDS[:3])
    check_whole(lambda x: (x.tolist(), x[:0].tolist()), (CUBE,), (CUBE > 3,))
    check_split(lambda x: [(x * 2).tolist(), x + 1][1], np.arange(100.0))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize(
    "function",
    [
        lambda line: line.sum(),
        lambda line: line - line.mean(),
        lambda line: line[:2] * 2,
        lambda line: np.outer(line, line),
        np.sort,
    ],
)
def test_a_call_for_each_line(function: Any, axis: int) -> None:
    check_whole(lambda x: np.apply_along_axis(function, axis, x), (CUBE,), (CUBE.astype(np.int16),))


def test_a_call_for_each_line_with_other_arguments() -> None:
    def power(line: Any, exponent: int, plus: float = 0.0) -> Any:
        return (line**exponent).sum() + plus

    check_whole(lambda x: np.apply_along_axis(power, 0, x, 2, plus=1.0), (CUBE,))
    check_whole(lambda x: np.apply_along_axis(lambda line: 1 if line is None else line.max(), 1, x), (CUBE[0],))


def test_many_lines_are_refused() -> None:
    compiled = xjit.jit(lambda x: np.apply_along_axis(np.sum, 1, x), strict=True)
    with pytest.raises(CaptureError, match="called for each of 100 lines"):
        compiled(np.ones((100, 2)))
    with pytest.raises(np.exceptions.AxisError):
        compiled(np.ones(3))


def test_positions() -> None:
    check_whole(lambda x: np.fromfunction(lambda i, j: i * x[0] + j, (3, 4)), (LINE,))
    check_whole(lambda x: np.fromfunction(lambda i: x[i], (3,), dtype=int), (LINE,))
    check_whole(lambda x: [(place, value * 2) for place, value in np.ndenumerate(x)], (CUBE[0],))


def of_pieces(t: float, limit: float) -> float:
    if t < 0:
        return 0.0
    return t * 0.5 if t < limit else limit


def halved(n: int) -> int:
    count = 0
    while n > 1:
        n, count = n // 2, count + 1
    return count


SPREAD = np.linspace(-3.0, 3.0, 1000)


def test_functions_of_each_element() -> None:
    kinds = [(SPREAD,), (SPREAD[:12].reshape(3, 4),), (SPREAD[:1],)]
    check_whole(lambda x: np.vectorize(of_pieces)(x, 2.0) + 1, *kinds)
    check_whole(lambda x: np.vectorize(of_pieces, otypes=[np.float32])(x, abs(x)), *kinds)
    check_whole(lambda x: np.vectorize(lambda v: v * 0.3 + 1)(x), (SPREAD.astype(np.float32),), *kinds)
    check_whole(lambda x: np.vectorize(halved)(x), (np.arange(300),), (np.arange(9),))
    check_whole(lambda x: np.vectorize(lambda v, w: v * w + 1)(x[:, None], x), (LINE,), (LINE.astype(np.int64),))


def test_the_first_element_decides_about_the_type() -> None:
    def truncates(x: Any) -> Any:
        return np.vectorize(lambda v, w: v + w)(x, np.array([1, 2, 3, 4, 5]))

    check_whole(truncates, (LINE.astype(bool),), (LINE,))


def test_other_uses_of_vectorize_are_refused() -> None:
    for function in (
        lambda x: np.vectorize(np.sum, signature="(n)->()")(x),
        lambda x: np.vectorize(divmod)(x, 2),
        lambda x: np.vectorize(lambda v: v + 1)(x.astype(np.int8)),
        lambda x: np.vectorize(lambda v: v * 0.5, otypes=[int])(x),
    ):
        with pytest.raises(CaptureError, match=r"numpy.vectorize"):
            xjit.jit(function, strict=True)(LINE)


def test_says_how_to_pass_a_series() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(CaptureError, match=r"pass its numbers: prices.to_numpy\(\)"):
        xjit.jit(lambda prices: np.sqrt(prices), strict=True)(pandas.Series(LINE))
