"""``break``, ``continue`` and ``return`` inside of blocks become assignments to flags.

What a jump skips is put into the other arm, if one arm always jumps, else under an ``if not flag``. The parts of the
tree are moved, not copied, so that what is known of a node stays true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xjit.capture.rewriting.bound_names import is_true
from xjit.capture.rewriting.runtime_protocol import RETURNED, VALUE
from xjit.capture.rewriting.source_lookup import NotRewritable
from xjit.dataclass import dataclass

Jumps: TypeAlias = frozenset[str]

_NONE: Jumps = frozenset()
_FLAGS = (".break_", ".continue_", ".passed_", RETURNED)
_HOW = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}


@dataclass(frozen=True, slots=True)
class Lowered:
    """The body of a function without jumps out of blocks; ``stops`` are the flags of loops that may end early."""

    body: list[ast.stmt]
    stops: dict[ast.stmt, str]


@dataclass(frozen=True, slots=True)
class Loop:
    """The flags of a loop around a statement, and those of the loops around that."""

    stop: str
    skip: str
    outer: Loop | None

    @property
    def all_stops(self) -> list[str]:
        """The flags that end this loop and all around it."""
        return [self.stop, *(self.outer.all_stops if self.outer else [])]


def lower_jumps(body: list[ast.stmt]) -> Lowered:
    """Lower the jumps of the body of a function."""
    lowering = _Lowering()
    if not any(lowering.jumps(statement) for statement in body if not isinstance(statement, ast.Return)):
        return Lowered(lowering.pruned(lowering.kept(body)), lowering.stops)
    last = body[-1]
    if not lowering.ends(body):
        body = [*body, ast.copy_location(ast.Return(None), last)]
    lowered = lowering.block(body, None)
    if RETURNED in lowering.used:
        lowered = [_assign(body[0], RETURNED, ast.Constant(False)), *lowered]
    value = ast.copy_location(ast.Name(VALUE, ast.Load()), last)
    lowered.append(ast.copy_location(ast.Return(value), last))
    return Lowered(lowering.pruned(lowered), lowering.stops)


class _Lowering:
    """The flags of one function: those of loops by loop, and those that anyone reads."""

    def __init__(self) -> None:
        self.stops: dict[ast.stmt, str] = {}
        self.used: set[str] = set()
        self._jumps: dict[ast.AST, Jumps] = {}
        self._skips = 0
        self._withs = 0

    # Jumps out of statements

    def jumps(self, node: ast.AST) -> Jumps:
        """Return the kinds of jumps that may leave a statement."""
        if node not in self._jumps:
            self._jumps[node] = self._find_jumps(node)
        return self._jumps[node]

    def _find_jumps(self, node: ast.AST) -> Jumps:
        if isinstance(node, tuple(_HOW)):
            return frozenset({_HOW[type(node)]})
        if isinstance(node, (ast.While, ast.For)):
            inside = self._of_all(node.body)
            return (inside & {"return"}) | self._of_all(node.orelse)
        if isinstance(node, (ast.Try, ast.TryStar)) and self._of_all(node.finalbody):
            raise NotRewritable("has a jump in a finally block")
        return self._of_all(inner for block in blocks_of(node) for inner in block)

    def _of_all(self, statements: Iterable[ast.stmt]) -> Jumps:
        return _NONE.union(*map(self.jumps, statements))

    def ends(self, statements: Sequence[ast.stmt]) -> bool:
        """Return whether Python never gets behind statements, as they jump, raise or run for ever."""
        return any(map(self._never_passes, statements))

    def _never_passes(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return self.ends(node.body) and self.ends(node.orelse)
        if isinstance(node, ast.While):
            return is_true(node.test) and "break" not in self._of_all(node.body)
        return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))

    # Lowering

    def kept(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Lower the loops of a function that returns at its end only."""
        count = next((k for k, one in enumerate(statements) if isinstance(one, ast.Return)), len(statements))
        return [*self.block(statements[:count], None), *statements[count : count + 1]]

    def block(self, statements: list[ast.stmt], loop: Loop | None) -> list[ast.stmt]:
        """Lower statements that run one after the other."""
        lowered: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            rest = statements[number + 1 :]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return lowered + self._jump(statement, loop)
            if isinstance(statement, (ast.While, ast.For)) and statement.orelse:
                return lowered + self.block([statement, *self._else(statement), *rest], loop)
            jumps, passes = self.jumps(statement), not self._never_passes(statement)
            moved = bool(jumps) and isinstance(statement, ast.If) and self._moves(statement, rest)
            lowered += self._inside(statement, loop)
            if moved or not passes:
                return lowered
            if jumps and rest:
                return [*lowered, self._guard(rest, jumps, loop)]
        return lowered

    def _moves(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        """Put the statements behind an ``if`` into the arm that gets there, if one of them never does."""
        if self.ends(node.body):
            node.orelse = node.orelse if self.ends(node.orelse) else [*node.orelse, *rest]
            return True
        if self.ends(node.orelse):
            node.body = [*node.body, *rest]
            return True
        return False

    def _jump(self, node: ast.stmt, loop: Loop | None) -> list[ast.stmt]:
        flags = self._flags(self.jumps(node), loop)
        jump = [_assign(node, flag, ast.Constant(True)) for flag in flags]
        return (
            [_assign(node, VALUE, node.value or ast.Constant(None)), *jump] if isinstance(node, ast.Return) else jump
        )

    def _guard(self, rest: list[ast.stmt], jumps: Jumps, loop: Loop | None) -> ast.stmt:
        """Return the statements behind a jump, to be skipped if its flag is set."""
        flags = [RETURNED]
        if loop is not None:
            flags = [loop.stop] if jumps & {"break", "return"} else []
            flags += [loop.skip] if "continue" in jumps else []
        where = rest[0]
        return self._unless(flags, where, self.block(rest, loop))

    def _unless(self, flags: list[str], where: ast.stmt, body: list[ast.stmt]) -> ast.If:
        self.used.update(flags)
        tests: list[ast.expr] = [_not(where, flag) for flag in flags]
        test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), where)
        return ast.copy_location(ast.If(test, body, []), where)

    def _else(self, node: ast.While | ast.For) -> list[ast.stmt]:
        """Return the ``else`` of a loop as statements behind it."""
        body, node.orelse = node.orelse, []
        return [self._unless([self._stop_of(node)], body[0], body)] if self._may_stop(node) else body

    def _may_stop(self, node: ast.While | ast.For) -> bool:
        return bool(self._of_all(node.body) & {"break", "return"})

    def _stop_of(self, node: ast.While | ast.For) -> str:
        if node not in self.stops:
            self.stops[node] = f".break_{len(self.stops) + 1}"
        return self.stops[node]

    def _inside(self, node: ast.stmt, loop: Loop | None) -> list[ast.stmt]:
        """Lower the blocks of a statement."""
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, loop)
        if isinstance(node, ast.With) and len(node.items) > 1 and self.jumps(node):
            node = _one_by_one(node)
        jumps = self._of_all(node.body) if isinstance(node, (ast.With, ast.Try, ast.TryStar)) else _NONE
        cancelled = self._flags(jumps, loop) if self._may_be_cancelled(node) else []
        for block in blocks_of(node):
            if isinstance(node, (ast.Try, ast.TryStar)) and block is node.orelse and block and jumps:
                block[:] = [self._guard(list(block), jumps, loop)]
            else:
                block[:] = self.block(list(block), loop)
        return self._cancelling(node, cancelled) if cancelled else [node]

    def _may_be_cancelled(self, node: ast.stmt) -> bool:
        """Return whether an error may be caught that comes behind a jump, from the end of a block inside."""
        return isinstance(node, (ast.With, ast.Try, ast.TryStar)) and any(map(self._has_end, node.body))

    def _has_end(self, node: ast.stmt) -> bool:
        """Return whether something runs behind a jump out of a statement or of one inside of it."""
        ends = isinstance(node, ast.With) or (isinstance(node, (ast.Try, ast.TryStar)) and bool(node.finalbody))
        blocks = [node.body] if isinstance(node, (ast.While, ast.For)) else blocks_of(node)
        return (ends and bool(self.jumps(node))) or any(self._has_end(one) for block in blocks for one in block)

    def _flags(self, jumps: Jumps, loop: Loop | None) -> list[str]:
        """Return the flags that jumps set."""
        flags = [*(loop.all_stops if loop else []), RETURNED] if "return" in jumps else []
        if loop is not None:
            flags += [loop.stop] if "break" in jumps and "return" not in jumps else []
            flags += [loop.skip] if "continue" in jumps else []
        return flags

    def _cancelling(self, node: ast.stmt, flags: list[str]) -> list[ast.stmt]:
        """Reset the flags where an error is caught: the jump that was on its way does not take place."""
        if isinstance(node, (ast.Try, ast.TryStar)):
            for handler in node.handlers:
                handler.body[:0] = [_assign(handler, flag, ast.Constant(False)) for flag in flags]
            return [node]
        assert isinstance(node, ast.With)
        self._withs += 1
        passed = f".passed_{self._withs}"
        node.body.append(_assign(node, passed, ast.Constant(True)))
        reset = [_assign(node, flag, ast.Constant(False)) for flag in flags]
        return [_assign(node, passed, ast.Constant(False)), node, self._unless([passed], node, reset)]

    def _loop(self, node: ast.While | ast.For, outer: Loop | None) -> list[ast.stmt]:
        self._skips += 1
        stop = self._stop_of(node) if self._may_stop(node) else ""
        loop = Loop(stop, f".continue_{self._skips}", outer)
        node.body = self.block(node.body, loop)
        if loop.skip in self.used:
            node.body = [_assign(node.body[0], loop.skip, ast.Constant(False)), *node.body]
        return [_assign(node, stop, ast.Constant(False)), node] if stop else [node]

    def pruned(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Remove the assignments to flags that nobody reads."""
        read = self.used.union(self.stops.values(), {VALUE})
        return [one for one in statements if not self._is_idle(one, read)]

    def _is_idle(self, node: ast.stmt, read: set[str]) -> bool:
        for block in [node.body] if isinstance(node, (ast.While, ast.For)) else blocks_of(node):
            block[:] = self.pruned(block) or (
                [] if isinstance(node, ast.If) else block and [ast.copy_location(ast.Pass(), node)]
            )
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        return isinstance(target, ast.Name) and target.id.startswith(_FLAGS) and target.id not in read


def blocks_of(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of a statement that is no loop, as far as they belong to the same function."""
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    if isinstance(node, ast.With):
        return [node.body]
    if isinstance(node, (ast.Try, ast.TryStar)):
        return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    return []


def _one_by_one(node: ast.With) -> ast.With:
    """Return a ``with`` of several managers as one within the other."""
    for item in reversed(node.items[1:]):
        node.body = [ast.copy_location(ast.With([item], node.body), node)]
    node.items = node.items[:1]
    return node


def _assign(where: ast.AST, name: str, value: ast.expr) -> ast.stmt:
    target = ast.copy_location(ast.Name(name, ast.Store()), where)
    return ast.copy_location(ast.Assign([target], ast.copy_location(value, where)), where)


def _not(where: ast.AST, flag: str) -> ast.expr:
    name = ast.copy_location(ast.Name(flag, ast.Load()), where)
    return ast.copy_location(ast.UnaryOp(ast.Not(), name), where)
