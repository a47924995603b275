"""Which values share memory: temporaries that are never alive together, results with what dies in making them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xjit.alignment import padded
from xjit.dataclass import dataclass
from xjit.fusion.plan import (
    AliasStep,
    BranchKernelStep,
    ControlStep,
    KernelStep,
    LibraryStep,
    LoopKernelStep,
    Plan,
    Step,
    ViewStep,
)
from xjit.fusion.regions.materialized import owner, view_chain
from xjit.fusion.regions.reads import Slices
from xjit.fusion.statements import Check
from xjit.ir.node import Node
from xjit.types import TupleType


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The bytes of one piece of memory that holds all temporaries, and the byte at which each of them begins."""

    size: int
    offsets: dict[Node, int]


def share_memory(temporaries: Iterable[Node], uses: Sequence[Iterable[Node]]) -> MemoryPlan:
    """Puts temporaries into as little memory as a greedy search finds. ``uses`` are the values of every step.

    The largest first, each takes the tightest gap between those that are alive together with it and have a place
    already, else the place behind them.
    """
    lives = _lives(uses)
    alive: dict[int, list[Node]] = {}
    found: dict[Node, int] = {}
    size = 0
    for node in sorted((node for node in temporaries if node in lives), key=lambda one: -one.aval.nbytes):
        begin, end = lives[node]
        beside = dict.fromkeys(other for step in range(begin, end + 1) for other in alive.get(step, ()))
        taken = sorted((found[other], padded(other.aval.nbytes)) for other in beside)
        found[node] = _gap(padded(node.aval.nbytes), taken)
        size = max(size, found[node] + node.aval.nbytes)
        for step in range(begin, end + 1):
            alive.setdefault(step, []).append(node)
    return MemoryPlan(size, found)


def _lives(uses: Sequence[Iterable[Node]]) -> dict[Node, tuple[int, int]]:
    """The first and the last step that uses each value."""
    lives: dict[Node, tuple[int, int]] = {}
    for step, nodes in enumerate(uses):
        for node in nodes:
            lives[node] = (lives.get(node, (step, step))[0], step)
    return lives


def _gap(size: int, taken: Sequence[tuple[int, int]]) -> int:
    """Find the beginning of the tightest gap of this size among the (offset, size) that are taken, in order."""
    best: tuple[int, int] | None = None
    end = 0
    for offset, other in taken:
        if offset - end >= size and (best is None or offset - end < best[0]):
            best = offset - end, end
        end = max(end, offset + other)
    return end if best is None else best[1]


def spent_in_kernels(plan: Plan, own: frozenset[Node] = frozenset()) -> list[frozenset[Node]]:
    """For each kernel of a plan the values that nothing reads after it, and whose memory it may therefore use.

    They are the program's own: neither arguments nor constants, and nothing that the caller gets or sees a part of.
    Some parameters may be its ``own``, too.
    """
    made: set[Node] = set()
    shown = {view_chain(node)[0] for node in plan.graph.outputs}.union(plan.graph.outputs)
    for step in plan.steps:
        match step:
            case KernelStep():
                made.update(statement.target for statement in step.statements if not isinstance(statement, Check))
            case LoopKernelStep() | BranchKernelStep():
                made.update(one for one in plan.stored if owner(one) is step.node)
                shown.update(view.base for view in step.operands if view.base not in step.node.inputs)
            case ControlStep(node):
                made.update(one for one in plan.stored if owner(one) is node)
            case LibraryStep(node) if node.op.fresh:
                made.update(one for one in plan.stored if owner(one) is node)
            case AliasStep(node, operand):
                shown.update((node, operand))
            case ViewStep(node):
                shown.update((node, view_chain(node)[0]))
            case _:
                pass
    free = {node for node in (made & plan.stored | own) - shown if not isinstance(node.type, TupleType)}
    last: dict[Node, Step] = {}
    for step in plan.steps if free else ():
        last |= dict.fromkeys(_read_by(step, plan.slices), step)
    spent: dict[Step, list[Node]] = {}
    for node, step in last.items():
        if node in free:
            spent.setdefault(step, []).append(node)
    return [frozenset(spent.get(step, ())) for step in plan.steps if isinstance(step, KernelStep)]


def _read_by(step: Step, slices: Slices) -> Iterator[Node]:
    if isinstance(step, KernelStep):
        for statement in step.statements:
            yield from (indexed.node for indexed in slices.of(statement).reads)
    else:
        yield from step.node.inputs
