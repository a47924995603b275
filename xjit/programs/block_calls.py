"""Routines of the runtime over blocks of elements as calls among kernels; threads share the blocks."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import CompactionRoutine


def piece_in_blocks(node: Node, views: Sequence[View], machine: Machine) -> Piece | None:
    """The piece of a run that computes a node block by block; None where that is left to NumPy."""
    assert node.op.in_blocks is not None
    types = tuple(source.aval for source in node.inputs)
    routine, count = node.op.in_blocks(types, node.kwargs), types[0].size
    if routine is None or not count:
        return None
    fixed = [view for view, type in zip(views, types, strict=True) if type.rank][routine.strided :]
    if any(tuple(view.strides) != (1,) for view in fixed):
        return None
    pointers = [(view.base, view.start * type.dtype.itemsize) for type, view in zip(types, views, strict=True)]
    return Piece(
        machine,
        pointers=(*pointers, (node, 0)),
        written=(*(False for _ in pointers), True),
        words=(count, routine.block, views[0].strides[0]),
        extent=-(-count // routine.block),
        work=float(count),
        code=CompactionRoutine(routine.name),
    )
