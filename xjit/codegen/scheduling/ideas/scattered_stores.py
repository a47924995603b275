"""Slow values whose stores lie apart in memory, as those to a column of a matrix: such stores are no vector code.

A strip of values is made by vector code, and then stored element by element, which would make scalar code of the
functions in front of the stores. Four stores are one iteration.

    for i0 in 0 .. n0:                      for b0 in 0 .. n0 by 512:
      v0 = exp(x[i0])                         for e0 in b0 .. min(b0 + 512, n0): m0[e0 - b0] = exp(x[e0])
      out[i0, 3] = v0                         for i0 in b0 .. min(b0 + 512, n0) by 4: out[i0, 3] = m0[i0 - b0] ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reductions.load_apart import Strides, has_neighbours, step_along
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.codegen.rewrites.values.precompute import Precompute, needed_for
from xjit.codegen.scheduling.ideas.rare import overwrites
from xjit.codegen.scheduling.ideas.values_ahead import special_functions
from xjit.ir.loops.nodes import Block, Kernel, Let, Load, Loop, Prim, Store, Var
from xjit.ir.loops.walk import parts, statements, values
from xjit.ir.scalar_expr import primitive_cost
from xjit.machine import Machine

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def before_scattered_stores(
    kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder
) -> Iterator[Sequence[Rewrite]]:
    """Yield what makes expensive values for a strip of elements before they are stored, where stores lie apart."""
    own = {name for one in nests for names in one.loops.values() for name in names}
    loops = [one for one in _loops(kernel) if one.variable in own]
    yield from _in_loops(kernel, [one for one in loops if _reads_before_it_stores(one, nest.in_one_memory)], nest)


def before_all_scattered_stores(
    kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder
) -> Iterator[Sequence[Rewrite]]:
    """Yield the same for all loops of a kernel, whatever they have become."""
    yield from _in_loops(kernel, [one for one in _loops(kernel) if not overwrites(one, nest.in_one_memory)], nest)


def _reads_before_it_stores(loop: Loop, in_one_memory: frozenset[tuple[str, str]]) -> bool:
    """Return whether an iteration takes all that it stores over under another name before its first store.

    No iteration of a nest takes what an earlier one has stored: these are the values of before.
    """
    stores = [number for number, one in enumerate(loop.body) if isinstance(one, Store)]
    behind = replace(loop, body=loop.body[stores[0] :]) if stores else loop
    return not overwrites(behind, in_one_memory)


def _loops(kernel: Kernel) -> list[Loop]:
    return [one for one in statements(kernel.body) if isinstance(one, Loop)]


def _in_loops(kernel: Kernel, several: Sequence[Loop], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    given = {one.buffer.name: one.buffer.strides for one in kernel.arguments}
    for loop in several:
        if any(isinstance(one, Loop) for one in statements(loop.body)):
            continue
        name, machine = loop.variable, nest.machine
        cut = Split(name, machine.strip_elements, nest.fresh("b"))
        stored = dict.fromkeys(_stored_apart(loop, given))
        slow = [one for one in stored if _is_slow(needed_for(loop.body, (one,)), machine)]
        if slow:
            ahead = nest.fresh("e")
            yield (cut, Precompute(name, tuple(slow), ahead))
            yield from special_functions(ahead, needed_for(loop.body, slow), nest)
            yield (UnrollAndJam(name, machine.gathered_steps),)


def _stored_apart(loop: Loop, given: Mapping[str, Strides]) -> Iterator[str]:
    """Yield the values that a loop makes and stores apart from each other."""
    named = {one.name for one in loop.body if isinstance(one, Let)}
    several = [one for one in loop.body if isinstance(one, Store)]
    for store in several:
        value = store.value
        if isinstance(value, Var) and value.name in named and _is_apart(store, several, loop, given):
            yield value.name


def _is_slow(block: Block, machine: Machine) -> bool:
    """Return whether statements divide, or call functions."""
    every = (part for one in block for value in values(one) for part in parts(value) if isinstance(part, Prim))
    costs = (primitive_cost(one.name, one.dtype, one.operands[0].dtype, machine) for one in every)
    return max(costs, default=0.0) >= machine.division_cost


def _is_apart(one: Load | Store, several: Sequence[Load | Store], loop: Loop, given: Mapping[str, Strides]) -> bool:
    step = step_along(one, loop.variable, given)
    if step is None or step.value in (-1, 0, 1):
        return False
    return not has_neighbours(one, step, several, loop.variable, given)
