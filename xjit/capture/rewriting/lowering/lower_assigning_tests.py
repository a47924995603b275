"""Conditions of loops that assign variables become the first statement of the body.

while (gap := np.abs(x - y).max()) > tolerance:      while True:
    ...                                                  if not (gap := ...) > tolerance: break
                                                         ...
"""

from __future__ import annotations

import ast
from typing import Any

from xjit.capture.rewriting.lowering.statement_lowering import StatementLowering
from xjit.capture.rewriting.scope_names import Function
from xjit.capture.rewriting.tree_walks import walk


def lower_assigning_tests(function: Function) -> None:
    """Lower the loops of a function whose conditions assign; the others stay."""
    if isinstance(function.body, list) and any(isinstance(one, ast.While) for one in walk(function)):
        _Lowering().lower(function)


class _Lowering(StatementLowering):
    """The lowering of the conditions that assign, of one function."""

    def lowered(self, node: ast.AST) -> Any:
        """Return the loop that tests in its body."""
        if not isinstance(node, ast.While) or not _assigns(node.test) or _jumps(node.orelse):
            return node
        ended = ast.UnaryOp(ast.Not(), node.test)
        leaves = ast.If(ended, [*node.orelse, ast.Break()], [])
        loop = ast.While(ast.Constant(True), [leaves, *node.body], [])
        for one in (ended, leaves, leaves.body[-1], loop.test):
            ast.copy_location(one, node.test)
        return ast.copy_location(loop, node)


def _assigns(test: ast.expr) -> bool:
    """Return whether a condition assigns variables."""
    return any(isinstance(one, ast.NamedExpr) for one in walk(test))


def _jumps(statements: list[ast.stmt]) -> bool:
    """Return whether statements may leave the loop around the one that they end."""
    return any(isinstance(one, ast.Break | ast.Continue) for statement in statements for one in walk(statement))
