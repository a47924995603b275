"""Loops that change memory of the caller's in their turns, and choices that do in their branches: a check that the
plans of kernels do; that of steps comes when their graphs have plans (:mod:`xjit.programs.kept_memory`).

    x1 = pack x0                            x1 is x0: the same buffer
    i1, x2 = while_loop i0 x1 {...}         one kernel, each turn of which changes x0

A loop that reads what it starts from otherwise needs that as it was. A long one works on a copy, whose rows lie
better in memory than an argument's, which may begin anywhere. So does one of unknown length, which signals end, where
other memory of the caller's would not be there as that turn leaves it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from xjit.fusion.buffers.handed_on import handed_on
from xjit.fusion.buffers.layout import packed_strides
from xjit.fusion.buffers.updates import NotInPlaceError
from xjit.fusion.control.in_kernel import work_of
from xjit.fusion.plan import BranchKernelStep, ControlKernelStep, ControlStep, LoopKernelStep, Step
from xjit.ir.context import PROJECT
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.passes.stored_results import Stores


def check_loops(steps: Iterable[Step], stores: Stores, machine: Machine) -> None:
    """Raises NotInPlaceError where a kernel would not change a parameter that it starts from as the ``stores`` say,
    or should not.
    """
    found = {step.node: step for step in steps if isinstance(step, ControlKernelStep | ControlStep)}
    late: set[Node] = set()
    for parameter, chain in stores.chains.items():
        for made in chain[1::2]:
            if made.op is not PROJECT:
                continue
            step = found[made.inputs[0]]
            if isinstance(step, ControlStep):
                continue
            if not (_may_end(step, stores) and _is_in_place(step, made, {parameter, *chain}, machine)):
                late.add(parameter)
    if late:
        raise NotInPlaceError(frozenset(late))


def _may_end(step: ControlKernelStep, stores: Stores) -> bool:
    """Return whether signals may end a kernel, or need not as it is short: in a turn a call ends in loops inside."""
    if isinstance(step, BranchKernelStep) or (step.trips < math.inf and not step.lasting):
        return True
    return len(stores.chains) == 1 if step.lasting else stores.may_end_in(step.node)


def _is_in_place(step: LoopKernelStep | BranchKernelStep, made: Node, versions: set[Node], machine: Machine) -> bool:
    """Return whether a kernel makes a result in the memory that it is a version of, and should."""
    if isinstance(step, BranchKernelStep):
        return made in handed_on(step)
    return not _is_long(step, made, machine) and _changes(step, made, versions)


def _is_long(step: LoopKernelStep, made: Node, machine: Machine) -> bool:
    """Return whether copies of an array are nothing beside the work of a loop.

    Of a loop of unknown length nobody knows that, unless each turn is as much work as a copy.
    """
    turn = work_of(step.turn, machine, step.lasting)
    if math.inf in (step.trips, work_of(step.turn, machine)):
        return turn >= max(machine.parallel_work, made.aval.size)
    return step.trips * turn >= max(machine.parallel_work, machine.copied_work * made.aval.size)


def _changes(step: LoopKernelStep, made: Node, versions: set[Node]) -> bool:
    """Return whether a kernel makes a result of a loop where that starts, and reads no version of it otherwise."""
    start = step.first.operands[made.param("index")]
    inside = (*step.first.operands, *step.turn.operands[len(step.results) :])
    whole = not start.start and start.strides == packed_strides(made.aval)
    return whole and [one.base for one in inside if one.base in versions] == [step.node.inputs[made.param("index")]]
