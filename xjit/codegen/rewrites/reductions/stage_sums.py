"""Let elements wait in scratch before they are added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.reductions.lanes import steps_in_lanes
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Buffer,
    Kernel,
    Let,
    Load,
    Loop,
    Order,
    Statement,
    Store,
    Var,
)
from xjit.ir.loops.walk import blocks, with_blocks


@dataclass(frozen=True, slots=True)
class StageSums:
    """Let the elements that are added up in lanes wait in scratch: what computes them is written once, and apart.

    before        for j in b .. min(b + 512, n):
                    s_block = add(s_block, x[j]) in lanes along j
    after         alloc s_block_elements: f64[512] for each iteration   StageSums("j", "k")
                  for j in b .. min(b + 512, n):
                    s_block_elements[-b + j] = x[j]
                  for k in b .. min(b + 512, n):
                    s_block = add(s_block, s_block_elements[-b + k]) in lanes along k

    Whole groups of lanes may wait alone, those of a block at most.
    """

    loop: str
    step: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops along which nothing is added in lanes."""
        _, loop = found(kernel, self.loop)
        steps = steps_in_lanes(loop) or [one for one in loop.body if isinstance(one, Accumulate) and one.lanes]
        if not steps or loop.step != 1:
            raise RefusedError(f"nothing is added in lanes along {self.loop}")
        taken = Names(kernel)
        room = {one.name: elements(one, taken) for one in steps}
        yields = staged(loop, room, variable(self.loop) - loop.start)
        place, order = variable(self.step) - loop.start, steps[0].order
        order = None if order is None else replace(order, line=variable(self.step))
        adding = taken_from(room, steps, place, order)
        scratch = [Alloc(one) for one in room.values()]
        after = replace(loop, variable=self.step, body=adding)
        return with_statements(kernel, loop, (*scratch, yields, after))


def elements(one: Accumulate, taken: Names) -> Buffer:
    """The scratch for a block of the elements that a statement takes."""
    return Buffer.packed(taken.fresh(f"{one.name}_elements"), one.value.dtype, constant(numerics.BLOCK))


def staged(loop: Loop, room: dict[str, Buffer], place: IntExpr) -> Loop:
    """The loop with stores in place of the statements that change these scalars."""
    return replace(loop, body=tuple(_stored(loop.body, room, place)))


def _stored(block: Block, room: dict[str, Buffer], place: IntExpr) -> Iterator[Statement]:
    lines = {one.name: one.where for one in block if isinstance(one, Let)}
    for one in block:
        if isinstance(one, Accumulate) and one.name in room:
            where = lines.get(one.value.name) if isinstance(one.value, Var) else None
            yield Store(room[one.name].name, (place,), one.value, where)
        else:
            yield with_blocks(one, tuple(tuple(_stored(inner, room, place)) for inner in blocks(one)))


def taken_from(room: dict[str, Buffer], steps: Sequence[Accumulate], place: IntExpr, order: Order | None) -> Block:
    """The statements that take their elements from scratch, in an order, if any; those of one size side by side."""
    sorted_steps = sorted(steps, key=lambda one: numerics.lanes(one.value.dtype))
    waiting = ((one, room[one.name]) for one in sorted_steps)
    return tuple(replace(one, value=Load(at.name, (place,), at.dtype), order=order) for one, at in waiting)
