"""Elements that wait before they are added up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured, assert_same_sum, summed
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.stage_sums import StageSums
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.nodes import Grouping
from xjit.types import FLOAT32, FLOAT64, DType


def test_the_picture() -> None:
    assert_pictured(StageSums, summed(Grouping.BLOCKS), Split("j", 512, "b"), SumBlocks("j"))


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_all_elements_and_what_is_left_of_groups(dtype: DType, rng: np.random.Generator) -> None:
    before = summed(Grouping.BLOCKS, dtype)
    blocks = Split("j", 512, "b"), SumBlocks("j")
    odd = StageSums("j", "k"), Lanes("k", "l"), Lanes("l", "m")
    long = Lanes("j", "k"), StageSums("k", "l"), Lanes("l", "m")
    for rewrites in (odd, long):
        assert_same_sum(before, rewriting.rewritten(before, *blocks, *rewrites), rng)


def test_refusals() -> None:
    rewriting.assert_refused(StageSums("j", "k"), summed(Grouping.BLOCKS), "nothing is added in lanes along j")
