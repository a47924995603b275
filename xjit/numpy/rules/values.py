"""Values that NumPy code hands in, and marks that tell what NumPy would hand out: scalar, view, memory order."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.errors import ArgumentError, CaptureError, DTypeError, IndexOutOfBoundsError, ShapeError, XjitError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.scalar_expr import Literal
from xjit.numpy.rules.promotion import as_array, cast, stored, supported, weak_type
from xjit.numpy.rules.view_strides import column_or_row_major, has_known_order
from xjit.ops.define.core import Array, Operand, aval_of, dtype_of, lift
from xjit.ops.define.formulas import bit_type
from xjit.ops.define.memory_order import pack
from xjit.ops.whole_arrays.concatenate import concatenate
from xjit.ops.whole_arrays.shape import reshape
from xjit.types import NARROW_FLOATS, ArrayType, DType, c_order, combined_order

Shape: TypeAlias = "tuple[int, ...]"


class AxisError(ArgumentError, np.exceptions.AxisError):
    """An axis lies outside the array: also NumPy's error of this name, so both ValueError and IndexError."""

    def __str__(self) -> str:
        return ArgumentError.__str__(self)


@contextlib.contextmanager
def numpy_errors(name: str, value_error: type[XjitError] = ShapeError, fix: str = "") -> Iterator[None]:
    """Turns what NumPy's own checks raise into our errors of the same built-in type."""
    try:
        yield
    except XjitError:
        raise
    except np.exceptions.AxisError as error:
        raise AxisError(f"numpy.{name}: {error}", fix=_axes_there_are(error.ndim)) from None
    except IndexError as error:
        raise IndexOutOfBoundsError(f"numpy.{name}: {error}") from None
    except TypeError as error:
        raise DTypeError(f"numpy.{name}: {error}") from None
    except ValueError as error:
        raise value_error(f"numpy.{name}: {error}", fix=fix) from None


def _axes_there_are(rank: int | None) -> str:
    return f"pass an axis from {-rank} to {rank - 1}" if rank else "leave the axis out"


def whole_number(value: Any) -> int:
    """An integer as NumPy's compiled code takes sizes and axes: truth values are none, unlike in Python.

    Raises TypeError.
    """
    if isinstance(value, bool):
        raise TypeError(f"an integer is required; got {value}")
    return operator.index(value)


_INSTEAD = {"out": "use the result instead: y = np.add(x, 1)", "where": "choose with np.where"}


def refuse(name: str, **options: Any) -> None:
    """CaptureError for the first option that was given; None, False and NumPy's 'no value' mean not given."""
    for option, value in options.items():
        if value is not None and value is not False and value is not np._NoValue:
            fix = _INSTEAD.get(option, "leave it out, or call the function outside of the compiled one")
            raise CaptureError(f"numpy.{name}: {option}= is not supported", fix=fix)


def given(value: Any) -> bool:
    """Return whether an argument was passed at all: NumPy marks absent ones by a value of its own."""
    return value is not np._NoValue


TAKEN_AS = "taken_as_array"
"""The method of objects that functions of NumPy take as a traced array, such as iterators over one."""


def as_value(value: Any, name: str, argument: str = "operand") -> Operand:
    """An array or traced value of anything that NumPy takes for an array.

    Traced numbers of Python's become NumPy's. Nested sequences with traced values in them are stacked. Raises
    CaptureError for subclasses of ndarray and DTypeError for unsupported element types.
    """
    if isinstance(value, TracedValue):
        return as_array(value)
    if hasattr(type(value), TAKEN_AS):
        taken: Operand = getattr(value, TAKEN_AS)()
        return taken
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        raise CaptureError(
            f"numpy.{name}: {argument}: arrays of the subclass {type(value).__name__} are not supported",
            fix="pass np.asarray(...) of it",
        )
    if isinstance(value, list | tuple) and _holds_traced(value):
        return _stack_nested(value, name, argument)
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    supported(array.dtype, name)
    return array


def operand(value: Any, name: str, argument: str = "operand") -> Any:
    """Like as_value, but Python scalars stay as they are, so that they promote weakly."""
    if isinstance(value, bool) or weak_type(value) is not None:
        return value
    return as_value(value, name, argument)


def _holds_traced(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_traced, value))
    return isinstance(value, TracedValue)


def holds_no_array(value: Any) -> bool:
    """Return whether the value is numbers alone, nested in any way, without an array or a traced value among them."""
    if isinstance(value, list | tuple):
        return all(map(holds_no_array, value))
    return not isinstance(value, TracedValue | np.ndarray) and not hasattr(type(value), TAKEN_AS)


def elements(value: Any, dtype: DType, name: str, argument: str = "operand") -> Operand:
    """An array of this element type of anything that NumPy takes for one; numbers are converted one by one.

    Raises OverflowError for Python integers that the type does not hold.
    """
    if isinstance(value, list | tuple) and _holds_traced(value):
        return _stacked([elements(one, dtype, name, argument) for one in value], name, argument)
    return stored(operand(value, name, argument), dtype)


def _stack_nested(values: Any, name: str, argument: str) -> Operand:
    dims = _regular_dims(values)
    if len(dims) > 1:
        line = _stack_nested(_leaves(values, len(dims)), name, argument)
        found: Operand = reshape(line, (*dims, *shape_of(line)[1:]))
        return found
    parts = [as_value(value, name, argument) for value in values]  # Python numbers have types of their own here
    with numpy_errors(name):
        dtype = supported(np.result_type(*map(dtype_of, parts)), name)
    return _stacked([cast(part, dtype) for part in parts], name, argument)


def _regular_dims(values: Any) -> Shape:
    """The dimensions of sequences that are nested in a regular way, down to where they end."""
    if not isinstance(values, list | tuple):
        return ()
    inner = set(map(_regular_dims, values))
    return (len(values), *(inner.pop() if len(inner) == 1 else ()))


def _leaves(values: Any, depth: int) -> list[Any]:
    """The elements of sequences that are nested so deep."""
    return [leaf for one in values for leaf in _leaves(one, depth - 1)] if depth else [values]


def _stacked(cells: list[Operand], name: str, argument: str) -> Operand:
    shapes = {shape_of(cell) for cell in cells}
    if len(shapes) != 1:
        raise ShapeError(f"numpy.{name}: {argument}: the elements of a sequence differ in shape; got {shapes}")
    row = (1, *shapes.pop())
    stacked: Operand = concatenate([reshape(cell, row) for cell in cells], 0)
    return stacked


def shape_of(value: Operand) -> Shape:
    """The dimensions of an operand."""
    return aval_of(value).shape


def is_scalar(value: Any) -> bool:
    """Return whether NumPy would hold a scalar here, not an array."""
    if isinstance(value, TracedValue):
        return value.scalar or value.weak is not None
    return not isinstance(value, np.ndarray)


def fresh(value: Operand) -> Any:
    """The same elements as a new object: a traced value without marks, or outside of a trace a copy."""
    trace = current()
    return np.array(value) if trace is None else trace.wrap(lift(trace, value), trace)


def copied(value: Operand) -> Any:
    """The same elements in memory of their own, in NumPy's K order: a step, so that it is never the operand."""
    return _lying_as(value, pack(value, order_letter(value, "K", "copy")))


def looped(value: Operand) -> Any:
    """The same elements in memory of their own, in the order that a loop of NumPy gives its result."""
    return _lying_as(value, pack(value, loop_order(value)))


def _lying_as(value: Operand, result: Any) -> Any:
    """A copy, whose memory order only the run knows where that is so for the operand."""
    trace = current()
    if trace is not None and isinstance(value, TracedValue) and not has_known_order(value.node, trace):
        trace.unordered.add(result.node)
    return result


def perhaps_view(value: Operand, order: tuple[int, ...] = ()) -> Any:
    """A result of which only the run knows if it is a view or a copy: nobody can write to it, nor to its operand."""
    return as_view(pack(value, order or c_order(len(shape_of(value)))))


def as_scalar(value: Operand) -> Any:
    """A result of rank 0 as NumPy's ufuncs return it: a scalar; arrays of other rank are returned as they are."""
    if shape_of(value):
        return value
    if current() is None:
        return np.asarray(value)[()]
    result = fresh(value)
    result.scalar = True
    return result


def scalar_like(value: Any, result: Operand) -> Any:
    """The result of a method: on scalars NumPy returns scalars, on arrays of rank 0 arrays."""
    return as_scalar(result) if is_scalar(value) else result


def as_view(value: Operand) -> Any:
    """A result that shares its operand's memory in NumPy."""
    result = fresh(value)
    if isinstance(result, TracedValue):
        result.is_view = True
    return result


def constant(array: Array) -> Any:
    """An array whose values are known now: a constant of the trace, or outside of one the array itself."""
    trace = current()
    if trace is None:
        return np.array(array)
    if not array.ndim:
        return trace.wrap(trace.scalar(array), trace)
    packed = trace.wrap(trace.constant(Literal.of(array)), trace)
    order = aval_of(array).order
    return with_order(packed, order) if len(order) == array.ndim else packed


def with_order(value: Operand, order: tuple[int, ...]) -> Any:
    """The same elements, packed in this memory order (axes from the slowest to the fastest)."""
    return value if aval_of(value).order == order else pack(value, order)


def order_letter(value: Operand, order: str | None, name: str) -> tuple[int, ...]:
    """The memory order that NumPy's ``order=`` letter asks for: C, F, A (F if the operand is) or K (as it is)."""
    rank, current_order = len(shape_of(value)), aval_of(value).order
    backwards = tuple(reversed(range(rank)))
    if order in ("C", "c"):
        return c_order(rank)
    if order in ("F", "f"):
        return backwards
    if order in ("A", "a"):
        return column_or_row_major(value)
    if order in (None, "K", "k"):
        return (*current_order, *(axis for axis in range(rank) if axis not in current_order))
    raise ArgumentError(f"numpy.{name}: order: one of C, F, A, K is required; got {order!r}")


def converted(value: Operand, dtype: DType) -> Any:
    """The operand itself if it has the type, else what NumPy's ``astype`` makes of it: an array in K order.

    Functions of NumPy that convert before they compute take on that order.
    """
    if dtype_of(value) == dtype:
        return value
    return with_order(cast(value, dtype), order_letter(value, "K", "astype"))


def loop_order(*values: Any) -> tuple[int, ...]:
    """The memory order that one loop of NumPy over operands that broadcast gives its result.

    It is that of the operands as they come: what the loop converts, it converts on the way. Python numbers have no
    say.
    """
    return order_of_loop([aval_of(value) for value in values if isinstance(value, TracedValue | np.ndarray)])


def order_of_loop(types: Sequence[ArrayType]) -> tuple[int, ...]:
    """The memory order that one loop of NumPy over operands of these types gives its result."""
    rank = max((type.rank for type in types), default=0)
    if all(type.order in (c_order(type.rank), ()) for type in types):
        return c_order(rank)
    shape = np.broadcast_shapes(*(type.shape for type in types))
    return combined_order(shape, tuple(_repeated_strides(type, shape) for type in types))


def _repeated_strides(type: ArrayType, shape: Shape) -> tuple[int, ...]:
    """The strides of an array that is broadcast to a shape."""
    sizes = shape[len(shape) - type.rank :]
    steps = zip(type.strides, type.shape, sizes, strict=True)
    return (0,) * (len(shape) - type.rank) + tuple(step if own == size else 0 for step, own, size in steps)


def pattern_of(value: Operand) -> Array:
    """A small array in the operand's memory order: sizes above two are two, broadcast axes have stride zero.

    NumPy's own functions on it tell the memory order of their result.
    """
    found = aval_of(value)
    sizes = tuple(min(size, 2) for size in found.shape)
    dtype = bit_type(found.dtype) if found.dtype in NARROW_FLOATS else found.dtype  # NumPy cannot stride over some
    packed = np.zeros([sizes[axis] for axis in found.order], dtype)
    strides = dict(zip(found.order, packed.strides, strict=True))
    pattern: Array = np.lib.stride_tricks.as_strided(
        packed, sizes, tuple(strides.get(axis, 0) for axis in range(len(sizes)))
    )
    return pattern
