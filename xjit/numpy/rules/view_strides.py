"""Strides that NumPy would give a value, which tell views from copies, and memory orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ml_dtypes
import numpy as np

from xjit.ir.context import PARAMETER, Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import Array, Operand, aval_of
from xjit.ops.define.formulas import bit_type
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.shape import RESHAPE, view_strides
from xjit.showing import Along, Indexed
from xjit.types import ArrayType, TupleType, c_order, order_of


def memory_of(value: Operand) -> Array | None:
    """An array with the strides that the operand has in NumPy and no memory to read; None where only runs know."""
    return memory_in(value.node, current()) if isinstance(value, TracedValue) else value


def memory_in(node: Node, trace: Trace | None) -> Array | None:
    """That of an argument as it arrives, that of views of it, and packed memory for all that is computed."""
    type = node.aval
    for around in _around(trace):
        if node in around.strides:
            steps = around.strides[node]
            return None if steps is None else hollow_array(type, steps)
    if node.op is RESHAPE:
        source = memory_in(node.inputs[0], trace)
        if source is None:
            return None
        steps = view_strides(source.shape, source.strides, type.shape)
        return hollow_array(type, type.strides if steps is None else steps)
    if node.shows:
        source = memory_in(node.inputs[0], trace)
        return None if source is None else node.op.view(source, **node.kwargs)
    moving = _moving_window(node)
    if moving is not None:
        source = memory_in(node.inputs[0], trace)
        return None if source is None else hollow_array(type, _steps_of(moving, source))
    if trace is not None and node.op is PARAMETER:
        outer = next((one for one, inner in trace.captures.items() if inner is node), None)
        if outer is not None:
            return memory_in(outer, trace.parent)
    return hollow_array(type, type.strides) if has_known_order(node, trace) else None


def _moving_window(node: Node) -> Indexed | None:
    """The window of the first operand whose place others say, as NumPy shows it; None of what is no such window."""
    if node.op.shown is None or len(node.inputs) < 2:
        return None
    found = node.op.shown(tuple(one.aval for one in node.inputs), node.kwargs, node.aval)
    return found if isinstance(found, Indexed) else None


def _steps_of(window: Indexed, source: Array) -> tuple[int, ...]:
    """The strides of a window, in bytes."""
    steps, found = iter(source.strides), list[int]()
    for entry in window.entries:
        step = 0 if entry is None else next(steps)
        if not isinstance(entry, int):
            found.append(step * entry.step if isinstance(entry, Along) else 0)
    return tuple(found)


def _around(trace: Trace | None) -> tuple[Trace, ...]:
    """The trace, and those around it."""
    return () if trace is None else (trace, *trace.around())


def has_known_order(node: Node, trace: Trace | None) -> bool:
    """Return whether the memory order of a value is known: what is computed takes on that of its operands."""
    unordered = {one for around in _around(trace) for one in around.unordered}
    if not unordered:
        return True
    outside = {inner: outer for around in _around(trace) for outer, inner in around.captures.items()}
    left, found = [node], {node}
    while left:
        node = left.pop()
        if node in unordered:
            return False
        sources = _that_order(node, outside)
        left += (one for one in sources if one not in found)
        found.update(sources)
    return True


def _that_order(node: Node, outside: Mapping[Node, Node]) -> Sequence[Node]:
    """The values that the memory order of another one comes from."""
    if node in outside:
        return (outside[node],)
    if node.shows or node.op is RESHAPE:
        return node.inputs[:1]
    if node.op is PACK or isinstance(node.type, TupleType) or node.aval.rank < 2:
        return ()
    return [one for one in node.inputs if not isinstance(one.type, TupleType) and one.aval.rank > 1]


def hollow_array(type: ArrayType, strides: tuple[int, ...]) -> Array:
    """An array of a type with any strides and no memory to read; NumPy cannot stride over some types of others."""
    dtype = bit_type(type.dtype) if type.dtype.name in ml_dtypes.__all__ else type.dtype
    result: Array = np.lib.stride_tricks.as_strided(np.empty(1, dtype), type.shape, strides)
    return result


def has_gaps(value: Operand) -> bool | None:
    """Return whether the elements fill their memory once each in no order of axes; None where only the run knows."""
    memory = memory_of(value)
    return None if memory is None else is_apart(memory)


def is_apart(memory: Array) -> bool:
    """Return whether elements fill their memory once each in no order of the axes."""
    order = order_of(memory.shape, memory.strides)
    packed = ArrayType(memory.dtype, memory.shape, order).strides
    steps = zip(memory.shape, memory.strides, packed, strict=True)
    return memory.size > 0 and any(size != 1 and (stride != step or not stride) for size, stride, step in steps)


def is_contiguous(value: Operand, order: str | None) -> bool:
    """Return whether a value is known to lie in the order of a letter without gaps, C or F; a column lies in both."""
    memory = memory_of(value)
    if memory is None or order not in ("C", "c", "F", "f"):
        return False
    return memory.flags.c_contiguous if order in ("C", "c") else memory.flags.f_contiguous


def column_or_row_major(value: Operand) -> tuple[int, ...]:
    """The memory order of results that are column-major if the operand is, without gaps, and row-major otherwise."""
    memory = memory_of(value)
    straight = c_order(len(aval_of(value).dims))
    return straight[::-1] if memory is not None and memory.flags.fnc else straight
