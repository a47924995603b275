"""Go through those iterations of a loop alone in which a condition holds, by the bits of a number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.analysis.scalars import changed, scalars_of
from xjit.codegen.rewrites.analysis.surroundings import integers_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.build import minus, number
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, substitute, variable
from xjit.ir.loops.nodes import Carry, Fold, FromInt, If, Kernel, Let, LetInt, Load, Loop, Prim, Statement, Value, Var
from xjit.ir.loops.walk import names, parts, substituted
from xjit.types import INT64, DType

UINT64: DType = np.dtype(np.uint64)

WORD = 64
"""Bits of a number, and so iterations that are marked at a time."""


@dataclass(frozen=True, slots=True)
class MarkIterations:
    """Mark the iterations in which a condition holds by the bits of a number, and go through these alone.

    before      for i in 0 .. n:
                  if (x[i] < q):
                    y[i] = 0.0
    after       for word in 0 .. n by 64:               MarkIterations("i")
                  carry bits: u64 = 0
                  for bit in word .. min(n, word + 64):
                    bits = (bits | shl(cast[u64]((x[bit] < q)), u64(bit - word)))
                  marked = cast[s64](popcount(bits))
                  for at in 0 .. marked:
                    lowest = cast[s64](popcount((not(bits) & (bits - 1))))
                    bits = (bits & (bits - 1))
                    i = lowest + word
                    y[i] = 0.0

    Conditions of several iterations are computed side by side, and a processor has no jump of each to foretell.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do more than to ask a condition first, or that change what it is made of."""
        path, loop = found(kernel, self.loop)
        match loop.body:
            case (If(condition, then, ()),):
                pass
            case _:
                raise RefusedError(f"the loop over {self.loop} does more than to ask a condition")
        if not loop.kind.is_ordered:
            raise RefusedError(f"the iterations of the loop over {self.loop} have no order")
        buffers = {one.buffer for one in parts(condition) if isinstance(one, Load)}
        if buffers & written(then) or scalars_of(condition) & (changed(then) | names(then)):
            raise RefusedError(f"the loop over {self.loop} changes what its condition is made of")
        count = (loop.stop - loop.start + (loop.step - 1)) // loop.step
        marks = _Marks(loop, condition, Names(kernel))
        longest = most(substitute(count, integers_before(kernel, path)))
        if longest is not None and longest.value is not None and longest.value <= WORD:
            return with_statements(kernel, loop, tuple(marks.of_word(constant(0), count)))
        word = marks.taken.fresh("word")
        end = minimum(variable(word) + WORD, count)
        words = Loop(word, constant(0), count, tuple(marks.of_word(variable(word), end)), step=WORD)
        return with_statements(kernel, loop, (words,))


@dataclass(eq=False)
class _Marks:
    """The iterations of a loop with a condition."""

    loop: Loop
    condition: Value
    taken: Names

    def of_word(self, word: IntExpr, end: IntExpr) -> Iterator[Statement]:
        """Yield what marks iterations from one to another, and goes through those."""
        bits, marked, lowest = (self.taken.fresh(name) for name in ("bits", "marked", "lowest"))
        now, one = Var(bits, UINT64), number(1, UINT64)
        rest = Prim("and", (now, minus(now, one)), UINT64)
        below = Prim("and", (Prim("not", (now,), UINT64), minus(now, one)), UINT64)
        yield Carry(bits, number(0, UINT64))
        yield self._marking(word, end, now)
        yield Let(marked, _ones(now))
        this = LetInt(self.loop.variable, self.loop.start + (word + variable(lowest)) * self.loop.step)
        (asked,) = self.loop.body
        assert isinstance(asked, If)
        body = (Let(lowest, _ones(below)), Fold((bits,), (rest,)), this, *asked.then)
        yield Loop(self.taken.fresh("at"), constant(0), variable(marked), body)

    def _marking(self, word: IntExpr, end: IntExpr, bits: Var) -> Loop:
        """The loop that marks iterations from one to another."""
        bit = self.taken.fresh("bit")
        place = variable(bit) - word
        at = self.loop.start + variable(bit) * self.loop.step
        holds = Prim("cast", (self.condition,), UINT64)
        mark = Prim("shl", (holds, FromInt(place, UINT64)), UINT64)
        step = Fold((bits.name,), (Prim("or", (bits, mark), UINT64),))
        body = substituted((step,), {self.loop.variable: at})
        return Loop(bit, word, end, body)


def _ones(value: Value) -> Prim:
    """The number of bits that are ones."""
    return Prim("cast", (Prim("popcount", (value,), UINT64),), INT64)
