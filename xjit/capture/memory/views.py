"""Views: which operations lead from a buffer to a value, and what a buffer holds once a view has been written to.

    row = x[2]        reshape (slice x)
    row[1:] = v       x' = update_slice x v' at (2, 1)

Index maps of consecutive operations are composed, so that only the written window moves. What is reshaped is written
as a whole: x.ravel()[3] = v reshapes, writes, and reshapes back, which costs nothing.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.memory.buffer import Buffer, BufferView, replayed
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import Trace
from xjit.ir.current import current
from xjit.ir.index_map import Index, compose, identity
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.ops.define.memory_order import pack
from xjit.ops.regions.strided_slices import update_slice
from xjit.ops.whole_arrays.shape import TRANSPOSE
from xjit.types import c_order

_LONGEST = 64
"""More operations in a row than views are made of."""


def link(result: Any, operands: Iterable[Any]) -> Any:
    """The result, its views put into the buffers of the operands that they show.

    Nothing shows a number: NumPy makes it an array of its own.
    """
    if isinstance(result, tuple | list):
        for part in result:
            link(part, operands)
    if isinstance(result, BufferView) and result.is_view and not result.is_linked:
        holders = [one for one in operands if isinstance(one, BufferView)]
        if holders and all(one.scalar for one in holders):
            result.is_view = False
            return result
        result.frozen |= any(one.frozen for one in holders)
        for one in holders:
            steps = _steps_between(result.node, one)
            if steps is not None:
                result.lie_in(one.buffer, steps)
                break
        else:
            _note_blind(result, holders)
    return result


def _note_blind(result: BufferView, holders: Iterable[BufferView]) -> None:
    """Notes that a view may show memory of operands in a way that cannot be followed, such as other element types.

    Where only the run tells which array an operand is, it tells the same of the view.
    """
    for one in holders:
        if _may_show(result.node, {*_versions(one), *_stand_ins(one.node)}):
            one.buffer.blind.append(weakref.ref(result))
            result.buffer.shared = True
            if one.buffer.kin:
                result.buffer.may_be(one.buffer.family)


def _may_show(node: Node, ends: set[Node]) -> bool:
    while node.inputs and node not in ends:
        node = node.inputs[0]
    return node in ends


def _versions(operand: BufferView) -> set[Node]:
    """The version of an operand's buffer, and what stands for it in the current trace."""
    return _stand_ins(operand.buffer.version(current()))


def _stand_ins(node: Node) -> set[Node]:
    """A node, and what stands for it in the current trace."""
    trace = current()
    return {node, trace.adopt(node)} if trace is not None else {node}


def _steps_between(node: Node, operand: BufferView) -> tuple[Node, ...] | None:
    """The operations that lead from the buffer of an operand to a node; None if they do not.

    A trace inside of the operand's has one parameter for all of the operations that lead to the operand.
    """
    ends, shown = _versions(operand), _stand_ins(operand.node)
    steps: list[Node] = []
    while node not in ends:
        if node in shown:
            return (*operand.steps, *reversed(steps))
        if not (node.shows or node.op.flat or node.access) or len(steps) == _LONGEST:
            return None
        steps.append(node)
        node = node.inputs[0]
    return tuple(reversed(steps))


def version_after(view: BufferView, value: Any) -> Node:
    """The version of a view's buffer in which the view holds a value of its shape and element type."""
    trace = current()
    assert trace is not None
    version = trace.adopt(view.buffer.version(trace))
    if not view.steps:
        return _new_version(value, version, view.buffer)
    # The elements of a carried array lie in the operand of a transpose: they are written there.
    ahead = (version,) if version.op is TRANSPOSE else ()
    whole = version.inputs[0] if ahead else version
    groups = list(_groups((*ahead, *view.steps)))
    befores = [whole]
    for group in groups:
        befores.append(replayed(group, befores[-1], trace))
    for group, before in zip(reversed(groups), reversed(befores[:-1]), strict=True):
        value = _put(group, trace.wrap(before, trace), value, trace)
    found = replayed(ahead, _new_version(value, whole, view.buffer), trace)
    if ahead:
        trace.turned.add(found)
    return found


def _new_version(value: Any, version: Node, buffer: Buffer) -> Node:
    """A value as a buffer's next version: in its memory order, and never another array's node.

    Memory of the caller's is updated as a whole, so that views of it show one version after the other.
    """
    node: Node = value.node
    if version in node.updated:
        return node
    if buffer.path is not None:
        whole: Any = update_slice(value.owner.wrap(version, value.owner), value, (0,) * version.aval.rank)
        changed: Node = whole.node
        return changed
    order = version.aval.order
    packed: Any = pack(value, order if len(order) == version.aval.rank else c_order(version.aval.rank))
    found: Node = packed.node
    return found


def _groups(steps: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """The operations, those whose index maps can be composed together."""
    for has_map, run in itertools.groupby(steps, lambda step: step.access is not None):
        group = tuple(run)
        yield from (group,) if has_map else ((step,) for step in group)


def _put(steps: tuple[Node, ...], before: Any, value: Any, trace: Trace) -> Any:
    """The operand of the first operation, changed so that the result of the last one is the value."""
    first = steps[0]
    if first.access is not None:
        return _put_window(steps, before, value, trace)
    if first.op.part is np.real:
        return ops.complex(value, ops.imag(before))
    if first.op.part is np.imag:
        return ops.complex(ops.real(before), value)
    if first.op.flat and first.aval.dtype == before.dtype:
        return ops.reshape(value, before.shape)
    refuse(f"an array is written in place through a view that {first.op.name} makes", before, fix="copy it first")


def _put_window(steps: tuple[Node, ...], before: Any, value: Any, trace: Trace) -> Any:
    index: Index = identity(value.shape)
    for step in reversed(steps):
        assert step.access is not None
        index = compose(step.access, index, step.inputs)
    used = [map.axis for map in index if map.axis is not None]
    if 0 in value.shape:
        return before
    repeats = any(size != 1 for axis, size in enumerate(value.shape) if axis not in used)
    if repeats or len(set(used)) < len(used) or any(map.also for map in index):
        refuse("an array is written in place through a view that shows an element twice", before, fix="copy it first")
    window = _arranged(value, index)
    sizes = [1 if map.axis is None else value.shape[map.axis] for map in index]
    starts = [_start(map, size, trace) for map, size in zip(index, sizes, strict=True)]
    window = ops.reshape(window, sizes) if window.shape != tuple(sizes) else window
    strides = [abs(map.scale) if size > 1 else 1 for map, size in zip(index, sizes, strict=True)]
    if tuple(sizes) == before.shape and all(start == 0 for start in starts if isinstance(start, int)):
        return window
    return update_slice(before, window, starts, strides)


def _arranged(value: Any, index: Index) -> Any:
    """The axes of a value in the order of those of the operand, and each in its direction."""
    used = [map.axis for map in index if map.axis is not None]
    inner = sorted(used)
    if len(inner) < len(value.shape):
        value = ops.reshape(value, [value.shape[axis] for axis in inner])
    order = [inner.index(axis) for axis in used]
    if order != sorted(order):
        value = ops.transpose(value, order)
    kept = [map for map in index if map.axis is not None]
    turned = [place for place, map in enumerate(kept) if map.scale < 0]
    return ops.rev(value, turned) if turned else value


def _start(map: AxisMap, size: int, trace: Trace) -> Any:
    """The first position of a window along an axis: a number, or a traced one."""
    offset = map.offset + min(0, map.scale * (size - 1) if map.axis is not None else 0)
    start: Any = offset
    for one in map.found:
        place = trace.wrap(trace.adopt(one.source), trace)
        place = place if place.dtype == np.int64 else ops.convert_element_type(place, np.int64)
        moved = place if one.times == 1 else ops.mul(place, np.int64(one.times))
        start = moved if isinstance(start, int) and start == 0 else ops.add(moved, _number(start))
    return start


def _number(start: Any) -> Any:
    return np.int64(start) if isinstance(start, int) else start
