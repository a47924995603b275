"""Blocks that are added up by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured, assert_same_sum, summed
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.nodes import Grouping
from xjit.types import FLOAT32, FLOAT64, DType

BLOCKS = Split("j", 512, "b", "e")


def test_the_picture() -> None:
    assert_pictured(SumBlocks, summed(Grouping.BLOCKS), BLOCKS)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
@pytest.mark.parametrize("reducer", ["add", "mul"])
def test_blocks(reducer: str, dtype: DType, rng: np.random.Generator) -> None:
    before = summed(Grouping.BLOCKS, dtype, reducer)
    assert_same_sum(before, rewriting.rewritten(before, BLOCKS), rng)
    after = rewriting.rewritten(before, BLOCKS, SumBlocks("j"))
    assert_same_sum(before, after, rng)
    assert ("with errors" in rewriting.body_text(after)) == ((reducer, dtype) == ("add", FLOAT64))


def test_refusals() -> None:
    tested = summed(Grouping.BLOCKS)
    rewriting.assert_refused(SumBlocks("j"), tested, "not inside of one over blocks")
    small = rewriting.rewritten(tested, Split("j", 64, "b"))
    rewriting.assert_refused(SumBlocks("j"), small, "not inside of one over blocks")
    other = rewriting.rewritten(summed(Grouping.LANES), BLOCKS)
    rewriting.assert_refused(SumBlocks("j"), other, "nothing in the loop over j is added in blocks along b")
