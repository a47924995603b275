"""Values that are made before the loop that uses them, and wait in scratch.

What sums over columns need of each row, one number, is made for a few rows ahead: in ``x.T @ (exp(x @ w) - y)`` the
columns of ``x`` are added up, each row times a number that takes a sum over the row and a function. Strips of rows
are walked twice while they are in the first-level cache, and the functions run as vector code over the numbers of a
strip instead of once for every row.

    for j0 in 0 .. n0:                      for b0 in 0 .. n0 by 16:
      v0 = exp(a1[j0])                        for r0 in b0 .. min(b0 + 16, n0): m1[r0 - b0] = exp(a1[r0])
      for i0: m0[i0] += v0 * a0[j0, i0]       for j0 in b0 .. min(b0 + 16, n0):
                                                v0 = m1[j0 - b0]
                                                for i0: m0[i0] += v0 * a0[j0, i0]

Functions with rare arguments are called for all columns of a row before these are added, as accumulators cannot run
twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.variants import has_called_form, is_vector_function, with_fast_path
from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.scalars import scalars_of
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.call import Call
from xjit.codegen.rewrites.values.precompute import Precompute, needed_for
from xjit.codegen.rewrites.values.specialize_rare import SpecializeRare
from xjit.codegen.scheduling.ideas.columns import around_columns, rows_of_blocks
from xjit.ir.loops.nodes import Block, Carry, Kernel, Let, Loop, Prim, Statement
from xjit.ir.loops.walk import parts, statements, values
from xjit.ir.scalar_expr import primitive_cost
from xjit.machine import Machine
from xjit.types import FLOAT64, DType

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def rows_ahead(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what makes the expensive values of a row for strips of rows, the totals that they need before them."""
    for rows in rows_of_blocks(kernel, nests):
        loop, body = rows.loop, rows.loop.body
        wanted = [name for name in _used(loop, rows.columns) if _is_expensive(body, name, nest.machine)]
        if wanted:
            yield (Split(loop.variable, nest.machine.strip_rows, nest.fresh("b")),)
        done = list[Statement]()
        for several in _in_order(body, wanted):
            ahead = nest.fresh("r")
            yield (Precompute(loop.variable, several, ahead),)
            own = tuple(one for one in needed_for(body, several) if not any(one is other for other in done))
            yield from special_functions(ahead, own, nest)
            done += own


def columns_ahead(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what calls functions with rare arguments before accumulators take them."""
    machine = nest.machine
    for rows in rows_of_blocks(kernel, nests):
        body = rows.columns.body
        rare = [one.name for one in body if isinstance(one, Let) and with_fast_path(_functions(one))]
        changing = written(body)
        kept = [name for name in rare if not uses(needed_for(body, (name,))) & changing]
        kept = kept[: machine.row_scratch_bytes // (2 * rows.room * FLOAT64.itemsize)]
        if kept:
            ahead = nest.fresh("c")
            yield (Precompute(rows.columns.variable, tuple(kept), ahead),)
            yield from special_functions(ahead, needed_for(body, kept), nest, machine.strip_elements)


def functions_of_rows(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what calls functions with rare arguments instead of inlining them, once for each row."""
    for loop in around_columns(kernel, nests):
        if any(with_fast_path(_functions(one)) for one in loop.body if isinstance(one, Let)):
            yield (Call(loop.variable, "rare"),)


def special_functions(ahead: str, own: Block, nest: LoopBuilder, length: int = 0) -> Iterator[Sequence[Rewrite]]:
    """Yield what makes a loop of functions one of calls, if they are many, or one for usual arguments."""
    keys = [key for one in statements(own) for key in _functions(one)]
    if len(keys) >= nest.machine.called_functions and all(has_called_form(*key) for key in keys):
        yield (Call(ahead, "called"),)
    elif with_fast_path(keys):
        special = SpecializeRare(ahead, nest.fresh("rare"))
        yield (Split(ahead, length, nest.fresh("p")), special) if length else (special,)


def _functions(one: Statement) -> Iterator[tuple[str, DType]]:
    """Yield the vector functions that a statement computes."""
    for value in values(one):
        for part in parts(value):
            if isinstance(part, Prim) and part.operands and not part.variant:
                key = part.name, part.operands[0].dtype
                if is_vector_function(*key):
                    yield key


def _used(loop: Loop, columns: Loop) -> list[str]:
    """The values of a row that its columns compute with, in order; positions are no such values."""
    used = {name for one in statements((columns,)) for value in values(one) for name in scalars_of(value)}
    return [one.name for one in loop.body if isinstance(one, Let | Carry) and one.name in used]


def _in_order(body: Block, wanted: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield values to make together: those that loops within a row accumulate, then what is made of them."""
    seen: set[str] = set()
    for name in wanted:
        own = needed_for(body, (name,))
        used = {other for one in own if isinstance(one, Let) for other in uses((one,))}
        totals = tuple(one.name for one in own if isinstance(one, Carry) and one.name in used - seen)
        if totals:
            yield totals
        if name not in seen:
            yield (name,)
        seen |= {name, *totals}


def _is_expensive(body: Block, name: str, machine: Machine) -> bool:
    """Return whether a value costs more than a store and a load."""
    total = 0.0
    for one in needed_for(body, (name,)):
        if isinstance(one, Loop):
            return True
        for value in values(one):
            prims = (part for part in parts(value) if isinstance(part, Prim))
            total += sum(primitive_cost(one.name, one.dtype, one.operands[0].dtype, machine) for one in prims)
    return total >= machine.row_cost
