"""Loops over functions that have rare, expensive arguments (huge angles): a strip at a time, so that the usual strip
stays vector code. A strip runs as if nothing in it were rare, notes when something was, and is then run again.

    for p0 in range(0, n0, 512):
        q0 = min(p0 + 512, n0)
        rare0 = b1(0)
        kept0 = sum0
        for i0 in range(p0, q0):
            rare0 = rare0 | sin_f64_is_far(x)
            sum0 = radd(sum0, sin_f64_near(x))
        if rare0:
            sum0 = kept0
            for i0 in range(p0, q0):
                sum0 = radd(sum0, sin_f64_rare(x))

A strip that reads what it has overwritten cannot run twice: there the function itself is called. What the second loop
calls more than once is not inlined there: hardly ever run, it is to be compiled soon.

A loop over many functions calls them all, a register of elements at a time, and is written once: the functions
themselves look for rare arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from xjit.codegen.elements import Elements
from xjit.codegen.loop_bounds import Bounds
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Nest
from xjit.codegen.variants import calls_many, has_variants, is_vector_function
from xjit.dataclass import dataclass
from xjit.fusion.statements import IndexedValue
from xjit.ir.expr import Expr, Literal
from xjit.ir.expr import Prim as PrimExpr
from xjit.ir.index import axes_of
from xjit.ir.loops.nodes import (
    Accumulate,
    Carry,
    Const,
    Fold,
    If,
    Let,
    LoopKind,
    Prim,
    Statement,
    Var,
)
from xjit.ir.loops.nodes import (
    Loop as LoopStatement,
)
from xjit.ir.loops.walk import loads, parts, statements, stores, values
from xjit.ir.node import Node
from xjit.types import BOOL, DType


@dataclass(eq=False)
class Strips:
    """Writes innermost loops."""

    nest: Nest
    elements: Elements

    def loop(
        self,
        loop: Loop,
        bounds: Bounds,
        indexed_values: Iterable[IndexedValue],
        body: Callable[[], None],
        *,
        kind: LoopKind = LoopKind.SERIAL,
        short: bool = False,
    ) -> None:
        """One loop around what ``body`` writes; ``indexed_values`` are the values in it.

        ``short`` says that the bounds are no further apart than a strip.
        """
        computed = dict.fromkeys(indexed_values)
        nodes = [one.node for one in computed if axes_of(one.index) & set(loop.axes)]
        called = calls_many(nodes, self.nest.machine)
        if called or not any(self.is_rare(one, loop) for one in computed):
            self.elements.variant = "called" if called else ""
            self.nest.open(loop.variable, loop.axes)
            body()
            self.nest.close(*bounds, kind)
            self.elements.variant = ""
        elif short:
            self._strip(loop, bounds, body)
        else:
            size = self.nest.machine.strip_elements
            self._strip(loop, self.nest.open_blocks(size, bounds[1], ("p", "q")), body)
            self.nest.close(*bounds, kind, step=size)

    def is_rare(self, indexed: IndexedValue, loop: Loop) -> bool:
        """Whether the value calls a function with rare arguments at every step of the loop."""
        return bool(axes_of(indexed.index) & set(loop.axes)) and calls_varied(indexed.node)

    def _strip(self, loop: Loop, bounds: Bounds, body: Callable[[], None]) -> None:
        flag = self.nest.fresh("rare")
        usual = self._run(loop, bounds, body, "near", flag)
        if not any(isinstance(one, Accumulate) and one.name == flag for one in usual.body):
            self.nest.inner.statements.append(usual)  # what may be rare was computed further out
        elif _reads_what_it_writes(usual):
            self.nest.inner.statements.append(self._run(loop, bounds, body, "", flag))
        else:
            self.elements.called = _called_often(usual)
            self._repeatable(flag, usual, self._run(loop, bounds, body, "rare", flag))
            self.elements.called = frozenset()

    def _run(self, loop: Loop, bounds: Bounds, body: Callable[[], None], variant: str, flag: str) -> LoopStatement:
        self.elements.variant, self.elements.rare_flag = variant, flag
        self.nest.open(loop.variable, loop.axes)
        body()
        self.nest.close(*bounds)
        self.elements.variant = ""
        statement = self.nest.inner.statements.pop()
        assert isinstance(statement, LoopStatement)
        return statement

    def _repeatable(self, flag: str, usual: LoopStatement, again: LoopStatement) -> None:
        around = self.nest.inner.statements
        around.append(Carry(flag, Const(Literal.of(False, BOOL))))
        restored: list[Statement] = []
        for name, dtype in _carried(usual).items():
            if name != flag:
                kept = self.nest.fresh("kept")
                around.append(Let(kept, Var(name, dtype)))
                restored.append(Fold((name,), (Var(kept, dtype),)))
        around += [usual, If(Var(flag, BOOL), (*restored, again))]


def _called_often(loop: LoopStatement) -> frozenset[tuple[str, DType]]:
    """The vector functions that occur in a loop more than once: to inline them there again costs more than a call."""
    computed = (value for one in statements(loop.body) for value in values(one))
    calls = (part for value in computed for part in parts(value) if isinstance(part, Prim))
    uses = Counter((call.name, call.operands[0].dtype) for call in calls if call.operands)
    return frozenset(key for key, times in uses.items() if times > 1 and is_vector_function(*key))


def _carried(loop: LoopStatement) -> dict[str, DType]:
    """The variables that the loop changes and does not give, with their types."""
    own = {one.name for one in statements(loop.body) if isinstance(one, Carry)}
    changed: dict[str, DType] = {}
    for one in statements(loop.body):
        match one:
            case Accumulate():
                changed[one.name] = one.value.dtype
            case Fold():
                changed |= {name: value.dtype for name, value in zip(one.names, one.values, strict=True)}
            case _:
                pass
    return {name: dtype for name, dtype in changed.items() if name not in own}


def _reads_what_it_writes(loop: LoopStatement) -> bool:
    stored = {statement.buffer for statement in stores(loop.body)}
    return any(load.buffer in stored for load in loads(loop.body))


def calls_varied(node: Node) -> bool:
    """Whether the element of a node calls a function that has a quick variant for usual arguments."""
    stack: list[Expr] = [] if node.element is None else [node.element]
    seen: set[int] = set()
    while stack:
        expr = stack.pop()
        if isinstance(expr, PrimExpr) and id(expr) not in seen:
            seen.add(id(expr))
            if has_variants(expr.name, expr.args[0].dtype):
                return True
            stack.extend(expr.args)
    return False
