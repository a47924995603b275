"""Draws of random numbers as calls of NumPy's own routines among kernels, one after the other in program order."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import DrawRoutine
from xjit.types import NAMES


def piece_of_draw(node: Node, views: Sequence[View], layouts: Layouts, machine: Machine) -> Piece | None:
    """The piece of a run that draws numbers by operands in these buffers; None where that is left to NumPy."""
    assert node.op.draws is not None
    drawing, types = node.op.draws(node.kwargs), [source.aval for source in node.inputs]
    pairs = list(zip(views, types, strict=True))
    in_line = all(type.rank == 1 or tuple(view.strides) == packed_strides(type) for view, type in pairs)
    if not node.aval.size or not in_line or not layouts.is_row_major(node):
        return None
    pointers = [(view.base, view.start * type.dtype.itemsize) for view, type in pairs]
    item = node.aval.dtype.itemsize
    if drawing.way in ("each", "trials"):
        of_trials = drawing.way == "trials"
        name = "draw_trials" if of_trials else f"draw_{NAMES[node.aval.dtype]}_{drawing.operands}"
        steps = (view.strides[-1] if type.rank else 0 for view, type in pairs[1:])
        more = tuple(step * type.dtype.itemsize for step, type in zip(steps, types[1:], strict=True))
        more += (8 * drawing.setup,) if of_trials else ()
    else:
        name, more = f"draw_{drawing.way}", (item, int(drawing.masked))
    return Piece(
        machine,
        pointers=(*pointers, (node, 0)),
        written=(*(False for _ in pointers), True),
        words=(drawing.place, *more),
        extent=node.aval.size,
        work=node.aval.size * drawing.cost,
        code=DrawRoutine(name),
        in_turn=True,
    )
