"""One loop of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError
from xjit.ir.loops.intexpr import IntExpr, constant, maximum
from xjit.ir.loops.nodes import Access, Argument, Buffer, Kernel, Loop, LoopKind, Store
from xjit.types import FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out"))


def increments(start: IntExpr = ZERO, stop: IntExpr = M, **fields: Any) -> Kernel:
    body = Store("out", (AT, J), both("add", load(X, AT, J), number(1.0, FLOAT64)))
    loops = Loop("i", ZERO, N, (Loop("j", start, stop, (body,), **fields),), **fields)
    return Kernel("increments", (Argument(X, Access.READ), Argument(OUT, Access.UPDATE)), (loops,))


def test_the_picture() -> None:
    rewriting.assert_pictured(Collapse, increments())


@pytest.mark.parametrize(
    "before",
    [
        increments(),
        increments(constant(1), maximum(M - 1, 1)),
        kernel((X, OUT), loop("i", N - 2, loop("j", M - 3, increments().body[0].body[0].body[0]))),
        increments(kind=LoopKind.PARALLEL),
        loop_kernels.column_sums(),
    ],
    ids=["all", "inside", "none on both sides", "parallel", "carried"],
)
def test_pairs(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, Collapse("i", "j", "k"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_refusals() -> None:
    for tested, reason in (
        (loop_kernels.row_sums(), "the loop over i has more in it than the loop over j"),
        (Parallelize("i").apply(increments()), "the loop over i is parallel, that inside for"),
        (increments(step=2), "the loop over i or j has steps"),
        (increments(AT), "the bounds of the loop over j depend on i"),
        (increments(constant(0), constant(0)), "the loop over j has no iterations"),
    ):
        with pytest.raises(RefusedError, match=reason):
            Collapse("i", "j", "k").apply(tested)
