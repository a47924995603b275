"""Handlers of missing keys become branches that ask for the key, where only the run tells whether it is there.

    try:                             key = asked(d, lambda: k)
        d[k] += 1                    if lacks(d, lambda: key): d[k] = 1
    except KeyError:                 else:
        d[k] = 1                         try: d[k] += 1
                                         except KeyError: d[k] = 1

The entry is the first thing that the body evaluates, and its key is made of names, constants and arithmetic. Where
the run has no say it is not evaluated ahead, and the statement finds out; else it is that of the entry, too.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from xjit.capture.rewriting.lowering.statement_lowering import StatementLowering
from xjit.capture.rewriting.scope_names import Function
from xjit.capture.rewriting.tree_walks import walk

_PURE = (ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Call)
_CONVERSIONS = frozenset({"int", "float", "str", "bool", "abs", "round", "min", "max"})


def lower_missing_keys(function: Function) -> None:
    """Lower the statements of a function that handle missing keys; the others stay."""
    if isinstance(function.body, list) and any(isinstance(one, ast.Try) for one in walk(function)):
        _Lowering().lower(function)


class _Lowering(StatementLowering):
    """The lowering of the handlers of missing keys of one function."""

    def lowered(self, node: ast.AST) -> Any:
        """Return the branch that a handler becomes."""
        entry = _entry(node) if isinstance(node, ast.Try) else None
        return node if entry is None or not isinstance(node, ast.Try) else self._branch(node, entry)

    def _branch(self, node: ast.Try, entry: ast.Subscript) -> list[ast.stmt]:
        """Return the branch that asks for the key."""
        self.count += 1
        key = f".key_{self.count}"
        handler = copy.deepcopy(node.handlers[0].body)
        places = [entry, *_places_like(entry, handler[0])]
        asked = _call(".asked", copy.deepcopy(entry.value), copy.deepcopy(entry.slice))
        begins = ast.Assign([ast.Name(key, ast.Store())], asked)
        for one in places:
            one.slice = _call(".key", ast.Name(key, ast.Load()), one.slice)
        test = _call(".lacks", copy.deepcopy(entry.value), ast.Name(key, ast.Load()))
        made = (begins, ast.If(test, handler, [node]))
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]


def _call(name: str, *operands: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(operands), [])


def _places_like(entry: ast.Subscript, node: ast.stmt) -> list[ast.Subscript]:
    """Return the entries with the same key that a statement assigns, whose parts it does not change itself."""
    targets = (
        node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    )
    plain = [one for one in targets if isinstance(one, ast.Subscript)]
    if len(plain) < len(targets) or any(isinstance(one, ast.NamedExpr | ast.Call) for one in walk(node)):
        return []
    return [one for one in plain if ast.dump(one.slice) == ast.dump(entry.slice)]


def _entry(node: ast.Try) -> ast.Subscript | None:
    """Return the entry that the body reads first; None where a missing key is no question of its own."""
    if len(node.handlers) != 1 or node.finalbody or not _is_of_keys(node.handlers[0]):
        return None
    first = node.body[0]
    read: ast.AST | None = None
    if isinstance(first, ast.AugAssign):
        read = first.target if isinstance(first.target, ast.Subscript) else None
    elif isinstance(first, ast.Assign | ast.Return | ast.Expr) and first.value is not None:
        read = first.value
        while isinstance(read, ast.BinOp):
            read = read.left
    if not isinstance(read, ast.Subscript) or not isinstance(read.value, ast.Name):
        return None
    return read if all(map(_is_pure, _evaluated(read.slice))) else None


def _is_of_keys(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler is for missing keys, and does not ask for the error."""
    named = isinstance(handler.type, ast.Name) and handler.type.id == "KeyError" and handler.name is None
    return named and not any(isinstance(one, ast.Raise) for statement in handler.body for one in walk(statement))


def _evaluated(node: ast.expr) -> list[ast.AST]:
    return [one for one in walk(node) if isinstance(one, ast.expr)]


def _is_pure(node: ast.AST) -> bool:
    """Return whether nobody notices if an expression is evaluated twice."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _CONVERSIONS and not node.keywords
    return isinstance(node, _PURE)
