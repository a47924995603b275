"""Liveness of variables at the loops and branches of a function whose jumps have become flags.

A name is live at a place if a later read may find the value that it has there. What nested functions mention and what
belongs to an enclosing function is always live, and inside of ``try`` and ``with`` all that is read behind: an
exception may end the block anywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xjit.capture.rewriting.effects import Effects
from xjit.capture.rewriting.runtime_protocol import Kind, Site
from xjit.capture.rewriting.scope_names import ScopeNames
from xjit.dataclass import replace

_NOTHING: frozenset[str] = frozenset()


def always_raises(block: Sequence[ast.stmt]) -> bool:
    """Return whether statements that have no jumps always end by an error, if they end."""
    return any(map(_raises, block))


def _raises(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return always_raises(node.body) and always_raises(node.orelse)
    return isinstance(node, ast.Raise)


def sites_of(body: Sequence[ast.stmt], names: ScopeNames, stops: dict[ast.stmt, str]) -> dict[ast.stmt, Site]:
    """Return a record for each ``if``, ``while`` and ``for`` of the body of a function."""
    walk = _Liveness(names, stops)
    walk.block(body, _NOTHING, names.outer | (names.captured & names.local))
    return walk.sites


class _Liveness:
    """The walk from the end of a function to its start."""

    def __init__(self, names: ScopeNames, stops: dict[ast.stmt, str]) -> None:
        self.sites: dict[ast.stmt, Site] = {}
        self._stops = stops
        self._effects = Effects(names, stops)

    def block(self, statements: Sequence[ast.stmt], after: frozenset[str], pinned: frozenset[str]) -> frozenset[str]:
        """Return the names that are live in front of statements, from those behind them; pinned ones always are."""
        for statement in reversed(statements):
            self._inside(statement, after | pinned, pinned)
            effect = self._effects.of(statement)
            after = (after - effect.kills) | effect.reads | pinned
        return after

    def _inside(self, node: ast.stmt, after: frozenset[str], pinned: frozenset[str]) -> None:
        if isinstance(node, ast.If):
            self._branch(node, after, pinned)
        elif isinstance(node, (ast.While, ast.For)):
            self._loop(node, after, pinned)
        elif isinstance(node, ast.With):
            self.block(node.body, after, pinned | after)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self.block(case.body, after, pinned)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            self._try(node, after, pinned)

    def _branch(self, node: ast.If, after: frozenset[str], pinned: frozenset[str]) -> None:
        then, otherwise = self._effects.block(node.body), self._effects.block(node.orelse)
        self.block(node.body, after, pinned)
        self.block(node.orelse, after, pinned)
        writes = dict.fromkeys([*then.writes, *otherwise.writes])
        kept = (after - (then.kills & otherwise.kills)) | pinned
        self._record(node, "if", writes, after, kept | then.reads | otherwise.reads)
        raising = tuple(arm for arm, block in ((True, node.body), (False, node.orelse)) if always_raises(block))
        self.sites[node] = replace(self.sites[node], raises=raising)

    def _loop(self, node: ast.While | ast.For, after: frozenset[str], pinned: frozenset[str]) -> None:
        turn = self._effects.turn(node)
        again = after | turn.reads | pinned
        writes = dict(turn.writes)
        if isinstance(node, ast.While):
            test = self._effects.expression(node.test)
            again = (again - test.kills) | test.reads | pinned
            writes = {**test.writes, **writes}
        stop = self._stops.get(node)
        ends = after | again | ({stop} if stop else _NOTHING)
        self.block(node.body, ends, pinned)
        self._record(node, "while" if isinstance(node, ast.While) else "for", writes, ends, again)

    def _try(self, node: ast.Try | ast.TryStar, after: frozenset[str], pinned: frozenset[str]) -> None:
        final = self._effects.block(node.finalbody)
        self.block(node.finalbody, after, pinned)
        ends = after | final.reads
        caught = set[str]().union(*(self._effects.block(handler.body).reads for handler in node.handlers))
        inside = pinned | ends | caught
        self.block(node.body, ends | self._effects.block(node.orelse).reads, inside)
        for statements in (node.orelse, *(handler.body for handler in node.handlers)):
            self.block(statements, ends, pinned | ends)

    def _record(
        self, node: ast.stmt, kind: Kind, writes: dict[str, None], carried: frozenset[str], at_start: frozenset[str]
    ) -> None:
        names = tuple(writes)
        self.sites[node] = Site(
            kind,
            node.lineno,
            names,
            tuple(name for name in names if name in carried),
            tuple(name for name in names if name in at_start),
            self._stops.get(node),
        )
