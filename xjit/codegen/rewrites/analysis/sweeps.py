"""Sweeps: loops that touch every element of a box."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.dependence import Touch, touches
from xjit.ir.loops.intexpr import IntExpr, substitute, terms, variable
from xjit.ir.loops.nodes import Block, If, LetInt, Loop, While
from xjit.ir.loops.walk import blocks, with_blocks


def is_swept(loop: Loop, touched: Sequence[Touch]) -> bool:
    """Return whether a loop touches all elements between the least and the greatest index of some touches, and no
    others.

    A load is enough, so that the elements are there; where all touches are stores, all elements are written.
    """
    return idle_loops(loop, touched) == ()


def idle_loops(loop: Loop, touched: Sequence[Touch]) -> tuple[Loop, ...] | None:
    """The loops that touch the same elements in all iterations, but none if they have no iteration; None where it is
    not known that a loop touches all elements of a box.
    """
    if len({touch.index for touch in touched}) != 1:
        return None
    wanted = touched[0].buffer, touched[0].index
    sure = (touch for touch in touches(_always((loop,))) if (touch.buffer, touch.index) == wanted)
    return next((idle for touch in sure if (idle := _idle_over_a_box(touch)) is not None), None)


def _always(block: Block) -> Block:
    """A block without what is done on conditions."""
    return tuple(
        with_blocks(one, tuple(map(_always, blocks(one)))) for one in block if not isinstance(one, If | While)
    )


def _idle_over_a_box(touch: Touch) -> tuple[Loop, ...] | None:
    """The loops that do not move an index which takes all values of a box, each axis by one loop; None for others."""
    loops = {one.variable: one for one in touch.around if isinstance(one, Loop)}
    inside = frozenset(loops)
    for one in loops.values():
        if one.step != 1 or any(_plain(touch, bound).names() & inside for bound in (one.start, one.stop)):
            return None
    found = [_plain(touch, expr) for expr in touch.index]
    by_axis = [expr.names() & inside for expr in found]
    moving = frozenset().union(*by_axis)
    if any(len(names) > 1 for names in by_axis) or sum(map(len, by_axis)) != len(moving):
        return None
    if not all(_is_one_by_one(expr, name) for expr, names in zip(found, by_axis, strict=True) for name in names):
        return None
    return tuple(one for name, one in loops.items() if name not in moving)


def _plain(touch: Touch, expr: IntExpr) -> IntExpr:
    """An expression without the integers that are named inside of the loop."""
    for one in reversed(touch.around):
        if isinstance(one, LetInt):
            expr = substitute(expr, {one.name: one.expr})
    return expr


def _is_one_by_one(expr: IntExpr, name: str) -> bool:
    """Return whether an expression grows or falls by one with a variable."""
    return any(
        abs(coefficient) == 1 and product == variable(name) and name not in (expr - product * coefficient).names()
        for coefficient, product in terms(expr)
        if product is not None
    )
