"""The kernel of a counted loop whose turns need no others: threads share the turns.

    while i < n:                          parallel t in 0 .. turns:
      y[i] = sum(x[i, j] for j ...)         i = begin + t
      i = i + 1                             y[i] = sum(x[i, j] for j ...)

Positions that are made of the counter become integer expressions, so that it is seen which elements a turn touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from xjit.codegen.lowering.control.blocked_rows import with_facts_of_rows
from xjit.codegen.lowering.control.places import own_node
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.positions import with_positions
from xjit.codegen.rewrites.analysis.rows import row_loops, why_rows_meet
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError
from xjit.fusion.buffers.handed_on import begun_in_place
from xjit.fusion.control.trips import Count, counted
from xjit.fusion.plan import LoopKernelStep
from xjit.ir.loops.build import position, truth
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Alloc, Block, Kernel, Loop, LoopKind, Statement
from xjit.ir.loops.walk import loads, stores
from xjit.types import BOOL, INT64

if TYPE_CHECKING:
    from xjit.codegen.lowering.control.control_kernels import ControlKernel


def counter_of_turns(step: LoopKernelStep) -> Count | None:
    """The counter of a loop that is marked and carries arrays in place and nothing else; else None."""
    if not step.node.kwargs.get("apart"):
        return None
    found = counted(step.first.plan.graph, step.turn.plan.graph, step.first.operands)
    if found is None or found.turns < 2 or step.lasting or step.results[found.place].aval.dtype != INT64:
        return None
    in_place = begun_in_place(step)
    arrays = (node for place, node in enumerate(step.results) if place != found.place)
    return found if all(node in in_place for node in arrays) else None


def loop_of_turns(own: ControlKernel, step: LoopKernelStep, count: Count) -> Iterator[Statement]:
    """Yield the turns as a loop over their numbers, and the last number. Raises RefusedError."""
    places, nest = own.places, own.building.nest
    for node, operand in begun_in_place(step).items():
        places.put(node, operand)
    places.see_outside(*step.results, *(view.base for view in step.operands))
    counter = own_node(INT64)
    carried = [counter if place == count.place else node for place, node in enumerate(step.results)]
    own.failed = own_node(BOOL)
    work: Block = tuple(own.turn_in_place(step, carried))
    if own.statuses:
        work = (places.stored(own.failed, truth(False)), *work)
    turn, turns = nest.fresh("turn"), nest.word("turns", count.turns, "n")
    now = variable(turn) * count.step + count.begin
    yield Loop(turn, constant(0), turns, (places.stored(counter, position(now)), *work))
    last = turns * count.step + count.begin
    yield places.stored(step.results[count.place], position(last))


def shared_turns(kernel: Kernel, nest: LoopBuilder) -> tuple[Kernel, Parallelize]:
    """The kernel whose only loop threads share, and the rewrite that this is: the turns are rows, which may not meet.

    Raises RefusedError where turns need each other.
    """
    kernel = with_facts_of_rows(replace(kernel, body=with_positions(kernel.body)), nest)
    reason = why_rows_meet(kernel)
    if reason:
        raise RefusedError(f"turns do not run side by side: {reason}")
    (turns,) = row_loops(kernel.body)
    body = (replace(one, kind=LoopKind.PARALLEL) if one is turns else one for one in kernel.body)
    return replace(kernel, body=tuple(body)), Parallelize(turns.variable)


def with_own_registers(kernel: Kernel) -> Kernel:
    """The kernel with scratch of one element inside of the only loop that uses it."""
    inside, outside = list[Statement](), list[Statement]()
    (loop,) = (one for one in kernel.body if isinstance(one, Loop))
    rest = tuple(one for one in kernel.body if one is not loop)
    used = {load.buffer for load in loads(rest)} | {store.buffer for store in stores(rest)}
    for one in kernel.body:
        mine = isinstance(one, Alloc) and one.buffer.name not in used
        (inside if mine else outside).append(one)
    body = tuple(replace(loop, body=(*inside, *loop.body)) if one is loop else one for one in outside)
    return replace(kernel, body=body)
