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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from xjit.codegen.elements import Elements
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Nest
from xjit.codegen.variants import has_variants, is_vector_function
from xjit.fusion.statements import IndexedValue
from xjit.ir.expr import Expr, Literal, Prim
from xjit.ir.index import axes_of
from xjit.ir.loops import (
    Accumulate,
    Assign,
    Bound,
    Call,
    Compensated,
    Const,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.node import Node
from xjit.types import BOOL, DType

STRIP = 512


@dataclass(eq=False)
class Strips:
    """Writes innermost loops."""

    nest: Nest
    elements: Elements

    def loop(
        self,
        loop: Loop,
        bounds: tuple[str, str],
        indexed_values: Iterable[IndexedValue],
        body: Callable[[], None],
        *,
        kind: LoopKind = LoopKind.SERIAL,
        short: bool = False,
    ) -> None:
        """One loop around what ``body`` writes; ``indexed_values`` are the values in it.

        ``short`` says that the bounds are no further apart than a strip.
        """
        if not any(self.is_rare(indexed, loop) for indexed in indexed_values):
            self.nest.open(loop.variable, loop.axes)
            body()
            self.nest.close(*bounds, kind)
        elif short:
            self._strip(loop, bounds, body)
        else:
            start, stop = self.nest.fresh("p"), self.nest.fresh("q")
            scope = self.nest.open(start)
            scope.statements.append(Bound(stop, start, STRIP, bounds[1]))
            self._strip(loop, (start, stop), body)
            self.nest.close(*bounds, kind, step=STRIP)

    def is_rare(self, indexed: IndexedValue, loop: Loop) -> bool:
        """Whether the value calls a function with rare arguments at every step of the loop."""
        return bool(axes_of(indexed.index) & set(loop.axes)) and calls_varied(indexed.node)

    def _strip(self, loop: Loop, bounds: tuple[str, str], body: Callable[[], None]) -> None:
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

    def _run(self, loop: Loop, bounds: tuple[str, str], body: Callable[[], None], variant: str, flag: str) -> For:
        self.elements.variant, self.elements.rare_flag = variant, flag
        self.nest.open(loop.variable, loop.axes)
        body()
        self.nest.close(*bounds)
        self.elements.variant = ""
        statement = self.nest.inner.statements.pop()
        assert isinstance(statement, For)
        return statement

    def _repeatable(self, flag: str, usual: For, again: For) -> None:
        statements = self.nest.inner.statements
        statements.append(Assign(flag, Const(Literal.of(False, BOOL))))
        restored: list[Statement] = []
        for name, dtype in _carried(usual).items():
            if name != flag:
                kept = self.nest.fresh("kept")
                statements.append(Assign(kept, Var(name, dtype)))
                restored.append(Assign(name, Var(kept, dtype)))
        statements += [usual, If(flag, (*restored, again))]


def _called_often(loop: For) -> frozenset[tuple[str, DType]]:
    """The vector functions that occur in a loop more than once: to inline them there again costs more than a call."""
    calls = (value for statement in _flat(loop.body) for value in _values(statement) if isinstance(value, Call))
    uses = Counter((call.prim, call.args[0].dtype) for call in calls if call.args)
    return frozenset(key for key, times in uses.items() if times > 1 and is_vector_function(*key))


def _carried(loop: For) -> dict[str, DType]:
    """The variables that a step of the loop reads and leaves changed, with their types.

    Those that a step gives a value before it reads them, as nested loops do with their totals, are its own.
    """
    changed: dict[str, DType] = {}
    read: set[str] = set()  # before the step has given them a value
    own: set[str] = set()
    for statement in _flat(loop.body):
        targets: dict[str, DType] = {}
        match statement:
            case Accumulate(name=name, dtype=dtype):
                targets = {name: dtype}
            case Compensated(total=total, error=error, dtype=dtype):
                targets = {total: dtype, error: dtype}
            case Assign(name=name, value=value):
                changed[name] = value.dtype
            case _:
                pass
        changed |= targets
        read |= ({value.name for value in _values(statement) if isinstance(value, Var)} | set(targets)) - own
        own |= set(changed) - read
    return {name: dtype for name, dtype in changed.items() if name in read}


def _reads_what_it_writes(loop: For) -> bool:
    body = list(_flat(loop.body))
    stored = {statement.buffer for statement in body if isinstance(statement, Store)}
    return any(
        isinstance(value, Load) and value.buffer in stored for statement in body for value in _values(statement)
    )


def _flat(body: Iterable[Statement]) -> Iterator[Statement]:
    """The statements in order, those of nested loops in their places."""
    for statement in body:
        if isinstance(statement, For):
            yield from _flat(statement.body)
        elif isinstance(statement, If):
            yield from _flat(statement.then)
        else:
            yield statement


def _values(statement: Statement) -> Iterator[Value]:
    """All values that a statement computes with."""
    if not isinstance(statement, Let | Assign | Accumulate | Compensated | Store):
        return
    stack: list[Value] = [statement.value]
    while stack:
        value = stack.pop()
        yield value
        if isinstance(value, Call):
            stack.extend(value.args)


def calls_varied(node: Node) -> bool:
    """Whether the element of a node calls a function that has a quick variant for usual arguments."""
    stack: list[Expr] = [] if node.element is None else [node.element]
    seen: set[int] = set()
    while stack:
        expr = stack.pop()
        if isinstance(expr, Prim) and id(expr) not in seen:
            seen.add(id(expr))
            if has_variants(expr.name, expr.args[0].dtype):
                return True
            stack.extend(expr.args)
    return False
