"""Running sums, products, extremes and any other fold along a dimension, element after element in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, OpDef, Params, Reducer
from xjit.ops.define import rules
from xjit.ops.define.computation import traced_scalars
from xjit.ops.define.core import apply, as_operand, aval_of, register, static_int
from xjit.ops.define.evaluate import evaluate_elementwise
from xjit.ops.define.references import Array
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.ops.whole_arrays.shape import rev
from xjit.types import ArrayType, scalar_type

__all__ = ["cummax", "cummin", "cumprod", "cumsum"]


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    (operand,) = types
    name = params["name"]
    rules.check_axis(name, "dimension", params["axis"], operand.rank)
    if params["computation"] is None:
        rules.check_class(name, "operand", operand, params["reducer"].runs_over)
    return rules.elementwise_type((operand,), operand.dtype)


def _reference(operand: Array, axis: int, reducer: Reducer, computation: Graph | None, name: str) -> Array:
    combine, result = _combine(reducer, computation), np.empty_like(operand)
    rows, target = np.moveaxis(operand, axis, 0), np.moveaxis(result, axis, 0)
    for place in range(rows.shape[0]):
        target[place] = rows[place] if place == 0 else combine(target[place - 1], rows[place])
    return result


def _combine(reducer: Reducer, computation: Graph | None) -> Callable[[Array, Array], Array]:
    if computation is None:
        if reducer.step is None:
            raise TypeError(f"the reducer {reducer.name} has no running results")
        return reducer.step
    graph = computation
    return lambda x, y: np.asarray(evaluate_elementwise(graph, (x, y), x.shape)[0])


SCAN = register(
    OpDef(
        name="scan",
        kind=Kind.SCAN,
        infer=_infer,
        reference=_reference,
        doc="The results of folding 1, 2, 3, ... elements along a dimension, every one from the one before.",
    )
)


def running(operand: Any, reducer: str, dimension: int, name: str, either_zero: bool = False) -> Any:
    """One of the reducers folded over the first elements along a dimension, as many as the position says.

    With ``either_zero`` an extreme that is zero may be either zero of the elements'.

    >>> running(np.int32([1, 2, 3]), "mul", 0, "cumprod")
    array([1, 2, 6], dtype=int32)
    """
    array = as_operand(operand, name, "operand")
    axis = static_int(dimension, name, "dimension")
    found = REDUCERS[reducer].with_either_zero() if either_zero else REDUCERS[reducer]
    return apply(SCAN, array, axis=axis, reducer=found, computation=None, name=name)


def running_fold(operand: Any, reducer: Reducer, computation: Callable[..., Any], dimension: int, name: str) -> Any:
    """A computation folded over the first elements along a dimension, as many as the position says.

    ``reducer`` says what the computation is called and which element leaves every other one as it is.
    """
    array = as_operand(operand, name, "operand")
    axis = static_int(dimension, name, "dimension")
    scalar = scalar_type(aval_of(array).dtype)
    graph = traced_scalars(name, computation, (scalar, scalar), [scalar.dtype])
    return apply(SCAN, array, axis=axis, reducer=reducer, computation=graph, name=name)


def _public(name: str, reducer: str, words: str, example: str) -> Callable[..., Any]:
    classes = REDUCERS[reducer].runs_over.replace("P", "")  # those of NumPy run over truths as well

    def function(operand: Any, dimension: int, reverse: bool = False) -> Any:
        array = as_operand(operand, name, "operand")
        rules.check_class(name, "operand", aval_of(array), classes)
        if not reverse:
            return running(array, reducer, dimension, name)
        axis = static_int(dimension, name, "dimension")
        rules.check_axis(name, "dimension", axis, aval_of(array).rank)
        return rev(running(rev(array, (axis,)), reducer, axis, name), (axis,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The {words} of the elements up to each position; from the end if ``reverse``.

    The result has the operand's type. Element types: {rules.words(classes)}; DTypeError otherwise,
    ArgumentError for a dimension out of range.

    {example}
    """
    return function


cumsum = _public("cumsum", "add", "sum", ">>> cumsum(np.int32([1, 2, 3]), 0)\n    array([1, 3, 6], dtype=int32)")
cumprod = _public(
    "cumprod", "mul", "product", ">>> cumprod(np.int32([1, 2, 3]), 0, True)\n    array([6, 6, 3], dtype=int32)"
)
cummax = _public("cummax", "max", "largest", ">>> cummax(np.int32([1, 3, 2]), 0)\n    array([1, 3, 3], dtype=int32)")
cummin = _public("cummin", "min", "smallest", ">>> cummin(np.int32([1, 3, 0]), 0)\n    array([1, 1, 0], dtype=int32)")
