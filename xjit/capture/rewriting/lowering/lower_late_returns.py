"""``return`` in a loop becomes ``break``, and the return comes behind the loop.

    while True:                           .returns_1 = False
        x *= 0.5                          while True:
        if x.max() < limit:                   x *= 0.5
            return x                          if x.max() < limit:
                                                  .returns_1 = True
                                                  break
                                          if .returns_1:
                                              return x

A loop carries what a return in it evaluates as a variable of its own. That cannot be done with an array which the
loop writes to, as it would have two names then; behind the loop it has one. Variables are there as the turn has left
them. What stands in a ``try`` or a ``with`` in a loop stays, as other statements would run first.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from xjit.capture.rewriting.lowering.lower_jumps import blocks_of

Late: TypeAlias = dict[str, ast.Return]
"""The returns that come behind a loop, by the names of their flags."""


def lower_late_returns(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a function with its returns behind loops."""
    return _Lowering().block(body, None)


class _Lowering:
    """The lowering of one function, with the number of flags so far."""

    def __init__(self) -> None:
        self.count = 0

    def block(self, statements: Sequence[ast.stmt], late: Late | None) -> list[ast.stmt]:
        """Lower statements; what is to come behind the loop around them is put into ``late``."""
        return [part for one in statements for part in self._parts(one, late)]

    def _parts(self, node: ast.stmt, late: Late | None) -> list[ast.stmt]:
        if isinstance(node, ast.Return) and late is not None:
            return self._left(node, late)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, late)
        within = late if isinstance(node, (ast.If, ast.Match)) else None
        for block in blocks_of(node):
            block[:] = self.block(block, within)
        return [node]

    def _left(self, node: ast.Return, late: Late) -> list[ast.stmt]:
        self.count += 1
        flag = f".returns_{self.count}"
        late[flag] = node
        return [_assign(node, flag, True), ast.copy_location(ast.Break(), node)]

    def _loop(self, node: ast.While | ast.For, late: Late | None) -> list[ast.stmt]:
        found: dict[str, ast.Return] = {}
        node.body = self.block(node.body, found)
        node.orelse = self.block(node.orelse, late)
        tests = (_if(one, flag, self._parts(one, late)) for flag, one in found.items())
        return [*(_assign(node, flag, False) for flag in found), node, *tests]


def _if(where: ast.AST, flag: str, body: list[ast.stmt]) -> ast.If:
    return ast.copy_location(ast.If(_named(where, flag, ast.Load()), body, []), where)


def _named(where: ast.AST, name: str, context: ast.expr_context) -> ast.Name:
    return ast.copy_location(ast.Name(name, context), where)


def _assign(where: ast.AST, name: str, value: bool) -> ast.stmt:
    found = ast.copy_location(ast.Constant(value), where)
    return ast.copy_location(ast.Assign([_named(where, name, ast.Store())], found), where)
