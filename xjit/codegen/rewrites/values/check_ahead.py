"""Check positions that come from memory in front of the loop that looks elements up by them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.checked_positions import CheckedPositions, checked_positions
from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.values.precompute import needed_for
from xjit.dataclass import dataclass, field
from xjit.ir.loops.build import number, truth
from xjit.ir.loops.intexpr import IntExpr, substitute, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Const,
    FromInt,
    If,
    Kernel,
    Let,
    LetInt,
    Loop,
    Prim,
    Statement,
    Value,
    Var,
)
from xjit.ir.loops.walk import Change, renamed
from xjit.types import BOOL, INT64

ZERO, TRUE, FALSE = number(0), truth(True), truth(False)


@dataclass(frozen=True, slots=True)
class CheckAhead:
    """Check all positions of a loop in front of it; where all lie inside, the loop has no checks.

    before      for j in 0 .. n:
                  p = k[j]
                  inside = ((p >= -9) & (p < 9))
                  at = select(inside, select((p < 0), (p + 9), p), 0)
                  t = add(t, x[at])
                  bad = or(bad, not(inside))
    after       carry far: s64 = 0                      CheckAhead("j", "far")
                for j_ahead in 0 .. n:
                  p_ahead = k[j_ahead]
                  far = or(far, (p_ahead | (8 - p_ahead)))
                if (far < 0):
                  for j in 0 .. n:
                    p = k[j]
                    inside = ((p >= -9) & (p < 9))
                    at = select(inside, select((p < 0), (p + 9), p), 0)
                    t = add(t, x[at])
                    bad = or(bad, not(inside))
                else:
                  for j_inside in 0 .. n:
                    p_inside = k[j_inside]
                    t = add(t, x[p_inside])

    A position p below a size s is one for which neither p nor s - 1 - p is negative: the signs of all are collected,
    in vector code. Positions that count from the end take the loop with checks.
    """

    loop: str
    flag: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that check no positions from memory, or that change what they find these by."""
        _, loop = found(kernel, self.loop)
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} already")
        checked = checked_positions(loop)
        if not checked.bounds:
            raise RefusedError(f"the loop over {self.loop} checks no positions from memory")
        finding = needed_for(loop.body, [at.name for at in checked.positions])
        moving = uses(finding) & (changed((loop,)) | written(loop.body))
        if moving or not all(isinstance(one, Let | LetInt) for one in finding):
            raise RefusedError(f"the loop over {self.loop} changes what its positions are found by")
        return with_statements(kernel, loop, tuple(self._twice(loop, checked, finding, Names(kernel))))

    def _twice(self, loop: Loop, checked: CheckedPositions, finding: Block, taken: Names) -> Iterator[Statement]:
        yield Carry(self.flag, ZERO)
        signs = (Accumulate(self.flag, "or", _sign(at, sizes)) for at, sizes in checked.sizes.items())
        ahead = replace(loop, body=(*finding, *signs))
        yield from renamed((ahead,), taken.copies((ahead,), "ahead"))
        inside = replace(loop, body=_Inside(checked).block(loop.body))
        copy = renamed((inside,), taken.copies((inside,), "inside"))
        outside = (Prim("lt", (Var(self.flag, INT64), ZERO), BOOL), *_odd_bounds(checked))
        yield If(functools.reduce(lambda one, other: Prim("or", (one, other), BOOL), outside), (loop,), copy)


def _sign(at: Var, sizes: list[Value]) -> Value:
    """A number that is negative where a position is not one of an array of each of some sizes."""
    signs: list[Value] = [at, *(Prim("sub", (_last(size), at), INT64) for size in sizes)]
    return functools.reduce(lambda one, other: Prim("or", (one, other), INT64), signs)


def _last(size: Value) -> Value:
    """The last position of an array of some size."""
    match size:
        case Const(literal):
            return number(int(literal.item()) - 1)
        case FromInt(expr):
            return FromInt(expr - 1, INT64)
    return Prim("sub", (size, number(1)), INT64)


def _odd_bounds(checked: CheckedPositions) -> Iterator[Value]:
    """Yield what holds where a bound from below is above zero, or a size is negative."""
    for least in checked.floors:
        if not isinstance(least, Const):
            yield Prim("gt", (least, ZERO), BOOL)
    for size in dict.fromkeys(size for sizes in checked.sizes.values() for size in sizes):
        if not isinstance(size, Const):
            yield Prim("lt", (size, ZERO), BOOL)


@dataclass(slots=True)
class _Inside:
    """A block in which all positions that are checked lie inside; ``known`` are names of what is known then."""

    checked: CheckedPositions
    known: dict[str, Var | Const] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        """The block without checks, and without values that nothing else needs."""
        kept = list[Statement]()
        change = Change(value=self._folded, integer=self._named)
        for one in block:
            after = change.statement(one)
            match after:
                case Let(name, Var() | Const() as value) if value in (TRUE, FALSE, *self.checked.positions):
                    self.known[name] = value
                case Accumulate(reducer="or", value=value) if value == FALSE:
                    continue
                case _:
                    kept.append(after)
        return tuple(_read(kept))

    def _named(self, expr: IntExpr) -> IntExpr:
        """The expression with the names of positions in place of others that they have."""
        others = {name: self.known[name] for name in expr.names() & self.known.keys()}
        return substitute(expr, {name: variable(one.name) for name, one in others.items() if isinstance(one, Var)})

    def _folded(self, value: Value) -> Value:
        match value:
            case Var(name) if name in self.known:
                return self.known[name]
            case Prim("lt" | "ge" as name, (Var() as at, bound)) if (name, at, bound) in self.checked.bounds:
                return TRUE
            case Prim("lt", (Var() as at, bound)) if bound == ZERO and at in self.checked.positions:
                return FALSE
            case Prim("not", (one,)) if one in (TRUE, FALSE):
                return FALSE if one == TRUE else TRUE
            case Prim("and", (one, other)) if TRUE in (one, other):
                return other if one == TRUE else one
            case Prim("select", (condition, one, other)) if condition in (TRUE, FALSE):
                return one if condition == TRUE else other
        return value


def _read(block: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements of a block without names that none of them reads."""
    wanted, kept = set[str](), list[Statement]()
    for one in reversed(block):
        if not isinstance(one, Let | LetInt) or one.name in wanted:
            kept.append(one)
            wanted |= uses((one,))
    return reversed(kept)
