"""Operations of control as steps: their graphs become blocks over slots of the program around them.

Carried values are memory that the loop owns, each its own: what a loop starts from is copied unless nothing else
reads it, and a body hands on what it was given, or made. So a runtime may write over them, or exchange them. Memory
of the caller's that a loop or a choice changes is none of these: its blocks write to the slot that has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xjit.dataclass import replace
from xjit.fusion import plan as planned
from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import view_of
from xjit.fusion.plan import Plan
from xjit.fusion.regions.materialized import owner
from xjit.ir.context import PROJECT
from xjit.ir.inner_graphs import changed_parameters, inner_graphs
from xjit.ir.node import Node
from xjit.programs.time_tiles import NoTimeTilesError, time_tiles
from xjit.runtime.calls.records import ArraySpec
from xjit.runtime.spec import (
    Block,
    BranchStep,
    ConstantStep,
    CopyStep,
    LoopStep,
    ReshapeStep,
    RunStep,
    Step,
    blocks_of,
)
from xjit.types import TupleType

if TYPE_CHECKING:
    from xjit.programs.make_spec import Builder


def inner_specs(node: Node, plan: Plan, layouts: Layouts) -> tuple[tuple[ArraySpec, ...], ...]:
    """For each graph inside of an operation how the values of its parameters lie in memory: those that a loop carries
    in row-major order, others as the program around it has them there: views that only the caller gets come later.
    """
    before = itertools.takewhile(lambda step: not _controls(step, node), plan.steps)
    shown = {step.node for step in before if isinstance(step, planned.ViewStep)}
    carried = node.param("n") if node.op.control == "loop" else 0

    def spec(number: int) -> ArraySpec:
        operand = node.inputs[number]
        view = view_of(operand, layouts) if operand in shown and number >= carried else None
        strides = packed_strides(operand.aval) if number < carried else layouts.strides(operand)
        moves = strides if view is None else view.strides
        item = operand.aval.dtype.itemsize
        return ArraySpec(operand.aval.dtype, operand.aval.shape, tuple(move * item for move in moves))

    return tuple(tuple(map(spec, inner.operands)) for inner in inner_graphs(node))


def _controls(step: planned.Step, node: Node) -> bool:
    """Return whether a step is the one of an operation of control."""
    return isinstance(step, planned.ControlStep) and step.node is node


def owned_parameters(node: Node) -> tuple[frozenset[Node], ...]:
    """For each graph inside of an operation the parameters whose memory it may write over, or hand on: those that the
    body of a loop carries, and those that a choice changes.
    """
    if node.op.control == "loop":
        return frozenset(), frozenset(inner_graphs(node)[1].graph.parameters[: node.param("n")])
    return tuple(changed_parameters(node, inner) for inner in inner_graphs(node))


def loop_step(builder: Builder, node: Node) -> LoopStep:
    """The step of a loop; what it starts from and closes over is made on the way."""
    count, kept = node.param("n"), builder.kept(node)
    carried = [number for number in range(count) if number not in kept]
    given = [builder.handed_over(operand, node) for operand in node.inputs[:count]]
    captured = [builder.array(operand) for operand in node.inputs[count:]]
    numbers = [*projections(builder, node), *captured]
    started, results = (tuple(slots[one] for one in carried) for slots in (given, numbers))
    condition, body = builder.inner[node]
    of_condition, of_body = ([numbers[one] for one in inner.operands] for inner in inner_graphs(node))
    test, (tested,) = builder.inside(condition).block(of_condition, condition.kernels, apart=False)
    fixed = frozenset(body.graph.parameters[one] for one in kept)
    turn, after = builder.inside(body, owned_parameters(node)[1], fixed).block(of_body, body.kernels)
    if len(kept) > 1 and all(isinstance(one, _IN_TURNS) for one in turn.steps):
        turn = replace(turn, steps=tuple(_to_the_end(one) for one in turn.steps))
    step = LoopStep(started, results, test, tested, turn, tuple(after[one] for one in carried))
    if not body.in_tiles:
        return step
    try:
        return replace(step, tiles=time_tiles(step, [kernel for kernel, _ in body.kernels], builder.machine))
    except NoTimeTilesError as error:
        builder.untiled[node] = str(error)
        return step


_IN_TURNS = RunStep | ReshapeStep | ConstantStep | CopyStep


def _to_the_end(step: Step) -> Step:
    """A step behind which signals wait for the end of its turn, which changes several arrays of the caller's."""
    return replace(step, lasting=False, final=True) if isinstance(step, RunStep) else step


def branch_step(builder: Builder, node: Node) -> BranchStep:
    """The step of a choice; what its branches get is made on the way."""
    index, *numbers = map(builder.array, node.inputs)
    kept, slots = builder.kept(node), projections(builder, node)
    results = [number for number in range(len(slots)) if number not in kept]
    blocks, values = [], []
    owned = owned_parameters(node)
    for part, inner, own in zip(builder.inner[node], inner_graphs(node), owned, strict=True):
        operands = [numbers[one - 1] for one in inner.operands]
        pairs = zip(part.graph.parameters, inner.operands, strict=True)
        fixed = frozenset(parameter for parameter, one in pairs if node.inputs[one] in kept.values())
        block, made = builder.inside(part, own, fixed).block(operands, part.kernels)
        blocks.append(_without_spent(block, operands))
        values.append(tuple(made[one] for one in results))
    return BranchStep((index,), tuple(slots[one] for one in results), tuple(blocks), tuple(values))


def _without_spent(block: Block, kept: Sequence[int]) -> Block:
    """The block with slots from before it that are not given up inside: other branches read them, too."""
    return replace(block, spent=tuple(tuple(slot for slot in one if slot not in kept) for one in block.spent))


STEPS: dict[str, Callable[[Any, Node], Step]] = {"loop": loop_step, "branch": branch_step}
"""The writers of steps by what an operation does with its graphs."""


def projections(builder: Builder, node: Node) -> tuple[int, ...]:
    """The slots of the values that an operation yields, read or not."""
    found: dict[int, int] = {}
    for other in builder.plan.graph.nodes:
        if other.op is PROJECT and other.inputs[0] is node:
            found[other.param("index")] = builder.slot(builder.resolve(other))
    assert isinstance(node.type, TupleType)
    return tuple(found[k] if k in found else builder.slot(object()) for k in range(len(node.type.elements)))


def is_owned(node: Node, plan: Plan) -> bool:
    """Return whether a value is memory of its own that kernels or operations of control have made."""
    made = {
        statement.target
        for step in plan.steps
        if isinstance(step, planned.KernelStep)
        for statement in step.statements
    }
    return owner(node) in made or (node.op is PROJECT and bool(owner(node).op.control))


def slots_of(step: Step) -> Iterator[int]:
    """The slots that a step reads or fills, those of its blocks included."""
    yield from (*step.inputs, *step.results)
    for block in blocks_of(step):
        for inner in block.steps:
            yield from slots_of(inner)
    match step:
        case LoopStep():
            yield from (step.test, *step.next)
        case BranchStep():
            for values in step.values:
                yield from values
        case _:
            pass
