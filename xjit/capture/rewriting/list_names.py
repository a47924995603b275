"""Names of lists: what the function makes by a display, a comprehension, ``list(...)`` or ``[0] * n``; of dicts, too.

counts = [0] * 10
for v in x: counts[int(v)] += 1         entries of such lists at positions of the run are the runtime's

Lone lists have one name at a time, so that a new one may take the memory of the one before:

nxt = []                        the list of the turn before, without its entries
for k in frontier: ...
frontier = nxt                  frontier[:] = nxt, as nobody reads nxt before it is a new list
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from xjit.capture.rewriting.scope_names import Function, ScopeNames, own_nodes
from xjit.dataclass import dataclass

_MAKERS = ("list", "sorted")
_METHODS = frozenset({"append", "pop", "popleft", "extend", "clear", "insert"})
_READING = frozenset({"len", "sum", "min", "max", "sorted", "list", "tuple", "any", "all", "set"})
_ITERATING = frozenset({"enumerate", "zip", "reversed"})
_CHANGING = frozenset({"heappush", "heappop", "heapreplace", "heapify"})
_SEARCHING = frozenset({"bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"})
_ARRAYS = frozenset({"np", "numpy"})


def list_names(function: Function, names: ScopeNames) -> frozenset[str]:
    """Return the variables of a function that are lists, tuples or dicts which it makes; other names of them, too."""
    body = function.body if isinstance(function.body, list) else [function.body]
    nodes = (inner for statement in body for inner in own_nodes(statement))
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    each = [pair for node in assigned for target in node.targets for pair in _assigned(target, node.value)]
    found = {name for name, value in each if _makes_entries(value)}
    pairs = [(value.id, name) for name, value in each if isinstance(value, ast.Name)]
    while more := {name for source, name in pairs if source in found} - found:
        found |= more
    return (frozenset(found) & names.local) - names.deleted


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a target with what is assigned to each."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for pair in zip(target.elts, value.elts, strict=True):
            yield from _assigned(*pair)


def _makes_entries(node: ast.expr) -> bool:
    return makes_list(node) or isinstance(node, ast.Dict)


def makes_list(node: ast.expr) -> bool:
    """Return whether an expression makes a list, or a tuple."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _MAKERS
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def is_entry(node: ast.expr, lists: frozenset[str]) -> bool:
    """Return whether an expression is an entry of such a list, or of one in it, whose position is computed."""
    if not isinstance(node, ast.Subscript):
        return False
    whole = node.value
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    if not isinstance(whole, ast.Name) or whole.id not in lists:
        return False
    at = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return not isinstance(at, ast.Constant | ast.Slice | ast.Tuple)


@dataclass(frozen=True, slots=True)
class LoneLists:
    """The variables whose lists have no other name, and the assignments by which such a list changes its name."""

    names: frozenset[str] = frozenset()
    moves: frozenset[ast.Assign] = frozenset()


def lone_lists(body: Sequence[ast.stmt], names: ScopeNames) -> LoneLists:
    """Return the lone lists of a function of these statements."""
    above = {child: node for top in body for node in ast.walk(top) for child in ast.iter_child_nodes(node)}
    uses: dict[str, list[ast.Name]] = {}
    for node in (inner for top in body for inner in ast.walk(top)):
        if isinstance(node, ast.Name):
            uses.setdefault(node.id, []).append(node)
    moves = frozenset(_moves(body, uses))
    own = names.local - frozenset(names.parameters) - names.captured - names.deleted
    known = {name for name in own if name in uses and _is_made(uses[name], above, moves)}
    found = {name for name in known if all(_is_lone(one, above, moves) for one in uses[name])}
    while lost := {name for name in found if not _are_within(uses[name], above, moves, found)}:
        found -= lost
    return LoneLists(frozenset(found), frozenset(one for one in moves if _pair(one) <= found))


def _pair(move: ast.Assign) -> set[str]:
    return {one.id for one in (move.targets[0], move.value) if isinstance(one, ast.Name)}


def _are_within(
    uses: Sequence[ast.Name], above: Mapping[ast.AST, ast.AST], moves: frozenset[ast.Assign], found: set[str]
) -> bool:
    """Return whether all assignments between names are of such lists."""
    return all(
        _pair(node) <= found for one in uses if isinstance(node := above.get(one), ast.Assign) and node in moves
    )


def _is_made(uses: Sequence[ast.Name], above: Mapping[ast.AST, ast.AST], moves: frozenset[ast.Assign]) -> bool:
    """Return whether a variable gets nothing but new lists, and those of other names."""
    values = [_stored(one, above) for one in uses if not isinstance(one.ctx, ast.Load)]
    return bool(values) and all(
        value is not None and (above.get(value) in moves or (makes_list(value) and not isinstance(value, ast.Tuple)))
        for value in values
    )


def _stored(name: ast.Name, above: Mapping[ast.AST, ast.AST]) -> ast.expr | None:
    """Return what an assignment gives to a variable, alone or among others: ``a, b = [], 0``."""
    node = above.get(name)
    outer = above.get(node) if isinstance(node, ast.Tuple) else node
    if not isinstance(outer, ast.Assign) or len(outer.targets) != 1:
        return None
    if outer is node:
        return outer.value
    targets, values = outer.targets[0], outer.value
    if not isinstance(targets, ast.Tuple) or not isinstance(values, ast.Tuple) or targets is not node:
        return None
    found = dict(zip(targets.elts, values.elts, strict=False))
    return found.get(name) if len(targets.elts) == len(values.elts) else None


def _moves(body: Sequence[ast.stmt], uses: Mapping[str, Sequence[ast.Name]]) -> Iterator[ast.Assign]:
    """Yield the assignments behind which nobody reads the other name until it is a new list, in the same block."""
    for block in _blocks(body):
        begun: dict[str, int] = {}
        for place, node in enumerate(block):
            if (
                not isinstance(node, ast.Assign)
                or len(node.targets) != 1
                or not isinstance(node.targets[0], ast.Name)
            ):
                continue
            if isinstance(node.value, ast.List):
                begun[node.targets[0].id] = place
            elif isinstance(node.value, ast.Name) and node.value.id in begun:
                part = {one for top in block[begun[node.value.id] : place + 1] for one in ast.walk(top)}
                if all(one in part for one in uses[node.value.id]):
                    yield node


def _blocks(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.AST]]:
    """Yield the statements that run one behind the other, of the whole function and within it."""
    yield body
    for node in (inner for top in body for inner in ast.walk(top)):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _is_lone(name: ast.Name, above: Mapping[ast.AST, ast.AST], moves: frozenset[ast.Assign]) -> bool:
    """Return whether a use of a list gives it no other name."""
    node = above.get(name)
    if not isinstance(name.ctx, ast.Load):
        return True
    match node:
        case ast.Subscript(value=value):
            return value is name
        case ast.Attribute(attr=attribute):
            call = above.get(node)
            return isinstance(call, ast.Call) and call.func is node and attribute in _METHODS
        case ast.Call():
            return _only_reads(name, node, above)
        case ast.For(iter=items):
            return items is name
        case ast.comprehension(iter=items):
            return items is name and _is_used_up(above.get(node), above)
        case ast.Compare() | ast.Return():
            return True
        case ast.Tuple():
            return isinstance(above.get(node), ast.Return)
        case ast.Assign():
            return node in moves
    return _is_test(name, above)


def _is_used_up(node: ast.AST | None, above: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a comprehension goes through a list at once."""
    call = above.get(node) if isinstance(node, ast.GeneratorExp) else None
    return not isinstance(node, ast.GeneratorExp) or (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _READING
    )


def _only_reads(name: ast.Name, node: ast.Call, above: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a call keeps no argument."""
    function = node.func
    if isinstance(function, ast.Name) and function.id in _ITERATING:
        loop = above.get(node)
        return isinstance(loop, ast.For) and loop.iter is node
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called in _CHANGING | _SEARCHING:
        return node.args[0] is name
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id in _ARRAYS
    return called in _READING


def _is_test(name: ast.Name, above: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether the truth of a list is all that is asked for."""
    node: ast.AST = name
    while isinstance(parent := above.get(node), ast.BoolOp | ast.UnaryOp):
        if isinstance(parent, ast.UnaryOp):
            return isinstance(parent.op, ast.Not)
        node = parent
    return isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node
