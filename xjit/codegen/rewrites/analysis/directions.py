"""Dependences by direction: whether two places of a kernel may touch one element in iterations of some order.

The iterations of the second place have the names of its variables with a mark behind them; which of the two is the
later one is said by expressions that are not negative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from xjit.codegen.rewrites.analysis.dependence import OTHER, Touch, apart, touches
from xjit.codegen.rewrites.analysis.scalars import disorder
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, substitute, variable
from xjit.ir.loops.nodes import Alloc, Block, Invoke, LetInt, Loop
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import statements


@dataclass(frozen=True, slots=True)
class Place:
    """A block inside of loops, the outermost first; ``before`` stands in front of it in the innermost one.

    ``own`` are names of scalars and of scratch that every iteration of the outermost loop has for itself.
    """

    loops: tuple[Loop, ...]
    block: Block
    before: Block = ()
    own: frozenset[str] = frozenset()

    def touches(self) -> Iterator[Touch]:
        """Yield what the block touches, without scratch that it allocates."""
        named = tuple(one for one in self.before if isinstance(one, LetInt))
        own = self.own | {one.buffer.name for one in statements(self.block) if isinstance(one, Alloc)}
        return (touch for touch in touches(self.block, (*self.loops, *named)) if touch.buffer not in own)


def there(expr: IntExpr, *loops: Loop) -> IntExpr:
    """The expression in the iterations of the second place."""
    return substitute(expr, {loop.variable: variable(loop.variable + OTHER) for loop in loops})


def later(loop: Loop) -> IntExpr:
    """Not negative where the second place is in a later iteration of the loop than the first."""
    here = variable(loop.variable)
    return there(here, loop) - here - loop.step


def earlier(loop: Loop) -> IntExpr:
    """Not negative where the second place is in an earlier iteration of the loop than the first."""
    here = variable(loop.variable)
    return here - there(here, loop) - loop.step


def dependence(known: Ranges, one: Place, other: Place, *order: IntExpr) -> str:
    """Why two places may not change their order, where ``order`` is not negative; nothing if they may."""
    reason = disorder(one.block, other.block, one.own | other.own)
    return reason or elements(known, one, other, *order)


def elements(known: Ranges, one: Place, other: Place, *order: IntExpr) -> str:
    """Why two places may meet at an element that one of them writes; nothing if they provably do not."""
    for statement in (*statements(one.block), *statements(other.block)):
        if isinstance(statement, Invoke):
            return f"it is not known what {statement.routine} touches"
    for first, second in itertools.product(one.touches(), other.touches()):
        if first.buffer != second.buffer or not (first.written or second.written):
            continue
        if not apart(known, first, second, order):
            return f"{_shown(first)} and {_shown(second)} may be one element"
    return ""


def rereads(known: Ranges, block: Block, *loops: Loop) -> str:
    """Why a block, with loops around it, may not run twice: it may read what it writes; nothing if it may."""
    for statement in statements(block):
        if isinstance(statement, Invoke):
            return f"it is not known what {statement.routine} touches"
    touched = list(Place(loops, block).touches())
    for one, other in itertools.product(touched, touched):
        if one.buffer == other.buffer and one.written and not other.written and not apart(known, one, other, ()):
            return f"{_shown(one)} and {_shown(other)} may be one element"
    return ""


def _shown(touch: Touch) -> str:
    what = "written" if touch.written else "read"
    return f"{touch.buffer}[{', '.join(map(str, touch.index))}], which is {what},"
