"""Computations over scalars that hold more than elementwise nodes, at every index of arrays.

Loops and branches inside of them run for all elements at once: a loop goes on for as long as any element does, and
keeps those that are done; a branch computes all of its sides. What cannot be done at once is computed for one element
after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import tree
from xjit.dataclass import dataclass
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import ORDERED, Kind
from xjit.ops.control.computations import row_major, traced
from xjit.ops.control.conditional import branches
from xjit.ops.control.while_loop import loop
from xjit.ops.define.core import apply, aval_of, constant
from xjit.ops.elements.compare import eq, lt
from xjit.ops.elements.elementwise import add, and_, or_
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.dynamic_slice import dynamic_slice, dynamic_update_slice
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.shape import broadcast, expanded, reshape
from xjit.types import BOOL, INT64, ArrayType, array_type

Shape: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A value of a computation: for each element of the arrays, which come in front of its dimensions, or for all."""

    value: Any
    is_each: bool


class ApartError(Exception):
    """A node that is not computed for all elements at once."""


def at_every_element(graph: Graph, operands: Sequence[Any], captures: Sequence[Any], dims: Shape) -> tuple[Any, ...]:
    """The results of a computation at every index; operands have these dimensions or rank 0."""
    if not dims:
        return tuple(inlined(graph, (*operands, *captures)))
    given = [Held(value, aval_of(value).rank > 0) for value in operands] + [Held(one, False) for one in captures]
    try:
        return tuple(_spread(one, dims) for one in _together(graph, given, dims))
    except ApartError:
        return _one_by_one(graph, operands, captures, dims)


def inlined(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    """The outputs of a graph, its nodes made anew in the trace under construction."""
    values: dict[Node, Any] = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        if node not in values:
            values[node] = _applied(node, [values[source] for source in node.inputs])
    return [values[node] for node in graph.outputs]


def _applied(node: Node, inputs: Sequence[Any]) -> Any:
    if node.op is CONSTANT:
        return constant(node.param("value").array())
    if node.op is PROJECT:
        return inputs[0][node.param("index")]
    return apply(node.op, *inputs, **node.kwargs)


# ---- all elements at once


def _together(graph: Graph, arguments: Sequence[Held], dims: Shape) -> list[Held]:
    values: dict[Node, Any] = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        if node in values:
            continue
        if node.op is PROJECT:
            values[node] = values[node.inputs[0]][node.param("index")]
        elif node.op.kind in ORDERED or node.op.failure is not None or node.sequence >= 0:
            raise ApartError
        else:
            values[node] = _made(node, [values[source] for source in node.inputs], dims)
    return [values[node] for node in graph.outputs]


def _made(node: Node, inputs: Sequence[Held], dims: Shape) -> Any:
    """The value of a node, or a list of those that it yields."""
    if not any(one.is_each for one in inputs):
        made = _applied(node, [one.value for one in inputs])
        return [Held(one, False) for one in made] if isinstance(made, tuple) else Held(made, False)
    if node.op.control:
        return {"loop": _loop, "branch": _branch}[node.op.control](node, inputs, dims)
    if node.op.kind is Kind.ELEMENTWISE:
        return Held(_applied(node, [_spread(one, dims) for one in inputs]), True)
    if node.op.kind is Kind.INDEXING and len(inputs) == 1 and not node.aval.rank and not node.inputs[0].aval.rank:
        return inputs[0]
    raise ApartError


def _spread(one: Held, dims: Shape) -> Any:
    """The value with one for each element."""
    if one.is_each:
        return one.value
    own = aval_of(one.value).shape
    axes = tuple(range(len(dims), len(dims) + len(own)))
    return expanded(one.value, (*dims, *own), axes)


def _masked(mask: Any, new: Any, old: Any) -> Any:
    """The new values where the mask of elements holds, else the old ones."""
    shape = aval_of(new).shape
    return select(expanded(mask, shape, tuple(range(aval_of(mask).rank))), new, old)


def _loop(node: Node, inputs: Sequence[Held], dims: Shape) -> list[Held]:
    """A loop that goes on for as long as one of the elements does; the first carried value says which."""
    condition, body = node.param(GRAPHS)
    count, split = node.param("n"), len(condition.parameters)
    of_condition, of_body = inputs[count:split], inputs[split:]

    def goes_on(state: Sequence[Any]) -> Any:
        (held,) = _together(condition, [*(Held(one, True) for one in state), *of_condition], dims)
        return _spread(held, dims)

    def turn(carried: Any) -> Any:
        mask, *state = carried
        found = _together(body, [*(Held(one, True) for one in state), *of_body], dims)
        after = [_masked(mask, _spread(new, dims), old) for new, old in zip(found, state, strict=True)]
        return and_(mask, goes_on(after)), *after

    state = [row_major(_spread(one, dims)) for one in inputs[:count]]
    starts = [row_major(goes_on(state)), *state]
    types = [aval_of(one) for one in starts]
    structure = tree.Branch(tuple, None, (tree.LEAF,) * len(starts))
    test = traced(lambda carried: _any(carried[0]), [(types, structure)], "map", "condition")
    step = traced(turn, [(types, structure)], "map", "body")
    return [Held(one, True) for one in loop(starts, test, step)[1:]]


def _any(mask: Any) -> Any:
    return reduce(mask, constant(np.zeros((), BOOL)), or_, tuple(range(aval_of(mask).rank)))


def _branch(node: Node, inputs: Sequence[Held], dims: Shape) -> list[Held]:
    """All branches, and of each element what its own one yields; one branch where all elements take the same."""
    index, begin, found = inputs[0], 1, []
    parts = []
    for graph in node.param(GRAPHS):
        parts.append((graph, inputs[begin : begin + len(graph.parameters)]))
        begin += len(graph.parameters)
    if not index.is_each:
        results = [traced(_at_once(*part, dims), [], "map", "branch") for part in parts]
        return [Held(one, True) for one in branches(index.value, [((), one) for one in results])]
    found = [[_spread(one, dims) for one in _together(graph, given, dims)] for graph, given in parts]
    chosen = found[-1]
    for number, results in reversed(list(enumerate(found[:-1]))):
        mask = eq(index.value, np.int32(number))
        chosen = [_masked(mask, one, other) for one, other in zip(results, chosen, strict=True)]
    return [Held(one, True) for one in chosen]


def _at_once(graph: Graph, given: Sequence[Held], dims: Shape) -> Any:
    return lambda: tuple(_spread(one, dims) for one in _together(graph, given, dims))


# ---- one element after the other


def _one_by_one(graph: Graph, operands: Sequence[Any], captures: Sequence[Any], dims: Shape) -> tuple[Any, ...]:
    count = math.prod(dims)
    rows = [reshape(value, (count,)) if aval_of(value).rank else value for value in operands]
    types = [array_type(node.aval.dtype, (count,)) for node in graph.outputs]
    if not count:
        return tuple(_zeros(type, dims) for type in types)

    def turn(carried: Any) -> Any:
        place, *results = carried
        elements = [reshape(dynamic_slice(row, (place,), (1,)), ()) if aval_of(row).rank else row for row in rows]
        made = inlined(graph, (*elements, *captures))
        pairs = zip(results, made, strict=True)
        return add(place, np.int64(1)), *(dynamic_update_slice(a, reshape(b, (1,)), (place,)) for a, b in pairs)

    starts = [constant(np.zeros((), INT64)), *(_zeros(type, (count,)) for type in types)]
    structure = tree.Branch(tuple, None, (tree.LEAF,) * len(starts))
    state = [([aval_of(one) for one in starts], structure)]
    test = traced(lambda carried: lt(carried[0], np.int64(count)), state, "map", "condition")
    step = traced(turn, state, "map", "body")
    return tuple(reshape(one, dims) for one in loop(starts, test, step)[1:])


def _zeros(type: ArrayType, dims: Shape) -> Any:
    return row_major(broadcast(constant(np.zeros((), type.dtype)), dims))


def fits_kernels(graph: Graph) -> bool:
    """Return whether kernels fold with a computation: of elements alone, and views of them."""
    return all(
        node.op in (PARAMETER, CONSTANT)
        or (node.op.kind is Kind.ELEMENTWISE and bool(node.inputs))
        or (node.op.kind is Kind.INDEXING and len(node.inputs) == 1 and not node.inputs[0].aval.rank)
        for node in graph.nodes
    )
