"""The size of a dimension: read, and set to less than the bound that the shape states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.scalar_expr import Arg, Expr
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, aval_of, constant, lift, register, static_int
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.dynamic.extents import dynamic_axes, extent, extents_in, sizes_of
from xjit.ops.elements.compare import eq
from xjit.ops.elements.select import clamp
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import expanded
from xjit.types import INT32, ArrayType

__all__ = ["get_dimension_size", "set_dimension_size"]

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    return rules.elementwise_type(types[:1], types[0].dtype)


def _as_it_is(operand: Array, size: Array, dimension: int) -> Array:
    return np.array(operand, order="K")


def _element(types: Types, params: Params, out: ArrayType) -> Expr:
    return Arg(0, types[0].dtype)


SET_DIMENSION_SIZE = register(
    OpDef(
        name="set_dimension_size",
        kind=Kind.ELEMENTWISE,
        xla_name="SetDimensionSize",
        infer=_infer,
        reference=_as_it_is,
        element=_element,
        silent=True,
        doc="The operand at its bound; the trace knows the size of a dimension, the second operand at every element.",
    )
)


def _infer_size(types: Types, params: Params) -> ArrayType:
    return ArrayType(INT32, (), ())


def _size(operand: Array, dimension: int) -> Array:
    return np.array(operand.shape[dimension], INT32)


GET_DIMENSION_SIZE = register(
    OpDef(
        name="get_dimension_size",
        kind=Kind.STRUCTURED,
        xla_name="GetDimensionSize",
        infer=_infer_size,
        reference=_size,
        silent=True,
        doc="The size of a dimension of an array; traces know it.",
    )
)


def get_dimension_size(operand: Any, dimension: int) -> Any:
    """The size of a dimension as S32: of the shape, or the one that ``set_dimension_size`` has set.

    Any element type. Raises DTypeError, ArgumentError for a dimension that there is not.

    >>> get_dimension_size(np.zeros((2, 7)), 1)
    array(7, dtype=int32)
    """
    name = "get_dimension_size"
    array, axis = _operand(operand, dimension, name)
    if current() is None:
        return apply(GET_DIMENSION_SIZE, array, dimension=axis)
    return extent(array, axis)


def set_dimension_size(operand: Any, size: Any, dimension: int) -> Any:
    """The operand with a size of one dimension that only the run may know, up to that of its shape.

    Inside a trace the shape stays as it is, elements at positions from ``size`` on are not seen by any operation, and
    results are trimmed when they leave the trace; ``size``, an S32 of rank 0, is clamped to what the shape has.
    Outside a trace the result is the array cut to ``size`` elements. Any element type. Raises DTypeError for another
    type of ``size``, ArgumentError for a dimension that there is not and for a known size outside of it, ShapeError
    for another rank of ``size``.

    >>> set_dimension_size(np.float32([1, 2, 3]), np.int32(2), 0)
    array([1., 2.], dtype=float32)
    """
    name = "set_dimension_size"
    given = as_operand(size, name, "size", INT32)
    type = aval_of(given)
    if type.dtype != INT32:
        raise DTypeError(f"ops.{name}: size: the element type must be s32; got {got((type,))}")
    array, axis = _operand(operand, dimension, name)
    if type.rank:
        raise ShapeError(f"ops.{name}: size: rank 0 is required; got {got((type,))}")
    bound, known = aval_of(array).shape[axis], _known(given)
    if known is not None and not 0 <= known <= bound:
        raise ArgumentError(
            f"ops.{name}: size: a size of 0 up to the dimension's {bound} is required; "
            f"got {known} for {got((aval_of(array),))}"
        )
    if current() is None:
        cut = tuple(slice(known if place == axis else None) for place in range(array.ndim))
        return np.array(array[cut], order="K")
    if known is None:
        given = clamp(np.int32(0), given, np.int32(bound))
    return sized(array, {axis: None if known == bound else given})


def _operand(operand: Any, dimension: Any, name: str) -> tuple[Any, int]:
    """An array and a dimension of it."""
    array = as_operand(operand, name, "operand")
    axis = static_int(dimension, name, "dimension")
    rules.check_axis(name, "dimension", axis, aval_of(array).rank)
    return array, axis


def _known(size: Any) -> int | None:
    """The number that a size is, if the trace knows it."""
    if not isinstance(size, TracedValue):
        return int(size)
    return int(size.node.param("value").item()) if size.node.op is CONSTANT else None


def sized(array: Any, sizes: dict[int, Any]) -> Any:
    """The array, inside a trace, with these sizes of some dimensions; None is the bound."""
    trace = current()
    assert trace is not None
    extents, known = extents_in(trace), list(sizes_of(array))
    for axis, size in sizes.items():
        known[axis] = None if size is None else lift(trace, size)
    with extents.at_bounds():
        for axis, size in sizes.items():
            bound = constant(np.array(aval_of(array).shape[axis], INT32))
            every = expanded(bound if size is None else size, aval_of(array).dims, ())
            array = apply(SET_DIMENSION_SIZE, array, every, dimension=axis)
    extents.note(array.node, tuple(known))
    return array


def at_bound(value: Any, axes: Sequence[int] | None = None) -> Any:
    """The value with its bounds as sizes, of all dynamic dimensions or of some: padding becomes elements."""
    found = [axis for axis in dynamic_axes(value) if axes is None or axis in axes]
    return sized(value, dict.fromkeys(found)) if found else value


def joint_sizes(name: str, arrays: Sequence[Any]) -> dict[int, Any]:
    """The sizes of the dynamic dimensions of several arrays of equal bounds, which have to be equal in the run."""
    found: dict[int, Any] = {}
    for axis in sorted({axis for array in arrays for axis in dynamic_axes(array)}):
        sizes = [extent(array, axis) for array in arrays]
        first = sizes[0]
        for other in sizes[1:]:
            if other.node is not sizes[0].node:
                message = f"ops.{name}: operands: equal dynamic sizes of dimension {axis} are required; got others"
                first = require(first, eq(sizes[0], other), "shape", message)
        found[axis] = first
    return found
