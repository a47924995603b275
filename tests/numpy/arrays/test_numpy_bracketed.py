"""Arrays joined in brackets give what NumPy gives: values, element type, shape and memory order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import c_, r_

import xjit

LINE = np.array([0.5, -1.0, 2.0, 4.0, -0.0])
SINGLE = LINE.astype(np.float32)
WHOLE = np.arange(5)
TABLE = np.arange(10.0).reshape(5, 2)

CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "two": (lambda x: np.r_[x, x], (LINE,)),
    "one": (lambda x: np.r_[x], (LINE,)),
    "numbers": (lambda x: np.r_[0, x[1:-1], x[-1], 2.5], (LINE,)),
    "number of Python": (lambda x: np.r_[x, 1.5], (SINGLE,)),
    "number of NumPy": (lambda x: np.r_[x, np.float64(1.5)], (SINGLE,)),
    "argument": (lambda x, y: np.r_[x, y], (SINGLE, 1.5)),
    "truth value": (lambda x: np.r_[True, x > 0], (LINE,)),
    "range": (lambda x: np.r_[x, 1:4], (WHOLE,)),
    "range of steps": (lambda x: np.r_[10 : len(x) : -2, x], (WHOLE,)),
    "evenly spaced": (lambda x: np.r_[x, 0:1:5j], (WHOLE,)),
    "list": (lambda x: np.r_[x, [1, 2]], (WHOLE,)),
    "rows": (lambda x: np.r_[x, x[:2]], (TABLE,)),
    "other type": (lambda x, y: np.r_[x, y], (WHOLE, SINGLE)),
    "columns": (lambda x, y: np.c_[x, y], (LINE, WHOLE)),
    "one column": (lambda x: np.c_[x], (LINE,)),
    "column and table": (lambda x, y: np.c_[np.ones(5), x, y], (LINE, TABLE)),
    "column of a range": (lambda x: np.c_[x, 0:5], (LINE,)),
    "column of a number": (lambda x: np.c_[x[:1], 3], (LINE,)),
    "column by rows": (lambda x: np.c_[x, x], (np.asfortranarray(TABLE),)),
    "imported": (lambda x: c_[r_[x, 1], r_[2, x]], (LINE,)),
    "known numbers": (lambda x: x * np.r_[1.0, 2:6], (LINE,)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_numpy_joins(name: str) -> None:
    function, arguments = CASES[name]
    expected, found = function(*arguments), xjit.jit(function)(*arguments)
    assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
    assert np.array_equal(found, expected) and found.flags.writeable


@pytest.mark.parametrize(
    ("function", "argument", "error", "message"),
    [
        (lambda x: np.r_[x, np.ones((2, 2))], LINE, xjit.ShapeError, "same number of dimensions"),
        (lambda x: np.c_[x, np.ones(4)], LINE, xjit.ShapeError, "dimension"),
        (lambda x: np.r_[x, 300], WHOLE.astype(np.int8), OverflowError, "300"),
        (lambda x: np.r_["0,2", x, x], LINE, xjit.CaptureError, "numpy.r_: text that says how to join"),
    ],
    ids=["ranks", "sizes", "range of the type", "text"],
)
def test_what_is_refused(function: Any, argument: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        xjit.jit(function)(argument)
