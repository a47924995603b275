"""Rewrites of a graph, the verifier and the interpreter."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.harness import traced
from xjit import compile, numerics, ops
from xjit.ir.context import CONSTANT, PARAMETER
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import Literal
from xjit.passes.interpret import interpret
from xjit.passes.simplify import rewrite, simplify
from xjit.passes.split_reduce import split_reductions
from xjit.passes.verify_graph import BrokenGraphError, verify
from xjit.types import array_type

LINE = np.arange(6.0)
ROWS = LINE.reshape(2, 3)


def graph_of(function: Callable[..., Any], *arrays: Any) -> Graph:
    return traced(function, arrays)[0]


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op is not PARAMETER]


# ---- simplify


@pytest.mark.parametrize(
    "function",
    [
        lambda a: ops.reshape(a, (2, 3)),
        lambda a: ops.transpose(a, (0, 1)),
        lambda a: ops.slice(a, (0, 0), (2, 3)),
        lambda a: ops.broadcast_in_dim(a, (2, 3), (0, 1)),
    ],
    ids=["reshape", "transpose", "slice", "broadcast_in_dim"],
)
def test_index_operations_that_do_nothing_go(function: Any) -> None:
    graph = simplify(graph_of(function, ROWS))
    assert graph.outputs == graph.parameters


@pytest.mark.parametrize(
    "function",
    [
        lambda a: ops.rev(a, (1,)),
        lambda a: ops.slice(a, (0, 0), (2, 2)),
        lambda a: ops.reshape(a, (9,)),
        lambda a: ops.transpose(a, (1, 0)),  # of the same type, but not the identity
    ],
    ids=["rev", "slice", "reshape", "transpose"],
)
def test_index_operations_that_do_something_stay(function: Any) -> None:
    graph = graph_of(function, np.arange(9.0).reshape(3, 3))
    assert simplify(graph) is graph


def test_scalar_constants_are_folded() -> None:
    def function(a: Any) -> Any:
        two = _plus(a, 1.0, 1.0)
        return ops.mul(a, ops.broadcast_in_dim(ops.sqrt(ops.mul(two, two)), (6,), ()))

    graph = simplify(graph_of(function, LINE))
    assert sorted(names(graph)) == ["broadcast_in_dim", "constant", "mul"]
    constant = next(node for node in graph.nodes if node.op is CONSTANT)
    assert constant.param("value") == Literal.of(2.0)


def _plus(like: Any, one: float, other: float) -> Any:
    """A sum of two constants that is part of the graph."""
    return ops.add(_constant(like, one), _constant(like, other))


def _constant(like: Any, value: float) -> Any:
    return like.owner.wrap(like.owner.constant(Literal.of(value)), like.owner)


@pytest.mark.parametrize(("numerator", "expected"), [(1.0, np.inf), (-1.0, -np.inf), (0.0, np.nan)])
def test_folding_divides_by_zero_as_ieee_does(numerator: float, expected: float) -> None:
    graph = simplify(graph_of(lambda a: ops.div(_constant(a, numerator), _constant(a, 0.0)), LINE))
    np.testing.assert_equal(graph.outputs[0].param("value").item(), expected)


def test_folding_keeps_the_sign_of_zero() -> None:
    graph = simplify(graph_of(lambda a: (ops.neg(_constant(a, 0.0)), _constant(a, 0.0)), LINE))
    assert [np.signbit(node.param("value").item()) for node in graph.outputs] == [True, False]


def test_arrays_are_not_folded() -> None:
    graph = graph_of(lambda a: ops.add(a, ops.broadcast_in_dim(_plus(a, 1.0, 2.0), (6,), ())), LINE)
    assert names(simplify(graph)).count("broadcast_in_dim") == 1


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("divisor", [1, 2, 8, 64])
def test_divisions_by_powers_of_two_are_shifts_and_masks(dtype: str, divisor: int) -> None:
    ends = np.iinfo(dtype)
    numbers = np.array([*range(-20, 21), ends.min, ends.min + 1, ends.max], dtype)

    def divided(x: Any) -> Any:
        other = ops.broadcast_in_dim(np.dtype(dtype).type(divisor), x.shape, ())
        return ops.floor_divide(x, other), ops.remainder(x, other)

    graph = simplify(graph_of(divided, numbers))
    assert {"shift_right_arithmetic", "and_"} <= set(names(graph)) and "remainder" not in names(graph)
    both = np.divmod(numbers, numbers.dtype.type(divisor))
    for found, expected in zip(interpret(graph, [numbers]), both, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("divisor", [np.int64(0), np.int64(-8), np.int64(6), np.uint64(8), np.float64(8)])
def test_other_divisions_stay(divisor: Any) -> None:
    numbers = np.arange(5).astype(divisor.dtype)
    graph = graph_of(lambda x: ops.remainder(x, ops.broadcast_in_dim(divisor, x.shape, ())), numbers)
    assert simplify(graph) is graph


def test_parameters_survive() -> None:
    assert len(simplify(graph_of(lambda a, b: ops.reshape(a, (6,)), LINE, LINE)).parameters) == 2


def test_rewriting_nothing_gives_the_graph_itself() -> None:
    graph = graph_of(ops.exp, LINE)
    assert rewrite(graph, lambda node: node) is graph


# ---- split


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "MANY_ELEMENTS", 20)
    monkeypatch.setattr(numerics, "CHUNK_ELEMENTS", 8)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_chunks_give_the_same_numbers(name: str, dtype: str) -> None:
    combine: Any = getattr(ops, name)
    x = np.where(np.arange(60) % 10 == 0, 2, np.arange(60) % 7 if name != "mul" else 1).astype(dtype)
    start = np.asarray({"add": 0, "mul": 1, "max": 3, "min": 3}[name], dtype)
    graph = graph_of(lambda a: ops.reduce(a, start, combine, (0,)), x)
    done = split_reductions(graph)
    verify(done)
    assert len(done.nodes) > len(graph.nodes)
    np.testing.assert_array_equal(interpret(done, (x,))[0], interpret(graph, (x,))[0])


def _summed(function: Any, *shape: int) -> Graph:
    return graph_of(function, np.ones(shape))


@pytest.mark.usefixtures("small_chunks")
def test_chunks_do_not_depend_on_threads() -> None:
    graph = _summed(lambda a: ops.reduce(a, np.float64(0.0), ops.add, (0,)), 50)
    sizes = []
    for count in (1, 2):
        with xjit.threads(count):
            sizes.append([node.aval.shape for node in split_reductions(graph).nodes if node.op.kind is Kind.REDUCE])
    assert sizes[0] == sizes[1] and len(sizes[0]) > 1


@pytest.mark.usefixtures("small_chunks")
def test_reductions_to_many_results_are_not_cut() -> None:
    graph = _summed(lambda a: ops.reduce(a, np.float64(0.0), ops.add, (1,)), 40, 10)
    assert split_reductions(graph) is graph


@pytest.mark.usefixtures("small_chunks")
def test_arbitrary_computations_are_not_cut() -> None:
    """Their order is that of the elements."""
    graph = _summed(lambda a: ops.reduce(a, np.float64(0.0), lambda t, x: t * t + x, (0,)), 50)
    assert split_reductions(graph) is graph


def test_small_reductions_are_not_cut() -> None:
    graph = _summed(lambda a: ops.reduce(a, np.float64(0.0), ops.add, (0,)), 1000)
    assert split_reductions(graph) is graph


# ---- verify


def _changed(graph: Graph, **changes: Any) -> Graph:
    """The graph with its only output changed."""
    (output,) = graph.outputs
    return dataclasses.replace(graph, outputs=(dataclasses.replace(output, **changes),))


def test_whole_graphs_pass() -> None:
    verify(graph_of(lambda a: ops.exp(a) + a, LINE))


def test_a_wrong_type_is_noticed() -> None:
    with pytest.raises(BrokenGraphError, match=r"exp: f32\[6\]: the type should be f64\[6\]"):
        verify(_changed(graph_of(ops.exp, LINE), type=array_type("f32", (6,))))


def test_a_foreign_parameter_is_noticed() -> None:
    other = graph_of(ops.exp, LINE).parameters[0]
    with pytest.raises(BrokenGraphError, match="not among the parameters"):
        verify(_changed(graph_of(ops.exp, LINE), inputs=(other,)))


def test_a_pure_node_with_a_place_among_effects_is_noticed() -> None:
    with pytest.raises(BrokenGraphError, match="order of effects"):
        verify(_changed(graph_of(ops.exp, LINE), sequence=3))


def test_a_cycle_is_noticed() -> None:
    graph = graph_of(lambda a: ops.exp(ops.exp(a)), LINE)
    (output,) = graph.outputs
    object.__setattr__(output.inputs[0], "inputs", (output,))
    with pytest.raises(BrokenGraphError, match="before it is used"):
        verify(graph)


def test_the_setting_verifies_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = compile.graph_pass("broken", "break", lambda graph: _changed(graph, type=array_type("f32", (6,))))
    monkeypatch.setattr(compile, "STAGES", (compile.STAGES[0], broken))
    monkeypatch.setenv("XJIT_VERIFY", "1")
    with pytest.raises(xjit.TargetError, match="BrokenGraphError"):
        xjit.jit(lambda a: np.exp(a))(LINE)


# ---- interpret


def test_the_interpreter_owns_its_results() -> None:
    graph = graph_of(lambda a: (ops.reshape(a, (2, 3)), a), LINE)
    for result in interpret(graph, (LINE,)):
        assert not np.shares_memory(result, LINE)


def test_the_interpreter_notices_a_reference_that_contradicts_its_type() -> None:
    graph = graph_of(ops.exp, LINE)
    lying = dataclasses.replace(graph.outputs[0].op, reference=lambda a: np.exp(a).astype(np.float32))
    with pytest.raises(TypeError):
        interpret(_changed(graph, op=lying), (LINE,))


def test_deep_graphs_do_not_exhaust_the_stack() -> None:
    def deep(a: Any) -> Any:
        for _ in range(3000):
            a = ops.add(a, a)
        return a

    graph = graph_of(deep, np.zeros(1))
    assert len(graph.nodes) == 3001
    assert interpret(simplify(graph), (np.zeros(1),))[0] == 0.0


def test_equal_nodes_are_made_once() -> None:
    assert names(graph_of(lambda a: ops.add(ops.exp(a), ops.exp(a)), LINE)) == ["exp", "add"]


# ---- neutral choices


def test_what_changes_no_extreme_is_read_from_memory() -> None:
    x = np.ones((20, 30))

    def of(function: Callable[..., Any], *arrays: Any) -> str:
        return xjit.jit(function).source(*arrays)

    infinite = "as_f64(u64(18442240474082181120))"
    masked = of(lambda a: np.where(np.isnan(a), -np.inf, a).reshape(30, 20).max(axis=1), x)
    assert masked.count(infinite) == 1 and "ld(a1, 0)" in masked
    assert "ld(a1, 0)" in of(lambda a: np.where(a > 1, np.where(a > 2, a, -np.inf), 5.0).max(axis=1), x)
    # what a sum does with zeros LLVM knows how to do, and one instruction replaces NaN by what it is compared with
    assert "ld(a1, 0)" not in of(lambda a: np.where(np.isnan(a), 0.0, a).sum(axis=1), x)
    assert "ld(a1, 0)" not in of(lambda a: np.nanmax(a, axis=1), x)
    assert "ld(a1, 0)" not in of(lambda a: np.where(np.isnan(a), np.inf, a).max(axis=1), x)


def test_extremes_of_chosen_elements() -> None:
    x = np.random.default_rng(3).integers(-9, 9, (70, 90)).astype(np.float64)
    x[x == 3] = np.nan
    x[5] = np.nan
    for function in (
        lambda a: np.where(np.isnan(a), -np.inf, a).max(),
        lambda a: np.where(np.isnan(a), np.inf, a).min(axis=0),
        lambda a: np.min(a, axis=1, where=a > 2, initial=np.inf),
        lambda a: np.argmax(np.where(a > 2, a, -np.inf), axis=1),
        lambda a: (np.where(a > 0, a, -np.inf), np.where(a > 0, a, -np.inf).max(axis=1)),
    ):
        np.testing.assert_equal(xjit.jit(function)(x), function(x))


# ---- conversions that need no care

BELOW = 2.0**20
AT_EDGES = np.array(
    [*(sign * (BELOW + step) for sign in (-1, 1) for step in (-1.5, -0.5, 0.0, 0.5, 9e9)), np.nan, np.inf]
)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(np.abs(x) < BELOW, x, 0.0).astype(np.int32),
        lambda x: np.where((x >= -BELOW) & (x <= BELOW), x, 3.5).astype(np.int32),
        lambda x: np.floor(np.where(np.abs(x) <= BELOW, x, -0.5)).astype(np.int64),
    ],
)
def test_floats_that_are_proved_within_a_range_are_converted_by_an_instruction(function: Any) -> None:
    compiled = xjit.jit(function)
    np.testing.assert_array_equal(compiled(AT_EDGES), function(AT_EDGES))
    assert "to_i" not in compiled.source(AT_EDGES)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x <= BELOW, x, 0.0).astype(np.int32),
        lambda x: np.floor(np.where(x > BELOW, x, 1.0)).astype(np.int32),
        lambda x: np.where(np.abs(x + 1.0) < BELOW, x, 0.0).astype(np.int32),
        lambda x: np.where(np.abs(x) < BELOW, x, 2.0**31).astype(np.int32),
        lambda x: np.where(np.abs(x) < BELOW, x, np.nan).astype(np.int32),
        lambda x: np.where(np.abs(x) < BELOW, 0.0, x).astype(np.int32),
        lambda x: np.where((np.abs(x) < BELOW) | (x > 0.0), x, 0.0).astype(np.int32),
        lambda x: np.where(np.abs(x) < 2.0**31, x, 0.0).astype(np.int32),
        lambda x: np.where(np.abs(x) < BELOW, x, 0.0).astype(np.uint32),
        lambda x: x.astype(np.int32),
    ],
)
def test_other_floats_are_converted_with_care(function: Any) -> None:
    assert re.search(r"to_[iu]", xjit.jit(function).source(AT_EDGES))
