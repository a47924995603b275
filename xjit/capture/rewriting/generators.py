"""Generator functions: what one yields it hands to a function, so that a loop over it runs its body there.

def positive(x):                    def positive(x):
    for v in x:                         def generate(emit):
        if v > 0:                           for v in x:
            yield v                             if v > 0: emit(v)
                                        return runtime.generator(generate, ("v", "x"))
"""

from __future__ import annotations

import ast

from xjit.capture.rewriting.scope_names import COMPREHENSIONS, DEFINITIONS, Function
from xjit.capture.rewriting.source_lookup import NotRewritable
from xjit.capture.rewriting.tree_walks import children, walk

EMIT = ".emit"
_YIELDED = ".yielded"
_YIELDS = (ast.Yield, ast.YieldFrom)


def emitting(tree: Function) -> Function:
    """Return a generator function that hands on what it yields.

    NotRewritable where it waits for what is sent to it, and where an error of the loop over it could be caught in it.
    """
    if isinstance(tree, ast.Lambda):
        raise NotRewritable("is a lambda that yields")
    tree.body = [_statement(one) for one in tree.body]
    return tree


def _statement(node: ast.stmt) -> ast.stmt:
    """Return a statement with its yields as calls."""
    if isinstance(node, DEFINITIONS):
        return node
    if isinstance(node, ast.Expr) and isinstance(node.value, _YIELDS):
        return _emitted(node, node.value)
    if isinstance(node, (ast.With, ast.Try, ast.TryStar)) and any(map(_yields, children(node))):
        raise NotRewritable("yields within try or with")
    blocks = [getattr(node, name, []) for name in ("body", "orelse")]
    blocks += [case.body for case in node.cases] if isinstance(node, ast.Match) else []
    inside = {id(one) for block in blocks for one in block}
    if any(_yields(one) for one in children(node) if id(one) not in inside and not isinstance(one, ast.match_case)):
        raise NotRewritable("uses what is sent to it")
    for block in blocks:
        block[:] = map(_statement, block)
    return node


def _emitted(node: ast.stmt, value: ast.Yield | ast.YieldFrom) -> ast.stmt:
    if isinstance(value, ast.Yield):
        return ast.copy_location(_call(value.value or ast.Constant(None)), node)
    target = ast.Name(_YIELDED, ast.Store())
    loop = ast.For(target, value.value, [_call(ast.Name(_YIELDED, ast.Load()))], [])
    for one in walk(loop):
        if one is not value.value and not hasattr(one, "lineno"):
            ast.copy_location(one, node)
    return loop


def _call(value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(EMIT, ast.Load()), [value], []))


def _yields(node: ast.AST) -> bool:
    """Return whether a part of the function itself yields."""
    if isinstance(node, (ast.Lambda, *DEFINITIONS, *COMPREHENSIONS)):
        return False
    return isinstance(node, _YIELDS) or any(map(_yields, children(node)))
