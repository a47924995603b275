"""The names of one function, sorted by where they live, and the walk that stays inside of the function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import TypeAlias

from xjit.capture.rewriting.tree_walks import children, walk
from xjit.dataclass import dataclass

Function: TypeAlias = ast.FunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# From 3.12 on all but generators run in the frame of the function.
INLINED: tuple[type[ast.AST], ...] = COMPREHENSIONS[:3] if sys.version_info >= (3, 12) else ()
# The nodes that bind, delete, declare or capture names.
_NAMING = (
    *(ast.Name, ast.Nonlocal, ast.Global, ast.Delete, ast.Call, ast.Lambda, *DEFINITIONS, *COMPREHENSIONS),
    *(ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
# Called at once with the generator that is their only argument.
CONSUMERS = frozenset({"sum", "min", "max", "any", "all", "tuple", "list", "set", "frozenset", "dict", "sorted"})


@dataclass(frozen=True, slots=True)
class ScopeNames:
    """The names of a function.

    parameters  all of them
    first       the first parameter that takes a positional argument, or nothing
    local       all that live in the function itself, parameters included
    outer       those of an enclosing function that are declared ``nonlocal``
    shared      those declared ``global``
    captured    names that functions, classes and generators inside of the function mention: read at any time
    deleted     names that may lose their value by ``del`` or at the end of ``except``
    """

    parameters: tuple[str, ...]
    first: str
    local: frozenset[str]
    outer: frozenset[str]
    shared: frozenset[str]
    captured: frozenset[str]
    deleted: frozenset[str]

    def is_state(self, name: str) -> bool:
        """Return whether a name is a variable of the function or of an enclosing one, or hidden."""
        return name in self.local or name in self.outer or name.startswith(".")


def scope_names(function: Function) -> ScopeNames:
    """Sort the names of a function."""
    parameters = parameter_names(function.args)
    body = function.body if isinstance(function.body, list) else [function.body]
    bound, outer, shared, captured, deleted = set(parameters), set[str](), set[str](), set[str](), set[str]()
    used_up: set[ast.AST | None] = set()
    for node in (inner for statement in body for inner in own_nodes(statement)):
        if not isinstance(node, _NAMING):
            continue
        bound.update(bound_by(node))
        if isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        elif isinstance(node, ast.Global):
            shared.update(node.names)
        used_up.add(consumed(node))
        captured.update(_captured(node, used_up))
        deleted.update(_deleted(node))
    local = bound - outer - shared
    positional = [*function.args.posonlyargs, *function.args.args]
    first = positional[0].arg if positional else ""
    return ScopeNames(parameters, first, *map(frozenset, (local, outer, shared, captured, deleted)))


def parameter_names(args: ast.arguments) -> tuple[str, ...]:
    """Return the names of all parameters."""
    several = [args.vararg] if args.vararg else []
    named = [args.kwarg] if args.kwarg else []
    return tuple(one.arg for one in [*args.posonlyargs, *args.args, *several, *args.kwonlyargs, *named])


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement or an expression that the function itself evaluates, nested functions once.

    Of comprehensions only what the function evaluates is part: the first iterable, and assignment expressions.
    """
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        if isinstance(one, (ast.Lambda, *DEFINITIONS)):
            pending += evaluated_by(one)
        elif isinstance(one, COMPREHENSIONS):
            pending.append(one.generators[0].iter)
            pending += (ast.Name(name, ast.Store()) for name in walrus_names(one))
        else:
            pending += children(one)


def evaluated_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that the definition of a function or a class evaluates where it stands."""
    if isinstance(node, DEFINITIONS):
        yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *node.keywords)
    elif isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)


def walrus_names(comprehension: Comprehension) -> list[str]:
    """Return the names that assignment expressions in a comprehension bind outside of it."""
    return [
        node.target.id
        for node in walk(comprehension)
        if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name)
    ]


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node by itself binds or deletes."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _deleted(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node by itself, or the definition that it is, may leave without a value."""
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for inner in walk(node) if isinstance(node, (ast.Delete, *DEFINITIONS)) else ():
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Del):
            yield inner.id


def target_names(target: ast.expr) -> list[str]:
    """Return the names that an assignment to a target binds, in order."""
    return [node.id for node in walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def consumed(node: ast.AST) -> ast.GeneratorExp | None:
    """Return the generator that is the only argument of a function that uses it up at once.

    With ``next`` it is the first one: nobody sees it behind the call.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords or not node.args:
        return None
    takes = 1 if node.func.id in CONSUMERS else 2 if node.func.id == "next" else 0
    return node.args[0] if len(node.args) <= takes and isinstance(node.args[0], ast.GeneratorExp) else None


def _captured(node: ast.AST, used_up: set[ast.AST | None]) -> Iterator[str]:
    """Yield the names that may be read at any time because of a node: those in definitions and generators."""
    lasts = isinstance(node, ast.GeneratorExp) and node not in used_up
    if lasts or isinstance(node, (ast.Lambda, *DEFINITIONS)):
        yield from names_inside(node)
    elif isinstance(node, COMPREHENSIONS):
        yield from (name for inner in functions_within(node) for name in names_inside(inner))


def functions_within(comprehension: Comprehension) -> list[ast.AST]:
    """Return the functions in a comprehension, and the generators that may outlive the turn that makes them."""
    kinds, inside = (ast.Lambda, ast.GeneratorExp), list(walk(comprehension))
    left = {comprehension, *map(consumed, inside)}
    return [node for node in inside if node not in left and isinstance(node, kinds)]


def names_inside(node: ast.AST) -> Iterator[str]:
    """Yield all variables that a definition mentions."""
    for inner in walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Nonlocal):
            yield from inner.names
