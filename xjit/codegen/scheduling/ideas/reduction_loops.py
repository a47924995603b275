"""Loops of reductions: which are cut into blocks, which elements are added lane by lane, and which wait in scratch.

Elements that are little work are computed wherever they are added: in whole groups of lanes, in fewer lanes, and one
by one. What takes long is not written three times, the rest after whole groups waits in scratch. So do all elements
where LLVM would not compute as many at a time as there are lanes: with functions that have rare arguments, loops
within the loop, or gaps between what is read. Loops that fill scratch with what lies apart are scalar code, a step of
which takes several elements.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xjit import numerics
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.variants import is_vector_function
from xjit.codegen.rewrites.analysis.first_extremes import first_extreme
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import integers_before
from xjit.codegen.rewrites.distribute import Distribute
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.reductions.block_extreme import BlockExtreme
from xjit.codegen.rewrites.reductions.block_integers import BlockIntegers, narrow_sums
from xjit.codegen.rewrites.reductions.compensate import WITH_ERRORS, Compensate
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.lanes_in_scalars import LanesInScalars
from xjit.codegen.rewrites.reductions.load_apart import LoadApart, Strides, has_neighbours, skipped, step_along
from xjit.codegen.rewrites.reductions.skip_blocks import SkipBlocks
from xjit.codegen.rewrites.reductions.skip_groups import SkipGroups
from xjit.codegen.rewrites.reductions.stage_line import StageLine
from xjit.codegen.rewrites.reductions.stage_sums import StageSums
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.codegen.rewrites.values.early_exit import EarlyExit, decided
from xjit.codegen.rewrites.values.mark_iterations import MarkIterations
from xjit.codegen.rewrites.values.specialize_rare import is_varied
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import evaluate, substitute
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Block,
    Fold,
    Grouping,
    Kernel,
    Let,
    LetInt,
    Loop,
    Prim,
    Statement,
)
from xjit.ir.loops.walk import blocks, loads, parts, statements, values
from xjit.ir.scalar_expr import INSTRUCTIONS, primitive_cost
from xjit.machine import Machine
from xjit.types import BOOL, dtype_class

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


class Work(enum.Enum):
    """The way in which elements that are added up are computed."""

    LIGHT = "wherever it is added"
    LONG = "as vectors, best written once"
    ODD = "not in vectors of any length"


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The kernel that the loops of a reduction are in, by what its ideas ask for."""

    kernel: Kernel
    nest: LoopBuilder

    @property
    def machine(self) -> Machine:
        """The machine that the loops are for."""
        return self.nest.machine

    def fresh(self, stem: str) -> str:
        """A new name."""
        return self.nest.fresh(stem)

    @property
    def given(self) -> Mapping[str, Strides]:
        """The strides of the buffers that the kernel is given."""
        return {one.buffer.name: one.buffer.strides for one in self.kernel.arguments}

    @property
    def only_read(self) -> Mapping[str, Strides]:
        """The same of those that it only reads."""
        arguments = self.kernel.arguments
        return {one.buffer.name: one.buffer.strides for one in arguments if one.access is Access.READ}


def in_blocks_and_lanes(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what makes blocks and lanes of loops of reductions, those of loops within others first."""
    around = Surroundings(kernel, nest)
    for one in statements(kernel.body):
        if isinstance(one, Accumulate) and one.order == WITH_ERRORS:
            yield (Compensate(one.name),)
    for loops in reducing_loops(kernel.body):
        yield from ((one,) for one in _rewrites(loops, around))


def reducing_loops(block: Block, loops: tuple[Loop, ...] = ()) -> Iterator[tuple[Loop, ...]]:
    """Yield the loops that reduce, each with those around it, the outermost first."""
    for one in block:
        if isinstance(one, Loop):
            yield from reducing_loops(one.body, (*loops, one))
        else:
            for inner in blocks(one):
                yield from reducing_loops(inner, loops)
    reduces = any(isinstance(one, Accumulate | Fold) for one in block)
    if loops and loops[-1].body is block and loops[-1].kind.is_ordered and reduces and changed(block):
        yield loops


def _rewrites(loops: Sequence[Loop], around: Surroundings) -> Iterator[Rewrite]:
    """Yield the rewrites of a reduction by the last of some loops, or by several that run through a line."""
    loop = loops[-1]
    sums = [one for one in loop.body if isinstance(one, Accumulate) and one.order not in (None, WITH_ERRORS)]
    with_errors = [one for one in sums if _keeps_errors(one)]
    line = _line_of(loops, sums)
    if len(line) > 1:
        step = around.fresh("k")
        yield StageLine(tuple(one.variable for one in line), around.fresh("b"), step)
        yield SumBlocks(step)
        yield from (Compensate(one.name) for one in reversed(with_errors))
        yield from _lanes_of(step, sums, around, in_scalars=len(sums) == 1 and _is_short(line, sums[0], around))
        return
    in_blocks = len(loops) > 1 and loops[-2].step == numerics.BLOCK
    skipping = None if in_blocks else _skipping(loops, around)
    cut = list(_blocks(loop, sums, in_blocks, around, skipping))
    yield from cut
    if any(_in_blocks(one) for one in sums):
        yield SumBlocks(loop.variable)
    yield from (Compensate(one.name) for one in reversed(with_errors))
    if sums:
        yield from _lanes(loop, sums, around)
        if skipping is not None:
            lanes = max(numerics.lanes(one.value.dtype) for one in sums)
            group = around.fresh("group")
            yield SkipGroups(loop.variable, skipping.turns, skipping.blocks * numerics.BLOCK // lanes, group)
            yield MarkIterations(group)
    yield from (MarkIterations(one.loop) for one in cut if isinstance(one, SkipBlocks))


@dataclass(frozen=True, slots=True)
class Skipping:
    """A loop over ``turns`` that goes along a line of so many blocks at most, again and again."""

    turns: str
    blocks: int


FEWEST_TURNS = 16
"""Turns around a line from which on it pays to find the bounds of its elements first, which takes as long as two."""

MOST_BLOCKS = 128
"""Blocks of a line at most that have bounds in scratch: 2 KB, and 32 KB for groups of lanes."""


def _skipping(loops: Sequence[Loop], around: Surroundings) -> Skipping | None:
    """The turns of the loop around the last of some loops, if there are enough, along a line that is not too long."""
    if len(loops) < 2 or not loops[-2].kind.is_ordered:
        return None
    turns, loop = loops[-2:]
    path, _ = found(around.kernel, loop.variable)
    integers, words = integers_before(around.kernel, path), dict(around.nest.words.values())
    length = most(substitute(loop.stop - loop.start, integers))
    count = most(substitute(turns.stop - turns.start, integers))
    if length is None or count is None or evaluate(count, words) < FEWEST_TURNS:
        return None
    blocks = 1 << (max(1, -(-evaluate(length, words) // numerics.BLOCK)) - 1).bit_length()
    return Skipping(turns.variable, blocks) if blocks <= MOST_BLOCKS else None


def _is_short(line: Sequence[Loop], one: Accumulate, around: Surroundings) -> bool:
    """Return whether loops have fewer elements than a sum has lanes: vectors of these have been stored in parts."""
    values, elements = dict(around.nest.words.values()), 1
    for loop in line:
        path, _ = found(around.kernel, loop.variable)
        length = most(substitute(loop.stop - loop.start, integers_before(around.kernel, path)))
        if length is None:
            return False
        elements *= evaluate(length, values)
    return elements < numerics.lanes(one.value.dtype)


def _line_of(loops: Sequence[Loop], sums: Sequence[Accumulate]) -> Sequence[Loop]:
    """The loops that run through the line of some sums."""
    lines = {str(one.order.line) for one in sums if one.order is not None}
    start = next((at for at, loop in enumerate(loops) if loop.variable in lines), len(loops) - 1)
    return loops[start:] if loops[start].step == 1 else loops[-1:]


def _in_blocks(one: Accumulate) -> bool:
    return one.order is not None and one.order.grouping is Grouping.BLOCKS


def _keeps_errors(one: Accumulate) -> bool:
    return _in_blocks(one) and numerics.keeps_errors(one.reducer, one.value.dtype)


def _blocks(
    loop: Loop, sums: Sequence[Accumulate], in_blocks: bool, around: Surroundings, skipping: Skipping | None
) -> Iterator[Rewrite]:
    """Yield what cuts a loop into blocks, where a sum needs them, or something may end early."""
    searches = [one for one in map(first_extreme, loop.body) if one is not None]
    narrow = narrow_sums(loop)
    is_short = (loop.stop - loop.start).value is not None and (loop.stop - loop.start).value <= numerics.BLOCK
    blocked = searches or any(map(_in_blocks, sums)) or (narrow and not is_short)
    stops = not in_blocks and _may_stop(loop)
    if (blocked or stops) and not in_blocks:
        block = around.fresh("b")
        size = numerics.BLOCK if blocked else around.machine.stop_elements
        yield Split(loop.variable, size, block, around.fresh("e"))
        if stops:
            yield EarlyExit(block)
        if skipping is not None and blocked:
            yield SkipBlocks(block, skipping.turns, skipping.blocks)
    for one in searches:
        yield BlockExtreme(loop.variable, one.place.name)
    if narrow:
        yield BlockIntegers(loop.variable)


def _may_stop(loop: Loop) -> bool:
    """Return whether a loop does nothing but to reduce truth values, or to look for integers, which some value
    decides.
    """
    inside = [one for one in loop.body if not isinstance(one, Let)]
    truths = all(first_extreme(one) or (isinstance(one, Accumulate) and one.value.dtype == BOOL) for one in inside)
    return truths and bool(changed(loop.body)) and decided(loop.body) is not None


def _lanes(loop: Loop, sums: Sequence[Accumulate], around: Surroundings) -> Iterator[Rewrite]:
    """Yield what adds elements in lanes."""
    work = work_of(loop, sums, around)
    name, rest = loop.variable, around.fresh("k")
    if work is Work.ODD:
        yield from _odd_lanes(loop, rest, sums, around)
        return
    if skipped(loop, around.only_read, around.machine.vector_step_bytes):
        yield LoadApart(name, around.machine.vector_step_bytes)
    yield Lanes(name, rest)
    if work is Work.LONG:
        name, rest = rest, around.fresh("k")
        yield StageSums(name, rest)
    yield Lanes(rest, around.fresh("k"))


def _odd_lanes(loop: Loop, rest: str, sums: Sequence[Accumulate], around: Surroundings) -> Iterator[Rewrite]:
    """Yield what adds elements in lanes that are not computed side by side: they wait in scratch.

    Few of them, where scalar code computes them, are added up at once.
    """
    name, is_scalar_code = loop.variable, _is_scalar_code(loop, around)
    if is_scalar_code and len(sums) == 1:
        yield Lanes(name, rest)
        yield StageSums(name, around.fresh("k"))
        yield UnrollAndJam(name, around.machine.gathered_steps)
        yield Lanes(rest, around.fresh("k"))
        yield LanesInScalars(rest)
        return
    yield StageSums(name, rest)
    if is_scalar_code:
        yield UnrollAndJam(name, around.machine.gathered_steps)
    yield from _lanes_of(rest, sums, around)


def _lanes_of(
    step: str, sums: Sequence[Accumulate], around: Surroundings, in_scalars: bool = False
) -> Iterator[Rewrite]:
    """Yield what adds elements in scratch, those of one size in a loop of their own.

    Few lanes are ``in_scalars`` where elements have just been stored by short loops.
    """
    sizes = sorted(numerics.lanes(one.value.dtype) for one in sums)
    names = [step]
    for size in sorted(set(sizes))[:-1]:
        names.append(around.fresh("k"))
        yield Distribute(names[-2], sizes.count(size), names[-1])
    for name in names:
        rest = around.fresh("k")
        yield Lanes(name, rest)
        yield Lanes(rest, around.fresh("k"))
        if in_scalars:
            yield LanesInScalars(rest)


def work_of(loop: Loop, sums: Sequence[Accumulate], around: Surroundings) -> Work:
    """The way in which elements of a loop are computed that are added up in lanes."""
    inside = list(statements(loop.body))
    calls = [part for one in inside for value in values(one) for part in parts(value) if isinstance(part, Prim)]
    several = len({numerics.lanes(one.value.dtype) for one in sums}) > 1
    if several or any(isinstance(one, Loop) or _waits(one) for one in inside) or _leaves_gaps(loop, around):
        return Work.ODD
    # One part of complex numbers leaves gaps, which the parts that are summed together fill.
    in_parts = len(sums) < 2 and any(dtype_class(one.dtype) == "C" for call in calls for one in call.operands)
    if in_parts or not all(map(_is_vector_code, calls)):
        return Work.ODD
    cost = sum(primitive_cost(call.name, call.dtype, call.operands[0].dtype, around.machine) for call in calls)
    return Work.LIGHT if cost <= around.machine.repeated_cost else Work.LONG


def _is_scalar_code(loop: Loop, around: Surroundings) -> bool:
    """Return whether a loop computes elements that lie apart, and is short otherwise.

    Both parts of a complex number lie side by side: of these a step takes one.
    """
    if not all(isinstance(one, Let | LetInt | Accumulate) for one in loop.body):
        return False
    if any(dtype_class(one.dtype) == "C" for one in loads(loop.body)):
        return False
    calls = [part for one in loop.body for value in values(one) for part in parts(value) if isinstance(part, Prim)]
    cost = sum(primitive_cost(call.name, call.dtype, call.operands[0].dtype, around.machine) for call in calls)
    return cost <= around.machine.repeated_cost and _leaves_gaps(loop, around)


def _waits(one: Statement) -> bool:
    """Return whether an element has to wait for the one before it."""
    if isinstance(one, Accumulate):
        rounds = dtype_class(one.value.dtype) in "FC" and one.reducer in ("add", "mul")
        return one.order == WITH_ERRORS or (one.order is None and rounds)
    return isinstance(one, Fold) and first_extreme(one) is None


def _is_vector_code(call: Prim) -> bool:
    """Return whether a primitive is an instruction, or a function without rare arguments."""
    if call.name == "encode" or is_varied(replace(call, variant="")):
        return False
    is_function = call.name not in INSTRUCTIONS and call.name != "copy"
    return not is_function or bool(call.operands and is_vector_function(call.name, call.operands[0].dtype))


def _leaves_gaps(loop: Loop, around: Surroundings) -> bool:
    """Return whether elements are read that lie apart, nothing reads those between, and loads of whole vectors do
    not skip them.
    """
    several = dict.fromkeys(loads(loop.body))
    skips = skipped(loop, around.only_read, around.machine.vector_step_bytes)
    for load in several:
        step = step_along(load, loop.variable, around.given)
        if step is None or step.value in (-1, 0, 1) or load in skips:
            continue
        if not has_neighbours(load, step, several, loop.variable, around.given):
            return True
    return False
