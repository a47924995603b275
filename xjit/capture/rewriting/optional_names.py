"""Names that may be None: the function assigns None to them, or asks if they are, and assigns something else, too.

best = None
for i in range(n):
    if best is None or x[i] > x[best]:      reads of best become calls of the runtime, but for ``best is None``
        best = i

last = seen.get(v)                          the value may be None, too, where last is asked for that

step = None if done else x[i]               if done: step = None
                                            else: step = x[i]
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from xjit.capture.rewriting.bound_names import read_in_comprehensions
from xjit.capture.rewriting.scope_names import Function, ScopeNames, bound_by, own_nodes


def optional_names(function: Function, names: ScopeNames) -> frozenset[str]:
    """Return the names of a function, none of which its inner functions and comprehensions mention."""
    body = function.body if isinstance(function.body, list) else [function.body]
    nodes = [inner for statement in body for inner in own_nodes(statement)]
    asked = {name for node in nodes for name in _compared_with_none(node)}
    given = [name for node in nodes for name in _assigned_perhaps(node) if name in asked]
    found = asked | {name for node in nodes for name in _assigned_none(node)}
    if not found:
        return frozenset()
    values = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp)]
    either = [name for node in values for name in _assigned_none(node)]
    often = Counter([*names.parameters, *(name for node in nodes for name in bound_by(node)), *either, *given])
    changed = {
        node.target.id for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    several = frozenset(name for name in found if often[name] > 1)
    return (several & names.local) - names.captured - names.deleted - changed - read_in_comprehensions(function)


def _compared_with_none(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare) and asks_for_none(node):
        named = node.left.target if isinstance(node.left, ast.NamedExpr) else node.left
        if isinstance(named, ast.Name):
            yield named.id


def _assigned_perhaps(node: ast.AST) -> Iterator[str]:
    """Yield the name that gets the result of a call which may give None."""
    targets = (
        node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.NamedExpr) else []
    )
    if isinstance(node, ast.Assign | ast.NamedExpr) and gives_none(node.value):
        yield from (one.id for one in targets if isinstance(one, ast.Name))


def _assigned_none(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _of_target(target, node.value)


def _of_target(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name) and _may_be_none(value):
        yield target.id
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _of_target(one, other)


def _may_be_none(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Tuple):
        return any(map(is_none, value.elts))
    if isinstance(value, ast.IfExp):
        return _may_be_none(value.body) or _may_be_none(value.orelse)
    return value is not None and is_none(value)


class _Spread(ast.NodeTransformer):
    """Statements instead of expressions that are None in one of two ways, where a variable or the result is that."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        is_variable = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        return self._spread(node) if is_variable else node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return self._spread(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node

    def _spread(self, node: ast.Assign | ast.Return) -> ast.stmt:
        value = node.value
        if not isinstance(value, ast.IfExp) or not _may_be_none(value):
            return node
        arms = (self._spread(_with_value(node, one)) for one in (value.body, value.orelse))
        return ast.copy_location(ast.If(value.test, *([arm] for arm in arms)), node)


def _with_value(node: ast.Assign | ast.Return, value: ast.expr) -> ast.Assign | ast.Return:
    made = ast.Return(value) if isinstance(node, ast.Return) else ast.Assign(node.targets, value)
    return ast.copy_location(made, node)


def spread(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which conditional expressions that may be None, of variables and results, are branches."""
    return [_Spread().visit(one) for one in body]


def asks_for_none(node: ast.Compare) -> bool:
    """Return whether a comparison asks if its first operand is None."""
    return isinstance(node.ops[0], ast.Is | ast.IsNot) and is_none(node.comparators[0])


def gives_none(node: ast.expr | None) -> bool:
    """Return whether an expression looks like one that gives a value or None, as ``d.get(key)``."""
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        return False
    default = node.args[1:]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) in (1, 2):
        return all(map(is_none, default))
    generator = bool(node.args) and isinstance(node.args[0], ast.GeneratorExp)
    return generator and isinstance(node.func, ast.Name) and node.func.id == "next" and any(map(is_none, default))


def is_none(node: ast.AST) -> bool:
    """Return whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None
