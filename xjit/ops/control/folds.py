"""Folds with computations that kernels do not hold: a loop over the elements that are reduced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.ir.node import Graph
from xjit.ops.control.computations import row_major, traced
from xjit.ops.control.while_loop import loop
from xjit.ops.define.computation import replay
from xjit.ops.define.core import as_operand, aval_of, constant
from xjit.ops.elements.compare import ge, lt
from xjit.ops.elements.elementwise import add, and_
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.dynamic_slice import dynamic_slice, dynamic_update_slice
from xjit.ops.whole_arrays.shape import broadcast, reshape, transpose
from xjit.types import INT64


def folded_in_turns(
    graph: Graph, arrays: Sequence[Any], inits: Sequence[Any], dims: tuple[int, ...]
) -> tuple[Any, ...]:
    """A left fold over dimensions, in row-major order: a turn takes the same element of all results."""
    shape = aval_of(arrays[0]).shape
    kept = tuple(axis for axis in range(len(shape)) if axis not in dims)
    rest, count = tuple(shape[axis] for axis in kept), math.prod(shape[axis] for axis in dims)
    rows = [row_major(reshape(transpose(one, (*sorted(dims), *kept)), (count, *rest))) for one in arrays]
    starts = [constant(np.zeros((), INT64))]
    starts += [row_major(broadcast(as_operand(init, "reduce", "init_values"), rest)) for init in inits]
    if not count:
        return tuple(starts[1:])

    def turn(carried: Any) -> Any:
        place, *state = carried
        begin = (place, *(np.int64(0) for _ in rest))
        elements = [reshape(dynamic_slice(row, begin, (1, *rest)), rest) for row in rows]
        return add(place, np.int64(1)), *replay(graph, (*state, *elements), rest)

    structure = tree.Branch(tuple, None, (tree.LEAF,) * len(starts))
    state = [([aval_of(one) for one in starts], structure)]
    test = traced(lambda carried: lt(carried[0], np.int64(count)), state, "reduce", "condition")
    step = traced(turn, state, "reduce", "body")
    return loop(starts, test, step)[1:]


def scattered_in_turns(
    graph: Graph, arrays: Sequence[Any], updates: Sequence[Any], places: Sequence[Any]
) -> tuple[Any, ...]:
    """Arrays with updates combined one after the other, each at its place along every dimension if that is inside.

    What lies outside writes the nearest element over itself.
    """
    shape, count = aval_of(arrays[0]).shape, aval_of(updates[0]).size
    inside = constant(np.ones((), bool))
    for place, size in zip(places, shape, strict=True):
        inside = and_(inside, and_(ge(place, np.int64(0)), lt(place, np.int64(size))))
    inside = expanded_to(inside, aval_of(updates[0]).shape)
    lines = [row_major(reshape(one, (count,))) for one in (inside, *places, *updates)]
    starts = [constant(np.zeros((), INT64)), *map(row_major, arrays)]
    if not aval_of(arrays[0]).size:
        return tuple(starts[1:])

    def turn(carried: Any) -> Any:
        number, *state = carried
        holds, *rest = (reshape(dynamic_slice(line, (number,), (1,)), ()) for line in lines)
        place, new = tuple(rest[: len(shape)]), rest[len(shape) :]
        old = [reshape(dynamic_slice(one, place, (1,) * len(shape)), ()) for one in state]
        chosen = [select(holds, one, other) for one, other in zip(replay(graph, (*old, *new), ()), old, strict=True)]
        put = [reshape(one, (1,) * len(shape)) for one in chosen]
        changed = [dynamic_update_slice(one, part, place) for one, part in zip(state, put, strict=True)]
        return add(number, np.int64(1)), *changed

    structure = tree.Branch(tuple, None, (tree.LEAF,) * len(starts))
    state = [([aval_of(one) for one in starts], structure)]
    test = traced(lambda carried: lt(carried[0], np.int64(count)), state, "scatter", "condition")
    step = traced(turn, state, "scatter", "body")
    return loop(starts, test, step)[1:]


def expanded_to(operand: Any, dims: tuple[int, ...]) -> Any:
    """The operand, or a single value repeated in these dimensions."""
    return operand if aval_of(operand).shape == dims else broadcast(operand, dims)
