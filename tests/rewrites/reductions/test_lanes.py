"""Whole groups of lanes, and what is left of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured, assert_same_sum, summed
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.distribute import Distribute
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Kernel, Order, Store
from xjit.types import FLOAT32, FLOAT64, DType

GROUPS = Lanes("j", "k"), Lanes("k", "l")


def test_the_picture() -> None:
    assert_pictured(Lanes, summed(Grouping.LANES))


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
@pytest.mark.parametrize("reducer", ["add", "mul"])
def test_groups(reducer: str, dtype: DType, rng: np.random.Generator) -> None:
    before = summed(Grouping.LANES, dtype, reducer)
    for count in (1, 2):
        assert_same_sum(before, rewriting.rewritten(before, *GROUPS[:count]), rng, 0, 1, 7, 8, 33, 75, 127, 512)


def test_what_else_a_loop_does_is_done_once(rng: np.random.Generator) -> None:
    more = Store("x", (J,), number(2.0, FLOAT64))
    before = summed(Grouping.LANES, FLOAT64, "add", more)
    assert_same_sum(before, rewriting.rewritten(before, *GROUPS), rng, 1, 75, 512)


def test_a_length_that_is_known_leaves_out_empty_loops() -> None:
    before = of_length(64)
    text = rewriting.body_text(rewriting.rewritten(before, Lanes("j", "k")))
    assert "for k" not in text and "for j in 0 .. 64:" in text
    text = rewriting.body_text(rewriting.rewritten(of_length(5), Lanes("j", "k")))
    assert "for j" not in text and "for k in 0 .. 5:" in text


def of_length(length: int) -> Kernel:
    x = Buffer.packed("x", FLOAT64, N)
    step = Accumulate("s", "add", load(x, J), order=Order(Grouping.LANES, J))
    return kernel((x,), Carry("s", number(0.0, FLOAT64)), loop("j", length, step))


def of_two_sizes() -> Kernel:
    x, y = Buffer.packed("x", FLOAT64, N), Buffer.packed("y", FLOAT32, N)
    steps = [
        Accumulate(name, "add", load(one, J), order=Order(Grouping.LANES, J)) for name, one in (("s", x), ("t", y))
    ]
    carries = Carry("s", number(0.0, FLOAT64)), Carry("t", number(0.0, FLOAT32))
    return kernel((x, y), *carries, loop("j", N, *steps))


def test_refusals() -> None:
    rewriting.assert_refused(Lanes("j", "k"), summed(Grouping.BLOCKS), "have 0 sizes, not one")
    rewriting.assert_refused(Lanes("j", "k"), of_two_sizes(), "have 2 sizes, not one")
    apart = rewriting.rewritten(of_two_sizes(), Distribute("j", 1, "k"), Lanes("j", "l"), Lanes("k", "m"))
    assert "in 32 lanes" in rewriting.body_text(apart) and "in 64 lanes" in rewriting.body_text(apart)
