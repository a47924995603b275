"""A kernel: the loop nests of one or more groups that do not need each other, lowered, rewritten and launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.check_flags import Checks
from xjit.codegen.lowering.kernels.launch import launched
from xjit.codegen.lowering.kernels.tiled_groups import (
    see_that_tiles_have_scratch,
    without_unread,
    write_one_behind_the_other,
)
from xjit.codegen.lowering.lower import Lowering
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.scheduling.ideas.in_place import InPlace
from xjit.codegen.scheduling.ideas.scattered_stores import before_scattered_stores
from xjit.codegen.scheduling.scheduler import IDEAS, scheduled
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup, Tiling
from xjit.ir.loops.nodes import Kernel, LoopKind
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class LoweredKernel:
    """Loop nests and what their table holds for the shapes at hand.

    ``in_place`` are values that are written into the buffer of another, each with that other one; ``rewrites`` is
    what was done to the loops, in order. A kernel that is ``resumed`` runs turns of a loop, each of this ``work``,
    and says in the word of its first slot whether there are more.
    """

    kernel: Kernel
    pointers: tuple[tuple[Node, int], ...]  # buffer and first byte, per slot
    words: tuple[int, ...]  # in the slots after the pointers
    extent: int  # of the shared loop
    work: float  # of the whole kernel, in additions
    groups: tuple[FusionGroup, ...]
    in_place: Mapping[Node, Node] = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()
    resumed: bool = False


def lower(
    groups: Sequence[FusionGroup],
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    spent: frozenset[Node],
    tiling: Tiling | None,
    machine: Machine,
    varying: bool = False,
) -> LoweredKernel:
    """Lowers a kernel. ``leaves`` are materialised nodes, ``stored`` those that get a buffer, ``spent`` those whose
    buffers nobody reads after this kernel. A ``tiling`` says how the groups run one behind the other. Numbers of
    the program stay out of the text if they are known to be ``varying``.
    """
    under_way = KernelInProgress.of(machine, varying)
    built = under_way.scheduled(groups, layouts, leaves, stored, spent, tiling)
    nest, pointers = under_way.nest, under_way.pointers
    launch = launched(built.kernel, nest)
    values = tuple(dict(nest.words.values())[name] for name in launch.kernel.words or ())
    places = pointers.places([one.buffer.name for one in built.kernel.arguments])
    extent, work = launch.extent, built.work
    return LoweredKernel(launch.kernel, places, values, extent, work, tuple(groups), built.in_place, built.rewrites)


@dataclass(frozen=True, slots=True, eq=False)
class ScheduledNests:
    """The nests of some groups after their rewrites, as a kernel that is not launched yet; see `LoweredKernel`."""

    kernel: Kernel
    work: float
    in_place: Mapping[Node, Node]
    rewrites: tuple[Rewrite, ...]


@dataclass(eq=False)
class KernelInProgress:
    """A kernel whose nests are written one after the other: names, words and pointers are those of all of them."""

    nest: LoopBuilder
    pointers: Pointers
    checks: Checks

    @classmethod
    def of(cls, machine: Machine, varying: bool) -> KernelInProgress:
        """One without nests."""
        nest = LoopBuilder(machine, varying)
        pointers = Pointers(nest)
        return cls(nest, pointers, Checks(nest, pointers))

    def scheduled(
        self,
        groups: Sequence[FusionGroup],
        layouts: Layouts,
        leaves: frozenset[Node],
        stored: frozenset[Node],
        spent: frozenset[Node],
        tiling: Tiling | None,
        kept: Mapping[Node, Node] | None = None,
        shared: bool = True,
    ) -> ScheduledNests:
        """The nests of groups that do not need each other, or that a ``tiling`` has run one behind the other.

        Threads share their iterations if they are ``shared``. The buffers of some spent values are ``kept`` for one
        result each.
        """
        nest, pointers, checks, scratch = self.nest, self.pointers, self.checks, Scratch(self.nest)
        tiles = InTiles.of(tiling, layouts)
        parts = [Lowering(group, layouts, leaves, stored, nest, pointers, checks, scratch, tiles) for group in groups]
        if tiling is None:
            _write_side_by_side(parts, nest, shared)
        else:
            write_one_behind_the_other(parts, tiles, nest)
        between = pointers.inside.values()
        body = (*scratch.allocs, *checks.before, *nest.scopes[0].statements, *checks.after())
        work = sum(part.work for part in parts)
        naive = Kernel(
            "kernel",
            pointers.arguments,
            without_unread(pointers.with_all_axes(body), between),
            facts=tuple(nest.facts),
        )
        # Of what is spent, the next tile may read too.
        in_place = InPlace(spent if tiling is None else frozenset(), layouts, pointers.by_node, kept or {})
        ideas = () if any(group.changes for group in groups) else (*IDEAS, in_place)  # updates have their order
        if not shared:  # loops of a turn come to be loops over blocks of rows, and of two turns
            ideas = tuple(one for one in ideas if one is not before_scattered_stores)
        nest.in_one_memory = pointers.in_one_memory
        kernel, done = scheduled(naive, [part.naive for part in parts], nest, ideas)
        see_that_tiles_have_scratch(kernel, between)
        return ScheduledNests(kernel, work, in_place.taken(done), done)


def _write_side_by_side(parts: Sequence[Lowering], nest: LoopBuilder, shared: bool) -> None:
    """Each nest behind the other; threads do not share the iterations of those that are little work, or of any."""
    heaviest = max(part.work for part in parts)
    for number, part in enumerate(parts, nest.section):
        nest.section = number
        part.bounds.shared = shared and part.work >= nest.machine.lone_share * heaviest
        is_alone = shared and len(parts) > 1 and (part.is_alone or not part.bounds.shared)
        if is_alone:
            nest.open(nest.fresh("once"))
        nest.outermost = len(nest.scopes) - 1
        part.write()
        if is_alone:
            nest.close(0, 1, LoopKind.PARALLEL)
        part.scratch.give_back()
