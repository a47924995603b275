"""The walk through the statements of one function that lowers some of them where they stand."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Any

from xjit.capture.rewriting.scope_names import DEFINITIONS, Function


class StatementLowering(ast.NodeTransformer):
    """The lowering of one function, inner statements first; functions that it defines have their own."""

    def __init__(self) -> None:
        self.count = 0

    def lower(self, function: Function) -> None:
        """Lower the statements of a function."""
        assert isinstance(function.body, list)
        function.body = [part for one in function.body for part in self._parts(one)]

    def _parts(self, node: ast.stmt) -> list[ast.stmt]:
        found: list[ast.stmt] | ast.stmt = self.visit(node)
        return found if isinstance(found, list) else [found]

    def visit(self, node: ast.AST) -> Any:
        """Lower what is in a node, but for other functions and classes."""
        if isinstance(node, (*DEFINITIONS, ast.expr)):
            return node
        self.generic_visit(node)
        return self.lowered(node)

    @abstractmethod
    def lowered(self, node: ast.AST) -> Any:
        """Return what a node becomes, which is itself where it is not lowered."""
