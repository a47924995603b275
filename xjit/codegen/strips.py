"""Loops over functions that have rare, expensive arguments (huge angles): a strip at a time, so that the usual strip
stays vector code.

    for p0 in range(0, n0, 512):
        q0 = min(p0 + 512, n0)
        rare0 = b1(0)
        for i0 in range(p0, q0):
            rare0 = rare0 | (fabs(argument) > bound)
        if rare0:
            for i0 in range(p0, q0): ... sin_f64_rare(argument) ...
        else:
            for i0 in range(p0, q0): ... sin_f64_near(argument) ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xjit.codegen.elements import Elements
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Nest
from xjit.codegen.variants import bound_of
from xjit.fusion.plan import Pull
from xjit.fusion.reads import sources
from xjit.ir.expr import Expr, Literal, Prim
from xjit.ir.loops import Accumulate, Assign, Bound, Call, Const, If, LoopKind, Statement, Value
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.types import BOOL

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
        pulls: Iterable[Pull],
        body: Callable[[], None],
        *,
        kind: LoopKind = LoopKind.SERIAL,
        short: bool = False,
    ) -> None:
        """One loop around what ``body`` writes; ``pulls`` are the values in it.

        ``short`` says that the bounds are no further apart than a strip.
        """
        rare = [pull for pull in pulls if self._is_rare(pull, loop)]
        if not rare:
            self.nest.open(loop.variable, loop.axes)
            body()
            self.nest.close(*bounds, kind)
        elif short:
            self._strip(loop, bounds, rare, body)
        else:
            start, stop = self.nest.fresh("p"), self.nest.fresh("q")
            scope = self.nest.open(start)
            scope.statements.append(Bound(stop, start, STRIP, bounds[1]))
            self._strip(loop, (start, stop), rare, body)
            self.nest.close(*bounds, kind, step=STRIP)

    def _is_rare(self, pull: Pull, loop: Loop) -> bool:
        depends = any(map.axis in loop.axes for map in pull.index)
        return depends and any(True for _ in bounded_calls(pull.node))

    def _strip(self, loop: Loop, bounds: tuple[str, str], rare: list[Pull], body: Callable[[], None]) -> None:
        around = self.nest.inner
        flag = self.nest.fresh("rare")
        around.statements.append(Assign(flag, Const(Literal.of(False, BOOL))))
        self.elements.variant = "near"
        scope = self.nest.open(loop.variable, loop.axes)
        for pull in rare:
            for value, bound in self._arguments(pull):
                limit = Const(Literal.of(bound, value.dtype))
                far = Call("gt", (Call("abs", (value,), value.dtype), limit), BOOL)
                scope.statements.append(Accumulate(flag, "or", far, BOOL, False))
        self.nest.close(*bounds)
        branches = [self._branch(loop, bounds, body, variant) for variant in ("rare", "near")]
        self.elements.variant = ""
        around.statements.append(If(flag, *branches))

    def _branch(
        self, loop: Loop, bounds: tuple[str, str], body: Callable[[], None], variant: str
    ) -> tuple[Statement, ...]:
        self.elements.variant = variant
        self.nest.open(loop.variable, loop.axes)
        body()
        self.nest.close(*bounds)
        return (self.nest.inner.statements.pop(),)

    def _arguments(self, pull: Pull) -> Iterable[tuple[Value, float]]:
        """The arguments of the bounded calls in a node's element that change with the innermost loop."""
        node = pull.node
        held = [self.elements.value(source) for source in sources(pull)]
        evaluation = self.elements.evaluation(pull, held)
        if evaluation.scope is not self.nest.inner:
            return
        for call, bound in bounded_calls(node):
            yield evaluation.plain(call.args[0]), bound


def bounded_calls(node: Node) -> Iterable[tuple[Prim, float]]:
    """The calls in the element of a node whose function has a quick variant for bounded arguments, and the bound."""
    if node.op.kind is not Kind.ELEMENTWISE or node.op.element is None:
        return
    stack: list[Expr] = [node.op.element(tuple(source.aval for source in node.inputs), node.kwargs, node.aval)]
    seen: set[int] = set()
    while stack:
        expr = stack.pop()
        if isinstance(expr, Prim) and id(expr) not in seen:
            seen.add(id(expr))
            bound = bound_of(expr.name, expr.args[0].dtype)
            if bound is not None:
                yield expr, bound
            stack.extend(expr.args)
