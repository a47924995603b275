"""Memory of temporaries: what is not alive together shares it, and answers stay right."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import xjit
from tests.helpers.kernel_executors import one_kernel_for_each, run_parallel, run_uncompiled
from xjit.fusion.buffers.memory import share_memory
from xjit.ir.context import PARAMETER
from xjit.ir.node import Node
from xjit.ir.source_location import NOWHERE
from xjit.types import DTYPES, array_type


def values(*counts: int) -> list[Node]:
    """Made-up values of so many float64 elements."""
    return [Node(PARAMETER, (), (("k", k),), array_type(DTYPES["f64"], (n,)), NOWHERE) for k, n in enumerate(counts)]


def test_values_that_are_not_alive_together_share() -> None:
    a, b, c, d = values(16, 16, 16, 16)
    plan = share_memory([a, b, c, d], [{a}, {a, b}, {b, c}, {c, d}])
    assert plan.size == 256
    assert plan.offsets == {a: 0, b: 128, c: 0, d: 128}


def test_a_value_stays_alive_between_its_uses() -> None:
    a, b, c = values(16, 16, 16)
    plan = share_memory([a, b, c], [{a}, {b}, {b, c}, {a, c}])
    assert sorted(plan.offsets.values()) == [0, 128, 256]


def test_small_values_lie_side_by_side_in_the_place_of_a_large_one() -> None:
    large, small, other, late = values(100, 16, 16, 16)
    plan = share_memory([large, small, other, late], [{large}, {small, other}, {other, late}])
    assert plan.offsets == {large: 0, small: 0, other: 128, late: 0}
    assert plan.size == 800


def test_the_tightest_gap_is_taken() -> None:
    low, wide, middle, tight, high, late = values(32, 64, 40, 24, 48, 16)
    steps = [{low, wide, middle, tight, high}, {low, middle, high, late}]
    plan = share_memory([low, wide, middle, tight, high, late], steps)
    assert [plan.offsets[node] for node in (wide, high, middle, low, tight)] == [0, 512, 896, 1216, 1472]
    assert plan.offsets[late] == 0
    steps = [{low, wide, middle, tight, high}, {wide, middle, high, late}]
    plan = share_memory([low, wide, middle, tight, high, late], steps)
    assert plan.offsets[late] == 1216


def test_no_two_values_alive_together_overlap() -> None:
    rng = np.random.default_rng(3)
    nodes = values(*rng.integers(1, 400, 60).tolist())
    lives = dict(zip(nodes, np.sort(rng.integers(0, 30, (60, 2))).tolist(), strict=True))
    steps = [{node for node, (first, last) in lives.items() if first <= step <= last} for step in range(30)]
    plan = share_memory(nodes, steps)
    for alive in steps:
        spans = sorted((plan.offsets[node], plan.offsets[node] + node.aval.nbytes) for node in alive)
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
        assert all(begin % 64 == 0 and end <= plan.size for begin, end in spans)
    together = max(sum(node.aval.nbytes for node in alive) for alive in steps)
    assert together <= plan.size <= 1.15 * together


def chain(x: Any) -> Any:
    for _ in range(6):
        x = np.sqrt(np.abs(x @ x))
    return x


def test_long_chains_need_little_memory() -> None:
    x = np.random.default_rng(0).normal(size=(40, 40))
    plan = xjit.jit(chain).explain(x)
    assert 0 < plan.temporary_bytes <= 3 * x.nbytes
    np.testing.assert_allclose(xjit.jit(chain)(x), chain(x), rtol=1e-12)


def test_programs_of_many_kernels_stay_right() -> None:
    def program(x: Any, y: Any) -> Any:
        a = x + y
        b = a * x
        c = b - a
        d = c / y
        e = d * b
        return e + d, a

    x, y = np.random.default_rng(1).normal(size=(2, 500))
    for run in (run_uncompiled, run_parallel):
        with one_kernel_for_each():
            found = run(program, (x, y))
        for one, other in zip(found, program(x, y), strict=True):
            np.testing.assert_array_equal(one, other)
