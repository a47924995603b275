"""Memory of temporaries: what is not alive together shares it, and answers stay right."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_executors import one_kernel_for_each, run_parallel, run_uncompiled

import xjit
from xjit.fusion.memory import share_memory
from xjit.ir.context import PARAMETER
from xjit.ir.node import Node
from xjit.ir.where import NOWHERE
from xjit.types import DTYPES, array_type


def values(*counts: int) -> list[Node]:
    """Made-up values of so many float64 elements."""
    return [Node(PARAMETER, (), (("k", k),), array_type(DTYPES["f64"], (n,)), NOWHERE) for k, n in enumerate(counts)]


def test_values_that_are_not_alive_together_share() -> None:
    a, b, c, d = values(10, 10, 10, 10)
    plan = share_memory([a, b, c, d], [{a}, {a, b}, {b, c}, {c, d}])
    assert plan.sizes == (80, 80)
    assert plan.slots == {a: 0, b: 1, c: 0, d: 1}


def test_a_value_stays_alive_between_its_uses() -> None:
    a, b, c = values(10, 10, 10)
    plan = share_memory([a, b, c], [{a}, {b}, {b, c}, {a, c}])
    assert len({plan.slots[a], plan.slots[b], plan.slots[c]}) == 3


def test_the_tightest_memory_is_taken_and_the_largest_grows() -> None:
    large, small, fits, grows = values(100, 10, 9, 200)
    plan = share_memory([large, small, fits, grows], [{large, small}, {fits}, {grows}])
    assert plan.slots[fits] == plan.slots[small]
    assert plan.slots[grows] == plan.slots[large]
    assert sorted(plan.sizes) == [80, 1600]


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
