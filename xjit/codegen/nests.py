"""A kernel: the loop nests of one or more groups that do not need each other.

What the parts of a result are made by, its borders and its interior, is one kernel whose steps they share:

    lo0 = select(lo > first0, lo - first0, 0)        # its own part of the steps lo to hi
    hi0 = select(hi - first0 < n1, hi - first0, n1)
    for i0 in range(lo0, hi0):                       # the interior
        ...
    lo1 = select(lo > first1, lo - first1, 0)
    hi1 = select(hi - first1 < 1, hi - first1, 1)
    for once0 in range(lo1, hi1):                    # a border: one step
        ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xjit.codegen.buffers import Pointers
from xjit.codegen.checks import Checks
from xjit.codegen.in_place import overwrite
from xjit.codegen.lower import Lowering
from xjit.codegen.overlapped import in_windows, window_layouts, write_tiles
from xjit.codegen.scopes import Nest
from xjit.codegen.scratch import Scratch
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import FusionGroup, Tiling
from xjit.ir.loops import Kernel, LoopKind, Share, Word
from xjit.ir.node import Node

# A nest with less work than this share of the heaviest one is a single step of the loop that threads share.
LIGHT = 0.125


@dataclass(frozen=True, slots=True, eq=False)
class LoweredKernel:
    """Loop nests and what their table holds for the shapes at hand.

    ``in_place`` are values that are written into the buffer of another, each with that other one.
    """

    kernel: Kernel
    pointers: tuple[tuple[Node, int], ...]  # buffer and first byte, per slot
    words: tuple[int, ...]  # in the slots after the pointers
    extent: int  # of the shared loop
    work: float  # of the whole kernel, in additions
    groups: tuple[FusionGroup, ...]
    in_place: Mapping[Node, Node] = field(default_factory=dict)


def lower(
    groups: Sequence[FusionGroup],
    layouts: Layouts,
    leaves: frozenset[Node],
    stored: frozenset[Node],
    spent: frozenset[Node] = frozenset(),
    tiling: Tiling | None = None,
    varying: bool = False,
) -> LoweredKernel:
    """Lowers a kernel. ``leaves`` are materialised nodes, ``stored`` those that get a buffer, ``spent`` those whose
    buffers nobody reads after this kernel. A ``tiling`` says how the groups run one behind the other. Numbers of
    the program stay out of the text if they are known to be ``varying``.
    """
    nest = Nest(varying)
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
        extent = write_tiles(parts, tiling, nest, pointers)
    else:
        extent = parts[0].write() if len(parts) == 1 else _write_together(parts, nest)
    body = (*scratch.allocs, *checks.before, *nest.scopes[0].statements, *checks.after())
    arguments = pointers.arguments
    words = tuple(Word(word.name, word.slot + len(arguments)) for word, _ in nest.words.values())
    values = tuple(value for _, value in nest.words.values())
    work = sum(part.work for part in parts)
    kernel = Kernel(arguments, words, body)
    return LoweredKernel(kernel, pointers.places, values, extent, work, tuple(groups), in_place)


def _write_together(parts: Sequence[Lowering], nest: Nest) -> int:
    """Each nest behind the other; the number of steps of all together."""
    heaviest = max(part.work for part in parts)
    steps = 0
    for number, part in enumerate(parts):
        nest.section = number
        bounds = nest.fresh("lo"), nest.fresh("hi")
        shared = part.work >= LIGHT * heaviest
        extent = part.extent if shared else 1
        first, stop = nest.word("first", steps, "first"), nest.word("steps", extent, "steps")
        nest.inner.statements.append(Share(*bounds, first, stop))
        part.bounds.shared = bounds if shared and part.plan.shared is not None else None
        if part.bounds.shared is None:
            nest.open(nest.fresh("once"))
        nest.outermost = len(nest.scopes) - 1
        part.write()
        if part.bounds.shared is None:
            nest.close(*bounds, LoopKind.PARALLEL)
        part.scratch.give_back()
        steps += extent
    return steps
