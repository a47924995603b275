"""Flags of variables that only the run gives a value, and that the function reads where they may have none.

                                        .bound_first = False
for k in range(len(x)):                 for k in range(len(x)):
    if x[k] > 1:                            if x[k] > 1:
        first = k                               first = k; .bound_first = True
return first                            return .known(.bound_first, first)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xjit.capture.rewriting.bound_names import read_in_comprehensions, unbound_names
from xjit.capture.rewriting.lowering.lower_jumps import blocks_of
from xjit.capture.rewriting.scope_names import DEFINITIONS, Function, ScopeNames, own_nodes, target_names

KNOWN = ".known"
"""The name that stands for the method of the runtime that has the flag and the value."""

_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def lower_unbound(
    function: Function, names: ScopeNames, unsafe: set[ast.AST], wanted: frozenset[str]
) -> frozenset[str]:
    """Give flags to those of the wanted variables that plain statements of the function alone assign; return them."""
    if not isinstance(function.body, list):
        return frozenset()
    found = wanted & unbound_names(unsafe) & names.local
    found -= names.captured | names.deleted | set(names.parameters) | read_in_comprehensions(function)
    flagged = found - _otherwise_bound(function)
    if flagged:
        lowering = _Lowering(flagged, unsafe)
        begins = [_assign(name, False, function.body[0]) for name in sorted(flagged)]
        function.body = [*begins, *lowering.block(function.body)]
    return flagged


def _otherwise_bound(function: Function) -> set[str]:
    """Return the names that something else than an assignment or a loop binds."""
    assert isinstance(function.body, list)
    nodes = [inner for statement in function.body for inner in own_nodes(statement)]
    plain = [target for node in nodes for target in _targets(node)]
    inside = {id(one) for target in plain for one in ast.walk(target)}
    stores = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return {one.id for one in stores if id(one) not in inside} | {
        node.name for node in nodes if isinstance(node, (ast.MatchAs, ast.MatchStar, *DEFINITIONS)) and node.name
    }


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)) else []


class _Lowering(ast.NodeTransformer):
    """The lowering of one function."""

    def __init__(self, flagged: frozenset[str], unsafe: set[ast.AST]) -> None:
        self._flagged = flagged
        self._unsafe = unsafe

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements with the flags of what they bind."""
        return [one for statement in statements for one in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        for block in [node.body, node.orelse] if isinstance(node, (ast.While, ast.For)) else blocks_of(node):
            block[:] = self.block(block)
        bound = [name for target in _targets(node) for name in target_names(target) if name in self._flagged]
        flags = [_assign(name, True, node) for name in dict.fromkeys(bound)]
        if isinstance(node, ast.For):
            node.body = [*flags, *node.body]
        self._reads_in(node)
        return [*self._asked(node), node, *flags] if isinstance(node, _BINDING) else [node]

    def _asked(self, node: ast.stmt) -> list[ast.stmt]:
        """Return the read of a variable that a statement changes, where it may have no value."""
        if node not in self._unsafe or not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
            return []
        read = ast.copy_location(ast.Expr(_known(node.target)), node)
        return [read] if node.target.id in self._flagged else []

    def _reads_in(self, node: ast.stmt) -> None:
        """Replace the reads of a statement's own expressions."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list) and value and not isinstance(value[0], (ast.stmt, ast.ExceptHandler)):
                value[:] = [self.visit(one) for one in value]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the read of a variable that may have no value, behind its flag."""
        if node not in self._unsafe or node.id not in self._flagged:
            return node
        return _known(node)


def _known(node: ast.Name) -> ast.expr:
    operands: list[ast.expr] = [ast.Name(_flag(node.id), ast.Load()), ast.Name(node.id, ast.Load())]
    made = ast.Call(ast.Name(KNOWN, ast.Load()), operands, [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _flag(name: str) -> str:
    return f".bound_{name}"


def _assign(name: str, value: bool, where: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(_flag(name), ast.Store())], ast.Constant(value))
    return ast.fix_missing_locations(ast.copy_location(made, where))
