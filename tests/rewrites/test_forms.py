"""Forms that the loops of kernels take, each as a list of rewrites of naive ones: a loop for each axis, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.ir.test_loop_programs import compiled, uncompiled
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.horizontal_fuse import HorizontalFuse
from xjit.codegen.rewrites.interchange import Interchange
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.skew import Skew
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.codegen.rewrites.storage.fold_storage import FoldStorage
from xjit.codegen.rewrites.storage.localize import Localize
from xjit.codegen.rewrites.storage.privatize import Privatize
from xjit.codegen.rewrites.storage.privatize_reduction import PrivatizeReduction
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.codegen.rewrites.values.early_exit import EarlyExit
from xjit.codegen.rewrites.values.precompute import Precompute
from xjit.codegen.rewrites.values.share import Share
from xjit.codegen.rewrites.values.specialize_rare import SpecializeRare
from xjit.codegen.text.source import kernel_text
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    If,
    Kernel,
    Let,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.types import BOOL, FLOAT64, DType

Words = Sequence[Mapping[str, int]]
J2, J3, J4, L = (variable(name) for name in ("j2", "j3", "j4", "l"))
X, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out"))
S, T = Var("s", FLOAT64), Var("t", FLOAT64)
ZERO, LEAST = number(0.0, FLOAT64), number(-np.inf, FLOAT64)


def checked(before: Kernel, rewrites: Sequence[Rewrite], words: Words, rng: np.random.Generator) -> Kernel:
    """The kernel after rewrites, which gives the same bits in Python, as text and as machine code."""
    after = rewriting.rewritten(before, *rewrites)
    rewriting.assert_same(before, after, words, rng)
    text = kernel_text(after)
    most = max(words, key=lambda one: sum(one.values()))
    given = rewriting.arrays(before, most, rng)
    expected, _ = rewriting.executed(before, given, most)
    for run in (uncompiled, compiled):
        copies = {name: array.copy() for name, array in given.items()}
        run(text, after, copies, most)
        for name, array in expected.items():
            np.testing.assert_array_equal(copies[name], array, err_msg=f"{name} by {run.__name__}")
    return after


BOTH = list(rewriting.extents("n", "m"))
ONE = list(rewriting.extents("n"))


def softmax() -> Kernel:
    """Rows of exponentials, as shares of their sum: every value is an array."""
    top, total = Buffer.packed("top", FLOAT64, N), Buffer.packed("total", FLOAT64, N)
    e = Buffer.packed("e", FLOAT64, N, M)
    rows = [variable(name) for name in ("i", "i2", "i3", "i4")]
    largest = Accumulate("t", "max", load(X, rows[0], J))
    exponential = Prim("exp", (both("sub", load(X, rows[1], J2), load(top, rows[1])),), FLOAT64)
    share = both("div", load(e, rows[3], J4), load(total, rows[3]))
    return kernel(
        (X, OUT),
        *map(Alloc, (top, total, e)),
        loop("i", N, Carry("t", LEAST), loop("j", M, largest), Store("top", (rows[0],), T)),
        loop("i2", N, loop("j2", M, Store("e", (rows[1], J2), exponential))),
        loop(
            "i3",
            N,
            Carry("s", ZERO),
            loop("j3", M, Accumulate("s", "add", load(e, rows[2], J3))),
            Store("total", (rows[2],), S),
        ),
        loop("i4", N, loop("j4", M, Store("out", (rows[3], J4), share))),
    )


def test_rows_of_a_softmax(rng: np.random.Generator) -> None:
    rewrites = (
        StageInOutput("e", "out"),
        Fuse("i", "i2"),
        Fuse("i", "i3"),
        Fuse("i", "i4"),
        Localize("top", "i"),
        Localize("total", "i"),
        Fuse("j2", "j3"),
        Parallelize("i"),
    )
    after = checked(softmax(), rewrites, BOTH, rng)
    assert rewriting.body_text(after).splitlines() == [
        "parallel i in 0 .. n:",
        "  alloc total: f64[1] for each iteration",
        "  alloc top: f64[1] for each iteration",
        "  carry t: f64 = -inf",
        "  for j in 0 .. m:",
        "    t = max(t, x[i, j])",
        "  top[0] = t",
        "  carry s: f64 = 0.0",
        "  for j2 in 0 .. m:",
        "    out[i, j2] = exp((x[i, j2] - top[0]))",
        "    s = add(s, out[i, j2])",
        "  total[0] = s",
        "  for j4 in 0 .. m:",
        "    out[i, j4] = (out[i, j4] / total[0])",
    ]


def test_columns_in_blocks_of_accumulators(rng: np.random.Generator) -> None:
    tiles = Tile(("i", "j"), (3, 4), ("bi", "bj")), Reorder(("bj", "bi", "i", "j"))
    rewrites = *tiles, Privatize("s", "bj", "acc"), Parallelize("bj")
    checked(loop_kernels.column_sums(), rewrites, BOTH, rng)


def test_columns_of_naive_sums(rng: np.random.Generator) -> None:
    line = Buffer.packed("line", FLOAT64, M)
    weight = Let("v", Prim("exp", (load(X, AT, constant(0)),), FLOAT64))
    step = Accumulate("t", "add", both("mul", Var("v", FLOAT64), load(X, AT, J)))
    column = Carry("t", ZERO), loop("i", N, weight, step), Store("line", (J,), T)
    before = kernel((X, line), loop("j", M, *column))
    blocks = Parallelize("j"), Interchange("j", ("i",), 3, "b")
    strips = Split("i", 8, "rows"), Precompute("i", ("v",), "ahead"), UnrollAndJam("i", 4)
    after = checked(before, [*blocks, *strips], [one for one in BOTH if one["m"]], rng)
    lines = [line.strip() for line in rewriting.body_text(after).splitlines()]
    loops = [line.split()[1] for line in lines if line.startswith("for ")]
    assert loops == ["j", "rows", "ahead", "i", "j_2", "i_tail", "j_2_tail", "j_3"]


def test_several_rows_for_each_pass_over_the_columns(rng: np.random.Generator) -> None:
    after = checked(loop_kernels.column_sums(), [UnrollAndJam("i", 4)], BOTH, rng)
    assert "for i in 0 .. n - 3 by 4:" in rewriting.body_text(after)
    checked(
        loop_kernels.column_sums(), [Split("j", 4, "b"), Reorder(("b", "i", "j")), UnrollAndJam("i", 4)], BOTH, rng
    )


def smoothed() -> Kernel:
    x = Buffer.packed("x", FLOAT64, N + 2, M)
    near = both("add", both("add", load(x, AT, J), load(x, AT + 1, J)), load(x, AT + 2, J))
    return kernel((x, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), near))))


def test_pairs_of_rows_with_an_overlapping_last_one(rng: np.random.Generator) -> None:
    after = checked(smoothed(), [UnrollAndJam("i", 2, Tail.OVERLAP), Share("j", "v")], BOTH, rng)
    lines = rewriting.body_text(after).splitlines()
    assert lines[:3] == ["for i in 0 .. n by 2:", "  if (s64(n) >= 2):", "    i_at = min(i, n - 2)"]
    assert sum("x[i_at" in line for line in lines) == 4  # elements of four rows for two of three
    blocks = Split("i", 8, "b"), Parallelize("b"), UnrollAndJam("i", 2, Tail.OVERLAP), Share("j", "v")
    checked(smoothed(), blocks, BOTH, rng)


def test_a_short_loop_around_pixels_is_written_out(rng: np.random.Generator) -> None:
    c, image = variable("c"), Buffer.packed("image", FLOAT64, N, constant(3))
    planes = Buffer.packed("planes", FLOAT64, constant(3), N)
    weight = Buffer.packed("weight", FLOAT64, N)
    pixels = loop("i", N, Store("planes", (c, AT), both("mul", load(image, AT, c), load(weight, AT))))
    before = kernel((image, weight, planes), loop("c", 3, pixels))
    rewrites = Parallelize("i"), UnrollAndJam("c", 3), Unroll("c"), Share("i", "v")
    after = checked(before, rewrites, ONE, rng)
    assert rewriting.body_text(after).splitlines() == [
        "parallel i in 0 .. n:",
        "  v0 = weight[i]",
        "  planes[0, i] = (image[i, 0] * v0)",
        "  planes[1, i] = (image[i, 1] * v0)",
        "  planes[2, i] = (image[i, 2] * v0)",
    ]


def cross(source: Buffer, target: Buffer, names: Sequence[str], margin: int) -> Statement:
    """A stencil over the neighbours of both axes, away from the border."""
    i, j = map(variable, names)
    total: Value = load(source, i, j)
    for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        total = both("add", total, load(source, i + a, j + b))
    inner = loop(names[1], M - margin, Store(target.name, (i, j), total), start=margin)
    return loop(names[0], N - margin, inner, start=margin)


def test_a_stencil_of_a_stencil_in_overlapping_tiles(rng: np.random.Generator) -> None:
    t = Buffer.packed("t", FLOAT64, N, M)
    before = kernel((X, OUT), Alloc(t), cross(X, t, ("i", "j"), 1), cross(t, OUT, ("k", "l"), 2))
    rewrites = Tile(("k", "l"), (3, 4), ("bk", "bl")), ComputeAt(("t",), "bl"), Parallelize("bk")
    words = [{"n": n, "m": m} for n in (0, 2, 4, 5, 8, 11) for m in (3, 5, 9)]
    after = checked(before, rewrites, words, rng)
    assert "alloc t: f64[5, 6] for each iteration" in rewriting.body_text(after)


def test_a_running_sum_that_is_read_some_steps_later(rng: np.random.Generator) -> None:
    c = Buffer.packed("c", FLOAT64, N + 5)
    line, out = Buffer.packed("line", FLOAT64, N + 5), Buffer.packed("out", FLOAT64, N)
    scan = loop("i", N + 5, Accumulate("s", "add", load(line, AT)), Store("c", (AT,), S))
    window = loop("k", N, Store("out", (K,), both("sub", load(c, K + 5), load(c, K))))
    before = kernel((line, out), Alloc(c), Carry("s", ZERO), scan, window)
    window_of_8 = Skew("i", "k", 5), FoldStorage("c", 8)
    before = kernel((line, out), loop("once", 1, *before.body))
    after = checked(before, window_of_8, ONE, rng)
    assert "alloc c: f64[8] for each iteration" in rewriting.body_text(after)
    assert "out[i - 5] = (c[(i % 8)] - c[((i - 5) % 8)])" in rewriting.body_text(after)


def test_a_transposed_copy_in_tiles(rng: np.random.Generator) -> None:
    out = Buffer.packed("out", FLOAT64, M, N)
    before = kernel((X, out), loop("i", N, loop("j", M, Store("out", (J, AT), load(X, AT, J)))))
    tiles = Tile(("i", "j"), (4, 4), ("bi", "bj"))
    rewrites = tiles, StageTransposed("x", "i", "t"), Reorder(("j", "i")), Parallelize("bi")
    after = rewriting.rewritten(before, *rewrites)
    rewriting.assert_same(before, after, BOTH, rng)
    assert "= transposed x[bi, bj] of" in rewriting.body_text(after)


def test_a_packed_operand_of_short_sums(rng: np.random.Generator) -> None:
    points, centres = (
        Buffer.packed("points", FLOAT64, N, constant(3)),
        Buffer.packed("centres", FLOAT64, M, constant(3)),
    )
    d = variable("d")
    apart = both("sub", load(points, AT, d), load(centres, J, d))
    total = loop("d", 3, Accumulate("t", "add", both("mul", apart, apart)))
    body = Carry("t", ZERO), total, Store("out", (AT, J), T)
    before = kernel((points, centres, OUT), loop("i", N, loop("j", M, *body)))
    after = rewriting.rewritten(before, StageTransposed("centres", "i", "packed"), Unroll("d"), Parallelize("i"))
    rewriting.assert_same(before, after, BOTH, rng)
    assert "packed[2, j]" in rewriting.body_text(after)


def total_of_a_line(dtype: DType) -> Kernel:
    line, r = Buffer.packed("line", dtype, N), Buffer.packed("r", dtype, constant(1))
    step = loop("i", N, Accumulate("t", "add", load(line, AT)))
    return kernel((line, r), Carry("t", number(0, dtype)), step, Store("r", (constant(0),), Var("t", dtype)))


def test_a_sum_in_parts(rng: np.random.Generator) -> None:
    # Integers: a sum of floats is rounded otherwise, as the names of these rewrites say.
    before = total_of_a_line(np.dtype(np.int64))
    before = kernel([one.buffer for one in before.arguments], loop("once", 1, *before.body))
    checked(before, [Rfactor("i", 4, "p")], ONE, rng)


def test_a_sum_of_chunks_on_threads(rng: np.random.Generator) -> None:
    rewrites = Split("i", 4, "b"), PrivatizeReduction("t", "b", "chunk"), Parallelize("chunk_at")
    before = total_of_a_line(np.dtype(np.int64))
    after = rewriting.rewritten(before, *rewrites, Rfactor("i", 2, "p"))
    rewriting.assert_same(before, after, ONE, rng)


def test_a_question_that_ends_with_the_block_that_answers_it(rng: np.random.Generator) -> None:
    r = Buffer.packed("r", BOOL, N)
    negative = both("lt", load(X, AT, J), number(-2.0, FLOAT64), BOOL)
    flag = Var("any", BOOL)
    body = Carry("any", number(False, BOOL)), loop("j", M, Accumulate("any", "or", negative)), Store("r", (AT,), flag)
    before = kernel((X, r), loop("i", N, *body))
    checked(before, [Split("j", 4, "b"), EarlyExit("b"), Parallelize("i")], BOTH, rng)


def test_rare_arguments_in_blocks(rng: np.random.Generator) -> None:
    wave = Store("out", (AT, J), Prim("sin", (both("mul", load(X, AT, J), number(1e5, FLOAT64)),), FLOAT64))
    before = kernel((X, OUT), loop("i", N, loop("j", M, wave)))
    checked(before, [Split("j", 4, "b"), SpecializeRare("j", "far"), Parallelize("i")], BOTH, rng)


def test_borders_share_the_loop_of_the_interior(rng: np.random.Generator) -> None:
    x, out = Buffer.packed("x", FLOAT64, N + 2, M), Buffer.packed("out", FLOAT64, N + 2, M)
    first = loop("j", M, Store("out", (constant(0), J), load(x, constant(0), J)))
    inner = loop("k", M, Store("out", (AT + 1, K), both("sub", load(x, AT + 2, K), load(x, AT, K))))
    last = loop("l", M, Store("out", (N + 1, L), load(x, N + 1, L)))
    before = kernel((x, out), first, loop("i", N, inner), last)
    rewrites = Parallelize("i"), HorizontalFuse(("j", "i", "l"), "step", 1, whole=("j", "l"))
    checked(before, rewrites, BOTH, rng)


def test_an_else_follows_its_if(rng: np.random.Generator) -> None:
    """Only the second block needs the place of the row in a loop further in, which gets a name in front of both."""
    copied = loop("j", M, Store("out", (AT, J), load(X, AT, J)))
    cleared = loop("k", M, Store("out", (constant(0), K), ZERO))
    below = Prim("gt", (load(X, AT, constant(0)), ZERO), BOOL)
    before = kernel((X, OUT), loop("i", N, If(below, (cleared,), (copied,))))
    checked(before, (), [{"n": 7, "m": 5}], rng)
