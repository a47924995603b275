"""Arrays joined in brackets: ``r_[a, 0, 1:5]`` and ``c_[x, y]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import CaptureError
from xjit.numpy.arrays.creation import array
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.promotion import result_type, typed
from xjit.numpy.rules.values import shape_of
from xjit.ops.define.core import Operand


def in_row(key: Any) -> Any:
    """``numpy.r_[key]``: arrays, numbers and ranges one after the other along the first axis.

    Numbers are of the common element type as in arithmetic; a range ``a:b:nj`` is n numbers from a up to b. Raises
    CaptureError for text that says how to join, ShapeError if other sizes differ, DTypeError if there is no common
    element type.

    >>> in_row((np.array([1, 2]), 0, slice(5, 7)))
    array([1, 2, 0, 5, 6])
    """
    return _joined("r_", key, 0, lambda part: array(part, copy=None, ndmin=1))


def in_columns(key: Any) -> Any:
    """``numpy.c_[key]``: arrays of rank 1, numbers and ranges as columns, others as they are, along the last axis.

    >>> in_columns((np.array([1, 2]), np.array([3, 4])))
    array([[1, 3],
           [2, 4]])
    """
    return _joined("c_", key, -1, _column)


def _column(part: Any) -> Any:
    value = array(part, copy=None)
    shape = shape_of(value)
    return value if len(shape) > 1 else ops.reshape(as_array(value), (*(shape or (1,)), 1))


def _joined(name: str, key: Any, axis: int, raised: Callable[[Any], Any]) -> Any:
    parts = [_evaluated(name, part) for part in (key if isinstance(key, tuple) else (key,))]
    found = result_type(*(part if _is_number(part) else array(part, copy=None) for part in parts), name=name)
    return join(
        name, [raised(typed(part, found) if _is_number(part) else part) for part in parts], axis, found, "unsafe"
    )


def _evaluated(name: str, part: Any) -> Any:
    """A range as its numbers; anything else as it is."""
    if isinstance(part, str):
        raise CaptureError(f"numpy.{name}: text that says how to join is not supported; got {part!r}")
    if not isinstance(part, slice):
        return part
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return np.linspace(start, part.stop, num=int(abs(step)))
    return np.arange(start, part.stop, step)


def _is_number(part: Any) -> bool:
    return isinstance(part, bool | int | float | complex | np.generic)


SUBSCRIPTED: dict[Any, Callable[[Any], Operand]] = {np.r_: in_row, np.c_: in_columns}
"""Stand-ins of NumPy's functions that are written with brackets."""
