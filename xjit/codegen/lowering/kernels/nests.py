"""A kernel: the loop nests of one or more groups that do not need each other, lowered, rewritten and launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xjit.codegen.forms.overlapped_tiles import in_windows, window_layouts, write_tiles
from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.check_flags import Checks
from xjit.codegen.lowering.kernels.launch import launched
from xjit.codegen.lowering.lower import Lowering
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch, with_shared_scratch
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.scheduling.in_place import overwrite
from xjit.codegen.scheduling.scheduler import scheduled
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
    inner, tiled = groups, frozenset[int]()
    if tiling is not None:
        layouts, tiled = window_layouts(tiling, layouts), frozenset(tiling.axes)
        inner = [in_windows(group, tiling, layouts) for group in groups]
        spent = frozenset()  # the next tile reads of it too
    parts = [Lowering(group, layouts, leaves, stored, nest, pointers, checks, scratch, tiled) for group in inner]
    in_place = overwrite(parts, spent)
    pointers.overwritten = frozenset(in_place.values())
    if tiling is not None:
        write_tiles(parts, tiling, nest, pointers)
    else:
        _write_behind_each_other(parts, nest)
    body = (*scratch.allocs, *checks.before, *nest.scopes[0].statements, *checks.after())
    work = sum(part.work for part in parts)
    naive = Kernel("kernel", pointers.arguments, pointers.with_all_axes(body), facts=tuple(nest.facts))
    kernel, done = scheduled(naive, [part.naive for part in parts], nest)
    launch = launched(with_shared_scratch(kernel), nest)
    values = tuple(dict(nest.words.values())[name] for name in launch.kernel.words or ())
    return LoweredKernel(launch.kernel, pointers.places, values, launch.extent, work, tuple(groups), in_place, done)


def _write_behind_each_other(parts: Sequence[Lowering], nest: LoopBuilder) -> None:
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
