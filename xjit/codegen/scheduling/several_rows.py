"""Several rows at a time: where a loop over rows around one over accumulators of columns is unrolled and jammed.

    for j0 in b0 .. e0:                           for j0 in b0 .. e0 - 3 by 4:
      x0 = m1[j0 - b0]                              x0 = m1[j0 - b0]
      for i0 in 0 .. n:                             x0_1 = m1[j0 + 1 - b0]
        m0[i0] = m0[i0] + x0 * ...                  ...
                                                    for i0 in 0 .. n:
                                                      m0[i0] = m0[i0] + x0 * ...
                                                      m0[i0] = m0[i0] + x0_1 * ...
                                                      ...
                                                  for j0_tail in ...: as before

The compiler keeps the accumulator in a register in between.  Every column adds its rows in the same order as before,
so that no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.ir.loops.nodes import Let, LetInt, Loop, Statement, Store
from xjit.machine import Machine


def join_rows(nest: LoopBuilder) -> None:
    """Has several rows taken in each step of the loop that has just been closed, if they are short work."""
    loop = nest.inner.statements[-1]
    if isinstance(loop, Loop) and are_worth_joining(loop, nest.written, nest.machine):
        nest.rewrite(lambda name: UnrollAndJam(name, nest.machine.joined_rows))


def are_worth_joining(loop: Loop, arguments: Collection[str], machine: Machine) -> bool:
    """Whether each row is little more than loads and stores of accumulators, which are no arguments of the kernel."""
    *before, inner = loop.body
    if not isinstance(inner, Loop) or len(inner.body) > machine.joined_statements:
        return False
    adds_up = all(isinstance(one, LetInt | Let) or _accumulates(one, arguments) for one in inner.body)
    return adds_up and all(isinstance(one, LetInt | Let) for one in before)


def _accumulates(one: Statement, arguments: Collection[str]) -> bool:
    return isinstance(one, Store) and one.buffer not in arguments
