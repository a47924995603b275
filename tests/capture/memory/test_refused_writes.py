"""Writes and conversions that NumPy refuses, because of shapes, or since numbers are no arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from xjit import jit


def _doubled_one_by_one(x: Any, y: Any) -> None:
    for i in range(len(x)):
        x.flat[i] *= y[0]


def _flat_item(x: Any, y: Any) -> None:
    x.flat[0] = y


def _flat_item_of_a_tuple(x: Any, y: Any) -> None:
    x.flat[1] = (y[0],)


def _chosen(x: Any, y: Any) -> None:
    x[x > 0] = y[:, None]


def _chosen_list(x: Any, y: Any) -> None:
    x[x > 0] = [[1]]


def _output_of_a_ufunc(x: Any, y: Any) -> None:
    np.square(x, out=y[0])


def _third_operand(x: Any, y: Any) -> Any:
    return np.logical_or(x, y, x.sum())


def _output_of_a_sum(x: Any, y: Any) -> Any:
    return np.sum(x, out=y[0])


def _converted(x: Any, y: Any) -> Any:
    float(y)
    return x


def _turns(x: Any, y: Any) -> Any:
    for _ in range(int(y)):
        x += 1
    return x


def _outcome(function: Any, x: Any, y: Any) -> Any:
    x, y = x.copy(), y.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of releases that take arrays of one element for numbers
        try:
            found = function(x, y)
        except (TypeError, ValueError, IndexError) as error:
            found = next(kind for kind in (TypeError, ValueError, IndexError) if isinstance(error, kind))
    return str(found), x.tolist(), y.tolist()


@pytest.mark.parametrize("second", [np.array([3.0]), np.array([100]), np.ones(0), np.array(2.0), np.arange(3.0)])
@pytest.mark.parametrize(
    "function",
    [
        _doubled_one_by_one,
        _flat_item,
        _flat_item_of_a_tuple,
        _chosen,
        _chosen_list,
        _output_of_a_ufunc,
        _third_operand,
        _output_of_a_sum,
        _converted,
        _turns,
    ],
)
def test_errors_are_numpys(function: Any, second: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    if second.ndim or function in (_converted, _turns, _flat_item):
        x = np.array([1, 2, 3], np.int8)
        assert _outcome(jit(function), x, second) == _outcome(function, x, second)


def test_errors_of_outputs_name_the_line() -> None:
    def summed(x: Any) -> None:
        np.cumsum(x, out=x[:2])

    with pytest.raises(ValueError, match=r"an output of shape \(4,\) is required; got \(2,\)\n  at .*, in summed"):
        jit(summed, strict=True)(np.ones(4))
