"""A stable text form of graphs: for people, golden tests and error messages.

f(%0: f64[4,3], %1: f64[3])
  %2 = sin %1                                f64[3]      demo.py:3
  return %2
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from xjit.ir.inner_graphs import GRAPHS, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import OpDef, Reducer
from xjit.ir.scalar_expr import Literal
from xjit.types import NAMES, ArrayType, Extent

_HIDDEN = frozenset({"type", "index", GRAPHS})


def graph_text(graph: Graph) -> str:
    """The graph, a line for each node, with the user's lines at the right."""
    names = {node: f"%{index}" for index, node in enumerate(graph.nodes)}
    head = ", ".join(f"{names[node]}: {type_text(node.type, names)}" for node in graph.parameters)
    lines = [f"{graph.name}({head})"]
    for node in graph.nodes:
        if node not in graph.parameters:
            lines += [_line(node, names), *_inner_lines(node)]
    lines.append("  return " + ", ".join(names[node] for node in graph.outputs))
    return "\n".join(line.rstrip() for line in lines)


def type_text(type: Any, names: Mapping[Any, str]) -> str:
    """A type with dynamic dimensions shown as the node that gives them: ``f32[%3<=10]``."""
    if not isinstance(type, ArrayType) or type.is_static:
        return str(type)
    dims = (f"{names.get(d.node, '')}{d}" if isinstance(d, Extent) else str(d) for d in type.dims)
    return f"{NAMES[type.dtype]}[{','.join(dims)}]"


def _inner_lines(node: Node) -> Iterator[str]:
    """The graphs inside of a node, indented; each has numbers of its own."""
    for inner in inner_graphs(node):
        yield from (f"    {line}" for line in graph_text(inner.graph).splitlines())


def _line(node: Node, names: dict[Node, str]) -> str:
    inputs = " ".join(names[source] for source in node.inputs)
    params = ", ".join(f"{key}={value_text(value)}" for key, value in node.params if key not in _HIDDEN)
    text = f"  {names[node]} = {node.op.name} {inputs}".rstrip()
    text += f" {{{params}}}" if params else ""
    if node.sequence >= 0:
        text += f" !{node.sequence}"
    return f"{text:<50} {type_text(node.type, names):<16} {os.path.basename(node.where.file)}:{node.where.line}"


def value_text(value: Any) -> str:
    """A static parameter as text that does not depend on addresses."""
    if isinstance(value, Graph):
        return "(" + "; ".join(part.strip() for part in graph_text(value).splitlines()[1:]) + ")"
    if isinstance(value, np.dtype):
        return NAMES.get(value, str(value))
    if isinstance(value, tuple):
        return "(" + ", ".join(value_text(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, Reducer | OpDef):
        return value.name
    return str(value)
