"""Operations of control that become one kernel: those whose graphs are little work, all of it in loops.

    while_loop(i < n, (i + 1, x * 0.5))    100 elements: one kernel
    while_loop(i < n, (i + 1, x @ x))      a library works on whole arrays: a loop of steps
    while_loop(i < n, (i + 1, x * 0.5))    10⁷ elements, whose rows need no others: threads share blocks of them
    while_loop(i < n, (i + 1, x[::-1]))    10⁷ elements, which threads should share: a loop of steps

A kernel of a loop is left from time to time, so that signals are looked at, in loops of unknown length in its turns
as well. A loop further inside is not left: that has to be known to be short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from xjit.dataclass import dataclass, replace
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.operands import View, view_of
from xjit.fusion.control.trips import trips
from xjit.fusion.control.turns import turn_of
from xjit.fusion.cost import element_cost
from xjit.fusion.plan import (
    AliasStep,
    BranchKernelStep,
    ControlKernelStep,
    KernelStep,
    LibraryStep,
    LoopKernelStep,
    Plan,
    Step,
    SubPlan,
)
from xjit.ir.context import PROJECT
from xjit.ir.inner_graphs import changed_parameters, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.own_graphs import own_graph
from xjit.machine import Machine
from xjit.target import Target
from xjit.types import TupleType


class Planner(Protocol):
    """The planner."""

    def __call__(self, graph: Graph, layouts: Layouts, target: Target, *, owned: frozenset[Node]) -> Plan:
        """The plan of a graph on a target; it may write over parameters it owns."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The graph around operations of control: its layouts, the operands that are ``shown``, the target and the
    planner.
    """

    graph: Graph
    layouts: Layouts
    shown: frozenset[Node]
    target: Target
    plan: Planner

    @property
    def machine(self) -> Machine:
        """The machine of the target."""
        return self.target.machine

    def view(self, node: Node) -> View:
        """Return where the elements of an operand lie."""
        found = view_of(node, self.layouts) if node in self.shown else None
        return found or View(node, self.layouts.strides(node), 0)

    def planned(
        self, graph: Graph, operands: tuple[Node, ...], carried: int = 0, owned: Iterable[Node] = ()
    ) -> SubPlan:
        """The plan of an inner graph over these operands. What is ``carried`` is packed, whatever it starts as.

        Parameters that are ``owned`` may be written over.
        """
        views = tuple(map(self.view, operands))
        pairs = list(zip(graph.parameters, views, strict=True))[carried:]
        strides = {one: tuple(move * one.aval.dtype.itemsize for move in view.strides) for one, view in pairs}
        layouts = Layouts(strides)
        return SubPlan(self.plan(graph, layouts, self.target, owned=frozenset(owned)), layouts, views)


def control_kernel(node: Node, around: Surroundings) -> ControlKernelStep | None:
    """The step of an operation of control that becomes one kernel, else None."""
    inner = inner_graphs(node)
    if not all(_is_fit(one.graph, around.machine) for one in inner):
        return None
    if node.op.control == "loop" and node.sequence < 0:
        blocked = _blocked(node, around)
        if blocked is not None:
            return blocked
    step = _loop(node, around) if node.op.control == "loop" else _branch(node, around)
    lasting = step.lasting if isinstance(step, LoopKernelStep) else ()
    if all(_is_one_kernel(sub, around.machine, lasting) for sub in step.parts):
        return step
    return _apart(step, around.machine) if isinstance(step, LoopKernelStep) and not lasting else None


def _apart(step: LoopKernelStep, machine: Machine) -> LoopKernelStep | None:
    """The step of a loop that is one kernel if threads share its turns, which have a part each of long windows."""
    if not step.node.kwargs.get("apart") or step.trips == math.inf:
        return None
    share = 1.0 / max(step.trips, 1.0)
    short = all(_is_one_kernel(sub, machine, (), share) for sub in step.parts)
    return replace(step, apart=True) if short else None


def _blocked(loop: Node, around: Surroundings) -> LoopKernelStep | None:
    """The step of a loop whose turns are done for one block of rows after the other, if that may be and pays."""
    machine = around.machine
    if not loop.kwargs.get("blocked") or machine.blocked_work == math.inf:
        return None
    target = around.target.inside_blocks_of_rows()
    step = _loop(loop, replace(around, target=target))
    if not all(map(_is_kernels, step.parts)):
        return None
    pays = machine.blocked_work <= step.trips * work_of(step.turn, machine) < math.inf
    return replace(step, blocked=True) if pays else None


def _loop(node: Node, around: Surroundings) -> LoopKernelStep:
    (condition, body), carried = inner_graphs(node), node.param("n")
    operands = [tuple(node.inputs[number] for number in one.operands) for one in (condition, body)]
    first, turn = turn_of(condition.graph, body.graph, carried)
    given = (*operands[0], *operands[1][carried:])
    owned = turn.parameters[:carried]
    both = around.planned(first, operands[0], carried), around.planned(turn, given, carried, owned)
    turns = min(trips(first, turn, both[0].operands), node.kwargs.get("most", math.inf))
    return LoopKernelStep(node, *both, _results(node, around.graph), turns)


def _branch(node: Node, around: Surroundings) -> BranchKernelStep:
    inner = inner_graphs(node)
    operands = [tuple(node.inputs[number] for number in one.operands) for one in inner]
    own = [replace(one, graph=own_graph(one.graph)) for one in inner]
    pairs = zip(own, operands, strict=True)
    subs = tuple(around.planned(one.graph, of, owned=changed_parameters(node, one)) for one, of in pairs)
    return BranchKernelStep(node, around.view(node.inputs[0]), subs, _results(node, around.graph))


def _results(node: Node, graph: Graph) -> tuple[Node, ...]:
    """The values that an operation yields, also those that nobody reads."""
    assert isinstance(node.type, TupleType)
    found = {one.param("index"): one for one in graph.nodes if one.op is PROJECT and one.inputs[0] is node}
    return tuple(
        found.get(index) or Node(PROJECT, (node,), (("index", index),), type, node.where)
        for index, type in enumerate(node.type.elements)
    )


def _is_fit(graph: Graph, machine: Machine) -> bool:
    """Return whether loops can do what a graph does, as far as its nodes tell."""
    if not all(map(_is_draw, graph.effects)) or len(graph.nodes) > machine.longest_turn:
        return False
    return not any(map(_changes_width, graph.nodes))


def _is_draw(node: Node) -> bool:
    """Return whether a node with effects draws numbers as kernels can, or has nothing else inside of it."""
    if node.op.control:
        return all(map(_is_draw, (one for inner in inner_graphs(node) for one in inner.graph.effects)))
    drawing = None if node.op.draws is None else node.op.draws(node.kwargs)
    return drawing is not None and drawing.single > 0 and not any(source.aval.rank for source in node.inputs[1:])


def _changes_width(node: Node) -> bool:
    """Return whether elements are filled by those of another width."""
    return node.op.flat and node.inputs[0].aval.dtype.itemsize != node.aval.dtype.itemsize


def _is_kernels(sub: SubPlan) -> bool:
    """Return whether a plan has nothing but kernels."""
    kinds = KernelStep | AliasStep | LoopKernelStep | BranchKernelStep
    return all(isinstance(step, kinds) or _draws(step) for step in sub.plan.steps)


def _draws(step: Step) -> bool:
    return isinstance(step, LibraryStep) and step.node.op.draws is not None


def _is_one_kernel(sub: SubPlan, machine: Machine, left: Sequence[LoopKernelStep], share: float = 1.0) -> bool:
    """Return whether a plan has nothing but kernels that threads would not share, and is soon done, but for loops
    that may be ``left``. Windows whose lengths the run knows are that ``share`` of the longest that there may be.
    """
    if not _is_kernels(sub) or any(isinstance(step, LoopKernelStep) and step.blocked for step in sub.plan.steps):
        return False  # blocks of rows are those of a kernel: inside of another loop they would be one turn over all
    short = work_of(sub, machine, left, share) < machine.lasting_work
    return short and widest_work(sub, machine, share) < machine.parallel_work


def widest_work(sub: SubPlan, machine: Machine, share: float = 1.0) -> float:
    """The work of the largest kernel of a plan in additions, those in loops and branches included."""
    found = 0.0
    for step in sub.plan.steps:
        if isinstance(step, KernelStep):
            found = max(found, sum(_work_of_kernel(step, sub, machine, share)))
        elif isinstance(step, LoopKernelStep | BranchKernelStep):
            found = max(found, *(widest_work(part, machine, share) for part in step.parts))
    return found


def work_of(sub: SubPlan, machine: Machine, left: Sequence[LoopKernelStep] = (), share: float = 1.0) -> float:
    """The work of a plan in additions; infinite where it has a loop of unknown length.

    Of loops that may be ``left`` a turn counts.
    """
    return sum(_works(sub, machine, left, share))


def _works(sub: SubPlan, machine: Machine, left: Sequence[LoopKernelStep], share: float) -> Iterator[float]:
    for step in sub.plan.steps:
        match step:
            case KernelStep():
                yield from _work_of_kernel(step, sub, machine, share)
            case LoopKernelStep():
                trips = 1 if step in left else step.trips
                yield work_of(step.first, machine, (), share) + trips * work_of(step.turn, machine, (), share)
            case BranchKernelStep():
                yield max(work_of(branch, machine, (), share) for branch in step.branches)
            case LibraryStep(node) if node.op.draws is not None:
                yield node.op.draws(node.kwargs).cost * node.aval.size
            case _:
                pass


def _work_of_kernel(step: KernelStep, sub: SubPlan, machine: Machine, share: float) -> Iterator[float]:
    for statement in step.statements:
        visits = sub.plan.slices.of(statement).visits
        each = sum(element_cost(indexed.node, machine) for indexed in visits)
        limited = {axis for axis, _ in statement.domain.limits}
        lengths = (max(1.0, size * share) if axis in limited else size for axis, size in enumerate(statement.dims))
        yield math.prod(lengths) * (1.0 + each)
