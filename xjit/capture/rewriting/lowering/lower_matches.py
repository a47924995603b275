"""``match`` statements as chains of branches, so that the run may decide which case it is.

    match state:                     if state == "idle" or state == "halt":
        case "idle" | "halt":            wait()
            wait()                   else:
        case "run" if x > 0:             if state == "run" and x > 0:
            go()                             go()
        case other:                      else:
            note(other)                      other = state; note(other)

Patterns are literals, names of constants, alternatives of these, captures and wildcards; a subject that is written
as a tuple may have patterns of as many parts. Python compares True and False by ``is``, which is no question of the
run: a statement with these, or with patterns of classes, sequences and mappings, stays Python's own.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from xjit.capture.rewriting.lowering.statement_lowering import StatementLowering
from xjit.capture.rewriting.scope_names import DEFINITIONS, Function
from xjit.capture.rewriting.tree_walks import walk
from xjit.dataclass import dataclass

_LATER = (*DEFINITIONS, ast.Lambda, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class _Case:
    """The tests of a pattern and the names that it binds, both over the parts of the subject."""

    tests: list[ast.expr]
    binds: list[ast.stmt]


class _NotLowered(Exception):
    """A pattern that has no such tests."""


def lower_matches(function: Function) -> None:
    """Lower the ``match`` statements of a function, as far as that can be done; the others stay."""
    if isinstance(function.body, list) and any(isinstance(one, ast.Match) for one in walk(function)):
        _Lowering(_names_of_cases(function)).lower(function)


class _Lowering(StatementLowering):
    """The lowering of the ``match`` statements of one function."""

    def __init__(self, of_cases: set[str]) -> None:
        super().__init__()
        self._of_cases = of_cases

    def lowered(self, node: ast.AST) -> Any:
        """Return the branches that a ``match`` becomes."""
        return self._match(node) if isinstance(node, ast.Match) else node

    def _match(self, node: ast.Match) -> ast.Match | list[ast.stmt]:
        self.count += 1
        begins, subject = self._subject(node)
        try:
            cases = [_case(one.pattern, subject) for one in node.cases]
        except _NotLowered:
            return node
        return [*begins, *self._chain(list(zip(node.cases, cases, strict=True)))]

    def _subject(self, node: ast.Match) -> tuple[list[ast.stmt], ast.expr]:
        """Return the evaluation of the subject and what reads it; a variable is read where it is compared."""
        subject = node.subject
        guards = [one for case in node.cases if case.guard is not None for one in walk(case.guard)]
        may_bind = any(isinstance(one, ast.NamedExpr | ast.Call) for one in guards)
        if isinstance(subject, ast.Name) and not may_bind and not _is_sure(node.cases[0].pattern):
            return [], subject
        if isinstance(subject, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in subject.elts):
            names = [f".match_{self.count}_{number}" for number, _ in enumerate(subject.elts)]
            begins = [_assign(name, one) for name, one in zip(names, subject.elts, strict=True)]
            reads: list[ast.expr] = [_read(name, one) for name, one in zip(names, subject.elts, strict=True)]
            return begins, ast.copy_location(ast.Tuple(reads, ast.Load()), subject)
        name = f".match_{self.count}"
        return [_assign(name, subject)], _read(name, subject)

    def _chain(self, cases: Sequence[tuple[ast.match_case, _Case]]) -> list[ast.stmt]:
        """Return the branches of cases, each of which begins in the other arm of the one before it."""
        if not cases:
            return []
        ((case, found), *rest) = cases
        guard = [] if case.guard is None else [case.guard]
        if not found.tests and not guard:
            return [*found.binds, *case.body]
        where = case.pattern
        if not found.tests and guard:
            return [*found.binds, _branch(guard[0], case.body, self._chain(rest), where)]
        parts = _values_of(found.binds)
        if guard and not self._of_cases.issuperset(parts):
            return self._by_flag(case, found, rest)
        test = _joined(ast.And(), [*found.tests, *(_Replaced(parts).visit(one) for one in guard)], where)
        return [_branch(test, [*found.binds, *case.body], self._chain(rest), where)]

    def _by_flag(
        self, case: ast.match_case, found: _Case, rest: Sequence[tuple[ast.match_case, _Case]]
    ) -> list[ast.stmt]:
        """Return the branches of a case whose names are bound even if its guard does not hold."""
        assert case.guard is not None
        self.count += 1
        flag, where = f".case_{self.count}", case.pattern
        holds = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), case.guard))
        asked = [*found.binds, _assign(flag, _placed(holds, where))]
        begins = _assign(flag, _placed(ast.Constant(False), where))
        ahead = _branch(_joined(ast.And(), found.tests, where), asked, [], where)
        return [begins, ahead, _branch(_read(flag, where), case.body, self._chain(rest), where)]


class _Replaced(ast.NodeTransformer):
    """An expression that reads parts of the subject in place of the names that they are bound to behind it."""

    def __init__(self, parts: dict[str, str]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _read(self._parts[node.id], node) if node.id in self._parts else node


def _values_of(binds: Sequence[ast.stmt]) -> dict[str, str]:
    """Return the names that assignments bind, with those that have the values."""
    found: dict[str, str] = {}
    for one in binds:
        assert (
            isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and isinstance(one.value, ast.Name)
        )
        found[one.targets[0].id] = one.value.id
    return found


def _names_of_cases(function: Function) -> set[str]:
    """Return the names that are read within cases alone which bind them: nobody sees them behind a guard."""
    every, inside = Counter(_reads(function)), Counter[str]()
    for node in walk(function):
        if isinstance(node, ast.match_case):
            bound = {one.name for one in walk(node.pattern) if isinstance(one, ast.MatchAs) and one.name}
            blocks: list[ast.AST] = [*node.body, *([] if node.guard is None else [node.guard])]
            inside.update(name for block in blocks for name in _reads(block) if name in bound)
    later = {
        name for node in walk(function) if isinstance(node, _LATER) and node is not function for name in _reads(node)
    }
    return {name for name, count in every.items() if inside[name] == count} - later


def _reads(node: ast.AST) -> Iterator[str]:
    """Return the names that are read, declared or deleted within a node, each as often as that is done."""
    for one in walk(node):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            yield one.target.id
        elif isinstance(one, ast.Global | ast.Nonlocal):
            yield from one.names


def _case(pattern: ast.pattern, subject: ast.expr) -> _Case:
    """Return the tests of a pattern and the names that it binds."""
    if isinstance(pattern, ast.MatchAs):
        inner = _Case([], []) if pattern.pattern is None else _case(pattern.pattern, subject)
        if pattern.name is None:
            return inner
        return _Case(inner.tests, [*inner.binds, _assign(pattern.name, _one(subject), pattern)])
    if isinstance(pattern, ast.MatchValue):
        return _Case([_compared(subject, ast.Eq(), pattern.value, pattern)], [])
    if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
        return _Case([_compared(subject, ast.Is(), ast.Constant(None), pattern)], [])
    if isinstance(pattern, ast.MatchOr):
        return _either([_case(one, subject) for one in pattern.patterns], pattern)
    if isinstance(pattern, ast.MatchSequence) and isinstance(subject, ast.Tuple):
        if len(pattern.patterns) != len(subject.elts):
            raise _NotLowered
        parts = [_case(one, part) for one, part in zip(pattern.patterns, subject.elts, strict=True)]
        return _Case([one for part in parts for one in part.tests], [one for part in parts for one in part.binds])
    raise _NotLowered


def _either(cases: Sequence[_Case], where: ast.pattern) -> _Case:
    """Return the test of alternatives, none of which binds a name."""
    if any(one.binds or not one.tests for one in cases):
        raise _NotLowered
    return _Case([_joined(ast.Or(), [_joined(ast.And(), one.tests, where) for one in cases], where)], [])


def _compared(subject: ast.expr, operator: ast.cmpop, value: ast.expr, where: ast.pattern) -> ast.expr:
    return _placed(ast.Compare(_one(subject), [operator], [value]), where)


def _one(subject: ast.expr) -> ast.expr:
    """Return a read of the whole subject, of which Python makes no new object."""
    if not isinstance(subject, ast.Name):
        raise _NotLowered
    return _read(subject.id, subject)


def _is_sure(pattern: ast.pattern) -> bool:
    """Return whether a pattern is there for any subject, which then is evaluated all the same."""
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or _is_sure(pattern.pattern))


def _joined(operator: ast.boolop, tests: list[ast.expr], where: ast.AST) -> ast.expr:
    return tests[0] if len(tests) == 1 else _placed(ast.BoolOp(operator, tests), where)


def _branch(test: ast.expr | None, body: list[ast.stmt], otherwise: list[ast.stmt], where: ast.AST) -> ast.stmt:
    assert test is not None
    return ast.fix_missing_locations(ast.copy_location(ast.If(test, body, otherwise), where))


def _assign(name: str, value: ast.expr, where: ast.AST | None = None) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(made, where or value))


def _read(name: str, where: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), where)


def _placed(node: ast.expr, where: ast.AST) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(node, where))
