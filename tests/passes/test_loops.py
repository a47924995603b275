"""Loops carry what changes, and compute nothing twice that does not; branches yield what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases.cases_control import F64, I32, counted
from tests.helpers.harness import traced
from xjit import ops
from xjit.ir.inner_graphs import GRAPHS, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ops.whole_arrays.runtime_check import require
from xjit.passes.branch_values import trim_branches
from xjit.passes.inner_passes import in_all_graphs
from xjit.passes.interpret import interpret
from xjit.passes.simplify import simplify
from xjit.passes.state.loop_state import slim_loops
from xjit.passes.turns.carried_spans import Spans, drop_kept_bounds, refine
from xjit.passes.verify_graph import verify

X = np.arange(6.0)
Y = X * 0.5 - 1.0
Function = Callable[..., Any]


def slimmed(function: Function, *arrays: Any) -> Graph:
    """The graph after the passes, which has the same results."""
    graph, _ = traced(function, arrays)
    found = graph
    for change in (simplify, slim_loops, trim_branches):
        found = in_all_graphs(change)(found)
        verify(found)
    for one, two in zip(interpret(found, arrays), interpret(graph, arrays), strict=True):
        np.testing.assert_array_equal(one, two)
    return found


def control(graph: Graph) -> Node:
    (found,) = (node for node in graph.nodes if node.op.control)
    return found


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.inputs]


def test_a_value_that_stays_is_not_carried() -> None:
    graph = slimmed(lambda x, y: counted(3, lambda a, b: (a * b, b), x, y), X, Y)
    loop = control(graph)
    assert loop.param("n") == 2
    assert graph.outputs[1] is graph.parameters[1]


def test_values_that_exchange_places_are_carried() -> None:
    graph = slimmed(lambda x, y: counted(3, lambda a, b: (b, a), x, y), X, Y)
    assert control(graph).param("n") == 3


def test_what_nobody_reads_is_not_carried() -> None:
    graph = slimmed(lambda x, y: counted(3, lambda a, b, c: (a + y, b + c, c * a), x, y, y)[0], X, Y)
    loop = control(graph)
    assert loop.param("n") == 2
    assert "mul" not in names(loop.param(GRAPHS)[1])


def test_what_the_condition_reads_is_carried() -> None:
    def function(x: Any) -> Any:
        return ops.while_loop(
            lambda t: ops.lt(t[0], F64(9)), lambda t: (t[0] + t[1], t[1], t[2] + F64(1)), (F64(0), F64(2), x)
        )[2]

    assert control(slimmed(function, X)).param("n") == 2


def test_a_constant_is_known_inside() -> None:
    graph = slimmed(lambda x: counted(3, lambda a, b: (a * b, b), x, np.float64(2)), X[0])
    loop = control(graph)
    assert loop.param("n") == 2
    assert len(loop.inputs) == 2
    assert all(len(one.parameters) <= 2 for one in loop.param(GRAPHS))


def test_an_unchanging_reduction_runs_before_the_loop() -> None:
    graph = slimmed(lambda x, y: counted(3, lambda a: (a * ops.reduce(y, F64(0), ops.add, (0,)),), x), X, Y)
    assert "reduce" in names(graph)
    assert "reduce" not in names(control(graph).param(GRAPHS)[1])


def test_an_unchanging_sum_runs_before_the_loop() -> None:
    graph = slimmed(lambda x, y: counted(3, lambda a: (a * (ops.exp(y) + y),), x), X, Y)
    assert {"exp", "add"} <= set(names(graph))
    assert "exp" not in names(control(graph).param(GRAPHS)[1])


def test_the_condition_has_its_unchanging_parts_before_the_loop() -> None:
    def function(x: Any) -> Any:
        limit = lambda: ops.reduce(x, F64(0), ops.max, (0,))  # noqa: E731
        return ops.while_loop(lambda v: ops.lt(v, limit()), lambda v: v + F64(1), F64(0))

    assert "reduce" not in names(control(slimmed(function, X)).param(GRAPHS)[0])


def test_what_spreads_over_more_elements_is_computed_in_the_loop() -> None:
    def function(x: Any, y: Any) -> Any:
        spread = lambda: ops.sub(ops.broadcast(ops.exp(y), (6,)), ops.broadcast(y, (6,)))  # noqa: E731
        return counted(3, lambda a: (a * spread(),), ops.broadcast(x, (6,)))

    graph = slimmed(function, X, Y)
    assert "exp" in names(graph)
    assert {"broadcast_in_dim", "sub"} <= set(names(control(graph).param(GRAPHS)[1]))


def test_an_inner_loop_gives_to_the_outer_one_and_that_before_it() -> None:
    def function(x: Any, y: Any) -> Any:
        inner = lambda a: counted(2, lambda b: (b * ops.exp(y) + ops.exp(a),), a)  # noqa: E731
        return counted(3, inner, x)

    graph = slimmed(function, X, Y)
    body = control(graph).param(GRAPHS)[1]
    assert names(graph).count("exp") == 1
    assert names(body).count("exp") == 1
    assert "exp" not in names(control(body).param(GRAPHS)[1])


def test_what_may_fail_stays_where_it_is() -> None:
    from xjit.ops.whole_arrays.runtime_check import require

    def function(x: Any, y: Any) -> Any:
        checked = lambda: require(y, ops.ge(y, F64(0)), "index", "values below zero")  # noqa: E731
        return counted(0, lambda a: (a * ops.exp(checked()),), x)

    graph, _ = traced(function, (X, Y))
    assert "require" in "".join(names(control(in_all_graphs(slim_loops)(graph)).param(GRAPHS)[1]))


def test_a_known_branch_is_no_choice() -> None:
    graph = slimmed(lambda x: ops.conditional(I32(1), (lambda a: -a, lambda a: ops.exp(a)), (x, x)), X)
    assert names(graph) == ["exp"]


@pytest.mark.parametrize("known", [True, False])
def test_branches_yield_what_is_read(known: bool) -> None:
    def function(p: Any, x: Any, y: Any) -> Any:
        operand = np.ones(6) if known else y
        return ops.conditional(p, (x, operand), lambda t: (t[0] + t[1], ops.exp(t[0])), x, lambda v: (v, v))[0]

    graph = slimmed(function, np.array(True), X, Y)
    first, _ = control(graph).param(GRAPHS)
    assert names(first) == ["add"]
    assert len(first.parameters) == 2 - known


@pytest.mark.parametrize("starts", [True, False])
def test_truth_values_that_the_condition_demands_hold_in_turns(starts: bool) -> None:
    """The turn that finds a number too large is the last; behind the loop the truth value is read."""

    def turn(state: Any) -> Any:
        place, ok, total = state
        held = ops.and_(ok, ops.lt(total, F64(3)))
        return ops.add(place, I32(1)), held, ops.select(ok, total + F64(1), F64(-1))

    def function(x: Any) -> Any:
        demanded = lambda t: ops.and_(ops.lt(t[0], I32(6)), t[1])  # noqa: E731
        return ops.while_loop(demanded, turn, (I32(0), np.bool_(starts), x))

    graph = slimmed(function, np.float64(0.5))
    body = control(graph).param(GRAPHS)[1]
    ok = body.parameters[1]
    assert not any(ok in node.inputs for node in body.nodes)


def test_truth_values_that_need_not_hold_are_read_in_turns() -> None:
    def turn(state: Any) -> Any:
        place, ok = state
        return ops.add(place, I32(1)), ops.and_(ok, ops.lt(place, I32(2)))

    either = lambda t: ops.or_(ops.lt(t[0], I32(4)), t[1])  # noqa: E731
    graph = slimmed(lambda x: ops.while_loop(either, turn, (I32(0), np.bool_(True))), X)
    body = control(graph).param(GRAPHS)[1]
    assert any(body.parameters[1] in node.inputs for node in body.nodes)


# ---- bounds that loops keep


I64 = np.int64


def popped(start: int, taken: int, most: int) -> Any:
    """A loop that takes entries from the end of eight, and puts back as many as the last one says."""

    def turn(state: Any) -> Any:
        count, total, turns = state
        end = ops.min(count, I64(most))
        last = ops.max(ops.min(end - I64(taken), I64(7)), I64(0))
        return last + ops.select(ops.lt(turns, I64(3)), I64(3), I64(0)), total + last, turns + I64(1)

    def goes_on(state: Any) -> Any:
        count, _, turns = state
        return ops.and_(ops.ne(count, I64(0)), ops.lt(turns, I64(20)))

    return lambda _: ops.while_loop(goes_on, turn, (I64(start), I64(0), I64(0)))


def bounds_in(function: Function) -> list[str]:
    graph, _ = traced(function, [X])
    found = drop_kept_bounds(graph)
    verify(found)
    for one, two in zip(interpret(found, [X]), interpret(graph, [X]), strict=True):
        np.testing.assert_array_equal(one, two)
    return [one for one in names(control(found).param(GRAPHS)[1]) if one in ("min", "max")]


@pytest.mark.parametrize(
    ("start", "taken", "most", "left"),
    [
        (1, 1, 8, ["min"]),  # the number of entries is 0 or more, and 1 or more behind the condition
        (5, 1, 8, ["min"]),
        (1, 1, 9, ["min", "min"]),  # min(count, 9) - 1 may be 8, and count 10
        (1, 1, 10, ["min"]),  # count is 10 at most
        (1, 2, 8, ["min", "max"]),  # min(count, 8) - 2 may be -1
        (-1, 1, 8, ["min", "max"]),  # the first count is below 0
    ],
)
def test_bounds_go_that_a_loop_keeps(start: int, taken: int, most: int, left: list[str]) -> None:
    assert bounds_in(popped(start, taken, most)) == left


def test_a_bound_stays_where_a_sum_may_wrap() -> None:
    def function(_: Any) -> Any:
        def turn(state: Any) -> Any:
            count, turns = state
            return ops.max(count, I64(0)) * I64(2**40) + I64(1), turns + I64(1)

        return ops.while_loop(lambda state: ops.lt(state[1], I64(4)), turn, (I64(3), I64(0)))

    assert bounds_in(function) == ["max"]


def one_before(i: Any) -> Any:
    """The place before another one, as NumPy finds it: that before the first is the last."""
    place = ops.select(ops.lt(i - I64(1), I64(0)), i + I64(5), i - I64(1))
    inside = ops.and_(ops.ge(place, I64(0)), ops.lt(place, I64(6)))
    return require(ops.select(inside, place, I64(0)), inside, "index", "out of bounds")


@pytest.mark.parametrize(
    ("apart", "left"),
    [
        (lambda i: ops.eq(i, I64(0)), []),
        (lambda i: ops.lt(i, I64(1)), []),
        (lambda i: ops.lt(i, I64(0)), ["select", "select", "require"]),  # the first turn goes on, too
        (lambda i: ops.eq(i, I64(1)), ["select", "select", "require"]),
        (lambda i: ops.eq(i % I64(4), I64(0)), ["select", "select", "require"]),
    ],
)
def test_an_arm_knows_for_which_turns_it_is(apart: Function, left: list[str]) -> None:
    def function(x: Any) -> Any:
        def turn(i: Any, a: Any) -> Any:
            before = lambda i: ops.dynamic_slice(x, (one_before(i),), (1,))  # noqa: E731
            found = ops.conditional(apart(i), i, lambda _: ops.broadcast(F64(0), (1,)), i, before)
            return i + I64(1), a * F64(2) + found

        return ops.while_loop(
            lambda state: ops.lt(state[0], I64(6)), lambda state: turn(*state), (I64(0), np.zeros(1))
        )[1]

    graph, _ = traced(function, [X])
    found = drop_kept_bounds(graph)
    verify(found)
    for one, two in zip(interpret(found, [X]), interpret(graph, [X]), strict=True):
        np.testing.assert_array_equal(one, two)
    *_, inner = inner_graphs(control(control(found).param(GRAPHS)[1]))
    assert [one for one in names(inner.graph) if one in ("select", "require")] == left


def test_what_is_made_by_a_choice_of_other_numbers_stays() -> None:
    """The rest of a quotient takes the sign of the divisor by a choice inside of its arithmetic."""

    def function(_: Any) -> Any:
        def turn(state: Any) -> Any:
            i, total = state
            last = ops.min(i, I64(4000))
            return i + I64(1), total + last % I64(3)

        return ops.while_loop(lambda state: ops.lt(state[0], I64(4001)), turn, (I64(4000), I64(0)))

    assert bounds_in(function) == []


CONDITIONS: list[Function] = [
    lambda a, b: ops.lt(a, b),
    lambda a, b: ops.ge(a, I64(1)),
    lambda a, b: ops.not_(ops.le(a, I64(1))),
    lambda a, b: ops.ne(a, I64(3)),
    lambda a, b: ops.eq(a, b),
    lambda a, b: ops.and_(ops.gt(a, I64(0)), ops.lt(b, I64(1))),
    lambda a, b: ops.or_(ops.gt(a, I64(0)), ops.lt(b, I64(1))),
    lambda a, b: ops.select(ops.gt(a, I64(0)), ops.lt(b, I64(1)), np.bool_(False)),
    lambda a, b: ops.select(ops.gt(a, I64(0)), np.bool_(True), ops.lt(b, I64(1))),
    lambda a, b: ops.select(ops.gt(a, I64(0)), np.bool_(False), ops.lt(b, I64(1))),
    lambda a, b: ops.select(c := ops.gt(a, I64(0)), c, ops.lt(b, I64(1))),
    lambda a, b: ops.select(c := ops.gt(a, I64(0)), ops.lt(b, I64(1)), c),
    lambda a, b: ops.select(ops.gt(a, I64(0)), ops.lt(b, I64(1)), ops.gt(b, I64(1))),
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("holds", [True, False])
def test_a_condition_tells_no_more_than_it_says(condition: Function, holds: bool) -> None:
    graph, _ = traced(condition, [I64(1), I64(2)])
    found = dict.fromkeys(graph.parameters, (-3, 3))
    spans: Spans = {**found, **{node: known(node) for node in graph.nodes if node not in found}}
    refine(graph.outputs[0], holds, spans)
    numbers = [(I64(a), I64(b)) for a in range(-3, 4) for b in range(-3, 4)]
    for a, b in (one for one in numbers if bool(interpret(graph, one)[0]) is holds):
        for number, node in zip((a, b), graph.parameters, strict=True):
            assert spans[node][0] <= number <= spans[node][1], (a, b)


def known(node: Node) -> tuple[int, int]:
    """The span of a constant, and all that a truth value may be."""
    value = int(node.param("value").item()) if node.op.name == "constant" else None
    return (0, 1) if value is None else (value, value)


def test_a_condition_tells_of_both_numbers() -> None:
    graph, _ = traced(lambda a, b: ops.and_(ops.lt(a, b), ops.ne(b, I64(3))), [I64(1), I64(2)])
    a, b = graph.parameters
    spans: Spans = {a: (-3, 3), b: (-3, 3), **{one: known(one) for one in graph.nodes if one.op.name == "constant"}}
    refine(graph.outputs[0], True, spans)
    assert (spans[a], spans[b]) == ((-3, 2), (-2, 2))
