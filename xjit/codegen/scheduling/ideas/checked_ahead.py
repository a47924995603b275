"""Reductions of elements at positions from memory: the positions of a block are checked ahead of it.

    for j in 0 .. n:                            for b in 0 .. n by 512:
      p = k[j]                                    e = min(b + 512, n)
      inside = (p >= -m) & (p < m)                for j_ahead in b .. e: far = or(far, k[j_ahead] | ...)
      at = select(inside, ..., 0)                 if far < 0:
      t = add(t, x[at])                  ->         for j in b .. e: ...
      bad = or(bad, not(inside))                  else:
                                                    for j_inside in b .. e: t = add(t, x[k[j_inside]])

Elements at positions from memory come late: the less stands between two of them, the more of them a processor has
under way. The positions are in the first-level cache when the elements are asked for. What is dear to compute, or
looped through in the loop, would gain little; a few elements are checked as they are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit import numerics
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.checked_positions import checked_positions
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.check_ahead import CheckAhead
from xjit.codegen.rewrites.values.specialize_rare import is_varied
from xjit.codegen.scheduling.ideas.rare import overwrites
from xjit.codegen.scheduling.ideas.reduction_loops import reducing_loops
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Accumulate, Fold, Kernel, Loop, Statement
from xjit.ir.loops.walk import blocks, parts, values
from xjit.types import BOOL

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def checks_ahead(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what checks positions from memory a block of elements ahead of their reduction."""
    for loops in reducing_loops(kernel.body):
        loop, in_blocks = loops[-1], len(loops) > 1 and loops[-2].step == numerics.BLOCK
        lines = {variable(one.variable) for one in (loops[-2:] if in_blocks else loops[-1:])}
        if not _pays(loop) or overwrites(loop, nest.in_one_memory) or not _is_line(loop, lines):
            continue
        split = () if in_blocks else (Split(loop.variable, numerics.BLOCK, nest.fresh("b"), nest.fresh("e")),)
        yield (*split, CheckAhead(loop.variable, nest.fresh("far")))


def _pays(loop: Loop) -> bool:
    """Return whether a loop reduces more than a few elements, with little work beside the check of positions."""
    length = (loop.stop - loop.start).value
    if length is not None and length <= numerics.SHORT:
        return False
    reduces = any(isinstance(one, Accumulate) and one.value.dtype != BOOL for one in loop.body)
    return reduces and not any(map(_is_more, loop.body)) and bool(checked_positions(loop).bounds)


def _is_more(one: Statement) -> bool:
    """Return whether a statement has blocks, changes scalars in order, or calls a function with rare arguments."""
    calls = any(is_varied(part) for value in values(one) for part in parts(value))
    return calls or bool(blocks(one)) or isinstance(one, Fold)


def _is_line(loop: Loop, lines: set[IntExpr]) -> bool:
    """Return whether sums take the elements of a loop, or of the blocks that it runs in, as a line."""
    return all(one.order is None or one.order.line in lines for one in loop.body if isinstance(one, Accumulate))
