"""Layouts of arrays that loops carry and branches choose: graphs hold the elements row by row, axes in memory order.

    y = np.zeros((3, 4), order="F")         the loop carries the transpose of y, row-major; a turn sees that
    for i in range(n): y[i % 3] += i        of its parameter, which lies as y does in NumPy

Where turns or arms leave arrays that lie in different ways, only the run knows if NumPy makes a view or a copy of
one: then nobody writes to either of the two, see ``xjit.numpy.rules.view_strides``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.dataclass import dataclass
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Node
from xjit.numpy.rules.view_strides import has_known_order, is_apart, memory_in
from xjit.ops.control.computations import row_major
from xjit.ops.whole_arrays.shape import TRANSPOSE, transpose
from xjit.types import ArrayType, array_type, c_order, order_of


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of an array from the slowest to the fastest one, () for row-major and None where only the run knows.

    An array that is not ``packed`` may have gaps, or run backwards along an axis.
    """

    order: tuple[int, ...] | None = ()
    packed: bool = True

    def joined(self, other: Layout) -> Layout:
        """The layout of what lies in one of two ways."""
        return Layout(self.order if self.order == other.order else None, self.packed and other.packed)

    def carried(self, type: ArrayType) -> ArrayType:
        """The type of a value of the graph that holds an array of a row-major type."""
        return array_type(type.dtype, tuple(type.dims[axis] for axis in self.order)) if self.order else type

    def stored(self, value: Any) -> Any:
        """The value of the graph that holds an array."""
        return row_major(_in_memory_order(value, self.order) if self.order else value)

    def shown(self, node: Node, trace: Trace) -> Node:
        """The array that a value of the graph holds."""
        if self.order:
            with tracing(trace):
                back: Any = transpose(TracedValue(node, trace), tuple(map(int, np.argsort(self.order))))
            node = back.node
            trace.turned.add(node)
        if self.order is None or not self.packed:
            trace.strides[node] = None
        if self.order is None:
            trace.unordered.add(node)
        return node


ROW_MAJOR = Layout()


def _in_memory_order(value: Any, order: tuple[int, ...]) -> Any:
    """The transpose with axes in memory order; what an array is the transpose of, where that is it."""
    if isinstance(value, TracedValue) and value.node.op is TRANSPOSE:
        back = value.node.param("permutation")
        if tuple(back[axis] for axis in order) == c_order(len(order)):
            return TracedValue(value.node.inputs[0], value.owner)
    return transpose(value, order)


def layout_of(value: Any) -> Layout:
    """The layout of an array as NumPy has it; numbers are row-major."""
    if isinstance(value, np.ndarray):
        return _of_memory(value, _canonical(order_of(value.shape, value.strides), value.ndim))
    if not isinstance(value, TracedValue):
        return ROW_MAJOR
    node, trace = value.last_node if isinstance(value, BufferView) else value.node, current()
    return layout_in(node, trace if trace is not None and trace.reaches(node) else value.owner)


def layout_in(node: Node, trace: Trace) -> Layout:
    """The layout of a value of a graph, as code under a trace sees it."""
    type = node.aval
    if not type.rank or not type.is_static:
        return ROW_MAJOR
    memory = memory_in(node, trace)
    order = _canonical(type.order, type.rank) if has_known_order(node, trace) else None
    return Layout(order, packed=False) if memory is None else _of_memory(memory, order)


def _of_memory(memory: Any, order: tuple[int, ...] | None) -> Layout:
    return Layout(order, packed=not is_apart(memory))


def _canonical(order: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    """The order, () where it is row-major; None where it leaves out axes along which an array repeats."""
    return None if 1 < rank != len(order) else () if order == c_order(rank) or rank < 2 else order


def layout_of_buffer(buffer: Buffer) -> Layout:
    """The layout of the versions of a buffer; one that shows elements many times has none that are written."""
    type = buffer.first.aval
    return Layout(_canonical(type.order, type.rank) or ())


def stored_version(buffer: Buffer, trace: Trace) -> Any:
    """The value of the graph that holds what a buffer has under a trace."""
    return layout_of_buffer(buffer).stored(TracedValue(trace.adopt(buffer.version(trace)), trace))


def memory_of_version(buffer: Buffer, trace: Trace) -> Node:
    """The value that writes under a trace change: what a version shows in another order of its axes, or itself."""
    version = trace.adopt(buffer.version(trace))
    return version.inputs[0] if version in trace.turned else version


def is_stored_as_shown(buffer: Buffer, memory: Node) -> bool:
    """Return whether what the graph holds of a buffer has the axes of its memory, as writes change it."""
    order = layout_of_buffer(buffer).order
    return not order or memory.aval.order == c_order(len(order))


def shown_version(buffer: Buffer, node: Node, trace: Trace) -> Node:
    """The version of a buffer that a value of the graph holds."""
    return layout_of_buffer(buffer).shown(node, trace)
