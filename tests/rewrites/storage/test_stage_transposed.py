"""Copies with rows and columns exchanged."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.rewrites.unroll import Unroll
from xjit.ir.loops.intexpr import constant, variable, word
from xjit.ir.loops.nodes import (
    UNKNOWN,
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    FromInt,
    If,
    Invoke,
    Kernel,
    LoopKind,
    Prim,
    Store,
    Var,
)
from xjit.types import BOOL, FLOAT64, INT64

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


PLANES, PIXELS = Buffer.packed("x", FLOAT64, N, M, constant(2)), Buffer.packed("out", FLOAT64, M, N, constant(2))
OF_PLANES = (Store("out", (J, AT, constant(c)), load(PLANES, AT, J, constant(1 - c))) for c in range(2))
COPIES = kernel((PLANES, PIXELS), loop("i", N, loop("j", M, *OF_PLANES)))


@pytest.mark.parametrize("buffer", ["x", "out"])
def test_planes_one_by_one(buffer: str, rng: np.random.Generator) -> None:
    axes = (0, 1) if buffer == "x" else (1, 0)
    stages = [StageTransposed(buffer, "i", f"t{c}", axes, "", 1, ((2, c),)) for c in range(2)]
    after = rewriting.rewritten(COPIES, Tile(("i", "j"), (3, 4), ("bi", "bj")), *stages)
    assert {f"alloc t{c}:" in rewriting.body_text(after) for c in range(2)} == {True}
    rewriting.assert_same(COPIES, after, rewriting.extents("n", "m"), rng)


def test_planes_together_are_refused() -> None:
    with pytest.raises(RefusedError, match="several planes of x"):
        rewriting.rewritten(COPIES, StageTransposed("x", "i", "t", (0, 1)))


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


NEAR = Prim("ge", (FromInt(AT - 1, INT64), number(0, INT64)), BOOL)
SHIFTED = kernel((P, OUT), loop("i", N, loop("j", M, If(NEAR, (Store("out", (AT, J), load(P, AT - 1, J)),)))))
CUBE = Buffer.packed("c", FLOAT64, N, N, M)
# Rows of which nobody says how many there are, side by side along the first axis.
X1 = Buffer("x", FLOAT64, (UNKNOWN, UNKNOWN), (constant(1), word("s")))
O1, O2 = (Buffer(name, FLOAT64, (UNKNOWN, UNKNOWN), (constant(1), word("s"))) for name in ("o", "o2"))
TILES = Tile(("i", "j"), (3, 4), ("bi", "bj"))


def across(*stores: Store, buffers: tuple[Buffer, ...]) -> Kernel:
    return rewriting.rewritten(kernel(buffers, loop("i", N, loop("j", M, *stores))), TILES)


READ = across(Store("out", (AT, J), load(X1, AT, J)), buffers=(X1, OUT))
WRITTEN = across(Store("o", (AT, J), load(OUT, AT, J)), buffers=(OUT, O1))
CHANGED = across(Store("o", (AT, J), both("mul", load(O1, AT, J), load(OUT, AT, J))), buffers=(OUT, O1))
BOTH_WAYS = across(Store("out", (AT, J), both("sub", load(X1, AT, J), load(X1, J, AT))), buffers=(X1, OUT))
SOME = across(Store("o", (AT, AT), load(OUT, AT, J)), buffers=(OUT, O1))
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
        (READ, StageTransposed("out", "i", "t", block=8, axes=(0, 1)), "along axis 0 of out do not lie side by side"),
        (SOME, StageTransposed("o", "i", "t"), "may leave out elements that o may not have"),
        (COPY, StageTransposed("x", "i", "t", along="j"), "does not touch x so"),
        (
            kernel((O1,), loop("i", N, loop("j", M, Store("o", (J, AT), load(O1, AT, J))))),
            StageTransposed("o", "i", "t", (0, 1), "j"),
            "writes o and touches it in several ways",
        ),
        (
            kernel((OUT, O1), loop("i", N, Store("o", (AT, AT), load(OUT, AT, AT)), kind=LoopKind.PARALLEL)),
            StageTransposed("o", "i", "t"),
            "the loop over i, which writes o, is parallel",
        ),
    ],
)
def test_refusals(before: Kernel, rewrite: StageTransposed, reason: str) -> None:
    rewriting.assert_refused(rewrite, before, reason)


def test_one_plane(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(PLANES, StageTransposed("c", "j", "t"))
    rewriting.assert_same(PLANES, after, rewriting.extents("n", "m", block=3), rng)


def test_what_is_written_is_copied_back(rng: np.random.Generator) -> None:
    before = kernel((P, Q), loop("i", N, loop("j", M, Store("out", (J, AT), load(P, AT, J)))))
    for block in (0, 1, 4):
        made = StageTransposed("out", "i", "t", (1, 0), block=block)
        after = rewriting.rewritten(before, TILES, made)
        assert "out[" in rewriting.body_text(after).splitlines()[-1]
        rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_what_is_written_here_and_there_is_read_before(rng: np.random.Generator) -> None:
    some = If(NEAR, (Store("out", (J, AT), load(P, AT, J)),))
    before = kernel((P, Q), loop("i", N, loop("j", M, some)))
    after = rewriting.rewritten(before, TILES, StageTransposed("out", "i", "t"))
    assert rewriting.body_text(after).count("transposed") == 2
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


@pytest.mark.parametrize(("before", "copies"), [(READ, 1), (WRITTEN, 1), (CHANGED, 2), (BOTH_WAYS, 1)])
def test_blocks_of_buffers_whose_extents_are_not_known(before: Kernel, copies: int) -> None:
    name = "x" if before in (READ, BOTH_WAYS) else "o"
    text = rewriting.body_text(rewriting.rewritten(before, StageTransposed(name, "i", "t", (0, 1), "j", 8)))
    assert text.count("transposed") == copies and "unknown" not in text
    assert "alloc t: f64[3, 4] for each iteration" in text
    assert ("x[j, i]" in text) == (before is BOTH_WAYS)


def test_loops_that_stand_around_need_iterations_for_a_copy(rng: np.random.Generator) -> None:
    before = kernel((X1, OUT), loop("i", N, loop("j", M, loop("k", 3, Store("out", (AT, J), load(X1, K, J))))))
    after = rewriting.rewritten(before, StageTransposed("x", "i", "t", (0, 1), block=8))
    assert rewriting.body_text(after).splitlines()[:2] == [
        "alloc t: f64[3, m] for each iteration",
        "if (s64(0) < s64(n)):",
    ]


def test_one_element_after_the_other(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(COPY, TILES, StageTransposed("x", "i", "t", (0, 1), block=1))
    text = rewriting.body_text(after)
    assert "t[-bi + t_row, -bj + t_column] = x[t_row, t_column]" in text
    rewriting.assert_same(COPY, after, rewriting.extents("n", "m"), rng)
