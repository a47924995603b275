"""Strides that NumPy would give a value, which tell views from copies, and memory orders."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from xjit.ir.context import PARAMETER, Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import Array, Operand
from xjit.ops.define.formulas import bit_type
from xjit.ops.whole_arrays.shape import RESHAPE, view_strides
from xjit.types import ArrayType, c_order, order_of


def memory_of(value: Operand) -> Array:
    """An array with the strides that the operand has in NumPy, but no memory to read."""
    return _memory(value.node, current()) if isinstance(value, TracedValue) else value


def _memory(node: Node, trace: Trace | None) -> Array:
    """That of an argument as it arrives, that of views of it, and packed memory for all that is computed."""
    type = node.aval
    around: Trace | None = trace
    while around is not None:
        if node in around.strides:
            return hollow_array(type, around.strides[node])
        around = around.parent
    if node.op is RESHAPE:
        source = _memory(node.inputs[0], trace)
        steps = view_strides(source.shape, source.strides, type.shape)
        return hollow_array(type, type.strides if steps is None else steps)
    if node.shows:
        view: Array = node.op.view(_memory(node.inputs[0], trace), **node.kwargs)
        return view
    if trace is not None and node.op is PARAMETER:
        outer = next((one for one, inner in trace.captures.items() if inner is node), None)
        if outer is not None:
            return _memory(outer, trace.parent)
    return hollow_array(type, type.strides)


def hollow_array(type: ArrayType, strides: tuple[int, ...]) -> Array:
    """An array of a type with any strides and no memory to read; NumPy cannot stride over some types of others."""
    dtype = bit_type(type.dtype) if type.dtype.name in ml_dtypes.__all__ else type.dtype
    result: Array = np.lib.stride_tricks.as_strided(np.empty(1, dtype), type.shape, strides)
    return result


def has_gaps(value: Operand) -> bool:
    """Return whether the elements fill their memory once each in no order of the axes."""
    memory = memory_of(value)
    order = order_of(memory.shape, memory.strides)
    packed = ArrayType(memory.dtype, memory.shape, order).strides
    steps = zip(memory.shape, memory.strides, packed, strict=True)
    return memory.size > 0 and any(size != 1 and (stride != step or not stride) for size, stride, step in steps)


def column_or_row_major(value: Operand) -> tuple[int, ...]:
    """The memory order of results that are column-major if the operand is, without gaps, and row-major otherwise."""
    memory = memory_of(value)
    straight = c_order(memory.ndim)
    return straight[::-1] if memory.flags.fnc else straight
