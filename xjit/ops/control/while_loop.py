"""Loops that carry values: a condition and a body over whole values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit import tree
from xjit.errors import DTypeError, ShapeError
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.control.computations import Computation, check_results, operands_of, traced
from xjit.ops.define.core import apply, aval_of, register
from xjit.ops.define.evaluate import evaluate_graph
from xjit.ops.define.rules import got
from xjit.ops.dynamic.carried_sizes import check_static, with_sizes, without_sizes
from xjit.ops.dynamic.extents import dynamic_axes
from xjit.types import BOOL, ArrayType, TupleType, array_type

__all__ = ["while_loop"]


def _infer(types: tuple[ArrayType, ...], params: Params) -> TupleType:
    orders = dict(params.get("orders", ()))
    carried = enumerate(types[: params["n"]])
    return TupleType(tuple(array_type(one.dtype, one.dims, orders.get(place)) for place, one in carried))


def _reads(params: Params) -> tuple[tuple[int, ...], ...]:
    """Each graph gets the carried values and what it closes over: the condition's come first."""
    count = params["n"]
    carried, begin, found = tuple(range(count)), count, []
    for graph in params["graphs"]:
        end = begin + len(graph.parameters) - count
        found.append((*carried, *range(begin, end)))
        begin = end
    return tuple(found)


def _reference(
    *arrays: Any,
    graphs: tuple[Graph, Graph],
    n: int,
    most: int | None = None,
    goes_on: bool = False,
    changes: tuple[int, ...] = (),
    blocked: tuple[int, ...] = (),
    apart: tuple[int, ...] = (),
    masked: int | None = None,
    orders: tuple[tuple[int, tuple[int, ...]], ...] = (),
) -> tuple[Any, ...]:
    condition, body = graphs
    begin = n + len(condition.parameters) - n
    carried, of_condition, of_body = arrays[:n], arrays[n:begin], arrays[begin:]
    while evaluate_graph(condition, (*carried, *of_condition))[0]:
        carried = evaluate_graph(body, (*carried, *of_body))
    return tuple(carried)


WHILE_LOOP = register(
    OpDef(
        name="while_loop",
        kind=Kind.CONTROL,
        xla_name="While",
        infer=_infer,
        reference=_reference,
        control="loop",
        reads=_reads,
        doc="Carries values through a body as long as a condition holds.",
    )
)


def while_loop(condition: Callable[..., Any], body: Callable[..., Any], init: Any) -> Any:
    """x = init; while condition(x): x = body(x); the last x.

    ``init`` is an array, or a nested tuple of arrays, which both computations get as one argument. The condition
    returns a PRED of rank 0, the body values of the structure, types and shapes of ``init``. Raises DTypeError,
    ArgumentError and ShapeError.

    >>> import numpy as np
    >>> while_loop(lambda i: i < np.int32(10), lambda i: i * np.int32(3), np.int32(1))
    array(27, dtype=int32)
    """
    return bounded_while(condition, body, init, None)


def bounded_while(condition: Callable[..., Any], body: Callable[..., Any], init: Any, most: int | None) -> Any:
    """The same as ``while_loop`` for who knows that there are at most so many turns, which planning trusts."""
    name = "while_loop"
    carried, structure = operands_of(init, name, "init")
    axes = tuple(map(dynamic_axes, carried))
    if any(axes):
        return _while_sized(condition, body, init, axes, most)
    types = [aval_of(value) for value in carried]
    test = traced(condition, [(types, structure)], name, "condition")
    check_condition(test, name)
    step = traced(body, [(types, structure)], name, "body")
    check_results(step, types, structure, name, "body", "init")
    if any(step.dynamic):
        return _while_sized(condition, body, init, step.dynamic, most)
    return tree.unflatten(structure, loop(carried, test, step, most))


def _while_sized(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    init: Any,
    axes: Sequence[tuple[int, ...]],
    most: int | None,
) -> Any:
    """A loop that carries the sizes of dynamic dimensions beside values at their bounds."""
    further: list[tuple[int, ...]] = list(axes)

    def test(state: Any) -> Any:
        return condition(with_sizes(state, axes))

    def step(state: Any) -> Any:
        result = body(with_sizes(state, axes))
        leaves = tree.flatten(result)[0]
        if len(leaves) == len(axes):
            further[:] = [tuple(sorted({*one, *dynamic_axes(leaf)})) for one, leaf in zip(axes, leaves, strict=True)]
        return without_sizes(result, axes)

    result = bounded_while(test, step, without_sizes(init, axes), most)
    if further != list(axes):  # the body makes more dimensions dynamic
        return _while_sized(condition, body, init, further, most)
    return with_sizes(result, axes)


def check_condition(test: Computation, name: str) -> None:
    """DTypeError or ShapeError unless a computation returns one truth value."""
    types = test.types
    if len(types) != 1 or types[0].dtype != BOOL:
        raise DTypeError(f"ops.{name}: condition: one pred is required; got {got(types) or 'nothing'}")
    if types[0].rank:
        raise ShapeError(f"ops.{name}: condition: rank 0 is required; got {got(types)}")


def loop(
    carried: Sequence[Any], test: Computation, step: Computation, most: int | None = None, goes_on: bool = False
) -> tuple[Any, ...]:
    """The last carried values, one for each of the first ones. There are at most so many turns, if that is known.

    Where what a turn demands does not hold the loop ends; Python ``goes_on`` to the next turn when it does the call.
    """
    check_static("ops.while_loop", carried)
    operands = (*carried, *test.captures, *step.captures)
    known: dict[str, Any] = {} if most is None else {"most": most}
    known |= {"goes_on": True} if goes_on else {}
    made: tuple[Any, ...] = apply(WHILE_LOOP, *operands, graphs=(test.graph, step.graph), n=len(carried), **known)
    return made
