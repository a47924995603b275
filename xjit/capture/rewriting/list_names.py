"""Names of lists: what the function makes by a display, a comprehension, ``list(...)`` or ``[0] * n``.

counts = [0] * 10
for v in x: counts[int(v)] += 1         entries of such lists at positions of the run are the runtime's
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xjit.capture.rewriting.scope_names import Function, ScopeNames, own_nodes

_MAKERS = ("list", "sorted")


def list_names(function: Function, names: ScopeNames) -> frozenset[str]:
    """Return the variables of a function that are lists, or tuples, which it makes; other names of them, too."""
    body = function.body if isinstance(function.body, list) else [function.body]
    nodes = (inner for statement in body for inner in own_nodes(statement))
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    found = {name for node in assigned if _makes_list(node.value) for name in _targets(node)}
    pairs = [
        (node.value.id, name) for node in assigned if isinstance(node.value, ast.Name) for name in _targets(node)
    ]
    while more := {name for source, name in pairs if source in found} - found:
        found |= more
    return (frozenset(found) & names.local) - names.deleted


def _targets(node: ast.Assign) -> Iterator[str]:
    return (target.id for target in node.targets if isinstance(target, ast.Name))


def _makes_list(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _MAKERS
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def is_entry(node: ast.expr, lists: frozenset[str]) -> bool:
    """Return whether an expression is an entry of such a list whose position is computed."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or node.value.id not in lists:
        return False
    at = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return not isinstance(at, ast.Constant | ast.Slice | ast.Tuple)
