"""Add the rounding errors of a sum up, in a scalar of their own."""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.surroundings import block_of, place_in, with_block
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import (
    Accumulate,
    Block,
    Carry,
    Const,
    Fold,
    Grouping,
    Kernel,
    Let,
    Order,
    Prim,
    Statement,
    Value,
    Var,
)
from xjit.ir.loops.walk import Change, blocks, path_to, statements, with_blocks
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, FLOAT64

WITH_ERRORS = Order(Grouping.ERRORS)


@dataclass(frozen=True, slots=True)
class Compensate:
    """Keep the rounding errors of a sum in a scalar of their own, exactly, and add them to it where it is read.

    before      carry s: f64 = 0.0
                for j in 0 .. n:
                  s = add(s, x[j]) with errors
                out[0] = s
    after       carry s: f64 = 0.0                      Compensate("s")
                carry s_error: f64 = 0.0
                for j in 0 .. n:
                  s_term = x[j]
                  s_both = (s + s_term)
                  s_taken = (s_both - s)
                  s_error, s = (s_error + ((s - (s_both - s_taken)) + (s_term - s_taken))), s_both
                s_sum = select((s_error == s_error), (s + s_error), s)
                out[0] = s_sum

    Errors are NaN once the sum is infinite, which is the answer then.
    """

    scalar: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses scalars that change in another way."""
        path = path_to(kernel.body, lambda one: isinstance(one, Carry) and one.name == self.scalar)
        if not path:
            raise RefusedError(f"there is no scalar {self.scalar}")
        block = block_of(kernel, path)
        place = place_in(block, path[-1])
        changing = [at for at, one in enumerate(block) if any(map(self._changes, statements((one,))))]
        known = [one for at in changing for one in statements((block[at],)) if self._changes(one)]
        if not all(isinstance(one, Accumulate) and one.order == WITH_ERRORS for one in known) or not known:
            raise RefusedError(f"{self.scalar} is not added with errors")
        taken = Names(kernel)
        error = taken.fresh(f"{self.scalar}_error")
        last = changing[-1] + 1
        adding = tuple(self._added(block[place + 1 : last], error, taken))
        total, rest = self._corrected(block[last:], error, taken)
        zero = Carry(error, Const(Literal.of(0.0, FLOAT64)))
        return with_block(kernel, block, (*block[: place + 1], zero, *adding, *total, *rest))

    def _changes(self, one: Statement) -> bool:
        match one:
            case Accumulate(name=name):
                return name == self.scalar
            case Fold(names=several):
                return self.scalar in several
        return False

    def _added(self, block: Block, error: str, taken: Names) -> Iterator[Statement]:
        """Yield the statements with two-sums: what a sum loses is known exactly."""
        for one in block:
            if not isinstance(one, Accumulate) or one.name != self.scalar:
                yield with_blocks(one, tuple(tuple(self._added(inner, error, taken)) for inner in blocks(one)))
                continue
            names = [taken.fresh(f"{self.scalar}_{what}") for what in ("term", "both", "taken")]
            total, term, both, part = (Var(name, FLOAT64) for name in (self.scalar, *names))
            given = one.value, _add(total, term), _sub(both, total)
            yield from (Let(name, value) for name, value in zip(names, given, strict=True))
            lost = _add(_sub(total, _sub(both, part)), _sub(term, part))
            yield Fold((error, self.scalar), (_add(Var(error, FLOAT64), lost), both))

    def _corrected(self, block: Block, error: str, taken: Names) -> tuple[Block, Block]:
        """The sum with its errors, and the statements that read it."""
        total, lost = Var(self.scalar, FLOAT64), Var(error, FLOAT64)
        known = Prim("eq", (lost, lost), BOOL)
        corrected = Let(taken.fresh(f"{self.scalar}_sum"), Prim("select", (known, _add(total, lost), total), FLOAT64))
        sum = Var(corrected.name, FLOAT64)
        rest = Change(value=lambda value: sum if value == total else value).block(block)
        return ((corrected,), rest) if rest != block else ((), block)


def _add(one: Value, other: Value) -> Value:
    return Prim("add", (one, other), FLOAT64)


def _sub(one: Value, other: Value) -> Value:
    return Prim("sub", (one, other), FLOAT64)
