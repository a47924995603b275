"""Which traced values share memory in NumPy, and in-place operators on values that nobody else can see."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from xjit.capture.tracers.known_array import KnownArray
from xjit.capture.tracers.provenance import noted, refuse
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current


class Memory:
    """One array's memory: what the user calls it if it existed before the call, and the live values on it."""

    __slots__ = ("holders", "label")

    def __init__(self, label: str | None = None) -> None:
        self.label = label
        self.holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


class MemoryHolder(TracedValue):
    """A traced value that knows the memory it lives in."""

    __slots__ = ("_memory",)

    _memory: set[Memory]

    @property
    def memory(self) -> set[Memory]:
        """The memory of this value; a set, because a result may be a view of one of several operands."""
        if not hasattr(self, "_memory"):
            self.live_in({Memory()})
        return self._memory

    def live_in(self, memory: set[Memory]) -> None:
        """Puts the value into this memory."""
        self._memory = memory
        for one in memory:
            one.holders[id(self)] = self


def share(result: Any, operands: Iterable[Any]) -> Any:
    """The result, its views entered into the memory of the operands."""
    if isinstance(result, tuple | list):
        for part in result:
            share(part, operands)
    if isinstance(result, MemoryHolder) and result.is_view and not hasattr(result, "_memory"):
        holders = [one for one in operands if isinstance(one, MemoryHolder)]
        result.live_in({memory for one in holders for memory in one.memory})
        result.frozen = any(one.frozen for one in holders)
    return result


def check_writable(target: Any) -> None:
    """CaptureError unless writing in place to this value is seen through this very object only.

    Raises ArgumentError for what NumPy hands out as read-only.
    """
    if target is None:
        return
    if type(target) is KnownArray:
        refuse("an array that was made while tracing is written in place", fix="use a new array: y = y + x")
    if not isinstance(target, MemoryHolder):
        refuse("an array from outside of the function is written in place", fix="use a new array: y = y + x")
    if target.owner is not current():
        reason = "an array from outside of the body of a loop or a branch is written in place in it"
        refuse(reason, target, fix="make the array a part of the state, or use a new one: y = y + x")
    if target.frozen:
        raise noted(ArgumentError("output array is read-only", fix="copy it first"), target)
    label = next((m.label for m in target.memory if m.label is not None), None)
    if label is not None:
        refuse(f"{label} is written in place", target, fix="use a new array: y = y + x")
    repeated = len(target.node.aval.order) < target.ndim  # one element of memory in several places
    if repeated or any(len(memory.holders) > 1 for memory in target.memory):
        refuse("an array that shares its memory with a view is written in place", target, fix="copy it first")


def assign(target: Any, result: Any, name: str) -> Any:
    """Makes the target hold the result, as ``out=`` does: same shape, types cast by the same-kind rule."""
    if target is None:
        return result
    if result.shape != target.shape:
        raise ShapeError(
            f"numpy.{name}: the result of shape {result.shape} does not fit the output of shape {target.shape}",
            fix="make a new array instead of changing one in place: x = x + y",
        )
    if not np.can_cast(result.dtype, target.dtype, "same_kind"):
        raise DTypeError(
            f"numpy.{name}: cannot cast the result from {result.dtype} to the output's type {target.dtype}",
            fix=f"use astype, or a new array of type {result.dtype}",
        )
    if hasattr(target, "known"):
        del target.known
    target.node = result.node if result.dtype == target.dtype else result.astype(target.dtype).node
    return target
