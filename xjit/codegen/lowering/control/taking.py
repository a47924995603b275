"""Memory that loops inside of a kernel take over: that of a value which nobody reads later.

y = while_loop(..., x)        x is changed in place, and is y behind the loop
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.lowering.control.places import Places, packed_view
from xjit.fusion.buffers.operands import View
from xjit.fusion.plan import BranchKernelStep, KernelStep, LoopKernelStep, Plan, Step
from xjit.fusion.regions.materialized import view_chain
from xjit.fusion.statements import Check
from xjit.ir.node import Node
from xjit.types import TupleType


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


def made_in(plan: Plan) -> set[Node]:
    """The values that kernels of a plan make."""
    kernels = (step for step in plan.steps if isinstance(step, KernelStep))
    return {statement.target for step in kernels for statement in step.statements}
