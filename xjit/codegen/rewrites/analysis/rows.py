"""Rows: the iterations that all outermost loops of a kernel have in common, where none needs another one.

    while more:
      for i in 0 .. n:  x[i, k] = x[i, k - 1] * w[i + 1]        row i is what the loops do at i
      for i in 0 .. n:  y[i] = y[i] + x[i, k]
      k = k + 1; more = k < 9

What stands outside of the loops is the same for all rows: each of them may do it on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit.codegen.rewrites.analysis.dependence import Touch, scalars_changed_by, touches
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, terms, variable
from xjit.ir.loops.nodes import (
    Alloc,
    Barrier,
    Block,
    Buffer,
    Check,
    Const,
    If,
    Invoke,
    Kernel,
    Loop,
    LoopKind,
    Statement,
    Store,
    Value,
)
from xjit.ir.loops.walk import blocks, buffers, statements, stores


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of an element in a row: along an ``axis`` it is ``times`` the row, and ``rest``.

    ``offsets`` are what words and numbers add to the index along each axis.
    """

    axis: int
    times: int
    rest: IntExpr
    offsets: tuple[IntExpr, ...]


def row_loops(block: Block) -> Iterator[Loop]:
    """Yield the loops of a block that are inside of no other one."""
    for statement in block:
        if isinstance(statement, Loop):
            yield statement
        else:
            for inner in blocks(statement):
                yield from row_loops(inner)


def why_rows_meet(kernel: Kernel) -> str:
    """Why the rows of a kernel need each other; nothing if they provably do not."""
    loops = list(row_loops(kernel.body))
    if not loops:
        return "the kernel has no loops"
    return _of_loops(loops) or _of_statements(kernel.body) or _of_scalars(loops) or _of_elements(kernel, loops[0])


def _of_loops(loops: Sequence[Loop]) -> str:
    stop = loops[0].stop
    if stop.names():
        return f"the end {stop} of the loop over {loops[0].variable} is no word"
    for one in loops:
        if one.start.value != 0 or one.step != 1 or one.kind is not LoopKind.SERIAL:
            return f"the loop over {one.variable} does not run from 0, one after the other"
        if one.stop != stop:
            return f"the loop over {one.variable} ends at {one.stop}, another at {stop}"
    return ""


def _of_statements(block: Block) -> str:
    """Why statements outside of the loops are not the same for all rows."""
    for one in block:
        if isinstance(one, Loop):
            if any(isinstance(inner, Invoke | Barrier | Check) for inner in statements(one.body)):
                return f"the loop over {one.variable} does more than to load and store"
        elif isinstance(one, Invoke | Barrier | Check):
            return f"a {type(one).__name__} is not done row by row"
        elif isinstance(one, Alloc) and one.buffer.extents:
            return f"all rows share {one.buffer.name}"
        else:
            reason = next(filter(None, map(_of_statements, blocks(one))), "")
            if reason:
                return reason
    return ""


def _of_scalars(loops: Sequence[Loop]) -> str:
    return next(filter(None, map(scalars_changed_by, loops)), "")


def _of_elements(kernel: Kernel, first: Loop) -> str:
    last = {store.buffer for store in stores(tuple(final_stores(kernel)))}
    known, flags = buffers(kernel), _flags(kernel)
    for name, touched in _written(kernel).items():
        if name in last and all(touch.written and row is None for touch, row in touched):
            continue
        if name in flags and all(touch.written for touch, _ in touched):
            continue
        places = [place for touch, row in touched if (place := _place(touch, row)) is not None]
        if len(places) < len(touched):
            return f"rows may meet in {name}: not all elements are those of one row"
        reason = _of_places(known[name], places, first.stop, kernel.facts)
        if reason:
            return f"rows may meet in {name}: {reason}"
    return ""


def _flags(kernel: Kernel) -> set[str]:
    """The buffers into which one number is stored, whoever does it."""
    found: dict[str, set[Value]] = {}
    for store in stores(kernel.body):
        found.setdefault(store.buffer, set()).add(store.value)
    return {name for name, several in found.items() if len(several) == 1 and isinstance(several.pop(), Const)}


def facts_of_rows(kernel: Kernel) -> Iterator[IntExpr]:
    """Yield expressions some of which are not negative where rows do not meet."""
    known, rows = buffers(kernel), next(row_loops(kernel.body)).stop
    for name, touched in _written(kernel).items():
        for place in (_place(touch, row) for touch, row in touched):
            for axis, offset in enumerate(place.offsets if place else ()):
                yield from _inside_of_row(known[name], place, axis, offset, rows) if place else ()


def final_stores(kernel: Kernel) -> Iterator[Store | If]:
    """Yield the statements of a kernel that do nothing but store numbers, the same ones for all rows."""
    return (one for one in kernel.body if isinstance(one, Store | If) and all(map(_is_store, statements((one,)))))


def _is_store(statement: Statement) -> bool:
    return isinstance(statement, Store | If)


def _written(kernel: Kernel) -> dict[str, list[tuple[Touch, Loop | None]]]:
    """The touches of each buffer that is written, with the outermost loop around; without scratch of an iteration."""
    own = {
        one.buffer.name for loop in row_loops(kernel.body) for one in statements(loop.body) if isinstance(one, Alloc)
    }
    found: dict[str, list[tuple[Touch, Loop | None]]] = {}
    for touch in touches(kernel.body):
        row = next((one for one in touch.around if isinstance(one, Loop)), None)
        found.setdefault(touch.buffer, []).append((touch, row))
    written = {name for name, touched in found.items() if any(touch.written for touch, _ in touched)}
    return {name: touched for name, touched in found.items() if name in written - own}


def _place(touch: Touch, row: Loop | None) -> _Place | None:
    """The place of an element in its row; None where the row does not tell along one axis which element it is."""
    if row is None:
        return None
    along = [axis for axis, expr in enumerate(touch.index) if row.variable in expr.names()]
    if len(along) != 1:
        return None
    (axis,), here = along, variable(row.variable)
    times = [coefficient for coefficient, product in terms(touch.index[axis]) if product == here]
    if not times:
        return None
    rest = touch.index[axis] - here * times[0]
    return None if rest.names() else _Place(axis, times[0], rest, tuple(map(_offset, touch.index)))


def _offset(expr: IntExpr) -> IntExpr:
    """The part of an integer that words and numbers are."""
    total = constant(0)
    for coefficient, product in terms(expr):
        if product is None:
            total = total + coefficient
        elif not product.names():
            total = total + product * coefficient
    return total


def _of_places(buffer: Buffer, places: Sequence[_Place], rows: IntExpr, facts: Sequence[IntExpr]) -> str:
    """Why elements at these places, of two different rows, may be one."""
    first = places[0]
    for one in places:
        if (one.axis, one.times, one.rest) != (first.axis, first.times, first.rest):
            return "a row has elements of others"
        for axis, (offset, other) in enumerate(zip(one.offsets, first.offsets, strict=True)):
            if axis == one.axis or offset == other:
                continue
            for end in (offset, other):
                if not any(
                    (fact.value or 0) > 0 or fact in facts for fact in _inside_of_row(buffer, one, axis, end, rows)
                ):
                    return f"the offset {end} along axis {axis} may reach into another row"
    return ""


def _inside_of_row(buffer: Buffer, place: _Place, axis: int, offset: IntExpr, rows: IntExpr) -> tuple[IntExpr, ...]:
    """Expressions one of which is not negative where an offset along another axis stays in its row: it is less than
    a step to the next row, or steps over all of them.
    """
    if axis == place.axis:
        return ()
    row, step = buffer.strides[place.axis], buffer.strides[axis]
    return row - step * (offset + 1), step - row * rows
