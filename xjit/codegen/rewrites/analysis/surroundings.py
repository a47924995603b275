"""Statements of one block: where they stand, and kernels with others in their place."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.dependence import known_inside
from xjit.codegen.rewrites.analysis.scalars import changed, scalars_of
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import replace
from xjit.ir.loops import show
from xjit.ir.loops.intexpr import IntExpr, maximum, substitute
from xjit.ir.loops.nodes import (
    Alloc,
    Block,
    Carry,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    Statement,
    Store,
    TransposeBlock,
)
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.verify import facts
from xjit.ir.loops.walk import blocks, parts, statements, with_blocks


def block_of(kernel: Kernel, path: Sequence[Statement]) -> Block:
    """The block that the last statement of a path stands in."""
    if len(path) == 1:
        return kernel.body
    return next(block for block in blocks(path[-2]) if any(one is path[-1] for one in block))


def place_in(block: Block, statement: Statement) -> int:
    """The place of a statement in its block."""
    return next(place for place, one in enumerate(block) if one is statement)


def loop_behind(block: Block, first: Loop, name: str) -> Loop:
    """The loop over a variable that stands behind another in its block; RefusedError if there is none."""
    for one in block[place_in(block, first) + 1 :]:
        if isinstance(one, Loop) and one.variable == name:
            return one
    raise RefusedError(f"no loop over {name} stands behind that over {first.variable}, in the same block")


def with_block(kernel: Kernel, old: Block, new: Block) -> Kernel:
    """The kernel with another block in place of one of its own."""
    return replace(kernel, body=_exchanged(kernel.body, old, new))


def _exchanged(block: Block, old: Block, new: Block) -> Block:
    if block is old:
        return new
    return tuple(with_blocks(one, tuple(_exchanged(inner, old, new) for inner in blocks(one))) for one in block)


def known_before(kernel: Kernel, path: Sequence[Statement]) -> Ranges:
    """The facts about integers in front of the last statement of a path."""
    known, block = Ranges(facts=kernel.facts), kernel.body
    for place, statement in enumerate(path):
        for one in block[: place_in(block, statement)]:
            known = known_inside(known, one, {}) if isinstance(one, LetInt) else known
        if statement is path[-1]:
            break
        block = block_of(kernel, path[: place + 2])
        if isinstance(statement, Loop):
            known = known_inside(known, statement, {})
        elif isinstance(statement, If) and block is statement.then:
            for fact in facts(statement.condition):
                known = known.supposing(fact)
    return known


def integers_before(kernel: Kernel, path: Sequence[Statement]) -> dict[str, IntExpr]:
    """The integers that have names in front of the last statement of a path."""
    found: dict[str, IntExpr] = {}
    around = [kernel.body, *(block for one in path[:-1] for block in blocks(one))]
    for block in around:
        for one in block:
            if isinstance(one, LetInt):
                found[one.name] = substitute(one.expr, found)
    return found


def extent(known: Ranges, loop: Loop) -> IntExpr:
    """The distance from the start of a loop to its stop; 0 if the stop comes first."""
    found = loop.stop - loop.start
    return found if known.at_most(loop.start, loop.stop) else maximum(found, 0)


def written(block: Block) -> set[str]:
    """The buffers that a block may write to."""
    found: set[str] = set()
    for one in statements(block):
        if isinstance(one, Store):
            found.add(one.buffer)
        elif isinstance(one, TransposeBlock):
            found.add(one.target)
        elif isinstance(one, Invoke):
            found.update(one.buffers)
    return found


def see_that_it_may_come_before(moved: Block, passed: Block) -> None:
    """Refuses where statements are needed in their places behind others, or are more than names of values."""
    stores, scalars = written(passed), changed(passed)
    for one in moved:
        shown = show.block_lines((one,))[0]
        if not isinstance(one, Let | LetInt | Carry | Alloc):
            raise RefusedError(f"{shown} stands in between")
        if isinstance(one, Let | Carry):
            loads = {part.buffer for part in parts(one.value) if isinstance(part, Load)}
            for name in sorted(loads & stores | scalars_of(one.value) & scalars):
                raise RefusedError(f"{shown} stands in between and needs {name}")
