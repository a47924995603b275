"""Sweeps: loops that touch every element of a box."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.dependence import Touch, touches
from xjit.ir.loops.intexpr import IntExpr, substitute, terms, variable
from xjit.ir.loops.nodes import Block, If, LetInt, Loop, While
from xjit.ir.loops.walk import blocks, with_blocks


def is_swept(loop: Loop, touched: Sequence[Touch]) -> bool:
    """Whether a loop touches all elements between the least and the greatest index of some touches, and no others.

    A load is enough, so that the elements are there; where all touches are stores, all elements are written.
    """
    if len({touch.index for touch in touched}) != 1:
        return False
    sure = {(touch.buffer, touch.index) for touch in touches(_always((loop,))) if _goes_over_a_box(touch)}
    return (touched[0].buffer, touched[0].index) in sure


def _always(block: Block) -> Block:
    """A block without what is done on conditions."""
    return tuple(
        with_blocks(one, tuple(map(_always, blocks(one)))) for one in block if not isinstance(one, If | While)
    )


def _goes_over_a_box(touch: Touch) -> bool:
    """Whether the index of a touch takes all values of a box: each axis is one loop's, each loop is one axis'."""
    loops = {one.variable: one for one in touch.around if isinstance(one, Loop)}
    moving = frozenset(loops)
    for one in loops.values():
        if one.step != 1 or any(_plain(touch, bound).names() & moving for bound in (one.start, one.stop)):
            return False
    found = [_plain(touch, expr) for expr in touch.index]
    by_axis = [expr.names() & moving for expr in found]
    if any(len(names) > 1 for names in by_axis) or frozenset().union(*by_axis) != moving:
        return False
    if sum(map(len, by_axis)) != len(moving):
        return False
    return all(_is_one_by_one(expr, name) for expr, names in zip(found, by_axis, strict=True) for name in names)


def _plain(touch: Touch, expr: IntExpr) -> IntExpr:
    """An expression without the integers that are named inside of the loop."""
    for one in reversed(touch.around):
        if isinstance(one, LetInt):
            expr = substitute(expr, {one.name: one.expr})
    return expr


def _is_one_by_one(expr: IntExpr, name: str) -> bool:
    """Whether an expression grows or falls by one with a variable."""
    return any(
        abs(coefficient) == 1 and product == variable(name) and name not in (expr - product * coefficient).names()
        for coefficient, product in terms(expr)
        if product is not None
    )
