"""The variables that pieces of a function read and write, in the order in which Python evaluates them.

The pieces have no jumps: ``break``, ``continue`` and ``return`` have become flags before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xjit.capture.rewriting.scope_names import (
    COMPREHENSIONS,
    DEFINITIONS,
    Comprehension,
    ScopeNames,
    bound_by,
    names_inside,
    own_nodes,
    target_names,
    walrus_names,
)
from xjit.capture.rewriting.tree_walks import children, walk


class Effect:
    """The effect of a piece on variables.

    reads   those of which a value from before the piece may be read
    kills   those that are written whenever the piece runs to its end
    writes  those that may be written, in order, without repetitions
    """

    __slots__ = ("kills", "reads", "writes")

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.kills: set[str] = set()
        self.writes: dict[str, None] = {}

    def read(self, name: str) -> None:
        """Add a read behind all that is there."""
        if name not in self.kills:
            self.reads.add(name)

    def write(self, name: str) -> None:
        """Add a write behind all that is there."""
        self.kills.add(name)
        self.writes[name] = None

    def then(self, other: Effect) -> None:
        """Add a piece that runs next."""
        self.perhaps(other)
        self.kills |= other.kills

    def perhaps(self, *others: Effect) -> None:
        """Add pieces that may run, in part or not at all."""
        for other in others:
            self.reads |= other.reads - self.kills
            self.writes.update(other.writes)

    def either(self, *others: Effect) -> None:
        """Add pieces of which just one runs."""
        always = set.intersection(*(other.kills for other in others))
        self.perhaps(*others)
        self.kills |= always


class Effects:
    """The effects of the statements of one function, each found once; ``stops`` has the flags of its loops."""

    def __init__(self, names: ScopeNames, stops: dict[ast.stmt, str]) -> None:
        self._names = names
        self._stops = stops
        self._found: dict[ast.AST, Effect] = {}

    def of(self, statement: ast.stmt) -> Effect:
        """Return the effect of one statement."""
        if statement not in self._found:
            effect = self._found[statement] = Effect()
            self._statement(statement, effect)
        return self._found[statement]

    def block(self, statements: Iterable[ast.stmt]) -> Effect:
        """Return the effect of statements that run one after the other."""
        effect = Effect()
        for statement in statements:
            effect.then(self.of(statement))
        return effect

    def turn(self, loop: ast.For | ast.While) -> Effect:
        """Return the effect of one turn: assignment to the target, body, flag, and the test of the next turn."""
        effect = Effect()
        if isinstance(loop, ast.For):
            self._expression(loop.target, effect)
        effect.then(self.block(loop.body))
        if loop in self._stops:
            effect.read(self._stops[loop])
        if isinstance(loop, ast.While):
            effect.perhaps(self.expression(loop.test))
        return effect

    def expression(self, node: ast.AST) -> Effect:
        """Return the effect of an expression."""
        effect = Effect()
        self._expression(node, effect)
        return effect

    def _statement(self, node: ast.stmt, effect: Effect) -> None:
        if isinstance(node, ast.If):
            self._expression(node.test, effect)
            effect.either(self.block(node.body), self.block(node.orelse))
        elif isinstance(node, (ast.While, ast.For)):
            self._expression(node.test if isinstance(node, ast.While) else node.iter, effect)
            effect.perhaps(self.turn(node))
        elif isinstance(node, (ast.Try, ast.TryStar)):
            self._try(node, effect)
        elif isinstance(node, ast.With):
            for item in node.items:
                self._expression(item.context_expr, effect)
                self._expression(item.optional_vars, effect)
            effect.perhaps(self.block(node.body))
        elif isinstance(node, ast.Match):
            self._match(node, effect)
        elif isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)):
            self._definition(node, effect)
        else:
            self._simple(node, effect)

    def _try(self, node: ast.Try | ast.TryStar, effect: Effect) -> None:
        body = self.block(node.body)
        body.then(self.block(node.orelse))
        effect.perhaps(body)
        always = set(body.kills)
        for handler in node.handlers:
            self._expression(handler.type, effect)
            caught = Effect()
            if handler.name:
                self._write(handler.name, caught)
            caught.then(self.block(handler.body))
            effect.perhaps(caught)
            always &= caught.kills
        effect.kills |= always
        effect.then(self.block(node.finalbody))

    def _match(self, node: ast.Match, effect: Effect) -> None:
        self._expression(node.subject, effect)
        for case in node.cases:
            found = Effect()
            for inner in walk(case.pattern):
                if isinstance(inner, ast.Name):
                    found.read(inner.id)
                for name in bound_by(inner):
                    self._write(name, found)
            self._expression(case.guard, found)
            found.then(self.block(case.body))
            effect.perhaps(found)

    def _definition(self, node: ast.stmt, effect: Effect) -> None:
        for name in names_inside(node):
            self._read(name, effect)
        for inner in own_nodes(node):
            for name in bound_by(inner):
                self._write(name, effect)

    def _simple(self, node: ast.stmt, effect: Effect) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            self._expression(node.value, effect)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(node, ast.Assign) or node.value is not None:
                    self._expression(target, effect)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                self._read(node.target.id, effect)
            self._expression(node.value, effect)
            self._expression(node.target, effect)
        else:
            for child in children(node):
                self._expression(child, effect)

    def _expression(self, node: ast.AST | None, effect: Effect) -> None:
        if isinstance(node, ast.Name):
            self._name(node, effect)
        elif isinstance(node, ast.NamedExpr):
            self._expression(node.value, effect)
            self._expression(node.target, effect)
        elif isinstance(node, ast.BoolOp):
            self._expression(node.values[0], effect)
            effect.perhaps(self._sequence(node.values[1:]))
        elif isinstance(node, ast.IfExp):
            self._expression(node.test, effect)
            effect.either(self.expression(node.body), self.expression(node.orelse))
        elif isinstance(node, ast.Compare):
            self._expression(node.left, effect)
            self._expression(node.comparators[0], effect)
            effect.perhaps(self._sequence(node.comparators[1:]))
        elif isinstance(node, ast.Lambda):
            for name in names_inside(node):
                self._read(name, effect)
        elif isinstance(node, COMPREHENSIONS):
            self._comprehension(node, effect)
        elif node is not None:
            for child in children(node):
                self._expression(child, effect)

    def _sequence(self, nodes: list[ast.expr]) -> Effect:
        effect = Effect()
        for node in nodes:
            self._expression(node, effect)
        return effect

    def _name(self, node: ast.Name, effect: Effect) -> None:
        if not isinstance(node.ctx, ast.Store):
            self._read(node.id, effect)
        if not isinstance(node.ctx, ast.Load):
            self._write(node.id, effect)

    def _read(self, name: str, effect: Effect) -> None:
        if self._names.is_state(name):
            effect.read(name)

    def _write(self, name: str, effect: Effect) -> None:
        if self._names.is_state(name):
            effect.write(name)

    def _comprehension(self, node: Comprehension, effect: Effect) -> None:
        self._expression(node.generators[0].iter, effect)
        bound = {name for one in node.generators for name in target_names(one.target)}
        inside = set(names_inside(node)) - bound
        for name in inside:
            self._read(name, effect)
        written = Effect()
        for name in walrus_names(node):
            self._write(name, written)
        effect.perhaps(written)
