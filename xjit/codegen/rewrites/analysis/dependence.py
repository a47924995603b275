"""Which iterations of a loop need each other: elements that one writes and another touches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from xjit.dataclass import dataclass, replace
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, terms, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Carry,
    Find,
    Fold,
    Invoke,
    Let,
    LetInt,
    Load,
    Loop,
    Statement,
    Store,
    TransposeBlock,
)
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import blocks, defined, parts, statements, values

# Stands behind the names of the other iteration.
OTHER = "'"


@dataclass(frozen=True, slots=True)
class Touch:
    """An element that is read or written; ``around`` are loops and named integers inside of the loop in question."""

    buffer: str
    index: tuple[IntExpr, ...]
    written: bool
    around: tuple[Loop | LetInt, ...]


def ranges_at(path: Sequence[Statement]) -> Ranges:
    """The facts about integers inside of the last of some statements, one around the next."""
    known = Ranges()
    for outer, inner in itertools.pairwise(path):
        known = _entered(known, outer)
        block = next((one for one in blocks(outer) if any(inner is other for other in one)), ())
        known = _passed(known, block, inner)
    return _entered(known, path[-1]) if path else known


def _entered(known: Ranges, statement: Statement) -> Ranges:
    if isinstance(statement, Loop):
        return known.within(statement.variable, statement.start, statement.stop)
    return known


def _passed(known: Ranges, block: Block, until: Statement) -> Ranges:
    for statement in block:
        if statement is until:
            break
        if isinstance(statement, LetInt):
            known = known.named(statement.name, statement.expr)
    return known


def carried_by(path: Sequence[Statement]) -> str:
    """Why iterations of a loop, the last statement of a path, need each other; nothing if they provably do not."""
    loop = path[-1]
    assert isinstance(loop, Loop)
    return meetings(path) or scalars_changed_by(loop)


def meetings(path: Sequence[Statement]) -> str:
    """Why iterations of a loop, the last statement of a path, may meet at an element that one of them writes."""
    loop = path[-1]
    assert isinstance(loop, Loop)
    if Ranges().at_most(loop.stop - loop.start, constant(loop.step)):
        return ""  # there is one iteration
    for statement in statements(loop.body):
        if isinstance(statement, Invoke):
            return f"it is not known what {type(statement).__name__} touches"
    scratch = {one.buffer.name for one in statements(loop.body) if isinstance(one, Alloc)}
    touched = [touch for touch in touches(loop.body, (loop,)) if touch.buffer not in scratch]
    found = {
        one.name: variable(one.name + OTHER) for one in statements(loop.body) if isinstance(one, Let | Carry | Find)
    }
    known = ranges_at(path)
    here = variable(loop.variable)
    there = variable(loop.variable + OTHER)
    for one, other in itertools.product(touched, touched):
        if not one.written or one.buffer != other.buffer:
            continue
        other = replace(other, index=tuple(substitute(expr, found) for expr in other.index))
        if not all(apart(known, one, other, [order - loop.step]) for order in (there - here, here - there)):
            what = "write" if other.written else "read"
            place = ", ".join(map(str, other.index))
            return f"an iteration over {loop.variable} may {what} {other.buffer}[{place}] that another writes"
    return ""


def scalars_changed_by(loop: Loop) -> str:
    """Why iterations need each other for the sake of scalars."""
    own = {name for one in statements(loop.body) for name in defined(one)}
    for one in statements(loop.body):
        changed = (one.name,) if isinstance(one, Accumulate) else one.names if isinstance(one, Fold) else ()
        for name in changed:
            if name not in own:
                return f"every iteration over {loop.variable} changes {name}"
    return ""


def touches(block: Block, around: tuple[Loop | LetInt, ...] = ()) -> Iterator[Touch]:
    """Yield what the loads and stores of a block touch."""
    for statement in block:
        for value in values(statement):
            for part in parts(value):
                if isinstance(part, Load):
                    yield Touch(part.buffer, part.index, False, around)
        if isinstance(statement, Find):
            yield _searched(statement, around)
        if isinstance(statement, Store):
            yield Touch(statement.buffer, statement.index, True, around)
        if isinstance(statement, TransposeBlock):
            yield from _transposed(statement, around)
        for inner in blocks(statement):
            yield from touches(inner, (*around, statement) if isinstance(statement, Loop) else around)
        if isinstance(statement, LetInt):
            around = (*around, statement)


def _searched(find: Find, around: tuple[Loop | LetInt, ...]) -> Touch:
    """All elements that a search may read."""
    at, index = f"{find.name}_at", list(find.load.index)
    index[find.axis] = index[find.axis] + variable(at)
    return Touch(find.load.buffer, tuple(index), False, (*around, Loop(at, find.start, find.stop, ())))


def _transposed(block: TransposeBlock, around: tuple[Loop | LetInt, ...]) -> Iterator[Touch]:
    """Yield the element that is read and the one that is written for each i, j of a block."""
    names = f"{block.target}_row", f"{block.target}_column"
    inside = tuple(Loop(name, constant(0), extent, ()) for name, extent in zip(names, block.extents, strict=True))
    steps = tuple(zip((block.rows, block.columns), map(variable, names), strict=True))
    places = (block.source, block.start, 1), (block.target, block.at, 0)
    for name, index, side in places:
        moved = list(index)
        for axes, step in steps:
            moved[axes[side]] = moved[axes[side]] + step
        yield Touch(name, tuple(moved), side == 0, (*around, *inside))


def apart(known: Ranges, one: Touch, other: Touch, order: Sequence[IntExpr]) -> bool:
    """Return whether two touches are of different elements; names around the second have a mark behind them.

    ``order`` are expressions that are not negative, as later less earlier iterations.
    """
    renaming = {name: variable(name + OTHER) for around in other.around for name in defined(around)}
    steps = [*_steps(one.around, {}), *_steps(other.around, renaming)]
    # Outer loops of both come before inner ones: proofs go from the inside out.
    for first, second in itertools.zip_longest(one.around, other.around):
        known = known if first is None else known_inside(known, first, {})
        known = known if second is None else known_inside(known, second, renaming)
    for fact in order:
        known = known.supposing(fact)
    index = [substitute(expr, renaming) for expr in other.index]
    return any(known.apart(a, b) or _never(a - b, steps) for a, b in zip(one.index, index, strict=True))


def _steps(around: Sequence[Loop | LetInt], renaming: dict[str, IntExpr]) -> Iterator[tuple[str, IntExpr]]:
    """Yield integers with what they are: loops with steps as start + step * round, named ones their expressions."""
    for one in around:
        (name,) = defined(one)
        name = str(renaming.get(name, name))
        if isinstance(one, LetInt):
            yield name, substitute(one.expr, renaming)
        else:
            yield name, substitute(one.start, renaming) + variable(f"{name} round") * one.step


def _never(difference: IntExpr, steps: Sequence[tuple[str, IntExpr]]) -> bool:
    """Return whether a difference is never 0: its coefficients have a divisor that the constant has not."""
    for name, value in reversed(steps):
        difference = substitute(difference, {name: value})
    found = terms(difference)
    divisor = math.gcd(*(coefficient for coefficient, product in found if product is not None))
    rest = sum(coefficient for coefficient, product in found if product is None)
    return rest % divisor != 0 if divisor else rest != 0


def known_inside(known: Ranges, around: Loop | LetInt, renaming: dict[str, IntExpr]) -> Ranges:
    """The facts inside of a loop or behind a named integer, by other names where ``renaming`` has them."""
    (name,) = defined(around)
    name = name + OTHER if name in renaming else name
    if isinstance(around, LetInt):
        return known.named(name, substitute(around.expr, renaming))
    return known.within(name, substitute(around.start, renaming), substitute(around.stop, renaming))
