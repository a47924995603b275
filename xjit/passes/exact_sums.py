"""Sums of integers and truths as floats that lose nothing become sums of integers, which many vector units share.

    reduce add (convert f64 (x > 0.5))  ->  convert f64 (reduce add (convert i64 (x > 0.5)))

As long as no sum can have more digits than the floats, each order of additions gives the same bits; that of integers
takes as many at a time as fit narrow counters. The mean of a mask is such a sum.
"""

from __future__ import annotations

import math

import numpy as np

from xjit.ir.context import CONSTANT
from xjit.ir.node import Graph, Node
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.partial_reduce import derived, identity_of
from xjit.ops.whole_arrays.reduce import REDUCERS, reduction_graph
from xjit.passes.simplify import rewrite
from xjit.types import BOOL, FLOAT64, INT64, dtype_class


def add_as_integers(graph: Graph) -> Graph:
    """The graph with sums of integers in place of such sums of floats; the same object when there are none."""
    return rewrite(graph, _as_integers)


def _as_integers(node: Node) -> Node:
    if node.op is not registry["reduce"] or node.param("reducer") is not REDUCERS["add"]:
        return node
    operand, start = node.inputs
    if operand.op is not registry["convert_element_type"] or operand.aval.dtype != FLOAT64:
        return node
    reducer, (source,) = node.param("reducer"), operand.inputs
    if not _is_zero(start) or not _is_exact(source, node.param("dims")):
        return node
    wide = derived(operand.op, (source,), operand, dtype=INT64)
    first, graph = identity_of(reducer, INT64, node), reduction_graph(reducer, INT64)
    total = derived(node.op, (wide, first), node, dims=node.param("dims"), reducer=reducer, computation=graph, n=1)
    return derived(operand.op, (total,), node, dtype=FLOAT64)


def _is_zero(start: Node) -> bool:
    return start.op is CONSTANT and start.param("value") == Literal.of(0.0, FLOAT64)


def _is_exact(source: Node, dims: tuple[int, ...]) -> bool:
    """Return whether no sum of integers or truths along some axes needs more digits than a float has."""
    dtype = source.aval.dtype
    if dtype != BOOL and (dtype_class(dtype) != "I" or dtype.itemsize > INT64.itemsize // 2):
        return False
    most = 1 if dtype == BOOL else 1 << 8 * dtype.itemsize
    return math.prod(source.aval.shape[axis] for axis in dims) * most <= 1 << np.finfo(FLOAT64).nmant
