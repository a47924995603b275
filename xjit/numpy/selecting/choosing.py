"""Choices by position and by condition: choose, piecewise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError, IndexOutOfBoundsError
from xjit.ir.context import TracedValue
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.numpy.arrays.creation import zeros_like
from xjit.numpy.arrays.joining import elements
from xjit.numpy.arrays.shaping import as_array, ravel, reshape
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast, broadcast_to_shape
from xjit.numpy.rules.promotion import cast, nonzero, result_type, stored, wrapped
from xjit.numpy.rules.values import as_scalar, as_value, operand, order_letter, refuse, shape_of, with_order
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.define.memory_order import pack
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, INT64, c_order

MOST_CHOICES = 64
"""NumPy takes no more than these either."""

_OUT_OF_RANGE = "numpy.choose: invalid entry in choice array"


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """From each place of one of the arrays, the number of which stands in that place of ``a``.

    Integers choose among any element types, promoted together; shapes broadcast. Modes: ``raise``, ``wrap`` takes
    numbers modulo the count, ``clip`` the nearest one. Raises DTypeError for numbers that are no integers,
    ArgumentError for other modes, no choices, and at the run for numbers out of range.

    >>> choose([0, 1], [np.array([1, 2]), np.array([10, 20])])
    array([ 1, 20])
    """
    refuse("choose", out=out)
    if mode not in ("raise", "wrap", "clip"):
        raise ArgumentError(f"numpy.choose: clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    index, parts = as_value(a, "choose"), elements(choices, "choose")
    if not 0 < len(parts) <= MOST_CHOICES:
        raise ArgumentError(f"numpy.choose: 1 to {MOST_CHOICES} choices are required; got {len(parts)}")
    if not np.can_cast(dtype_of(index), INT64, "safe"):
        raise DTypeError(
            f"numpy.choose: Cannot cast array data from {dtype_of(index)!r} to {INT64!r} according to the rule 'safe'"
        )
    places = _places(cast(index, INT64), len(parts), mode)
    dtype = result_type(*parts, name="choose")
    number, *values = broadcast("choose", places, *(wrapped(part, dtype) for part in parts))
    result = values[-1]
    for place, value in reversed(list(enumerate(values[:-1]))):
        result = ops.select(ops.eq(number, c.full_like(number, place)), value, result)
    order = c_order(len(shape_of(result)))
    result = with_order(result, order) if len(values) > 1 else pack(result, order)
    return as_scalar(_checked(result, index, len(parts)) if mode == "raise" else result)


def _places(index: Any, count: int, mode: str) -> Any:
    if mode == "wrap":
        return call(np.remainder, index, count)
    return call(np.minimum, call(np.maximum, index, 0), count - 1) if mode == "clip" else index


def _checked(result: Any, index: Operand, count: int) -> Any:
    """The result, if no number is out of range: that of arrays known while tracing shows at once."""
    if not isinstance(index, TracedValue):
        if index.size and not (int(index.min()) >= 0 and int(index.max()) < count):
            raise ArgumentError(_OUT_OF_RANGE)
        return result
    if dtype_of(index) == BOOL and count > 1:
        return result
    wide = cast(index, INT64)
    inside = call(np.logical_and, call(np.greater_equal, wide, 0), call(np.less, wide, count))
    return require(result, inside, "value", _OUT_OF_RANGE)


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Zeros, and in the places of each condition a number or what a function makes of the elements there.

    Element types: any, that of ``x`` for the result. One function more than conditions is for all other places. The
    functions are called with all elements, flattened, and have to treat each by itself. Raises ArgumentError for
    another number of functions, CaptureError for functions that mix elements and for conditions of other shapes.

    >>> piecewise(np.array([1.0, -2.0]), [[True, False]], [3, lambda v: -v])
    array([3., 2.])
    """
    value = as_array(as_value(x, "piecewise"))
    masks = [_mask(one, value) for one in _conditions(condlist, value)]
    count = len(masks)
    if count == len(funclist) - 1:
        others = masks[0]
        for mask in masks[1:]:
            others = ops.logical_or(others, mask)
        masks.append(ops.not_(others))
    elif count != len(funclist):
        raise ArgumentError(
            f"numpy.piecewise: with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    result = zeros_like(value)
    for mask, function in zip(masks, funclist, strict=True):
        made = _made(function, value, args, kw) if callable(function) else _number(function, value)
        result = ops.select(mask, made, result)
    return with_order(result, order_letter(value, "K", "piecewise"))


def _conditions(condlist: Any, value: Operand) -> list[Any]:
    """The conditions: a single one need not be in a list."""
    if isinstance(condlist, TracedValue | np.ndarray):
        rank = len(shape_of(condlist))
        if rank and shape_of(condlist)[0] == 0:
            raise IndexOutOfBoundsError("numpy.piecewise: condlist: index 0 is out of bounds for axis 0 with size 0")
        return elements(condlist, "piecewise") if rank > 1 or (rank and not shape_of(value)) else [condlist]
    if not isinstance(condlist, list | tuple):
        return [condlist]
    nested = bool(condlist) and (isinstance(condlist[0], list) or _has_rank(condlist[0]))
    return list(condlist) if nested or not shape_of(value) else [condlist]


def _has_rank(value: Any) -> bool:
    return isinstance(value, TracedValue | np.ndarray) and not (isinstance(value, TracedValue) and value.scalar)


def _mask(condition: Any, value: Operand) -> Any:
    found = nonzero(as_value(condition, "piecewise", "condlist"))
    if shape_of(found) != shape_of(value):
        wanted, got = shape_of(value), shape_of(found)
        leading = wanted[: len(got)] == got
        error = CaptureError if leading else IndexOutOfBoundsError  # NumPy takes conditions on leading axes
        raise error(f"numpy.piecewise: condlist: conditions of the shape {wanted} are required; got {got}")
    return found


def _number(number: Any, value: Operand) -> Any:
    found = stored(operand(number, "piecewise", "funclist"), dtype_of(value))
    if shape_of(found):
        raise CaptureError(f"numpy.piecewise: funclist: numbers or functions are required; got {shape_of(found)}")
    return broadcast_to_shape(found, shape_of(value))


def _made(function: Any, value: Operand, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    line = as_array(ravel(value))
    made = as_value(function(line, *args, **kw), "piecewise", "the result of a function")
    if shape_of(made) not in ((), shape_of(line)):
        raise ArgumentError(f"numpy.piecewise: a function returned the shape {shape_of(made)} for {shape_of(line)}")
    if isinstance(made, TracedValue) and isinstance(line, TracedValue):
        _check_elementwise(made.node, line.node)
    return reshape(broadcast_to_shape(cast(made, dtype_of(value)), shape_of(line)), shape_of(value))


def _check_elementwise(result: Node, line: Node) -> None:
    """CaptureError unless each element of the result depends on the same element of the line and on numbers."""
    depends = {line: True}
    stack = [result]
    while stack:
        node = stack[-1]
        missing = [source for source in node.inputs if source not in depends] if node not in depends else []
        if missing:
            stack += missing
            continue
        stack.pop()
        if node not in depends:
            depends[node] = any(depends[source] for source in node.inputs)
            _check_step(node, depends)


def _check_step(node: Node, depends: dict[Node, bool]) -> None:
    """One step that leads to the result: elementwise if it uses the line, and then of nothing but numbers besides."""
    numbers = all(depends[source] or _repeats_a_number(source) for source in node.inputs)
    if depends[node] and not (node.op.kind is Kind.ELEMENTWISE and node.aval.shape and numbers):
        raise CaptureError(
            f"numpy.piecewise: a function that mixes elements, by {node.op.name}, is not supported",
            where=node.where,
            fix="compute what mixes elements before, and pass it as a number",
        )


def _repeats_a_number(node: Node) -> bool:
    while node.op.kind is Kind.INDEXING and node.op.access is not None and node.aval.shape:
        node = node.inputs[0]
    return not node.aval.shape
