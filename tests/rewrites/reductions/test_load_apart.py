"""Loads that skip elements."""

from __future__ import annotations

import pytest

from tests.helpers.loop_kernels import J, M, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.reductions.sums import assert_pictured
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.reductions.load_apart import LoadApart
from xjit.ir.loops.intexpr import IntExpr
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Kernel, Order, Statement
from xjit.types import COMPLEX128, FLOAT64, DType


def stepping(*places: IntExpr, dtype: DType = FLOAT64) -> Kernel:
    x = Buffer.packed("x", dtype, N)
    steps: list[Statement] = [
        Accumulate("t", "add", load(x, place), order=Order(Grouping.LANES, J)) for place in places
    ]
    return kernel((x,), Carry("t", number(0.0, dtype)), loop("j", N, *steps))


def test_the_picture() -> None:
    assert_pictured(LoadApart, stepping(J * 2))


@pytest.mark.parametrize(
    "tested",
    [
        stepping(J),
        stepping(J * 9),
        stepping(J * 5),
        stepping(J * M),
        stepping(J * 2, J * 2 + 1),
        stepping(J * 2, dtype=COMPLEX128),
    ],
)
def test_refusals(tested: Kernel) -> None:
    rewriting.assert_refused(LoadApart("j", 32), tested, "reads nothing a short step apart")
