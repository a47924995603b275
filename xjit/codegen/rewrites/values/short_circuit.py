"""Look at the second condition of a loop only where the first one holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_

from xjit.codegen.rewrites.analysis.scalars import scalars_of
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, replace
from xjit.ir.loops.build import truth
from xjit.ir.loops.nodes import Block, Carry, Const, Fold, If, Kernel, Let, LetInt, Prim, Statement, Value, Var, While
from xjit.ir.loops.walk import Change, inside_out, integers, loads, statements, values


@dataclass(frozen=True, slots=True)
class ShortCircuit:
    """Load what the second condition of a loop needs behind a jump over it.

    before      while more:
                  ...
                  inside = (0 <= j)
                  at = select(inside, j, 0)
                  larger = (v < x[at])
                  both = select(inside, larger, False)
                  more = both
    after       while more:                     ShortCircuit()
                  ...
                  inside = (0 <= j)
                  carry both: pred = False
                  if inside:
                    at = j
                    larger = (v < x[at])
                    both = larger
                  more = both

    The loop jumps by both conditions in any case. Behind the first of them the place that it is for is known to be
    there, and is no choice that the processor waits for.
    """

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no loop goes on by two conditions of which the second loads what the first lets it."""
        found = inside_out(kernel.body, _jumping)
        if found is kernel.body:
            raise RefusedError("no loop has a condition that depends on a choice by another one")
        return replace(kernel, body=found)


def _jumping(loop: Statement) -> Statement:
    if not isinstance(loop, While):
        return loop
    deciding = _deciding(loop)
    for place, one in enumerate(loop.body):
        if isinstance(one, Let) and one.name in deciding:
            match one.value:
                case Prim("select", (Var() as first, Var() as second, Const() as rest)) if rest == truth(False):
                    found = _behind(loop.body, place, one.name, first, second)
                    if found is not None:
                        return replace(loop, body=found)
    return loop


def _deciding(loop: While) -> set[str]:
    """The names of the values that are the condition of the next turn."""
    found = scalars_of(loop.condition)
    for one in reversed(loop.body):
        if isinstance(one, Fold):
            pairs = zip(one.names, one.values, strict=True)
            found |= {value.name for name, value in pairs if name in found and isinstance(value, Var)}
        elif isinstance(one, Let) and one.name in found and isinstance(one.value, Var):
            found.add(one.value.name)
    return found


def _behind(body: Block, place: int, name: str, first: Var, second: Var) -> Block | None:
    """The body with what the second condition alone needs behind the first; None where that is no choice by it."""
    moved = _needed_by(body, place, first.name)
    late = tuple(body[each] for each in moved)
    if not any(True for _ in loads(late)) or not _may_wait(body, moved, place):
        return None

    def chosen(value: Value) -> Value:
        is_choice = isinstance(value, Prim) and value.name == "select" and value.operands[0] == first
        return value.operands[1] if is_choice and isinstance(value, Prim) else value

    jumping = Change(value=chosen).block(late)
    if all(map(is_, jumping, late)):
        return None
    rest = (one for number, one in enumerate(body[:place]) if number not in moved)
    known = If(first, (*jumping, Fold((name,), (second,))))
    return (*rest, Carry(name, truth(False)), known, *body[place + 1 :])


def _needed_by(body: Block, place: int, first: str) -> Sequence[int]:
    """The places of values that only one at a place needs, in order, without those that a condition depends on."""
    needed, moved = {first}, {place}
    readers = dict[str, set[int]]()
    for number, one in enumerate(body):
        for name in _read(one):
            readers.setdefault(name, set()).add(number)
    for number, one in reversed(list(enumerate(body[:place]))):
        if not isinstance(one, Let | LetInt):
            continue
        if one.name in needed:
            needed.update(_read(one))
        elif readers.get(one.name, {-1}) <= moved:
            moved.add(number)
    return sorted(moved - {place})


def _may_wait(body: Block, moved: Sequence[int], place: int) -> bool:
    """Return whether statements may come behind those up to a place: nothing that these change is read by them."""
    late = tuple(body[each] for each in moved)
    passed = tuple(body[each] for each in range(moved[0], place) if each not in moved)
    scalars = {name for one in statements(passed) if isinstance(one, Fold) for name in one.names}
    return not (written(passed) & {load.buffer for load in loads(late)} or any(scalars & _read(one) for one in late))


def _read(one: Statement) -> set[str]:
    """The names that a statement reads, of scalars and of integers, those inside of it included."""
    return set(_names_in(one))


def _names_in(statement: Statement) -> Iterator[str]:
    for one in statements((statement,)):
        for value in values(one):
            yield from scalars_of(value)
        for expr in integers(one):
            yield from expr.names()
