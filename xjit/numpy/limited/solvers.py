"""Solvers and decompositions of matrices whose sizes only the run knows: NumPy's own, between kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ShapeError
from xjit.numpy.limited.arrays import LimitedArray, Sizes, limited, made, number_of, sizes_of, value_of
from xjit.numpy.limited.functions import refused
from xjit.numpy.limited.joined_arrays import array_of
from xjit.numpy.limited.run_time_integers import Integer, chosen, integer, is_below, is_same, smallest
from xjit.numpy.rules.values import as_scalar
from xjit.ops.dynamic.library_calls import limited_call
from xjit.ops.dynamic.limited_windows import bound_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import dtype_class

_SQUARE = "Last 2 dimensions of the array must be square"


def _called(name: str, arrays: Sequence[Any], options: Mapping[str, Any], dims: Sequence[Any]) -> Any:
    """The results of a function of numpy.linalg for matrices and lines, of these dimensions or less."""
    ends = [{axis: number_of(one) for axis, one in enumerate(sizes_of(a)) if one.known is None} for a in arrays]
    return limited_call(f"linalg.{name}", [value_of(one) for one in arrays], ends, options, dims)


def _dims(sizes: Sizes) -> tuple[int, ...]:
    return tuple(bound_of(size.high) if size.known is None else size.known for size in sizes)


def _of_sizes(found: Any, sizes: Sizes) -> Any:
    return made(limited(found, sizes), sizes) if sizes else as_scalar(found)


def _solved(name: str, arrays: Sequence[Any], sizes: Sizes) -> Any:
    return _of_sizes(_called(name, arrays, {}, _dims(sizes)), sizes)


def _matrix(a: Any, name: str) -> Any:
    found = array_of(a, f"linalg.{name}")
    if len(sizes_of(found)) != 2 or dtype_class(found.dtype) not in "FI":
        raise refused(f"numpy.linalg.{name} of other arrays than matrices of real numbers")
    return found


def _square(a: Any, name: str) -> tuple[Any, Integer]:
    """A square matrix and the number of its rows; LinAlgError for others, when the program runs."""
    found = _matrix(a, name)
    rows, columns = sizes_of(found)
    if rows.equals(columns):
        return found, rows
    if rows.known is not None and columns.known is not None:
        raise ShapeError(f"numpy.linalg.{name}: {_SQUARE}")
    held = require(number_of(columns), is_same(rows, columns), "shape", f"numpy.linalg.{name}: {_SQUARE}")
    size = integer(held).within(max(rows.low, columns.low), min(rows.high, columns.high))
    return LimitedArray(limited(value_of(found), (rows, columns)), (rows, size)), rows


def _solve(a: Any, b: Any) -> Any:
    matrix, rows = _square(a, "solve")
    right = array_of(b, "linalg.solve")
    sizes = sizes_of(right)
    if not 0 < len(sizes) < 3 or dtype_class(right.dtype) not in "FI":
        raise refused("numpy.linalg.solve for stacks")
    if not sizes[0].equals(rows):
        raise refused("numpy.linalg.solve for right sides of another size")
    return _solved("solve", [matrix, right], sizes)


def _of_square(name: str, rank: int) -> Callable[..., Any]:
    def call(a: Any) -> Any:
        matrix, rows = _square(a, name)
        return _solved(name, [matrix], (rows,) * rank)

    return call


def _lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, ...]:
    """Solutions with residuals, of which there are some where all columns are independent and rows are more."""
    matrix, right = _matrix(a, "lstsq"), array_of(b, "linalg.lstsq")
    (rows, columns), own = sizes_of(matrix), sizes_of(right)
    is_number = rcond is None or isinstance(rcond, int | float)
    if not is_number or len(own) != 1 or dtype_class(right.dtype) not in "FI" or not own[0].equals(rows):
        raise refused("numpy.linalg.lstsq with such arguments")

    least = smallest(rows, columns)
    dims = [_dims((columns,)), (1,), (), _dims((least,))]
    solution, residuals, rank, values = _called("lstsq", [matrix, right], {"rcond": rcond}, dims)
    full = ops.eq(ops.convert_element_type(rank, "int64"), number_of(columns))
    count = chosen(ops.logical_and(is_below(columns, rows), full), integer(1), integer(0))
    sizes = ((columns,), (count,), (), (least,))
    return tuple(map(_of_sizes, (solution, residuals, rank, values), sizes))


SOLVERS: dict[Any, Callable[..., Any]] = {
    np.linalg.solve: _solve,
    np.linalg.inv: _of_square("inv", 2),
    np.linalg.det: _of_square("det", 0),
    np.linalg.cholesky: _of_square("cholesky", 2),
    np.linalg.eigvalsh: _of_square("eigvalsh", 1),
    np.linalg.lstsq: _lstsq,
}
"""Functions of limited arrays, by NumPy's."""
