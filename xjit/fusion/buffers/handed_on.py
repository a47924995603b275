"""Memory of operands in which kernels of loops and branches make their results.

y = while_loop(..., x)        x is changed in place, and is y behind the loop
y = conditional(i, x, x)      the same where each branch yields what it has made of x in place, or x itself
"""

from __future__ import annotations

from xjit.fusion.buffers.layout import packed_strides
from xjit.fusion.buffers.operands import View
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import AliasStep, BranchKernelStep, LoopKernelStep, SubPlan
from xjit.ir.node import Node


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
    whole = bool(views) and not views[0].start and views[0].strides == packed_strides(node.aval)
    return views[0].base if whole else None


def begun_in_place(step: LoopKernelStep) -> dict[Node, Node]:
    """The results of a loop that lie where it starts from, each with that: in memory that is there to be changed."""
    pairs = zip(step.results, step.first.operands, strict=False)
    return {one: view.base for one, view in pairs if view.base in step.node.updated and _is_whole(view, one)}


def _is_whole(view: View, result: Node) -> bool:
    alike = bool(result.aval.rank) and view.base.aval.size == result.aval.size
    return alike and not view.start and view.strides == packed_strides(result.aval)
