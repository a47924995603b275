"""Loops that change memory of the caller's in their turns: a check that the plan of one does.

    x1 = pack x0                            x1 is x0: the same buffer
    i1, x2 = while_loop i0 x1 {...}         one kernel, each turn of which changes x0

A loop of steps may exchange the memory that it carries, and one that reads what it starts from otherwise needs that
as it was. A long one works on a copy, whose rows lie better in memory than an argument's, which may begin anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from xjit.fusion.buffers.layout import packed_strides
from xjit.fusion.buffers.updates import NotInPlaceError
from xjit.fusion.control.in_kernel import work_of
from xjit.fusion.plan import LoopKernelStep, Step
from xjit.ir.context import PROJECT
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.passes.stored_results import Stores


def check_loops(steps: Iterable[Step], stores: Stores, machine: Machine) -> None:
    """Raises NotInPlaceError where a loop would not change a parameter that it starts from as the ``stores`` say, or
    should not.
    """
    loops = {step.node: step for step in steps if isinstance(step, LoopKernelStep)}
    late: set[Node] = set()
    for parameter, chain in stores.chains.items():
        for made in chain[1::2]:
            if made.op is not PROJECT:
                continue
            step = loops.get(made.inputs[0])
            if step is None or _is_long(step, made, machine) or not _changes(step, made, {parameter, *chain}):
                late.add(parameter)
    if late:
        raise NotInPlaceError(frozenset(late))


def _is_long(step: LoopKernelStep, made: Node, machine: Machine) -> bool:
    """Return whether copies of an array are nothing beside the work of a loop."""
    work = step.trips * work_of(step.turn, machine)
    return work >= max(machine.parallel_work, machine.copied_work * made.aval.size)


def _changes(step: LoopKernelStep, made: Node, versions: set[Node]) -> bool:
    """Return whether a kernel makes a result of a loop where that starts, and reads no version of it otherwise."""
    start = step.first.operands[made.param("index")]
    inside = (*step.first.operands, *step.turn.operands[len(step.results) :])
    whole = not start.start and start.strides == packed_strides(made.aval)
    return whole and [one.base for one in inside if one.base in versions] == [step.node.inputs[made.param("index")]]
