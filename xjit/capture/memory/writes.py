"""Writes: what NumPy checks and converts before it stores, and the new version of the buffer.

``x[...] = v`` casts in any way, ``out=``, ``+=`` and ``copyto`` as the same-kind rule says; both repeat what is
smaller, and refuse before they write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.capture.memory.stored_numbers import held
from xjit.capture.memory.views import version_after
from xjit.capture.tracers.errors_in_order import test_ahead_of_store
from xjit.capture.tracers.provenance import CaptureTrace, enclosing_capture, noted, refuse
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import elements, holds_no_array, is_scalar, operand
from xjit.ops.define.core import lift
from xjit.types import DType, dtype_class

DESTINATION = "assignment destination"
"""Name of the array of an assignment, as NumPy has it."""

INTO = "could not broadcast input array from shape {} into shape {}"
"""The message about a value that does not fit."""


def check_writable(target: Any, name: str = "output array") -> None:
    """CaptureError unless a trace can follow a write to this array; ArgumentError for what NumPy refuses to write,
    which calls it by this ``name``.
    """
    if target is None:
        return
    if not isinstance(target, BufferView):
        refuse("an array from outside of the function is written in place", fix="pass it as an argument")
    if is_scalar(target):
        raise noted(DTypeError("return arrays must be of ArrayType", fix="pass an array, not a number"), target)
    if target.frozen or target.buffer.frozen:
        raise noted(ArgumentError(f"{name} is read-only", fix="copy it first"), target)
    if target.buffer.is_shown:
        capture = enclosing_capture()
        if capture is not None and capture.recorder is not None:
            capture.recorder.rewriting.want_all_plain()
        refuse("an array that shares its memory with a view is written in place", target, fix="copy it first")
    if any(one.is_seen for one in target.buffer.kin):
        refuse("an array is written in place that may be one with another, as only the run tells", target)
    if len(target.node.aval.order) < target.ndim:
        refuse("an array that shows an element of memory twice is written in place", target, fix="copy it first")
    trace = current()
    if not isinstance(trace, CaptureTrace):
        refuse("an array is written in place in a computation", target, fix="return the new value")
    check_home(target.buffer, trace, target)


def check_home(buffer: Buffer, trace: CaptureTrace, target: Any) -> None:
    """CaptureError where a write would have to leave a trace that hands nothing on."""
    inner: Any = trace
    while inner is not None and inner is not buffer.home:
        if not getattr(inner, "hands_on", False):
            reason = "an array from outside of the body of a loop or a branch is written in place in it"
            refuse(reason, target, fix="make the array a part of the state, or use a new one: y = y + x")
        inner = inner.parent


def write(target: BufferView, value: Any) -> None:
    """Makes the elements of an array these: a value of its element type, of a shape that is repeated to its own."""
    check_writable(target)
    if 0 in target.shape:
        return
    trace = current()
    assert isinstance(trace, CaptureTrace)
    repeated = broadcast_to_shape(value, target.shape)
    if not isinstance(repeated, TracedValue):
        repeated = trace.wrap(lift(trace, repeated), trace)
    if target.buffer.path is not None:
        test_ahead_of_store(trace)
    target.buffer.advance(trace, version_after(target, repeated))


def store(target: BufferView, value: Any) -> None:
    """``target[...] = value``: cast in any way, leading dimensions of one element left out."""
    check_writable(target)
    if _is_itself(target, value):
        return
    found = stored_value(held(value, target.dtype), target.dtype)
    write(target, fitting(found, target.shape))


def _is_itself(target: BufferView, value: Any) -> bool:
    """Return whether the value is what lies there: x[1:] += y ends with storing it once more."""
    return (
        isinstance(value, BufferView)
        and value.is_linked
        and value.buffer is target.buffer
        and (value.node is target.node)
    )


def stored_value(value: Any, dtype: DType) -> Any:
    """A value as NumPy casts it to an element type when it is stored.

    Raises OverflowError for integers of Python's that the type does not hold, TypeError for complex numbers where a
    real one is needed, and ValueError for NaN among integers, as NumPy.
    """
    if not isinstance(value, TracedValue | np.ndarray | np.generic) and holds_no_array(value):
        sample: Any = np.zeros(np.shape(value), dtype)
        sample[...] = value  # raises what NumPy raises
        return sample
    weak = value.weak if isinstance(value, TracedValue) else None
    if isinstance(value, list | tuple):
        return elements(value, dtype, "setitem", "value")
    found = operand(value, "setitem", "value")
    if dtype_class(found.dtype) == "C" and dtype_class(dtype) not in "CP":
        if weak is complex:
            raise DTypeError(f"numpy.ndarray.__setitem__: a real number is required; got {weak.__name__}")
        found = ops.real(found)  # NumPy warns, which compiled code does not
    return found if found.dtype == dtype else cast(found, dtype)


def fitting(value: Any, shape: tuple[int, ...], message: str = INTO) -> Any:
    """The value without leading dimensions of one element that the shape does not have.

    ShapeError, with both shapes in the message, unless it can be repeated to the shape.
    """
    spare = len(value.shape) - len(shape)
    if spare > 0 and all(size == 1 for size in value.shape[:spare]):
        value = ops.reshape(value, value.shape[spare:])
    sizes = zip(reversed(value.shape), reversed(shape), strict=False)
    if len(value.shape) > len(shape) or any(own not in (1, size) for own, size in sizes):
        raise noted(ShapeError(message.format(_text(value.shape), _text(shape))), value)
    return value


def _text(shape: tuple[int, ...]) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def assign(target: Any, result: Any, name: str) -> Any:
    """Makes the target hold the result, as ``out=`` does: of this shape, or repeated; types cast as same kind."""
    if target is None:
        return result
    repeated = result.shape != target.shape
    if repeated and np.broadcast_shapes(result.shape, target.shape) != target.shape:
        misfit = ShapeError(
            f"numpy.{name}: the result of shape {result.shape} does not fit the output of shape {target.shape}",
            fix="make a new array instead of changing one in place: x = x + y",
        )
        raise noted(misfit, result, target)
    check_same_kind(result.dtype, target.dtype, name)
    write(target, result if result.dtype == target.dtype else cast(result, target.dtype))
    return target


def check_same_kind(found: DType, wanted: DType, name: str) -> None:
    """DTypeError where NumPy does not convert a result for an output of this type."""
    if not np.can_cast(found, wanted, "same_kind"):
        error = DTypeError(
            f"numpy.{name}: cannot cast the result from {found} to the output's type {wanted}",
            fix=f"use astype, or a new array of type {found}",
        )
        raise noted(error)
