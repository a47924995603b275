"""Lanes that are scalars, and whole groups of lanes that wait in scratch in front of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.loop_kernels import J, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import X, assert_pictured, assert_same_sum, summed
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.lanes_in_scalars import LanesInScalars
from xjit.codegen.rewrites.reductions.stage_sums import StageSums
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Let, Prim, Store
from xjit.types import FLOAT32, FLOAT64, DType

LENGTHS = (0, 1, 7, 8, 9, 31, 32, 33, 75, 511)


def test_the_picture() -> None:
    step = loop("j", N * 8, Accumulate("s", "add", load(Buffer.packed("x", FLOAT64, N * 8), J), lanes=8))
    given = kernel((Buffer.packed("x", FLOAT64, N * 8),), Carry("s", number(0.0, FLOAT64)), step)
    assert_pictured(LanesInScalars, given)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
@pytest.mark.parametrize("reducer", ["add", "mul"])
def test_few_lanes(reducer: str, dtype: DType, rng: np.random.Generator) -> None:
    before = summed(Grouping.FEW_LANES, dtype, reducer)
    after = rewriting.rewritten(before, Lanes("j", "k"), LanesInScalars("j"))
    assert "lanes" not in rewriting.body_text(after)
    assert_same_sum(before, after, rng, *LENGTHS)


def test_signs_of_zeros_and_odd_numbers() -> None:
    before = summed(Grouping.FEW_LANES)
    after = rewriting.rewritten(before, Lanes("j", "k"), LanesInScalars("j"))
    for value in (-0.0, 0.0, np.inf, -np.inf, 1e308):
        for n in LENGTHS:
            given = {"x": np.full(n, value), "out": np.ones(1)}
            (one, _), (other, _) = (rewriting.executed(each, given, {"n": n}) for each in (before, after))
            assert one["out"].tobytes() == other["out"].tobytes(), (value, n)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_whole_groups_wait_and_the_rest_does_not(dtype: DType, rng: np.random.Generator) -> None:
    before = summed(Grouping.BLOCKS, dtype)
    blocks = Split("j", 512, "b"), SumBlocks("j")
    apart = Lanes("j", "k"), StageSums("j", "l"), UnrollAndJam("j", 4), Lanes("k", "m"), LanesInScalars("k")
    assert_same_sum(before, rewriting.rewritten(before, *blocks, *apart), rng)


def test_what_has_a_name_is_named_for_each_lane() -> None:
    named = Let("v", Prim("mul", (load(X, J), number(3.0, FLOAT64)), FLOAT64))
    before = summed(Grouping.FEW_LANES, FLOAT64, "add", named)
    text = rewriting.body_text(rewriting.rewritten(before, Lanes("j", "k"), LanesInScalars("j")))
    assert "v_7 = (x[j_7] * 3.0)" in text


def test_refusals() -> None:
    before = summed(Grouping.FEW_LANES)
    rewriting.assert_refused(LanesInScalars("j"), before, "or not at all")
    more = summed(Grouping.FEW_LANES, FLOAT64, "add", Store("x", (J,), number(2.0, FLOAT64)))
    rewriting.assert_refused(LanesInScalars("j"), rewriting.rewritten(more, Lanes("j", "k")), "more than to add")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("length", [8, 9, 20, 31, 32, 63, 64, 100, 600])
def test_products_of_columns_of_known_and_of_unknown_lengths(
    length: int, dtype: str, rng: np.random.Generator
) -> None:
    """The bits of a sum are those of its length, whoever knows it."""

    def known(a: Any, b: Any) -> Any:
        return (a[:, 1] * b[:, 2]).sum()

    a, b = rng.standard_normal((2, length, 5)).astype(dtype)
    long = np.concatenate((a, np.full_like(a, 7.0)))

    def limited(a: Any, b: Any, n: Any) -> Any:
        return (a[:n, 1] * b[:n, 2]).sum()

    found = xjit.xjit(known, strict=True)(a, b)
    np.testing.assert_allclose(found, known(a, b), rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5)
    counts = np.array([length])
    other = xjit.xjit(lambda a, b, n: limited(a, b, n[0]), strict=True)(long, np.concatenate((b, b)), counts)
    assert np.asarray(found).tobytes() == np.asarray(other).tobytes()
