"""Several loops as one line of elements."""

from __future__ import annotations

import numpy as np

from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured, of_views, summed
from xjit.codegen.rewrites.reductions.compensate import Compensate
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.stage_line import StageLine
from xjit.codegen.rewrites.reductions.sum_blocks import SumBlocks
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.nodes import Grouping

LINE = StageLine(("i", "j"), "b", "k")
SIZES = [{"n": n, "m": m} for n, m in ((0, 5), (3, 0), (1, 1), (3, 7), (5, 300), (600, 2), (2, 512))]


def test_the_picture() -> None:
    assert_pictured(StageLine, of_views())


def test_blocks_of_a_line(rng: np.random.Generator) -> None:
    before = of_views()
    rewriting.assert_same(before, rewriting.rewritten(before, LINE), SIZES, rng)
    rewrites = LINE, SumBlocks("k"), Compensate("s"), Lanes("k", "l"), Lanes("l", "m2")
    rewriting.assert_same(before, rewriting.rewritten(before, *rewrites), SIZES, rng)


def test_refusals() -> None:
    rewriting.assert_refused(StageLine(("j", "i"), "b", "k"), of_views(), "does not end with that over i")
    rewriting.assert_refused(StageLine(("j",), "b", "k"), summed(Grouping.LANES), "adds nothing in blocks along j")
    parts = rewriting.rewritten(of_views(), Split("j", 4, "p"))
    rewriting.assert_refused(StageLine(("i", "p"), "b", "k"), parts, "i, p do not run one by one")
    rewriting.assert_refused(StageLine(("i", "p", "j"), "b", "k"), parts, "more in it|is not as long every time")
