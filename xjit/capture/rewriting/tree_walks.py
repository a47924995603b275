"""Walks over syntax trees, quicker than those of the standard library: operators and contexts are no nodes here."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

# Fields that hold no node that a walk has to see.
_LEFT_OUT = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "type_comment", "type_ignores", "kind", "simple"})


@functools.cache
def _parts(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _LEFT_OUT)


def parts(node: ast.AST) -> tuple[str, ...]:
    """Return the fields of a node that may hold nodes."""
    kind: Any = type(node)
    return _parts(kind)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node."""
    found: list[ast.AST] = []
    for name in parts(node):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, in no order."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending += children(one)


def locate(node: ast.AST, known: ast.AST | None = None) -> None:
    """Give all nodes without a place in the source that of the node above them; a known part has all places."""
    pending = [(node, node)]
    while pending:
        one, above = pending.pop()
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, above)
        place = one if hasattr(one, "lineno") else above
        pending += [(child, place) for child in children(one) if child is not known]
