"""Graphs as data: sharing, identity of numbers, the order of effects, dynamic extents, text."""

import dataclasses

import numpy as np
import pytest

from xjit import ops
from xjit.ir.context import PARAMETER, Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.index_map import axes_of, compose, relabel
from xjit.ir.node import Graph, Node, freeze
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef
from xjit.ir.printer import graph_text
from xjit.ir.scalar_expr import Arg, Literal, cost, lit, prim
from xjit.machine import processor
from xjit.passes.verify_graph import BrokenGraphError, verify
from xjit.types import Extent, array_type, combined_order, order_of, type_of

F64 = array_type("f64", (3,))
DRAW = OpDef(name="draw", kind=Kind.EFFECT, infer=lambda types, params: F64, reference=lambda: np.zeros(3))


def traced(function, *types):
    trace = Trace("f")
    with tracing(trace):
        result = function(*(TracedValue(trace.parameter(type), trace) for type in types))
    return trace.finish(tuple(value.node for value in (result if isinstance(result, tuple) else (result,))))


def test_equal_pure_nodes_are_one():
    graph = traced(lambda x: (ops.exp(x), ops.exp(x)), F64)
    assert graph.outputs[0] is graph.outputs[1]


def test_effects_are_never_shared_and_keep_their_order():
    trace = Trace("f")
    first, second = trace.add(DRAW, (), {}), trace.add(DRAW, (), {})
    assert first is not second
    assert (first.sequence, second.sequence) == (0, 1)
    graph = trace.finish((second,))
    assert [node for node in graph.nodes if node.op is DRAW] == [first, second]
    verify(graph)


def test_an_effect_that_nothing_reads_stays():
    trace = Trace("f")
    parameter = trace.parameter(F64)
    draw = trace.add(DRAW, (), {})
    assert draw in trace.finish((parameter,)).nodes


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.0, -0.0), (1, 1.0), (1, True), (1.0, True), (np.float32(1), np.float64(1)), (float("nan"), 1.0)],
)
def test_numbers_of_another_type_or_bit_pattern_are_different(one, other):
    assert Literal.of(one) != Literal.of(other)
    if type(one) in (int, float, bool) and type(other) in (int, float, bool):
        assert freeze(one) != freeze(other)


def test_nan_is_equal_to_itself():
    assert Literal.of(float("nan")) == Literal.of(float("nan"))
    assert freeze(float("nan")) == freeze(float("nan"))


def test_the_position_is_not_part_of_equality():
    def one(x):
        return ops.exp(x)

    def other(x):
        return ops.exp(x)

    assert traced(one, F64) == traced(other, F64)
    assert hash(traced(one, F64)) == hash(traced(other, F64))
    assert traced(one, F64) != traced(lambda x: ops.log(x), F64)


def test_a_computation_captures_values_of_the_enclosing_trace():
    def f(x, y):
        return ops.reduce(x, np.float64(0), lambda a, b: ops.add(a, ops.mul(b, y)), (0,))

    graph = traced(f, F64, array_type("f64", ()))
    (node,) = graph.outputs
    assert node.inputs[-1] is graph.parameters[1]
    assert len(node.param("computation").captures) == 1
    verify(graph)


def test_no_trace_is_left_behind_by_an_error():
    with pytest.raises(ZeroDivisionError), tracing(Trace("f")):
        raise ZeroDivisionError
    assert current() is None


def test_a_dynamic_extent_is_printed_with_the_node_that_gives_it():
    trace = Trace("f")
    count = trace.parameter(array_type("s64", ()))
    type = array_type("f32", (Extent(count, 10), 4))
    values = trace.parameter(type)
    graph = trace.finish((values,))
    assert graph_text(graph).splitlines()[0] == "f(%0: s64[], %1: f32[%0<=10,4])"
    assert not type.is_static
    with pytest.raises(ValueError, match="dynamic"):
        _ = type.shape


def test_the_text_of_a_graph():
    graph = traced(lambda x: ops.add(ops.sin(x), x), F64)
    lines = graph_text(graph).splitlines()
    assert lines[0] == "f(%0: f64[3])"
    assert lines[1].split()[:5] == ["%1", "=", "sin", "%0", "f64[3]"]
    assert lines[-1] == "  return %2"


def test_the_text_of_a_computation_stands_within_that_of_its_operation():
    graph = traced(lambda x: ops.reduce(x, np.float64(0), lambda a, b: ops.add(ops.mul(a, b), b), (0,)), F64)
    (line,) = (one for one in graph_text(graph).splitlines() if " = reduce " in one)
    words = line.partition("computation=(")[2].partition(")")[0].split()
    assert words[:4] == ["%2", "=", "mul", "%0"] and words[-2:] == ["return", "%3"] and "add" in words


def test_an_index_in_a_domain_whose_axes_have_other_numbers():
    rows = Lookup(None, (AxisMap(0),), 3)
    index = (AxisMap(1, 2, 5, (rows,)), AxisMap(None, 1, 4, (rows,)), AxisMap(0))
    moved = Lookup(None, (AxisMap(2),), 3)
    assert relabel(index, {0: 2, 1: 0}) == (AxisMap(0, 2, 5, (moved,)), AxisMap(None, 1, 4, (moved,)), AxisMap(2))


def test_positions_along_several_axes_add_up_through_other_maps():
    x = Node(PARAMETER, (), (), array_type("f64", (20,)))
    window = Access((AxisMap(0, 2, 1, (), ((1, 3),)),))
    assert compose(window, (AxisMap(3, 5, 1), AxisMap(None, 1, 4)), (x,)) == (AxisMap(3, 10, 15),)
    assert compose(window, (AxisMap(2), AxisMap(0, -1)), (x,)) == (AxisMap(0, -3, 1, (), ((2, 2),)),)
    assert compose(window, (AxisMap(1, 3), AxisMap(1, -2)), (x,)) == (AxisMap(None, 1, 1),)
    twice = compose(window, (AxisMap(0, 1, 0, (), ((1, 1),)), AxisMap(1)), (x,))
    assert twice == (AxisMap(0, 2, 1, (), ((1, 5),)),)
    assert axes_of(twice) == {0, 1} and relabel(twice, {0: 4, 1: 2}) == (AxisMap(2, 5, 1, (), ((4, 2),)),)


def test_the_verifier_finds_a_wrong_type():
    graph = traced(lambda x: ops.exp(x), F64)
    (node,) = graph.outputs
    wrong = dataclasses.replace(node, type=array_type("f32", (3,)))
    with pytest.raises(BrokenGraphError, match="the type should be"):
        verify(dataclasses.replace(graph, outputs=(wrong,)))


def test_the_verifier_finds_a_foreign_parameter():
    foreign = Node(PARAMETER, (), (("index", 0), ("type", F64)), F64)
    with pytest.raises(BrokenGraphError, match="not among the parameters"):
        verify(Graph("f", (), (foreign,)))


def test_expressions_keep_one_type():
    x = Arg(0, np.dtype(np.float32))
    assert (x * 2 + 1).dtype == np.float32
    assert (x < 1).dtype == np.bool_
    assert cost(prim("exp", x) + 1, processor()) > cost(x + 1, processor())
    with pytest.raises(TypeError, match="differ"):
        prim("add", x, lit(1, np.dtype(np.float64)))


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a.transpose(1, 2, 0),
        lambda a: a[:, ::-1],
        lambda a: a[::2, :, :1],
        lambda a: np.asfortranarray(a),
        lambda a: np.broadcast_to(a[:1], a.shape),
    ],
)
def test_the_order_of_an_elementwise_result_is_numpys(make):
    array = make(np.arange(24.0).reshape(2, 3, 4))
    order = combined_order(array.shape, (array.strides,))
    result = array + 1
    packed = array_type("f64", array.shape, order)
    assert all(s == p for s, p, n in zip(result.strides, packed.strides, array.shape, strict=True) if n > 1)
    assert type_of(result).order == order_of(result.shape, result.strides)
