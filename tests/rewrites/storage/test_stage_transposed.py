"""Copies with rows and columns exchanged."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.rewrites.unroll import Unroll
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Accumulate, Alloc, Buffer, Carry, Invoke, Kernel, Store, Var
from xjit.types import FLOAT64

D = variable("d")
X, OUT = Buffer.packed("x", FLOAT64, N), Buffer.packed("out", FLOAT64, N, M)
A = Buffer.packed("a", FLOAT64, M, constant(5))
SCALED = kernel(
    (X, A, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), both("mul", load(X, AT), load(A, J, constant(3))))))
)
P, Q = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, M, N)
COPY = kernel((P, Q), loop("i", N, loop("j", M, Store("out", (J, AT), load(P, AT, J)))))


def test_the_picture() -> None:
    rewriting.assert_pictured(StageTransposed, SCALED)


def test_columns_side_by_side(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(SCALED, StageTransposed("a", "i", "t"))
    rewriting.assert_same(SCALED, after, rewriting.extents("n", "m"), rng)


def test_a_copy_in_tiles(rng: np.random.Generator) -> None:
    tiles = Tile(("i", "j"), (3, 4), ("bi", "bj"))
    after = rewriting.rewritten(COPY, tiles, StageTransposed("x", "i", "t"), Reorder(("j", "i")))
    text = rewriting.body_text(after)
    assert "alloc t: f64[4, 3]" in text and "out[j, i] = t[-bj + j, -bi + i]" in text
    assert "t[0, 0] = transposed x[bi, bj] of -bi + min(bi + 3, n) x -bj + min(bj + 4, m)" in text
    rewriting.assert_same(COPY, after, rewriting.extents("n", "m"), rng)


def test_a_packed_operand(rng: np.random.Generator) -> None:
    points = Buffer.packed("x", FLOAT64, N, constant(5))
    distance = both("sub", load(points, AT, D), load(A, J, D))
    body = (
        Carry("t", number(0.0, FLOAT64)),
        loop("d", 5, Accumulate("t", "add", both("mul", distance, distance))),
        Store("out", (AT, J), Var("t", FLOAT64)),
    )
    before = kernel((points, A, OUT), loop("i", N, loop("j", M, *body)))
    after = rewriting.rewritten(before, StageTransposed("a", "i", "packed"), Unroll("d"))
    assert "packed[4, j]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


SHIFTED = kernel((P, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), load(P, AT - 1, J)), start=1)))
CUBE = Buffer.packed("c", FLOAT64, N, N, M)
PLANES = kernel((CUBE, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), load(CUBE, AT, AT, J)))))


@pytest.mark.parametrize(
    ("before", "rewrite", "reason"),
    [
        (SCALED, StageTransposed("x", "i", "t"), "x is no argument of the kernel with rows and columns"),
        (kernel((OUT,), Alloc(A), loop("i", N)), StageTransposed("a", "i", "t"), "a is no argument of the kernel"),
        (kernel((P,), loop("i", N)), StageTransposed("x", "i", "t"), "the loop over i does not touch x"),
        (kernel((P,), loop("i", N, Invoke("s", ("x",)))), StageTransposed("x", "i", "t"), "a Invoke touches x"),
        (SHIFTED, StageTransposed("x", "i", "t"), "may begin before its first element"),
        (PLANES, StageTransposed("c", "i", "t"), "several planes of c are touched"),
    ],
)
def test_refusals(before: Kernel, rewrite: StageTransposed, reason: str) -> None:
    rewriting.assert_refused(rewrite, before, reason)


def test_one_plane(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(PLANES, StageTransposed("c", "j", "t"))
    rewriting.assert_same(PLANES, after, rewriting.extents("n", "m", block=3), rng)
