"""Rewrites of loops along which elements are added in an order."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import X, assert_same_sum, of_views, summed
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll import Unroll
from xjit.ir.loops.nodes import Accumulate, Carry, Grouping, Kernel, Order
from xjit.types import FLOAT64

FOUR = kernel(
    (X,),
    Carry("s", number(0.0, FLOAT64)),
    loop("j", 4, Accumulate("s", "add", load(X, J), order=Order(Grouping.LANES, J))),
)


@pytest.mark.parametrize("length", [8, 100, 512])
@pytest.mark.parametrize("grouping", [Grouping.BLOCKS, Grouping.LANES])
def test_a_line_that_is_split_stays_one(grouping: Grouping, length: int, rng: np.random.Generator) -> None:
    before = summed(grouping)
    lengths = (1, 511) if grouping is Grouping.LANES else (1, 600, 1100)
    assert_same_sum(before, rewriting.rewritten(before, Split("j", length, "b")), rng, *lengths)


@pytest.mark.parametrize(
    ("rewrite", "tested", "reason"),
    [
        (Collapse("i", "j", "k"), of_views(), "s takes elements in blocks along i"),
        (Unroll("j"), FOUR, "s takes elements in lanes along j"),
        (Reorder(("j", "i")), of_views(), "s is rounded in the order of the loops"),
        (Rfactor("j", 4, "p"), FOUR, "takes elements in lanes along j"),
    ],
)
def test_refusals(rewrite: Rewrite, tested: Kernel, reason: str) -> None:
    rewriting.assert_refused(rewrite, tested, reason)
