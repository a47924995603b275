"""Conditions that are checked on the way: a flag for each, which all steps of a kernel's loops share.

bad0 = b1(0)
for i0 in range(lo, hi):
    x0 = ld(a0, i0)
    v0 = x0 < i64(7)
    bad0 = bad0 | (v0 ^ b1(1))
if bad0:
    st(o0, 0, b1(1))

Threads that find the same store the same.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.scopes import LoopBuilder, Scope
from xjit.dataclass import dataclass, field
from xjit.ir.loops.nodes import Accumulate, Carry, Const, If, Prim, Statement, Store, Value, Var
from xjit.ir.node import Node
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL


@dataclass(eq=False)
class Checks:
    """The flags of one kernel, by the status that each belongs to."""

    nest: LoopBuilder
    pointers: Pointers
    flags: dict[Node, str] = field(default_factory=dict)

    def take(self, status: Node, holds: Value, scope: Scope) -> None:
        """Notes in the loop where it is computed whether a condition holds."""
        if status not in self.flags:
            self.flags[status] = self.nest.fresh("bad")
        fails = Prim("not", (holds,), BOOL)
        scope.statements.append(Accumulate(self.flags[status], "or", fails))

    @property
    def before(self) -> Iterator[Statement]:
        """The statements before all loops."""
        return (Carry(flag, _truth(False)) for flag in self.flags.values())

    def after(self) -> Iterator[Statement]:
        """The statements behind all loops; declares the pointers to the statuses."""
        for status, flag in self.flags.items():
            pointer = self.pointers.pointer(status, 0, True)
            index = self.pointers.index(pointer, ())
            yield If(Var(flag, BOOL), (Store(pointer, index, _truth(True), status.where),))


def noted_at_once(body: Sequence[Statement], checks: Checks, noted: Statement) -> Iterator[Statement]:
    """The statements of a kernel with all that failed checks store behind one branch, which is seldom taken::

    if bad0 | bad1:
        if bad0:
            st(o0, 0, b1(1))
        if bad1:
            st(o1, 0, b1(1))
        o2 = b1(1)                  the statement that is ``noted``
    """
    flags: list[Value] = [Var(flag, BOOL) for flag in checks.flags.values()]
    failures = [one for one in body if isinstance(one, If) and one.condition in flags]
    yield from (one for one in body if one not in failures)
    yield If(functools.reduce(_either, flags), (*failures, noted))


def _either(one: Value, other: Value) -> Value:
    return Prim("or", (one, other), BOOL)


def _truth(value: bool) -> Const:
    return Const(Literal.of(value, BOOL))
