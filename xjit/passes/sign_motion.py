"""Moves sign flips of floats towards the results, where they meet and vanish. Keeps every bit.

    mul (neg a) (neg b)  ->  mul a b          abs (neg a)  ->  abs a
    div (neg a) b        ->  neg (div a b)    neg (neg a)  ->  a

What a program computes for x and for -x then becomes one computation wherever it can.
"""

from __future__ import annotations

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Parity
from xjit.ops.define.core import registry
from xjit.passes.simplify import rewrite
from xjit.types import TupleType, dtype_class


def move_signs(graph: Graph) -> Graph:
    """The graph with sign flips moved; the same object when there are none."""
    return rewrite(graph, _moved)


def _moved(node: Node) -> Node:
    if not node.op.parity or isinstance(node.type, TupleType) or dtype_class(node.aval.dtype) != "F":
        return node
    if node.op is registry["neg"]:
        return node.inputs[0].inputs[0] if _is_flip(node.inputs[0]) else node
    flips, inputs = 0, list(node.inputs)
    for place, (source, parity) in enumerate(zip(node.inputs, node.op.parity, strict=True)):
        if _is_flip(source):
            inputs[place] = source.inputs[0]
            flips += parity is Parity.ODD
    if inputs == list(node.inputs):
        return node
    plain = replace(node, inputs=tuple(inputs))
    return plain if flips % 2 == 0 else Node(registry["neg"], (plain,), (), node.type, node.where)


def _is_flip(node: Node) -> bool:
    return node.op is registry["neg"] and dtype_class(node.aval.dtype) == "F"
