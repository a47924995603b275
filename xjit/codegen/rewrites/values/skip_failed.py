"""Skip what nobody needs where a condition that is checked does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.scalars import scalars_of
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, replace
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Fold,
    If,
    Kernel,
    Let,
    LetInt,
    Prim,
    Statement,
    Store,
    Value,
)
from xjit.ir.loops.walk import (
    blocks_inside_out,
    defined,
    integers,
    loads,
    parts,
    statements,
    values,
)


@dataclass(frozen=True, slots=True)
class SkipFailed:
    """Store into an element only where the condition holds that its place is checked for, behind a jump.

    before      carry bad: pred = False
                ok = (v < 9)
                g = select(ok, v, 0)
                x[g] = (x[g] + 1.0)
                bad = or(bad, not(ok))
                if bad:
                  failed[0] = True
    after       carry bad: pred = False                 SkipFailed()
                ok = (v < 9)
                bad = or(bad, not(ok))
                if ok:
                  g = select(ok, v, 0)
                  x[g] = (x[g] + 1.0)
                if bad:
                  failed[0] = True

    Conditions that depend on such a place are checked there too. Processors guess jumps, and take elements up before
    they know the condition; a choice they wait for.
    """

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no block has a store that depends on a choice by a condition that it checks."""
        found = blocks_inside_out(kernel.body, _skipping)
        if found is kernel.body:
            raise RefusedError("no store depends on what is checked")
        return replace(kernel, body=found)


def _skipping(block: Block) -> Block:
    """The block with jumps over what depends on its checks, which end with a statement that notes failures."""
    flags = {one.name for one in block if isinstance(one, Accumulate) and one.reducer == "or"}
    for place, one in enumerate(block):
        if not (isinstance(one, If) and (noted := scalars_of(one.condition)) and noted <= flags):
            continue
        first = max((k for k, start in enumerate(block[:place]) if _begins(start, noted)), default=place) + 1
        if not all(isinstance(each, Let | LetInt | Store | Accumulate | Fold) for each in block[first:place]):
            return block
        found = _jumping(block[first:place], noted, _read(block[place:]))
        return block if found is None else (*block[:first], *found, *block[place:])
    return block


def _begins(one: Statement, flags: set[str]) -> bool:
    return isinstance(one, Carry) and one.name in flags


def _jumping(body: Block, flags: set[str], needed: set[str]) -> Block | None:
    """The statements with jumps over those that depend on a choice by a checked condition; None where none does."""
    found = body
    for check in body:
        holds = _condition(check, flags)
        if holds is None or not any(one is check for one in found):
            continue
        skipped = _skipped(found, check, holds, needed, flags)
        if skipped and _may_come_last(found, skipped):
            inside = tuple(found[place] for place in sorted(skipped))
            rest = (one for place, one in enumerate(found) if place not in skipped)
            found = (*rest, If(holds, _jumping(inside, flags, set()) or inside))
    return None if found is body else found


def _condition(check: Statement, flags: set[str]) -> Value | None:
    """The condition that a statement demands; None if it is no check."""
    match check:
        case Accumulate(name=name, value=Prim("not", (holds,))) if name in flags:
            return holds
    return None


def _skipped(body: Block, check: Statement, holds: Value, needed: set[str], flags: set[str]) -> set[int]:
    """The places of stores, and of other checks, that depend on a choice by a condition, and of what only they need.

    Stores into scalars, and what is ``needed`` behind the statements, stay.
    """
    depending = set[str]()
    found = set[int]()
    for place, one in enumerate(body):
        if one is not check and (_chooses(one, holds) or _read((one,)) & depending):
            depending.update(defined(one))
            is_check = isinstance(one, Accumulate) and one.name in flags
            if is_check or isinstance(one, Store) or (isinstance(one, If) and one.condition != holds):
                found.add(place)
    readers = dict[str, set[int]]()
    for place, one in enumerate(body):
        for name in _read((one,)):
            readers.setdefault(name, set()).add(place)
    for place, one in reversed(list(enumerate(body))):
        if isinstance(one, Let | LetInt) and one.name not in needed and readers.get(one.name, {-1}) <= found:
            found.add(place)
    return found


def _chooses(one: Statement, condition: Value) -> bool:
    """Return whether a statement chooses between values by a condition."""
    every = (part for inner in statements((one,)) for value in values(inner) for part in parts(value))
    return any(isinstance(part, Prim) and part.name == "select" and part.operands[0] == condition for part in every)


def _may_come_last(body: Block, moved: set[int]) -> bool:
    """Return whether statements at some places may come behind all others: they share no memory or scalars."""
    late = tuple(body[place] for place in moved)
    passed = tuple(one for place, one in enumerate(body) if place > min(moved) and place not in moved)
    scalars = {name for one in passed if isinstance(one, Fold) for name in one.names}
    late_loads, early_loads = ({load.buffer for load in loads(some)} for some in (late, passed))
    return not (
        written(passed) & (late_loads | written(late)) or early_loads & written(late) or scalars & _read(late)
    )


def _read(block: Sequence[Statement]) -> set[str]:
    """The names that statements read, of scalars and of integers, those inside of them included."""
    every = list(statements(tuple(block)))
    found = {name for one in every for value in values(one) for name in scalars_of(value)}
    return found.union(*(expr.names() for one in every for expr in integers(one)))
