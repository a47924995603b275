"""Memory that loops and branches inside of a kernel take over: that of a value which nobody reads later.

y = while_loop(..., x)        x is changed in place, and is y behind the loop
y = conditional(i, x, x)      the same where each branch yields what it has made of x in place, or x itself
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.lowering.control.places import Places, packed_view
from xjit.fusion.buffers.operands import View
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import AliasStep, BranchKernelStep, KernelStep, LoopKernelStep, Plan, Step, SubPlan
from xjit.fusion.regions.materialized import view_chain
from xjit.fusion.statements import Check
from xjit.ir.node import Node
from xjit.types import TupleType


def handed_on(step: BranchKernelStep) -> dict[Node, Node]:
    """The results of a choice that are operands which it may change, in whatever branch, each with that operand."""
    starts = [[_start(sub, value) for value in sub.plan.graph.outputs] for sub in step.branches]
    owned = set(step.node.updated)
    found: dict[Node, Node] = {}
    for node, bases in zip(step.results, zip(*starts, strict=True), strict=True):
        operand = bases[0]
        alike = operand is not None and all(one is operand for one in bases)
        if alike and operand in owned and operand not in found.values() and node.aval.dims == operand.aval.dims:
            found[node] = operand
    return found


def _start(sub: SubPlan, node: Node) -> Node | None:
    """The operand in whose memory a value of a graph is made; None if that is memory of its own."""
    changed: dict[Node, Node] = {}
    for step in sub.plan.steps:
        match step:
            case AliasStep():
                changed[step.node] = step.operand
            case LoopKernelStep():
                changed |= {one: view.base for one, view in zip(step.results, step.first.operands, strict=False)}
            case BranchKernelStep():
                changed |= handed_on(step)
            case _:
                pass
    while True:
        held = held_by(node)
        if held is not node:
            node = held
        elif node in changed:
            node = changed[node]
        else:
            break
    pairs = zip(sub.plan.graph.parameters, sub.operands, strict=True)
    views = [view for parameter, view in pairs if parameter is node]
    whole = bool(views) and not views[0].start and views[0].strides == packed_view(node).strides
    return views[0].base if whole else None


def begun_in_place(step: LoopKernelStep) -> dict[Node, Node]:
    """The results of a loop that lie where it starts from, each with that: in memory that is there to be changed."""
    pairs = zip(step.results, step.first.operands, strict=False)
    return {one: view.base for one, view in pairs if view.base in step.node.updated and _is_whole(view, one)}


def _is_whole(view: View, result: Node) -> bool:
    alike = bool(result.aval.rank) and view.base.aval.size == result.aval.size
    return alike and not view.start and view.strides == packed_view(result).strides


class Later:
    """The steps of a plan that are still to come, and the memory that the plan may write over."""

    def __init__(self, plan: Plan, places: Places, owned: Sequence[Node]) -> None:
        self._places = places
        self._steps: list[Step] = list(plan.steps)
        self._shown = [view_chain(node)[0] for node in plan.graph.outputs]
        self._own = list(owned)
        self._plan = plan

    def begin(self, step: Step) -> None:
        """Takes the next step up."""
        assert self._steps[0] is step
        del self._steps[0]
        match step:
            case KernelStep():
                self._own += [one.target for one in step.statements if not isinstance(one, Check)]
            case LoopKernelStep() | BranchKernelStep():
                self._own += step.results

    def may_take(self, loop: LoopKernelStep, view: View, result: Node) -> bool:
        """Return whether a loop may change in place what one of its values starts as."""
        home, start = self._places.home(view.base)
        if not result.aval.rank or start or view.start or home.aval.size != result.aval.size:
            return False
        if view.strides != packed_view(result).strides or home not in map(self._home, self._own):
            return False
        carried = len(loop.results)
        inside = (*loop.first.operands, *loop.turn.operands[carried:])
        uses = [one for one in inside if self._home(one.base) is home]
        return len(uses) == 1 and not any(self._home(node) is home for node in self._read_later())

    def _read_later(self) -> list[Node]:
        found = list(self._shown)
        for step in self._steps:
            if isinstance(step, KernelStep):
                for statement in step.statements:
                    found += [indexed.node for indexed in self._plan.slices.of(statement).reads]
            else:
                found += step.node.inputs
        return [node for node in found if not isinstance(node.type, TupleType)]

    def _home(self, node: Node) -> Node:
        return self._places.home(node)[0]
