"""Clamp, select and map: operations over elements that are no rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import formulas, references, rules
from xjit.ops.define.computation import replay, traced_scalars
from xjit.ops.define.core import apply, as_operand, aval_of, operands_like_each_other, register, static_ints
from xjit.ops.define.op_tables import element_of
from xjit.ops.define.rules import got
from xjit.ops.whole_arrays.shape import expanded
from xjit.types import BOOL, ArrayType, scalar_type

__all__ = ["clamp", "map", "select"]

# ---- clamp


def _clamp_reference(low: Any, operand: Any, high: Any) -> Any:
    if operand.dtype == BOOL:
        return (low | operand) & high
    if operand.dtype.kind in "iu":
        return np.minimum(np.maximum(low, operand), high)
    return references.minimum(references.maximum(low, operand), high)


CLAMP = register(
    OpDef(
        name="clamp",
        kind=Kind.ELEMENTWISE,
        xla_name="Clamp",
        infer=rules.elementwise_infer("clamp", ("min", "operand", "max"), "PIF", lambda dtype: dtype),
        reference=references.widened(_clamp_reference),
        element=element_of("clamp", {"PIF": formulas.clamped}),
        doc="minimum(maximum(min, operand), max).",
    )
)


def clamp(min: Any, operand: Any, max: Any) -> Any:
    """minimum(maximum(min, operand), max) with their NaN and zeros; min > max gives max.

    Element types: PRED, integer, float, one for all three. ``min`` and ``max`` have rank 0 or the operand's
    dimensions. Raises DTypeError and ShapeError.

    >>> clamp(np.int32(0), np.int32([-1, 5, 9]), np.int32(6))
    array([0, 5, 6], dtype=int32)
    """
    name, like = "clamp", operand if hasattr(operand, "dtype") else None
    bounds = (("min", min), ("operand", operand), ("max", max))
    dtype = None if like is None else like.dtype
    low, array, high = (as_operand(value, name, argument, dtype) for argument, value in bounds)
    types = tuple(aval_of(value) for value in (array, low, high))
    rules.check_class(name, "operand", types[0], "PIF")
    rules.check_same_dtype(name, ("operand", "min", "max"), types)
    for argument, type in (("min", types[1]), ("max", types[2])):
        _check_scalar_or_like(name, argument, type, types[0])
    dims = types[0].dims
    return apply(CLAMP, expanded(low, dims, _placed(types[1])), array, expanded(high, dims, _placed(types[2])))


def _placed(type: ArrayType) -> tuple[int, ...]:
    return tuple(range(type.rank))


def _check_scalar_or_like(name: str, argument: str, type: ArrayType, like: ArrayType) -> None:
    if type.rank != 0 and type.dims != like.dims:
        raise ShapeError(
            f"ops.{name}: {argument}: rank 0 or the dimensions of the operand are required; got {got((type, like))}"
        )


# ---- select


def _infer_select(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    name, arguments = "select", ("pred", "on_true", "on_false")
    rules.check_class(name, "pred", types[0], "P")
    rules.check_same_dtype(name, arguments[1:], types[1:])
    rules.check_same_dims(name, arguments[1:], types[1:])
    rules.check_same_dims(name, ("on_true", "pred"), (types[1], types[0]))
    return rules.elementwise_type(types, types[1].dtype)


SELECT = register(
    OpDef(
        name="select",
        kind=Kind.ELEMENTWISE,
        xla_name="Select",
        infer=_infer_select,
        reference=lambda pred, on_true, on_false: np.where(pred, on_true, on_false),
        element=element_of("select", {"PIFC": formulas.chosen}, which=1),
        doc="One element or the other; bits are copied.",
    )
)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """on_true where pred holds, else on_false; bits are copied.

    ``pred`` is PRED, of rank 0 or of the dimensions of the other two, which agree in type and dimensions. Two tuples
    of one structure are chosen as a whole by a pred of rank 0. Raises DTypeError and ShapeError.

    >>> select(np.array([True, False]), np.int32([1, 2]), np.int32([10, 20]))
    array([ 1, 20], dtype=int32)
    """
    if isinstance(on_true, tuple) or isinstance(on_false, tuple):
        return _select_tuple(pred, on_true, on_false)
    name = "select"
    condition = as_operand(pred, name, "pred")
    true, false = operands_like_each_other(name, on_true=on_true, on_false=on_false)
    types = aval_of(condition), aval_of(true), aval_of(false)
    rules.check_class(name, "pred", types[0], "P")
    rules.check_same_dtype(name, ("on_true", "on_false"), types[1:])
    rules.check_same_dims(name, ("on_true", "on_false"), types[1:])
    _check_scalar_or_like(name, "pred", types[0], types[1])
    return apply(SELECT, expanded(condition, types[1].dims, _placed(types[0])), true, false)


def _select_tuple(pred: Any, on_true: Any, on_false: Any) -> Any:
    name = "select"
    rules.check_rank(name, "pred", aval_of(as_operand(pred, name, "pred")), 0)
    for one, other in ((on_true, on_false), (on_false, on_true)):
        if not isinstance(one, tuple) or len(one) != len(other):
            raise ShapeError(
                f"ops.{name}: on_false: tuples of one structure are required; got {_outline(on_true)} "
                f"and {_outline(on_false)}"
            )
    return tuple(select(pred, true, false) for true, false in zip(on_true, on_false, strict=True))


def _outline(value: Any) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__


# ---- map


def map(
    operands: Sequence[Any],
    computation: Callable[..., Any],
    dimensions: Sequence[int] | None = None,
    static_operands: Sequence[Any] = (),
) -> Any:
    """A computation over scalars applied to every element of arrays of equal dimensions.

    ``computation(*elements, *static_operands)`` is traced once with values of rank 0 and returns one of them;
    ``static_operands`` have rank 0 and are handed through. Any element types. Raises DTypeError, ArgumentError for no
    operands or for ``dimensions`` other than all in order, ShapeError for dimensions that differ.

    >>> map((np.float32([1, 2]), np.float32([3, 4])), lambda x, y: x * y)
    array([3., 8.], dtype=float32)
    """
    name = "map"
    if not isinstance(operands, Sequence) or len(operands) == 0:
        raise ArgumentError(f"ops.{name}: operands: a tuple of at least one array is required; got {operands!r}")
    arrays = [as_operand(value, name, f"operands[{k}]") for k, value in enumerate(operands)]
    extra = [as_operand(value, name, f"static_operands[{k}]") for k, value in enumerate(static_operands)]
    types = [aval_of(array) for array in arrays]
    if dimensions is not None and static_ints(dimensions, name, "dimensions") != tuple(range(types[0].rank)):
        raise ArgumentError(f"ops.{name}: dimensions: all dimensions in order are required; got {tuple(dimensions)}")
    rules.check_same_dims(name, [f"operands[{k}]" for k in range(len(types))], types)
    for k, value in enumerate(extra):
        rules.check_rank(name, f"static_operands[{k}]", aval_of(value), 0)
    scalars = [scalar_type(aval_of(value).dtype) for value in (*arrays, *extra)]
    graph = traced_scalars(name, computation, scalars, None)
    return replay(graph, (*arrays, *extra), types[0].dims)[0]
