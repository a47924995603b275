"""Statements of one block: where they stand, and kernels with others in their place."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.record import RefusedError
from xjit.ir.loops.nodes import Block, Kernel, Loop, Statement
from xjit.ir.loops.walk import blocks, with_blocks


def block_of(kernel: Kernel, path: Sequence[Statement]) -> Block:
    """The block that the last statement of a path stands in."""
    if len(path) == 1:
        return kernel.body
    return next(block for block in blocks(path[-2]) if any(one is path[-1] for one in block))


def place_in(block: Block, statement: Statement) -> int:
    """Where a statement stands in its block."""
    return next(place for place, one in enumerate(block) if one is statement)


def loop_behind(block: Block, first: Loop, name: str) -> Loop:
    """The loop over a variable that stands behind another in its block; RefusedError if there is none."""
    for one in block[place_in(block, first) + 1 :]:
        if isinstance(one, Loop) and one.variable == name:
            return one
    raise RefusedError(f"no loop over {name} stands behind that over {first.variable}, in the same block")


def with_block(kernel: Kernel, old: Block, new: Block) -> Kernel:
    """The kernel with another block in place of one of its own."""
    return Kernel(kernel.name, kernel.arguments, _exchanged(kernel.body, old, new))


def _exchanged(block: Block, old: Block, new: Block) -> Block:
    if block is old:
        return new
    return tuple(with_blocks(one, tuple(_exchanged(inner, old, new) for inner in blocks(one))) for one in block)
