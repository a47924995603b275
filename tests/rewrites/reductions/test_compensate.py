"""Rounding errors in a scalar of their own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, load
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured, assert_same_sum, summed
from xjit.codegen.rewrites.reductions.compensate import Compensate
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.intexpr import word
from xjit.ir.loops.nodes import Accumulate, Buffer, Grouping
from xjit.types import FLOAT64


def test_the_picture() -> None:
    assert_pictured(Compensate, summed(Grouping.ERRORS))


@pytest.mark.parametrize("grouping", [Grouping.ERRORS, Grouping.BLOCKS])
def test_sums(grouping: Grouping, rng: np.random.Generator) -> None:
    before = summed(grouping)
    blocks = (Split("j", 512, "b"), SumBlocks("j")) if grouping is Grouping.BLOCKS else ()
    assert_same_sum(before, rewriting.rewritten(before, *blocks, Compensate("s")), rng)


def test_what_a_float64_would_lose_is_kept() -> None:
    given = {"x": np.array([1.0, 1e100, 1.0, -1e100]), "out": np.zeros(1)}
    before = summed(Grouping.ERRORS)
    for tested in (before, rewriting.rewritten(before, Compensate("s"))):
        assert rewriting.executed(tested, given, {"n": 4})[0]["out"] == [2.0]


def test_an_infinite_sum_has_no_errors() -> None:
    given = {"x": np.array([np.inf, 1.0]), "out": np.zeros(1)}
    after = rewriting.rewritten(summed(Grouping.ERRORS), Compensate("s"))
    assert rewriting.executed(after, given, {"n": 2})[0]["out"] == [np.inf]


def test_refusals() -> None:
    rewriting.assert_refused(Compensate("r"), summed(Grouping.ERRORS), "there is no scalar r")
    rewriting.assert_refused(Compensate("s"), summed(Grouping.BLOCKS), "s is not added with errors")
    again = Accumulate("s", "add", load(Buffer.packed("x", FLOAT64, word("n")), J))
    rewriting.assert_refused(Compensate("s"), summed(Grouping.ERRORS, FLOAT64, "add", again), "not added with errors")
