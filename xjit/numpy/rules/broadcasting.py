"""Implicit broadcasting, written out: each operand gets a broadcast_in_dim node of its own.

>>> common_shape("add", [(2, 1), (3,)])
(2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xjit.errors import ShapeError
from xjit.numpy.rules.values import Shape, shape_of
from xjit.ops.define.core import Operand
from xjit.ops.whole_arrays.shape import broadcast_in_dim, stretched


def common_shape(name: str, shapes: Sequence[Shape]) -> Shape:
    """The shape that all of these broadcast to: aligned at the last axis, sizes of one stretch.

    Raises ShapeError if two sizes differ and neither is one.
    """
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[axis] not in (1, size):
                text = " ".join(map(shape_text, shapes))
                sizes = f"axis {axis - rank} has sizes {result[axis]} and {size}"
                raise ShapeError(
                    f"numpy.{name}: operands could not be broadcast together with shapes {text}",
                    fix=f"{sizes}, which must be equal or 1: slice one, or put a new axis behind with x[..., None]",
                )
            result[axis] = result[axis] if size == 1 else size
    return tuple(result)


def shape_text(shape: Shape) -> str:
    """A shape as NumPy prints it in messages: ``(2,3)``, ``(4,)``."""
    return str(shape).replace(" ", "")


def broadcast_to_shape(value: Operand, shape: Shape) -> Any:
    """The operand repeated along new leading axes and axes of size one; the shapes must fit."""
    own = shape_of(value)
    if own == shape:
        return value
    mapping = tuple(range(len(shape) - len(own), len(shape)))
    return stretched(broadcast_in_dim(value, shape, mapping), value, mapping)


def broadcast(name: str, *values: Operand) -> tuple[Any, ...]:
    """All operands in their common shape; ShapeError if there is none."""
    shape = common_shape(name, [shape_of(value) for value in values])
    return tuple(broadcast_to_shape(value, shape) for value in values)
