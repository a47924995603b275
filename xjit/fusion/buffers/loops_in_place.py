"""Loops that change memory of the caller's in their turns: a check that the plan of one does.

    x1 = pack x0                            x1 is x0: the same buffer
    i1, x2 = while_loop i0 x1 {...}         one kernel, each turn of which changes x0

A loop of steps may exchange the memory that it carries, and one that reads what it starts from otherwise needs that
as it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from xjit.fusion.buffers.layout import packed_strides
from xjit.fusion.buffers.updates import NotInPlaceError
from xjit.fusion.plan import LoopKernelStep, Step
from xjit.ir.context import PROJECT
from xjit.ir.node import Node
from xjit.passes.stored_results import Stores


def check_loops(steps: Iterable[Step], stores: Stores) -> None:
    """Raises NotInPlaceError where a loop would not change a parameter that it starts from as the ``stores`` say."""
    loops = {step.node: step for step in steps if isinstance(step, LoopKernelStep)}
    late: set[Node] = set()
    for parameter, chain in stores.chains.items():
        for made in chain[1::2]:
            if made.op is PROJECT and not _changes(loops.get(made.inputs[0]), made, {parameter, *chain}):
                late.add(parameter)
    if late:
        raise NotInPlaceError(frozenset(late))


def _changes(step: LoopKernelStep | None, made: Node, versions: set[Node]) -> bool:
    """Return whether a kernel makes a result of a loop where that starts, and reads no version of it otherwise."""
    if step is None:
        return False
    start = step.first.operands[made.param("index")]
    inside = (*step.first.operands, *step.turn.operands[len(step.results) :])
    whole = not start.start and start.strides == packed_strides(made.aval)
    return whole and [one.base for one in inside if one.base in versions] == [step.node.inputs[made.param("index")]]
