"""Which iterations of a loop need each other: elements that one writes and another touches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Fold,
    Invoke,
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
    """What is known of integers inside of the last of some statements, one around the next."""
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
    scratch = {one.buffer.name for one in statements(loop.body) if isinstance(one, Alloc)}
    touched = [touch for touch in touches(loop.body) if touch.buffer not in scratch]
    known = ranges_at(path)
    for one, other in itertools.product(touched, touched):
        if one.written and one.buffer == other.buffer and not _apart(known, loop, one, other):
            what = "write" if other.written else "read"
            place = ", ".join(map(str, other.index))
            return f"an iteration over {loop.variable} may {what} {other.buffer}[{place}] that another writes"
    return _changed_by(loop)


def _changed_by(loop: Loop) -> str:
    """Why iterations need each other for what is no element: scalars, and routines that may touch anything."""
    own = {name for one in statements(loop.body) for name in defined(one)}
    for one in statements(loop.body):
        changed = (one.name,) if isinstance(one, Accumulate) else one.names if isinstance(one, Fold) else ()
        for name in changed:
            if name not in own:
                return f"every iteration over {loop.variable} changes {name}"
        if isinstance(one, Invoke):
            return f"it is not known what {type(one).__name__} touches"
    return ""


def touches(block: Block, around: tuple[Loop | LetInt, ...] = ()) -> Iterator[Touch]:
    """Yield what the loads and stores of a block touch."""
    for statement in block:
        for value in values(statement):
            for part in parts(value):
                if isinstance(part, Load):
                    yield Touch(part.buffer, part.index, False, around)
        if isinstance(statement, Store):
            yield Touch(statement.buffer, statement.index, True, around)
        if isinstance(statement, TransposeBlock):
            yield from _transposed(statement, around)
        for inner in blocks(statement):
            yield from touches(inner, (*around, statement) if isinstance(statement, Loop) else around)
        if isinstance(statement, LetInt):
            around = (*around, statement)


def _transposed(block: TransposeBlock, around: tuple[Loop | LetInt, ...]) -> Iterator[Touch]:
    """Yield the element that is read and the one that is written for each i, j of a block."""
    names = f"{block.target}_row", f"{block.target}_column"
    inside = tuple(Loop(name, constant(0), extent, ()) for name, extent in zip(names, block.extents, strict=True))
    i, j = map(variable, names)
    start, at = block.start, block.at
    yield Touch(block.source, (*start[:-2], start[-2] + i, start[-1] + j), False, (*around, *inside))
    yield Touch(block.target, (*at[:-2], at[-2] + j, at[-1] + i), True, (*around, *inside))


def _apart(known: Ranges, loop: Loop, one: Touch, other: Touch) -> bool:
    """Whether two touches of different iterations are of different elements, whichever iteration is the earlier."""
    names = [loop.variable, *(name for around in other.around for name in defined(around))]
    renaming = {name: variable(name + OTHER) for name in names}
    index = [substitute(expr, renaming) for expr in other.index]
    second = loop.variable + OTHER
    both = known.within(second, loop.start, loop.stop)
    for around in one.around:
        both = known_inside(both, around, {})
    for around in other.around:
        both = known_inside(both, around, renaming)
    here, there = variable(loop.variable), variable(second)
    return all(
        any(ordered.apart(a, b) for a, b in zip(one.index, index, strict=True))
        for ordered in (both.supposing(there - here - loop.step), both.supposing(here - there - loop.step))
    )


def known_inside(known: Ranges, around: Loop | LetInt, renaming: dict[str, IntExpr]) -> Ranges:
    """What is known inside of a loop or behind a named integer, by other names where ``renaming`` has them."""
    (name,) = defined(around)
    name = name + OTHER if name in renaming else name
    if isinstance(around, LetInt):
        return known.named(name, substitute(around.expr, renaming))
    return known.within(name, substitute(around.start, renaming), substitute(around.stop, renaming))
