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
    what was done to the loops, in order.
    """

    kernel: Kernel
    pointers: tuple[tuple[Node, int], ...]  # buffer and first byte, per slot
    words: tuple[int, ...]  # in the slots after the pointers
    extent: int  # of the shared loop
    work: float  # of the whole kernel, in additions
    groups: tuple[FusionGroup, ...]
    in_place: Mapping[Node, Node] = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()


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
    nest = LoopBuilder(machine, varying)
    pointers = Pointers(nest)
    checks = Checks(nest, pointers)
    scratch = Scratch(nest)
    tiles = InTiles.of(tiling, layouts)
    parts = [Lowering(group, layouts, leaves, stored, nest, pointers, checks, scratch, tiles) for group in groups]
    if tiling is None:
        _write_side_by_side(parts, nest)
    else:
        write_one_behind_the_other(parts, tiles, nest)
    between = pointers.inside.values()
    body = (*scratch.allocs, *checks.before, *nest.scopes[0].statements, *checks.after())
    work = sum(part.work for part in parts)
    naive = Kernel(
        "kernel", pointers.arguments, without_unread(pointers.with_all_axes(body), between), facts=tuple(nest.facts)
    )
    # Of what is spent, the next tile may read too.
    in_place = InPlace(spent if tiling is None else frozenset(), layouts, pointers.by_node)
    ideas = () if any(group.changes for group in groups) else (*IDEAS, in_place)  # updates have their order
    kernel, done = scheduled(naive, [part.naive for part in parts], nest, ideas)
    see_that_tiles_have_scratch(kernel, between)
    launch = launched(kernel, nest)
    values = tuple(dict(nest.words.values())[name] for name in launch.kernel.words or ())
    places = pointers.places([one.buffer.name for one in kernel.arguments])
    taken = in_place.taken(done)
    return LoweredKernel(launch.kernel, places, values, launch.extent, work, tuple(groups), taken, done)


def _write_side_by_side(parts: Sequence[Lowering], nest: LoopBuilder) -> None:
    """Each nest behind the other; threads do not share the iterations of those that are little work."""
    heaviest = max(part.work for part in parts)
    for number, part in enumerate(parts):
        nest.section = number
        part.bounds.shared = part.work >= nest.machine.lone_share * heaviest
        is_alone = len(parts) > 1 and (part.is_alone or not part.bounds.shared)
        if is_alone:
            nest.open(nest.fresh("once"))
        nest.outermost = len(nest.scopes) - 1
        part.write()
        if is_alone:
            nest.close(0, 1, LoopKind.PARALLEL)
        part.scratch.give_back()
