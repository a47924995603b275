"""Scans: an accumulator whose value at every step is a result.

t0 = f64(-0.0)
for j0 in range(n0):
    x0 = ld(a0, a0_at0 + j0)
    t0 = t0 + x0
    v0 = t0
    st(o0, o0_at0 + j0, v0)
"""

from __future__ import annotations

import numpy as np

from xjit.codegen.lowering.elements import Elements, decoded, encoded, storage_dtype
from xjit.codegen.lowering.reductions import Recognised
from xjit.codegen.lowering.scopes import Element, Scope
from xjit.fusion.statements import Scan
from xjit.ir.loops.nodes import Const, Fold, Prim, Value, Var
from xjit.ir.node import Graph
from xjit.ir.scalar_expr import Literal
from xjit.types import NARROW_FLOATS, DType, dtype_class


class RunningValue(Recognised):
    """One scan while its loop is open. Rounds as the element type does after every step, in order."""

    def __init__(self, elements: Elements, statement: Scan, axes: dict[int, int]) -> None:
        super().__init__(elements, statement, axes, statement.target.param("reducer"))
        self.in_one_block()
        self.graph: Graph | None = statement.target.param("computation")

    def identity(self, dtype: DType) -> Const:
        """The value that changes nothing: for sums of floats the negative zero, which keeps the sign of other
        zeros.
        """
        if self.reducer.combine == "add" and dtype_class(dtype) in "FC":
            return Const(Literal.of(np.negative(np.zeros((), dtype)), dtype))
        return super().identity(dtype)

    def advance(self, inner: Scope) -> Element:
        """Takes the element at hand; the result up to it."""
        held = self.combined(Var(self.name, self.dtype), inner)
        assert held.plain is not None
        inner.statements.append(Fold((self.name,), (held.plain,)))
        return held

    def combined(self, before: Value, scope: Scope) -> Element:
        """The value so far combined with the element at hand, named in a scope."""
        where, dtype = self.statement.target.where, self.statement.target.aval.dtype
        if self.graph is not None:
            (held,) = self.elements.inline(self.graph, [Element(before, None, scope), self.operand(0)], scope)
            return Element(self.elements.plain(held, dtype, where), held.bits, scope)
        call = Prim(self.in_order, (before, self.plain_operand(0)), self.dtype)
        if dtype not in NARROW_FLOATS:
            return Element(self.elements.let(scope, "v", call, self.dtype, where), None, scope)
        bits = self.elements.let(scope, "h", encoded(call, dtype), storage_dtype(dtype), where)
        plain = self.elements.let(scope, "w", decoded(bits, dtype), self.dtype, where)
        return Element(plain, bits, scope)
