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
from xjit.ops.elements.compare import lt
from xjit.ops.elements.elementwise import add
from xjit.ops.whole_arrays.dynamic_slice import dynamic_slice
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
