"""The result of planning: groups that become kernels, and the steps around them."""

from __future__ import annotations

import math
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.operands import View
from xjit.fusion.regions.reads import Slices
from xjit.fusion.statements import Check, IndexedValue, Reduce, Statement, Store, Update
from xjit.ir.index_map import relabel
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Ordering
from xjit.numerics import SumOrder


@dataclass(frozen=True, slots=True, eq=False)
class FusionGroup:
    """One loop nest: statements over one domain. ``axes[k]`` maps the axes of statement k to axes of the domain,
    whose first ``rank`` are looped over once; the others belong to nested reductions.
    """

    dims: tuple[int, ...]
    reduced: tuple[int, ...]
    statements: tuple[Statement, ...]
    axes: tuple[dict[int, int], ...]
    chunk: tuple[int, int] | None
    reasons: tuple[str, ...]
    rank: int

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(self.rank) if axis not in self.reduced)

    @property
    def sums(self) -> SumOrder | None:
        """The order of its sums and products of floats; None where there are none."""
        return next((order for statement in self.statements if (order := statement.sums) is not None), None)

    @property
    def adds_products(self) -> bool:
        """Return whether a statement adds up products of two operands."""
        return any(isinstance(statement, Reduce) and statement.adds_products for statement in self.statements)

    @property
    def is_elementwise(self) -> bool:
        """Return whether every statement computes its elements one by one, in any order."""
        return all(isinstance(statement, Store | Check) for statement in self.statements)

    @property
    def changes(self) -> bool:
        """Return whether its statements change elements at places that data decides, one after the other."""
        return any(isinstance(statement, Update) for statement in self.statements)

    @property
    def chunk_numbers(self) -> frozenset[IndexedValue]:
        """The numbers of chunks that the loops run through."""
        pairs = ((statement.chunk_number, axes) for statement, axes in zip(self.statements, self.axes, strict=True))
        return frozenset(IndexedValue(one.node, relabel(one.index, axes)) for one, axes in pairs if one is not None)

    @property
    def has_skew(self) -> bool:
        """Return whether some statement runs steps behind a scan."""
        return any(statement.domain.skew is not None for statement in self.statements)

    @property
    def limits(self) -> dict[int, tuple[Node, int]]:
        """The axes whose loops end where the run says: the limit, and how many positions come before the loop's."""
        pairs = zip(self.statements, self.axes, strict=True)
        return {axes[axis]: stop for statement, axes in pairs for axis, stop in statement.domain.stops.items()}

    @property
    def nested(self) -> dict[Node, int]:
        """The nested reductions and the first axis of each."""
        return {node: first for statement in self.statements for node, first in statement.domain.nested}


@dataclass(frozen=True, slots=True)
class Tiling:
    """The order in which groups of a kernel run one behind the other, a tile of the result at a time.

    ``axes`` are the tiled axes, the same ones of every group and of every value in between, ``sizes`` the extents of
    a tile along them. The ``values`` in between are kept in scratch: as much of each as a tile reads.
    """

    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelStep:
    """Runs a generated kernel: one loop nest for each group. Without a ``tiling``, none of them needs another."""

    groups: tuple[FusionGroup, ...]
    tiling: Tiling | None = None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of all groups."""
        return tuple(statement for group in self.groups for statement in group.statements)


@dataclass(frozen=True, slots=True, eq=False)
class AliasStep:
    """The node's buffer is the operand's buffer, read with other dimensions or behind a barrier."""

    node: Node
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class LibraryStep:
    """Calls a library on whole arrays (BLAS for dot), or runs an operation with effects in its place among them."""

    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class SortStep:
    """One pass over lines that are put in order, as each of ``sources`` becomes the one of ``targets`` beside it.

    The first pass puts ``run`` elements of a line in order; the others merge runs of ``merged`` elements in pairs,
    ``run`` elements of the result at a time.  A sort that is not cut into passes yet has no sources.

    Of lines that take several passes one in front of them, which has no targets, notes in ``order`` which of their
    ``parts`` are in order.  The others leave lines alone that are, and the last one copies these from ``lines``.
    """

    node: Node
    ordering: Ordering
    sources: tuple[Node, ...] = ()
    targets: tuple[Node, ...] = ()
    run: int = 0
    merged: int = 0
    order: Node | None = None
    parts: int = 0
    lines: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class HostStep:
    """Runs the NumPy reference of an operation that has a gap on this target."""

    node: Node
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ControlStep:
    """Runs the graphs inside of an operation, which are programs of their own: in a loop, or one of them."""

    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep:
    """An output that NumPy would return as a view: its index operations, run by NumPy on the base array."""

    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class SubPlan:
    """The plan of a graph inside of an operation; ``operands`` are where the elements of its parameters lie."""

    plan: Plan
    layouts: Layouts
    operands: tuple[View, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoopKernelStep:
    """Runs a loop that carries values in one kernel.

    ``first`` is the condition of what is carried at the beginning, ``turn`` the values after a turn and the condition
    of these. The first parameters of both are the carried values; the last ones have ``results``. There are so many
    ``trips``, infinitely many where nobody knows it. All turns are done for one block of rows after the other if they
    are ``blocked``. A loop that is one kernel only if threads share its turns has these ``apart``.
    """

    node: Node
    first: SubPlan
    turn: SubPlan
    results: tuple[Node, ...]
    trips: float
    blocked: bool = False
    apart: bool = False

    @property
    def parts(self) -> tuple[SubPlan, ...]:
        """The plans of its graphs."""
        return self.first, self.turn

    @property
    def operands(self) -> tuple[View, ...]:
        """The elements that the kernel reads of values around it."""
        return self.first.operands + self.turn.operands

    @property
    def lasting(self) -> tuple[LoopKernelStep, ...]:
        """The loops of unknown length in a turn, in which a call of the kernel may end."""
        steps = self.turn.plan.steps
        return tuple(step for step in steps if isinstance(step, LoopKernelStep) and step.trips == math.inf)


@dataclass(frozen=True, slots=True, eq=False)
class BranchKernelStep:
    """Runs one of several computations in a kernel: that of the number ``choice``, the last where there is none."""

    node: Node
    choice: View
    branches: tuple[SubPlan, ...]
    results: tuple[Node, ...]

    @property
    def parts(self) -> tuple[SubPlan, ...]:
        """The plans of its graphs."""
        return self.branches

    @property
    def operands(self) -> tuple[View, ...]:
        """The elements that the kernel reads of values around it."""
        return (self.choice, *(view for branch in self.branches for view in branch.operands))


ControlKernelStep: TypeAlias = LoopKernelStep | BranchKernelStep
"""Steps of control that are one kernel."""

KERNELS = KernelStep | SortStep | ControlKernelStep
"""Steps that are kernels."""

Step: TypeAlias = (
    "KernelStep | SortStep | AliasStep | LibraryStep | HostStep | ControlStep | ControlKernelStep | ViewStep"
)

WHOLE = LibraryStep | HostStep | ControlStep
"""Steps on whole arrays, which stand between kernels."""


def changed_by(step: Step) -> tuple[Node, ...]:
    """The values in whose memory a step puts others: those that its kernels update, or that it names anew."""
    if isinstance(step, KernelStep):
        return tuple(one for statement in step.statements for one in statement.updated)
    return (step.node,) if isinstance(step, AliasStep) else ()


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The steps of a program in order.

    Inlining stops at ``leaves``; of these, ``stored`` are the nodes that get a buffer of their own. ``slices`` are
    what the statements inline. Nothing is stored into buffers that are ``blank``: loops write over all of them first.
    """

    graph: Graph
    steps: tuple[Step, ...]
    leaves: frozenset[Node]
    stored: frozenset[Node]
    reasons: tuple[str, ...]
    slices: Slices
    blank: frozenset[Node] = frozenset()
