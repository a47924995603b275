"""Run only those of two groups of loops that make the value which is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.rewrites.analysis.scalars import changed, scalars_of
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, replace
from xjit.ir.loops.build import number
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Carry,
    Fold,
    If,
    Kernel,
    Let,
    LetInt,
    Loop,
    Prim,
    Statement,
    Value,
)
from xjit.ir.loops.walk import blocks_inside_out, integers, loads, names, statements, values

_MOVABLE = (Accumulate, Alloc, Carry, Fold, If, Let, LetInt, Loop)


@dataclass(frozen=True, slots=True)
class ChooseLoops:
    """Run only those of two groups of loops that make the value which is chosen, behind a jump.

    before      carry s: f64 = 0.0
                for j in 0 .. -k*n + n:
                  s = add(s, x[j])
                carry t: f64 = 0.0
                for i in 0 .. k*n:
                  t = add(t, y[i])
                v = select((s64(k) == 0), s, t)
    after       carry v: f64 = 0.0                  ChooseLoops()
                if (s64(k) == 0), by a jump:
                  carry s: f64 = 0.0
                  for j in 0 .. -k*n + n:
                    s = add(s, x[j])
                  v = s
                else:
                  carry t: f64 = 0.0
                  for i in 0 .. k*n:
                    t = add(t, y[i])
                  v = t

    Sums of few elements and of many are made by different loops, of which one is empty: what stands around it takes
    longer than few elements do.
    """

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where no value is chosen between what two groups of loops make for it alone."""
        found = blocks_inside_out(kernel.body, _changed)
        if found is kernel.body:
            raise RefusedError("no value is chosen between what loops make for it alone")
        return replace(kernel, body=found)


def _changed(block: Block) -> Block:
    """The block with jumps in it; itself where there are none."""
    for one in block:
        match one:
            case Let(value=Prim("select", (_, _, _))):
                block = _choosing(block, one)
    return block


def _choosing(block: Block, choice: Let) -> Block:
    """The block with a jump for a choice; itself where loops make anything else as well."""
    assert isinstance(choice.value, Prim)
    condition, *several = choice.value.operands
    place = next(number for number, one in enumerate(block) if one is choice)
    if sum(isinstance(one, Loop) for one in block[:place]) < len(several):  # one for each value, at least
        return block
    parts = [_made_for(block, place, value) for value in several]
    arms = [tuple(block[number] for number in sorted(part)) for part in parts]
    if not all(any(isinstance(one, Loop) for one in arm) for arm in arms):
        return block
    moved = parts[0] | parts[1]
    passed = tuple(one for number, one in enumerate(block[:place]) if number not in moved and number > min(moved))
    if _given(passed) & _used(arms[0] + arms[1]) - names(passed):
        return block
    then, otherwise = ((*arm, Fold((choice.name,), (value,))) for arm, value in zip(arms, several, strict=True))
    start = Carry(choice.name, number(choice.value.dtype.type(0), choice.value.dtype))
    stay = tuple(one for number, one in enumerate(block[:place]) if number not in moved)
    return (*stay, start, If(condition, then, otherwise, jumps=True), *block[place + 1 :])


def _made_for(block: Block, place: int, value: Value) -> set[int]:
    """The places of statements in front of a choice without which one of its values alone could not be made."""
    found = {number for number, one in enumerate(block[:place]) if isinstance(one, _MOVABLE)}
    given = [_given((one,)) for one in block]
    used = [_used((one,)) for one in block]
    used[place] = used[place] - scalars_of(value) | _shared(block[place], value)
    while True:
        outside = {name for number, some in enumerate(used) if number not in found for name in some}
        outside |= {name for number, some in enumerate(given) if number not in found for name in some}
        mine = names(tuple(block[number] for number in found))
        stays = {number for number in found if given[number] & outside or not given[number] <= mine}
        if not stays:
            return found
        found -= stays


def _shared(choice: Statement, value: Value) -> set[str]:
    """The names of a value that a choice needs for its condition or for the other value as well."""
    assert isinstance(choice, Let)
    assert isinstance(choice.value, Prim)
    others = [one for one in choice.value.operands if one is not value]
    return {name for one in others for name in _in_value(one)} & _in_value(value)


def _in_value(value: Value) -> set[str]:
    return _used((Let("", value),))


def _given(block: Sequence[Statement]) -> set[str]:
    """The scalars, integers and buffers that statements give or change."""
    block = tuple(block)
    return names(block) | changed(block) | written(block)


def _used(block: Sequence[Statement]) -> set[str]:
    """The scalars, integers and buffers that statements read."""
    block = tuple(block)
    every = list(statements(block))
    found = {name for one in every for value in values(one) for name in scalars_of(value)}
    found |= {load.buffer for load in loads(block)}
    return found.union(*(expr.names() for one in every for expr in integers(one)))
