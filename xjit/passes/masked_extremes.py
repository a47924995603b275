"""Keeps extremes of chosen elements vector code.

In ``max(where(isnan(x), -inf, x))`` LLVM sees that the infinity changes no maximum, and moves the choice behind it:

    t = select(isnan(x), t, max(t, x))

This is no longer a reduction that it takes in vectors. Where the infinity is read from memory it does not know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from xjit.ir.context import CONSTANT, is_by_reference
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, Reducer
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.passes.simplify import rewrite


def hide_neutral_choices(graph: Graph) -> Graph:
    """The graph with such constants read from memory; the same object when there are none."""
    hidden = {constant for node in graph.nodes for constant in _neutral(node) if not is_by_reference(constant)}
    return rewrite(graph, lambda node: _by_reference(node) if node in hidden else node) if hidden else graph


def _by_reference(constant: Node) -> Node:
    return dataclasses.replace(constant, params=(*constant.params, ("by_reference", True)))


def _neutral(node: Node) -> Iterator[Node]:
    """The constants that a node chooses between others and which do not change its extreme."""
    params = dict(node.params)
    reducer: Reducer | None = params.get("extreme") or params.get("reducer")
    if node.op.kind is not Kind.REDUCE or reducer is None or not reducer.orders_zeros:
        return
    dtype = node.inputs[0].aval.dtype
    identity = Literal.of(reducer.identity(dtype), dtype).data
    stack, seen = [(node.inputs[0], False)], set[Node]()
    while stack:
        value, is_choice = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.op is CONSTANT and is_choice and value.param("value").data == identity:
            yield value
        elif value.op.kind is Kind.INDEXING and len(value.inputs) == 1:
            stack.append((value.inputs[0], is_choice))
        elif value.op is registry["select"]:
            # What is compared with the element that it replaces becomes one instruction: ``where(x <= inf, x, inf)``.
            stack += [(arm, True) for arm in value.inputs[1:] if arm not in value.inputs[0].inputs]
