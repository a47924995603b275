"""Reads of variables that may have no value, for which Python's own error has to be raised.

In a nested function a variable without a value is a NameError about a free variable, in the function itself an
UnboundLocalError. Reads that are safe for certain need no care; a name that is deleted anywhere never is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xjit.capture.rewriting.scope_names import (
    COMPREHENSIONS,
    DEFINITIONS,
    INLINED,
    Comprehension,
    Function,
    ScopeNames,
    bound_by,
    evaluated_by,
    target_names,
)
from xjit.capture.rewriting.tree_walks import children, walk

Bound: TypeAlias = frozenset[str] | None
"""The names that have a value for certain; None where Python does not get to."""


def unsafe_reads(function: Function, names: ScopeNames) -> set[ast.AST]:
    """Return the variables and the augmented assignments that may find a variable of the function without a value."""
    walk = _BoundNames(names)
    if isinstance(function.body, list):
        walk.block(function.body, walk.start)
    else:
        walk.expression(function.body, walk.start)
    return walk.unsafe


def unbound_names(unsafe: Iterable[ast.AST]) -> frozenset[str]:
    """Return the variables that some read may find without a value."""
    targets = (one.target if isinstance(one, ast.AugAssign) else one for one in unsafe)
    return frozenset(one.id for one in targets if isinstance(one, ast.Name))


def read_in_comprehensions(function: Function) -> frozenset[str]:
    """Return the names that comprehensions mention, whose reads are looked at only where they are no functions."""
    inside = (node for node in walk(function) if isinstance(node, COMPREHENSIONS))
    return frozenset(one.id for node in inside for one in walk(node) if isinstance(one, ast.Name))


class _BoundNames:
    """The walk from the start of a function to its end."""

    def __init__(self, names: ScopeNames) -> None:
        self.unsafe: set[ast.AST] = set()
        self._local = names.local
        self._deleted = names.deleted
        self.start: Bound = frozenset(names.parameters) - names.deleted
        self._breaks: list[list[Bound]] = []

    def block(self, statements: Sequence[ast.stmt], bound: Bound) -> Bound:
        """Return what is bound behind statements."""
        for statement in statements:
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node: ast.stmt, bound: Bound) -> Bound:
        if isinstance(node, ast.If):
            return self._if(node, bound)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, bound)
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node, bound)
        if isinstance(node, ast.With):
            return self._with(node, bound)
        if isinstance(node, ast.Match):
            return self._match(node, bound)
        if isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)):
            return self._added(self._sequence(evaluated_by(node), bound), bound_by(node))
        return self._simple(node, bound)

    def _if(self, node: ast.If, bound: Bound) -> Bound:
        bound = self.expression(node.test, bound)
        return _joined(self.block(node.body, bound), self.block(node.orelse, bound))

    def _loop(self, node: ast.While | ast.For, bound: Bound) -> Bound:
        self._breaks.append([])
        if isinstance(node, ast.While):
            bound = self.expression(node.test, bound)
            self.block(node.body, bound)
            bound = None if is_true(node.test) else bound
        else:
            bound = self.expression(node.iter, bound)
            self.block(node.body, self.expression(node.target, bound))
        breaks = self._breaks.pop()
        bound = self.block(node.orelse, bound)
        for one in breaks:
            bound = _joined(bound, one)
        return bound

    def _try(self, node: ast.Try | ast.TryStar, bound: Bound) -> Bound:
        ends = self.block(node.orelse, self.block(node.body, bound))
        for handler in node.handlers:
            caught = self.expression(handler.type, bound)
            ends = _joined(ends, self.block(handler.body, caught))
        final = self.block(node.finalbody, bound)
        if ends is None or final is None:
            return None
        return ends | final

    def _with(self, node: ast.With, bound: Bound) -> Bound:
        for item in node.items:
            bound = self.expression(item.context_expr, bound)
            bound = self.expression(item.optional_vars, bound)
        self.block(node.body, bound)
        return bound

    def _match(self, node: ast.Match, bound: Bound) -> Bound:
        ends = bound = self.expression(node.subject, bound)
        for case in node.cases:
            taken = self._added(bound, (name for inner in walk(case.pattern) for name in bound_by(inner)))
            ends = _joined(ends, self.block(case.body, self.expression(case.guard, taken)))
        return ends

    def _simple(self, node: ast.stmt, bound: Bound) -> Bound:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            bound = self.expression(node.value, bound)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(node, ast.Assign) or node.value is not None:
                    bound = self.expression(target, bound)
            return bound
        if isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name) and self._is_unsafe(node.target.id, bound):
                self.unsafe.add(node)
            return self.expression(node.target, self.expression(node.value, bound))
        for child in children(node):
            bound = self.expression(child, bound)
        if isinstance(node, ast.Break):
            self._breaks[-1].append(bound)
        return None if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)) else bound

    def expression(self, node: ast.AST | None, bound: Bound) -> Bound:
        """Return what is bound behind an expression or a target."""
        if isinstance(node, ast.Name):
            return self._name(node, bound)
        if isinstance(node, ast.NamedExpr):
            return self.expression(node.target, self.expression(node.value, bound))
        if isinstance(node, ast.BoolOp):
            bound = self.expression(node.values[0], bound)
            self._sequence(node.values[1:], bound)
        elif isinstance(node, ast.IfExp):
            bound = self.expression(node.test, bound)
            return _joined(self.expression(node.body, bound), self.expression(node.orelse, bound))
        elif isinstance(node, ast.Compare):
            bound = self._sequence([node.left, node.comparators[0]], bound)
            self._sequence(node.comparators[1:], bound)
        elif isinstance(node, ast.Lambda):
            bound = self._sequence(evaluated_by(node), bound)
        elif isinstance(node, COMPREHENSIONS):
            return self._comprehension(node, bound)
        elif node is not None:
            bound = self._sequence(children(node), bound)
        return bound

    def _sequence(self, nodes: Iterable[ast.AST], bound: Bound) -> Bound:
        for node in nodes:
            bound = self.expression(node, bound)
        return bound

    def _comprehension(self, node: Comprehension, bound: Bound) -> Bound:
        bound = self.expression(node.generators[0].iter, bound)
        if isinstance(node, INLINED):
            inside = bound
            for number, one in enumerate(node.generators):
                inside = self.expression(one.iter, inside) if number else inside
                inside = None if inside is None else inside | frozenset(target_names(one.target))
                inside = self._sequence(one.ifs, inside)
            elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            self._sequence(elements, inside)
        return bound

    def _name(self, node: ast.Name, bound: Bound) -> Bound:
        if not isinstance(node.ctx, ast.Store) and self._is_unsafe(node.id, bound):
            self.unsafe.add(node)
        return bound if isinstance(node.ctx, ast.Load) else self._added(bound, [node.id])

    def _is_unsafe(self, name: str, bound: Bound) -> bool:
        return name in self._local and bound is not None and name not in bound

    def _added(self, bound: Bound, names: Iterable[str]) -> Bound:
        return None if bound is None else bound | (frozenset(names) - self._deleted)


def _joined(one: Bound, other: Bound) -> Bound:
    """Return what is bound where two ways meet."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def is_true(test: ast.expr) -> bool:
    """Return whether a condition is a constant that holds."""
    return isinstance(test, ast.Constant) and bool(test.value)
