"""Lines that are left out of functions, so that a trace sees what else of them cannot be captured.

    y = np.frompyfunc(g, 1, 1)(x)        refused: y = left_out()
    print(x.sum())                       found by another trace
    if y > 0: ...                        refused, as y is unknown: no obstacle of its own

What is left out gives objects of the run, about which nothing is known.
"""

from __future__ import annotations

import ast
import linecache
import re
import types
from collections.abc import Iterator
from typing import Any

from xjit.capture.rewriting.function_code import compile_function
from xjit.capture.rewriting.scope_names import DEFINITIONS, bound_by
from xjit.capture.rewriting.source_lookup import NotRewritable, find_tree, note_tree
from xjit.capture.rewriting.tree_walks import locate, walk
from xjit.errors import XjitError

UNKNOWN, UNKNOWN_TRUTH = "__xjit_unknown__", "__xjit_unknown_truth__"
"""The globals of functions with lines left out: functions that return an object, and a truth value, of the run."""

_IN_PLACE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Delete, *DEFINITIONS)


class LeftOut:
    """The lines that are left out, by their files, and the names that have unknown values therefore."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self.names: set[str] = set()

    def add(self, error: XjitError) -> bool:
        """Leaves out the line of an error; return whether that is another one."""
        where = error.where
        if where is None or (where.file, where.line) in self.lines:
            return False
        self.lines.add((where.file, where.line))
        return True

    def follows(self, error: XjitError) -> bool:
        """Return whether an error is about what is unknown because a line is left out."""
        if error.where is None:
            return False
        if (error.where.file, error.where.line) in self.lines:
            return True
        if "only the run" not in error.message:
            return False
        line = linecache.getline(error.where.file, error.where.line)
        return not self.names.isdisjoint([*re.findall(r"\w+", line), error.message.partition(" ")[0]])

    def of(self, function: types.FunctionType) -> types.FunctionType:
        """The function without the lines; itself where none of them is its own, and where its source is not known."""
        code = function.__code__
        own = {line for file, line in self.lines if file == code.co_filename}
        if not own:
            return function
        try:
            tree = find_tree(code)
        except NotRewritable:
            return function
        cut = _Cut(own)
        changed: Any = cut.generic_visit(tree)
        if not cut.changed:
            return function
        self.names |= set(_known_by(tree, cut.names))
        locate(changed)
        made = compile_function(changed, code)
        note_tree(made, changed)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        closure = tuple(cells[name] for name in made.co_freevars)
        found = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
        found.__kwdefaults__ = function.__kwdefaults__
        return found


class _Cut(ast.NodeTransformer):
    """Puts unknown values in the place of what stands in lines."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = lines
        self.names: set[str] = set()
        self.changed = False

    def visit(self, node: ast.AST) -> Any:
        """The node without what stands in the lines."""
        if isinstance(node, ast.stmt):
            return self._statement(node)
        return self.generic_visit(node)

    def _statement(self, node: ast.stmt) -> Any:
        parts: list[ast.AST] = []
        if isinstance(node, _IN_PLACE) and self._is_in(node):
            return self._assigned(node)
        if isinstance(node, ast.Return) and node.value is not None and self._is_in(node):
            self.changed = True
            return ast.copy_location(ast.Return(_call(UNKNOWN)), node)
        if isinstance(node, ast.If | ast.While) and self._is_in(node.test):
            node.test, self.changed = _call(UNKNOWN_TRUTH), True
        if isinstance(node, ast.For) and self._is_in(node.iter):
            parts, node.iter = [node.target], ast.List([_call(UNKNOWN)], ast.Load())
        if isinstance(node, ast.With) and any(self._is_in(one.context_expr) for one in node.items):
            parts = [one.optional_vars for one in node.items if one.optional_vars is not None]
            test = ast.copy_location(ast.Constant(True), node)
            self._note(parts)
            self.changed = True
            return self.generic_visit(ast.copy_location(ast.If(test, [*_unknown(self.names), *node.body], []), node))
        self._note(parts)
        return self.generic_visit(node)

    def _assigned(self, node: ast.stmt) -> Any:
        names = {name for one in walk(node) for name in bound_by(one)}
        if isinstance(node, DEFINITIONS):
            names = {node.name}
        self.names |= names
        self.changed = True
        found = [] if isinstance(node, ast.Delete) else _unknown(names)
        return [ast.copy_location(one, node) for one in (*found, ast.Pass())]

    def _note(self, parts: list[ast.AST]) -> None:
        self.names |= {name for part in parts for one in walk(part) for name in bound_by(one)}
        self.changed |= bool(parts)

    def _is_in(self, node: ast.stmt | ast.expr) -> bool:
        end = node.lineno if isinstance(node, DEFINITIONS) else node.end_lineno or node.lineno
        return not self.lines.isdisjoint(range(node.lineno, end + 1))


def _call(name: str) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [], [])


def _unknown(names: set[str]) -> list[ast.stmt]:
    """The statements that give names unknown values."""
    return [ast.Assign([ast.Name(name, ast.Store())], _call(UNKNOWN)) for name in sorted(names)]


def _known_by(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """The names, and those whose values are computed of theirs."""
    found, more = set(names), True
    assigned = [one for one in walk(tree) if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For)]
    while more:
        before = len(found)
        for one in assigned:
            value = one.iter if isinstance(one, ast.For) else one.value
            read = {} if value is None else {part.id for part in walk(value) if isinstance(part, ast.Name)}
            if not found.isdisjoint(read):
                found |= {name for part in walk(one) for name in bound_by(part)}
        more = len(found) > before
    return iter(found)
