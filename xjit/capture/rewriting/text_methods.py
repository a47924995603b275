"""Methods of texts of the source that make a text of values: the runtime makes it, as only the run may tell these.

"{}: {a}".format(x, a=y)            runtime.format("format", "{}: {a}", (x,), {"a": y})
", ".join(str(v) for v in x)        runtime.format("join", ", ", [str(v) for v in x])
"""

from __future__ import annotations

import ast


def is_text(node: ast.expr) -> bool:
    """Return whether an expression is a text of the source."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def text_method(node: ast.Call) -> str:
    """Return the name of such a method, where its arguments stand one by one; else no text."""
    plain = not any(isinstance(one, ast.Starred) for one in node.args) and all(one.arg for one in node.keywords)
    if not plain or not isinstance(node.func, ast.Attribute) or not is_text(node.func.value):
        return ""
    joins = node.func.attr == "join" and len(node.args) == 1 and not node.keywords
    return node.func.attr if joins or node.func.attr == "format" else ""


def with_list(node: ast.Call) -> None:
    """Make a list of what a generator expression would hand to a method, one by one: there is no way to notice."""
    node.args = [
        ast.copy_location(ast.ListComp(one.elt, one.generators), one) if isinstance(one, ast.GeneratorExp) else one
        for one in node.args
    ]


def method_text_values(node: ast.Call) -> list[ast.expr]:
    """Return the name of the method, the text, and the values, as the runtime gets them."""
    assert isinstance(node.func, ast.Attribute)
    name, text = ast.Constant(node.func.attr), node.func.value
    if node.func.attr == "join":
        return [name, text, node.args[0]]
    named = ast.Dict([ast.Constant(one.arg) for one in node.keywords], [one.value for one in node.keywords])
    return [name, text, ast.Tuple(node.args, ast.Load()), named]
