"""Statements with control flow become calls of the runtime, and their blocks hidden functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from xjit.capture.rewriting.convert_comprehensions import ComprehensionConverter
from xjit.capture.rewriting.convert_expressions import ITEM, SITES, call, none, place_of, placed
from xjit.capture.rewriting.generators import EMIT
from xjit.capture.rewriting.list_names import LoneLists, is_entry
from xjit.capture.rewriting.lowering.lower_jumps import blocks_of
from xjit.capture.rewriting.optional_names import gives_none
from xjit.capture.rewriting.runtime_protocol import Site
from xjit.capture.rewriting.scope_names import ScopeNames


class StatementConverter(ComprehensionConverter):
    """The conversion of the body of one function; ``sites`` has what is known of its loops and branches."""

    def __init__(
        self,
        names: ScopeNames,
        unsafe: set[ast.AST],
        sites: dict[ast.stmt, Site],
        optional: frozenset[str],
        lists: frozenset[str],
        lone: LoneLists,
    ) -> None:
        super().__init__(names, unsafe, optional, lists)
        self._sites = sites
        self._lone = lone
        self._numbers = {node: number for number, node in enumerate(sites)}

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Convert statements that run one after the other."""
        written: list[ast.stmt] = []
        outer, self.frame.hoisted = self.frame.hoisted, []
        for statement in statements:
            converted = self._statement(statement)
            written += [*self.frame.hoisted, *converted]
            self.frame.hoisted = []
        self.frame.hoisted = outer
        return written

    def generator(self, body: Sequence[ast.stmt], where: ast.AST, own: Sequence[str]) -> list[ast.stmt]:
        """Convert the body of a generator function, as a function of what takes the items that it yields."""
        self.frame.hoisted = []
        function = self._function("generate", body, where, [EMIT])
        names = placed(ast.Tuple([ast.Constant(name) for name in own], ast.Load()), where)
        return [*self.frame.hoisted, placed(ast.Return(call("generator", where, function, names)), where)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, (ast.With, ast.Match, ast.Try, ast.TryStar)):
            return [self._kept_block(node)]
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return []
        if isinstance(node, ast.Delete):
            return [part for target in node.targets for part in self._delete(target, node)]
        if isinstance(node, ast.Assert) and not sys.flags.optimize:
            message = none(node) if node.msg is None else self.thunk(node.msg)
            return [self._call("assert_", node, self.condition(node.test), message)]
        if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            return self._assignment(node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            entries = target.elts if isinstance(target, ast.Tuple) else [target]
            if entries and all(is_entry(one, self.lists) for one in entries):
                return [self._stored_entries(node, entries, isinstance(target, ast.Tuple))]
            if isinstance(target, ast.Name) and target.id in self._lone.names:
                return [self._lone_list(node, target)]
            if gives_none(node.value):
                node.value = self.assigned(node.value, target)
                node.targets = [self.visit(target)]
                return [node]
        found: ast.stmt = self.visit(node)
        return [found]

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test = self.condition(node.test)
        then = self._function("then", node.body, node)
        otherwise = self._function("otherwise", node.orelse, node)
        return [self._call("if_", node, test, then, otherwise, self._site(node))]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        test = self.thunk(node.test, truth=True)
        body = self._function("body", node.body, node)
        return [self._call("while_", node, test, body, self._going(node), self._site(node))]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        items = self.converted(node.iter)
        target = placed(ast.Assign([node.target], ast.Name(ITEM, ast.Load())), node.target)
        assign = self._function("assign", [target], node.target, [ITEM])
        body = self._function("body", node.body, node)
        return [self._call("for_", node, items, assign, body, self._going(node), self._site(node))]

    def _function(
        self, kind: str, body: Sequence[ast.stmt], where: ast.AST, parameters: Sequence[str] = ()
    ) -> ast.expr:
        """Write a block as a hidden function; return its name, or None for an empty block."""
        with self.nested() as frame:
            written = self.block(body)
        if all(isinstance(one, ast.Pass) for one in written) and kind != "body":
            return none(where)
        return self.hoist(self.hidden(kind, written or [ast.Pass()], frame, where, parameters))

    def _going(self, node: ast.While | ast.For) -> ast.expr:
        stop = self._sites[node].stop
        if stop is None:
            return none(node)
        return self.thunk(placed(ast.UnaryOp(ast.Not(), placed(ast.Name(stop, ast.Load()), node)), node))

    def _site(self, node: ast.stmt) -> ast.expr:
        return ast.Subscript(ast.Name(SITES, ast.Load()), ast.Constant(self._numbers[node]), ast.Load())

    def _call(self, method: str, node: ast.stmt, *arguments: ast.expr) -> ast.stmt:
        return placed(ast.Expr(call(method, node, *arguments)), node)

    def _kept_block(self, node: ast.With | ast.Match | ast.Try | ast.TryStar) -> ast.stmt:
        """Leave a statement to Python, and convert its expressions and blocks."""
        self._convert_heads(node)
        for block in blocks_of(node):
            block[:] = self.block(block)
        return node

    def _convert_heads(self, node: ast.With | ast.Match | ast.Try | ast.TryStar) -> None:
        if isinstance(node, ast.With):
            node.items = [self.visit(item) for item in node.items]
        elif isinstance(node, ast.Match):
            subject = self.converted(node.subject)
            node.subject = call("matched", node, subject) if any(map(_asks_for_truth, node.cases)) else subject
            for case in node.cases:
                case.pattern = self.visit(case.pattern)
                case.guard = case.guard and self.condition(case.guard)
        else:
            for handler in node.handlers:
                self.frame.bound.update({handler.name} if handler.name else ())
                handler.type = handler.type and self.converted(handler.type)

    def _delete(self, target: ast.expr, where: ast.stmt) -> list[ast.stmt]:
        check = self._check(target, where) if target in self.unsafe else []
        return [*check, placed(ast.Delete([self.visit(target)]), where)]

    def _check(self, target: ast.expr, where: ast.stmt) -> list[ast.stmt]:
        """Return a statement that fails if a variable has no value: the runtime knows of that, and a hidden function
        has other words for it.
        """
        if not isinstance(target, ast.Name):
            return []
        return [placed(ast.Expr(self.checked(target.id, where)), where)]

    def _lone_list(self, node: ast.Assign, target: ast.Name) -> ast.stmt:
        """Convert an assignment of a list to a variable whose list has no other name, and may be had again."""
        if not isinstance(node.value, ast.List) and node not in self._lone.moves:
            found: ast.stmt = self.visit(node)
            return found
        nothing = ast.arguments([], [], None, [], [], None, [])
        before = placed(ast.Lambda(nothing, ast.Name(target.id, ast.Load())), node)
        self.visit(target)
        value = self.begun(node.value)
        if isinstance(node.value, ast.List):
            node.value = call("renewed", node, before, value, place_of(node.value))
        else:
            node.value = call("taken", node, before, value)
        return node

    def _stored_entries(self, node: ast.Assign, entries: Sequence[ast.expr], several: bool) -> ast.stmt:
        value = self.converted(node.value)
        if several:
            return self._call("stores", node, value, *(self.thunk(_place_in_list(one)) for one in entries))
        (entry,) = entries
        assert isinstance(entry, ast.Subscript)
        return self._call("store", node, value, self.converted(entry.value), self.converted(entry.slice))

    def _changed_entry(self, node: ast.AugAssign, entry: ast.expr) -> ast.stmt:
        assert isinstance(entry, ast.Subscript)
        operator = placed(ast.Constant(type(node.op).__name__), node)
        place = (self.converted(entry.value), self.converted(entry.slice))
        return self._call("change", node, operator, *place, self.thunk(node.value))

    def _assignment(self, node: ast.AnnAssign | ast.AugAssign) -> list[ast.stmt]:
        """Convert an assignment; the annotation of a name, which Python does not evaluate, is left out."""
        if isinstance(node, ast.AugAssign) and is_entry(node.target, self.lists):
            return [self._changed_entry(node, node.target)]
        if isinstance(node, ast.AugAssign):
            check = self._check(node.target, node) if node in self.unsafe else []
            found: ast.stmt = self.visit(node)
            return [*check, found]
        if not isinstance(node.target, ast.Name):
            node.target, node.value = self.visit(node.target), node.value and self.converted(node.value)
            return [node]
        if node.value is None:
            return []
        plain: ast.stmt = self.visit(placed(ast.Assign([node.target], node.value), node))
        return [plain]


def _place_in_list(entry: ast.expr) -> ast.expr:
    """Return the list and the position of an entry, as a pair."""
    assert isinstance(entry, ast.Subscript)
    return placed(ast.Tuple([entry.value, entry.slice], ast.Load()), entry)


def _asks_for_truth(case: ast.match_case) -> bool:
    """Return whether a pattern has True or False, which Python compares by ``is``."""
    return any(isinstance(one, ast.MatchSingleton) and one.value is not None for one in ast.walk(case.pattern))
