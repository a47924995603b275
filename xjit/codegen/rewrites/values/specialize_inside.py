"""Specialize an iteration in which all positions that are asked for lie inside of an array."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Atom, IntExpr, constant, substitute, terms
from xjit.ir.loops.nodes import Alloc, Block, Const, FromInt, If, Kernel, Let, LetInt, Loop, Prim, Value, Var
from xjit.ir.loops.walk import Change, blocks, names, renamed, statements, with_blocks
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT64, dtype_class, is_signed

TRUE = Const(Literal.of(True, BOOL))


@dataclass(frozen=True, slots=True)
class SpecializeInside:
    """Write the body of a loop twice: for iterations in which all positions that are asked for lie inside.

    before      for b in 0 .. n:
                  for i in 4*b .. 4*b + 4:
                    inside = ((cast[u32](s64(i)) - 1) < 9)
                    s[i] = load_where(inside, x[i - 1])
    after       for b in 0 .. n:                        SpecializeInside("b")
                  if ((s64(4*b - 1) >= 0) & (s64(4*b + 2) < s64(9))):
                    for i_inside in 4*b .. 4*b + 4:
                      s[i_inside] = x[i_inside - 1]
                  else:
                    for i in 4*b .. 4*b + 4:
                      inside = ((cast[u32](s64(i)) - 1) < 9)
                      s[i] = load_where(inside, x[i - 1])

    A position without a sign below a number is one that is not negative either, so that its first and its last one in
    the loops inside tell of all.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where nothing is asked, and positions that are no sums of loop variables."""
        _, loop = found(kernel, self.loop)
        head = tuple(one for one in loop.body if isinstance(one, LetInt | Alloc))
        rest = tuple(one for one in loop.body if not isinstance(one, LetInt | Alloc))
        questions = _Questions(kernel, rest)
        spans = tuple(questions.spans())
        if not spans:
            raise RefusedError(f"the loop over {self.loop} asks for no position")
        condition = functools.reduce(lambda one, other: Prim("and", (one, other), BOOL), _within(spans))
        inside = _Folding(set(questions.asked)).block(rest)
        copy = renamed(inside, Names(kernel).copies(inside, "inside"))
        return with_statements(kernel, loop, (replace(loop, body=(*head, If(condition, copy, rest))),))


Span = tuple[IntExpr, IntExpr]
"""The least and the greatest position."""


def _within(spans: Sequence[tuple[IntExpr, Span]]) -> Iterator[Value]:
    """Yield what says that positions lie between zero and each size."""
    for size, (least, most) in spans:
        yield Prim("ge", (FromInt(least, INT64), Const(Literal.of(0, INT64))), BOOL)
        yield Prim("lt", (FromInt(most, INT64), FromInt(size, INT64)), BOOL)


class _Questions:
    """The comparisons of positions in a block; ``asked`` are the names of their answers."""

    def __init__(self, kernel: Kernel, block: Block) -> None:
        every = tuple(statements(kernel.body))
        self._given = {one.name: one.value for one in every if isinstance(one, Let)}
        self._loops = {one.variable: one for one in statements(block) if isinstance(one, Loop)}
        self._inner = names(block)
        self.asked: dict[str, tuple[IntExpr, IntExpr]] = {}
        for one in statements(block):
            if isinstance(one, Let) and (question := self._question(one.value)) is not None:
                self.asked[one.name] = question

    def _question(self, value: Value) -> tuple[IntExpr, IntExpr] | None:
        """The position and the size that it is compared with."""
        match value:
            case Prim("lt", (position, size)) if dtype_class(size.dtype) == "I" and not is_signed(size.dtype):
                at, end = self._integer(position), self._integer(size)
                return None if at is None or end is None else (at, end)
        return None

    def _integer(self, value: Value) -> IntExpr | None:
        """The integer that a value without a sign stands for."""
        match value:
            case FromInt(expr):
                return expr
            case Const(literal):
                return constant(int(literal.item()))
            case Var(name) if name in self._given:
                return self._integer(self._given[name])
            case Prim("copy" | "cast", (operand,)) if dtype_class(operand.dtype) == "I":
                return self._integer(operand)
            case Prim("add" | "sub" | "mul" as name, (one, other)):
                left, right = self._integer(one), self._integer(other)
                if left is None or right is None:
                    return None
                if name == "mul":
                    return left * right if left.value is not None or right.value is not None else None
                return left + right if name == "add" else left - right
        return None

    def spans(self) -> Iterator[tuple[IntExpr, Span]]:
        """Yield sizes with the positions compared with them, in terms of what is known in front of the block.

        Positions that are a number apart share a question.
        """
        together: dict[tuple[IntExpr, IntExpr], list[int]] = {}
        for at, size in self.asked.values():
            ahead = next((step for step, atom in terms(at) if atom is None), 0)
            together.setdefault((at - ahead, size), []).append(ahead)
        for (moving, size), several in together.items():
            least, most = self._end(moving, False), self._end(moving, True)
            if (least.names() | most.names()) & self._inner:
                raise RefusedError(f"the ends of {moving} are not known")
            yield size, (least + min(several), most + max(several))

    def _end(self, moving: IntExpr, last: bool) -> IntExpr:
        """A position at the first or last iterations of the loops that it moves along."""
        for name in sorted(moving.names() & self._loops.keys()):
            loop = self._loops[name]
            step = next((step for step, atom in terms(moving) if atom is not None and name in atom.names()), 0)
            atoms = [atom for _, atom in terms(moving) if atom is not None and name in atom.names()]
            if len(atoms) != 1 or atoms[0].kind is not Atom.VARIABLE or loop.step != 1:
                raise RefusedError(f"{moving} does not move evenly along {name}")
            moving = substitute(moving, {name: loop.stop - 1 if last == (step > 0) else loop.start})
        return moving


@dataclass(slots=True)
class _Folding:
    """A block in which some names are true, and all that follows from it."""

    true: set[str] = field(default_factory=set)

    def block(self, block: Block) -> Block:
        """The block without the names of what is true."""
        kept = []
        for one in block:
            if blocks(one):
                kept.append(with_blocks(one, tuple(map(self.block, blocks(one)))))
                continue
            if isinstance(one, Let) and one.name in self.true:
                continue
            after = Change(value=self._folded).statement(one)
            if isinstance(after, Let) and after.value == TRUE:
                self.true.add(after.name)
            else:
                kept.append(after)
        return tuple(kept)

    def _folded(self, value: Value) -> Value:
        match value:
            case Var(name) if name in self.true:
                return TRUE
            case Prim("and", (one, other)) if TRUE in (one, other):
                return other if one == TRUE else one
            case Prim("select", (condition, chosen, _)) if condition == TRUE:
                return chosen
            case Prim("load_where", (condition, element)) if condition == TRUE:
                return element
        return value
