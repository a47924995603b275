"""Loops over functions that have rare, expensive arguments (huge angles), in strips: usual ones stay vector code.

    for i0 in 0 .. n0:                     for p0 in 0 .. n0 by 512:
      t = add(t, sin(x[i0]))                 carry rare0: pred = False
                                             t_kept = t
                                             for i0 in p0 .. min(p0 + 512, n0):
                                               rare0 = or(rare0, sin_is_far(x[i0]))
                                               t = add(t, sin_near(x[i0]))
                                             if rare0:
                                               t = t_kept
                                               for i0_rare in p0 .. min(p0 + 512, n0):
                                                 t = add(t, sin_rare(x[i0_rare]))

A strip that reads what it has overwritten cannot run twice: there the function itself is called. What the second loop
calls more than once is not inlined there: hardly ever run, it is to be compiled soon.

A loop over many functions calls them all, a register of elements at a time, and is written once: the functions
themselves look for rare arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.dependence import touches
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.specialize_rare import SpecializeRare, is_varied
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Block, Kernel, Loop
from xjit.ir.loops.walk import blocks, parts, values

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_strips(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what makes two of each loop that calls functions with rare arguments, in strips where it is long."""
    own = {name for one in nests for names in one.loops.values() for name in names}
    for name in _calling(kernel.body, own):
        path, loop = found(kernel, name)
        if overwrites(loop, nest.in_one_memory):
            continue
        size, rewrites = nest.machine.strip_elements, list[Rewrite]()
        if not known_before(kernel, path).at_most(loop.stop - loop.start, constant(size)):
            rewrites.append(Split(name, size, nest.fresh("p")))
        yield (*rewrites, SpecializeRare(name, nest.fresh("rare")))


def overwrites(loop: Loop, in_one_memory: frozenset[tuple[str, str]]) -> bool:
    """Return whether a loop reads an argument that it stores over under another name."""
    touched = [(touch.buffer, touch.written) for touch in touches(loop.body)]
    written, read = ({name for name, is_written in touched if is_written is kind} for kind in (True, False))
    return any(first in written and second in read for first, second in in_one_memory)


def _calling(block: Block, own: set[str], loop: str = "") -> Iterator[str]:
    """Yield those of some loops that call functions with rare arguments outside of loops further in."""
    called = False
    for one in block:
        if isinstance(one, Loop):
            yield from _calling(one.body, own, one.variable if one.variable in own else "")
            continue
        called = called or any(is_varied(part) for value in values(one) for part in parts(value))
        for inner in blocks(one):
            yield from _calling(inner, own)
    if called and loop:
        yield loop
