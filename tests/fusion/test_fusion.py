"""Kernels of programs: which operations share one and why, none computed more often than it has elements."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from tests.helpers.kernel_executors import PROCESSOR, on, one_kernel_for_each, uncompiled
from tests.helpers.random_programs import random_program
from xjit import compile, ops, tree
from xjit.capture.capture import capture
from xjit.codegen.language import inline_functions
from xjit.compile import Lowered
from xjit.fusion import cost
from xjit.fusion.cost import evaluations
from xjit.fusion.plan import KernelStep
from xjit.fusion.regions import reads
from xjit.fusion.regions.reads import producer_slice
from xjit.fusion.statements import IndexedValue
from xjit.inspect.explain import Explanation
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ir.index_map import relabel
from xjit.ir.node import Node
from xjit.target import cpu
from xjit.types import FLOAT64, array_type

ROWS = np.ones((64, 100))
LINE = np.ones(100)


def explained(function: Callable[..., Any], *arguments: Any) -> Explanation:
    return xjit.jit(function).explain(*arguments)


def lowered(function: Callable[..., Any], *arguments: Any) -> Lowered:
    leaves, structure = tree.flatten((arguments, {}))
    found = capture(function, leaves, structure)
    values = found.guards.fetch(leaves)
    assert values is not None
    views = {output.index for output in found.outputs if output.view}
    shown = [n in views for n in range(len(found.graph.outputs))]
    return compile.lower_graph(found.graph, values, shown, target=cpu())


# ---- kernels


@pytest.mark.parametrize(
    ("function", "arguments", "operations", "moved"),
    [
        (formulas.chain, (ROWS, ROWS), {"mul": 2, "add": 2, "sub": 1}, 3 * 51_200),
        (formulas.softmax, (ROWS,), {"exp": 1, "reduce max": 1, "reduce add": 1, "div": 1}, 2 * 51_200),
        (formulas.layernorm, (ROWS, LINE, LINE), {"reduce add": 2, "sqrt": 1, "sub": 1}, 2 * 51_200 + 1_600),
        (formulas.variance, (ROWS,), {"reduce add": 2, "square": 1}, 51_200 + 512),
        (formulas.logsumexp, (ROWS,), {"exp": 1, "log": 1, "reduce max": 1, "reduce add": 1}, 51_200 + 512),
        (formulas.gelu, (ROWS, LINE), {"tanh": 1, "mul": 6, "add": 3}, 2 * 51_200 + 800),
        (formulas.black_scholes, (LINE, LINE, LINE), {"tanh": 2, "exp": 1, "log": 1, "sqrt": 1}, 5 * 800),
        (formulas.nearest, (ROWS, np.ones((30, 100))), {"reduce add": 1}, 51_200 + 24_000 + 512),
        (formulas.nearest, (ROWS, ROWS), {"reduce add": 1, "arg_reduce": 1}, 2 * 51_200 + 512),
        (formulas.sum_of_squares, (ROWS,), {"mul": 1, "reduce add": 1}, 51_200 + 8),
        (formulas.row_maximum, (ROWS,), {"reduce max": 1}, 51_200 + 512),
        (formulas.column_means, (ROWS,), {"reduce add": 1, "div": 1}, 51_200 + 800),
        (formulas.stencil, (LINE,), {"slice": 3, "mul": 1, "sub": 1, "add": 1}, 800 + 784),
        (formulas.outer_exponential, (LINE, np.ones((100, 50))), {"exp": 1, "mul": 1}, 800 + 2 * 40_000),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_kernel(function: Any, arguments: Any, operations: dict[str, int], moved: int) -> None:
    plan = explained(function, *arguments)
    assert len(plan.kernels) == len(plan.steps) == 1, plan
    counts = Counter(plan.kernels[0].operations)
    assert {name: counts[name] for name in operations} == operations
    assert plan.bytes_moved == plan.minimum_bytes == moved
    assert not plan.reasons


def test_large_full_reduction_takes_two_kernels() -> None:
    plan = explained(formulas.sum_of_squares, np.ones(100_000))
    assert [kernel.reduced for kernel in plan.kernels] == [(0,), (0,)]
    assert plan.kernels[1].domain == (7,)
    assert "mul" in plan.kernels[0].operations
    assert any("other extents" in reason for reason in plan.reasons)


def test_expensive_value_that_is_repeated_is_stored() -> None:
    plan = explained(lambda x, y: np.exp(x)[None, :] * y, LINE, np.ones((50, 100)))
    assert [kernel.domain for kernel in plan.kernels] == [(1, 100), (50, 100)]
    assert any("would be computed 5000 times" in reason for reason in plan.reasons)


def test_cheap_value_that_is_repeated_is_computed_again() -> None:
    plan = explained(lambda x, y: (x + 1.0)[None, :] * y, LINE, np.ones((50, 100)))
    assert len(plan.kernels) == 1


def test_stencil_of_an_expensive_value_stores_it() -> None:
    plan = explained(lambda x: formulas.stencil(np.exp(x)), LINE)
    assert [kernel.domain for kernel in plan.kernels] == [(100,), (98,)]
    assert any("exp" in reason and "is stored" in reason for reason in plan.reasons)


def test_joined_parts_share_loops() -> None:
    plan = explained(formulas.joined, LINE)
    assert len(plan.kernels) == 1
    assert plan.bytes_moved == plan.minimum_bytes == 3 * 800


def test_library_call_stands_between_kernels() -> None:
    plan = explained(lambda x, w: np.exp((x * 2.0) @ w), np.ones((8, 5)), np.ones((5, 4)))
    assert [step.split()[0] for step in plan.steps] == ["kernel", "library", "kernel"]
    assert "thread count" in plan.steps[1]


def test_siblings_share_loops() -> None:
    plan = explained(lambda x: (x.sum(axis=1), (x * x).sum(axis=1), x.max(axis=1), x + 1.0), ROWS)
    assert len(plan.kernels) == 1
    assert plan.kernels[0].bytes_read == ROWS.nbytes


def test_columns_and_rows_stay_apart() -> None:
    plan = explained(lambda x: (x.sum(axis=0), x.sum(axis=1)), ROWS)
    assert len(plan.kernels) == 2
    assert any("other reduced axes" in reason for reason in plan.reasons)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.tile(x, 3),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.broadcast_to(x[:, None], (64, 4, 100)).reshape(256, 100),
    ],
    ids=["tile", "repeat", "reshape"],
)
def test_the_copy_of_a_reshape_is_that_reshape(function: Any) -> None:
    plan = explained(function, ROWS)
    assert len(plan.steps) == len(plan.kernels) + 1 == 2, plan
    assert np.array_equal(xjit.jit(function)(ROWS), function(ROWS))


def test_a_copy_of_another_result_is_memory_of_its_own() -> None:
    def both(x: Any) -> Any:
        tiled = np.tile(x, 3)
        return tiled, tiled.copy(), np.broadcast_to(x, (3, 64, 100)).reshape(192, 100), tiled.reshape(3, -1)

    def shared(results: tuple[np.ndarray, ...]) -> list[list[bool]]:
        return [[np.shares_memory(one, other) for other in results] for one in results]

    assert shared(xjit.jit(both)(ROWS)) == shared(both(ROWS))


def test_reading_in_other_places_separates() -> None:
    plan = explained(lambda x: np.exp(x) - np.exp(x)[::-1], LINE)
    assert len(plan.kernels) == 2
    assert any("another position" in reason for reason in plan.reasons)


def test_long_programs_are_cut() -> None:
    def long(x: Any) -> Any:
        for _ in tuple(range(1500)):
            x = x * 1.5 - 0.5
        return x

    plan = xjit.jit(long, target=on(replace(PROCESSOR, kernel_operations=200))).explain(LINE)
    assert len(plan.kernels) >= 15
    assert all(len(kernel.operations) <= 200 for kernel in plan.kernels)


def test_nothing_is_fused_when_everything_is_stored() -> None:
    """The test executor that runs each operation on its own does what it says."""
    with one_kernel_for_each():
        plan = explained(formulas.chain, ROWS, ROWS)
    assert len(plan.kernels) > 6


# ---- no value is computed more often than it has elements


def _counted(found: Lowered) -> Counter[Node]:
    """Count the computations of each value, over all kernels, by the loops that its index depends on."""
    counts: Counter[Node] = Counter()
    for step in found.plan.steps:
        if isinstance(step, KernelStep):
            for group in step.groups:
                seen: set[IndexedValue] = set()
                for statement, axes in zip(group.statements, group.axes, strict=True):
                    for indexed in producer_slice(
                        statement, found.plan.leaves - {statement.target for statement in group.statements}
                    ).visits:
                        seen.add(IndexedValue(indexed.node, relabel(indexed.index, axes)))
                for indexed in seen:
                    counts[indexed.node] += evaluations(
                        group.dims, group.reduced, indexed.index, group.rank, PROCESSOR
                    )
    return counts


def assert_nothing_recomputed(function: Callable[..., Any], *arguments: Any) -> None:
    found = lowered(function, *arguments)
    table = cost.CostTable(found.plan.leaves, PROCESSOR)
    for node, times in _counted(found).items():
        cheap = table.total(node) <= PROCESSOR.load_cost
        assert times <= max(node.aval.size, 1) or cheap, f"{node} is computed {times} times"


@pytest.mark.parametrize("first", range(0, 300, 50))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_is_computed_twice(first: int) -> None:
    for seed in range(first, first + 50):
        program = random_program(random.Random(seed).choice)
        assert_nothing_recomputed(program.function(), *program.arguments())


def test_the_check_notices_recomputation() -> None:
    def repeated(x: Any) -> Any:
        powers = np.exp(x)
        return powers[1:] - powers[:-1]

    assert_nothing_recomputed(repeated, LINE)
    with mock.patch.object(cost, "is_worth_storing", lambda *_: False), pytest.raises(AssertionError):
        assert_nothing_recomputed(repeated, LINE)


def test_a_number_costs_the_elements_nothing_that_are_made_of_it() -> None:
    trace = Trace("numbers")
    x, a = (TracedValue(trace.parameter(one), trace) for one in (array_type(FLOAT64, (9,)), array_type(FLOAT64, ())))
    with tracing(trace):
        number = a
        for _ in range(8):
            number = ops.add(number, np.float64(1.0))
        shifted = ops.add(x, ops.broadcast_in_dim(number, (9,), ()))
    table = cost.CostTable({x.node, a.node}, PROCESSOR)
    assert table.total(shifted.node) == table.own(shifted.node)
    assert table.total(number.node) == 8 * table.own(number.node)


def calls_of(name: str, function: Callable[..., Any], *arguments: Any) -> int:
    """Count the calls of a vector math function, the kernels running uncompiled."""
    calls = 0
    namespace = inline_functions.namespace

    def counting(source: str) -> dict[str, Any]:
        def wrapped(original: Any) -> Any:
            def call(*values: Any) -> Any:
                nonlocal calls
                calls += 1
                return original(*values)

            return call

        return {key: wrapped(one) if key.startswith(name) else one for key, one in namespace(source).items()}

    with uncompiled(), mock.patch.object(inline_functions, "namespace", counting):
        xjit.jit(function)(*arguments)
    return calls


@pytest.mark.parametrize(
    ("function", "arguments", "most"),
    [
        (formulas.softmax, (np.ones((5, 30)),), 150),
        (formulas.logsumexp, (np.ones((5, 30)),), 150),
        (formulas.outer_exponential, (np.ones(7), np.ones((7, 20))), 7),
        (lambda x, y: np.exp(x)[None, :] * y, (np.ones(20), np.ones((7, 20))), 20),
        (lambda x: formulas.stencil(np.exp(x)), (np.ones(40),), 40),
        (lambda x: np.exp(x).reshape(4, 10)[:, ::-1].T - np.exp(x)[:10, None], (np.ones(40),), 40),
        (lambda x: np.concatenate([np.exp(x), np.exp(x) + 1.0]), (np.ones(40),), 40),
        (lambda x: (np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)).sum(axis=1), (np.ones((4, 30)),), 120),
    ],
    ids=range(8),
)
def test_exponentials_are_computed_once(function: Any, arguments: Any, most: int) -> None:
    assert 0 < calls_of("exp_", function, *arguments) <= most


def test_planning_slices_each_statement_once(monkeypatch: pytest.MonkeyPatch) -> None:
    slices: Counter[Any] = Counter()

    def counted(statement: Any, leaves: Any, most: float) -> Any:
        slices[statement] += 1
        return producer_slice(statement, leaves, most)

    monkeypatch.setattr(reads, "producer_slice", counted)

    def standardised(x: Any, labels: Any) -> Any:
        centred = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
        return (centred * labels[:, None]).sum(axis=0), np.exp(centred).sum(axis=1), centred[:, :3]

    explained(standardised, ROWS, np.ones(64))
    assert slices and set(slices.values()) == {1}


def test_the_index_map_of_a_node_is_made_once() -> None:
    turned = lowered(lambda x: x.T + 1.0, ROWS).graph.outputs[0].inputs[0]
    assert turned.access is not None and turned.access is turned.access
