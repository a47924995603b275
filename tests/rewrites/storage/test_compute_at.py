"""Scratch that is made where it is read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.codegen.rewrites.tile import Tile
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable, word
from xjit.ir.loops.nodes import Accumulate, Alloc, Buffer, Carry, Kernel, Let, Statement, Store, Var
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N) for name in ("x", "t", "out"))
ONE = number(1.0, FLOAT64)
SQUARES = loop("i", N, Store("t", (AT,), both("mul", load(X, AT), load(X, AT))))
SUMS = loop("k", N - 1, Store("out", (K,), both("add", load(T, K - 1), load(T, K + 1))), start=1)


def line(*body: Statement) -> Kernel:
    return kernel((X, OUT), Alloc(T), *body)


def test_the_picture() -> None:
    rewriting.assert_pictured(ComputeAt, rewriting.rewritten(line(SQUARES, SUMS), Split("k", 512, "b")))


def test_tiles_of_a_line_with_a_halo(rng: np.random.Generator) -> None:
    before = line(SQUARES, SUMS)
    after = rewriting.rewritten(before, Split("k", 4, "b"), ComputeAt(("t",), "b"), Parallelize("b"))
    assert "alloc t: f64[6]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_one_element_at_a_time(rng: np.random.Generator) -> None:
    before = line(SQUARES, SUMS)
    after = rewriting.rewritten(before, ComputeAt(("t",), "k"))
    assert "alloc t: f64[3]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_ends_of_the_nest_are_kept(rng: np.random.Generator) -> None:
    near = loop("l", minimum(K + 2, N), Store("out", (K,), both("add", load(OUT, K), load(T, variable("l")))))
    near = loop("l", near.stop, *near.body, start=maximum(K - 1, 0))
    before = line(SQUARES, loop("k", N, near))
    after = rewriting.rewritten(before, Split("k", 3, "b"), ComputeAt(("t",), "b"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


I2, J2, K2, L2 = (variable(name) for name in "ijkl")
X2, T2, U2, OUT2 = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "t", "u", "out"))


def cross(source: Buffer, target: Buffer, names: str, margin: int) -> Statement:
    """A five-point stencil, away from the border."""
    i, j = map(variable, names)
    near = [load(source, i + a, j + b) for a, b in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]
    total = near[0]
    for one in near[1:]:
        total = both("add", total, one)
    inner = loop(names[1], M - margin, Store(target.name, (i, j), total), start=margin)
    return loop(names[0], N - margin, inner, start=margin)


TWICE = kernel((X2, OUT2), Alloc(T2), cross(X2, T2, "ij", 1), cross(T2, OUT2, "kl", 2))
THRICE = kernel(
    (X2, OUT2), Alloc(T2), Alloc(U2), cross(X2, T2, "ij", 1), cross(T2, U2, "pq", 2), cross(U2, OUT2, "kl", 3)
)


@pytest.mark.parametrize("at", ["bk", "bl", "k", "l"])
def test_a_stencil_of_a_stencil_in_tiles(at: str, rng: np.random.Generator) -> None:
    tiles = Tile(("k", "l"), (3, 4), ("bk", "bl"))
    after = rewriting.rewritten(TWICE, tiles, ComputeAt(("t",), at))
    several = [{"n": n, "m": m} for n in (0, 3, 4, 8) for m in (2, 5, 9)]
    rewriting.assert_same(TWICE, after, several, rng)


def test_tiles_have_halos_on_both_sides() -> None:
    tiles = Tile(("k", "l"), (16, 32), ("bk", "bl"))
    text = rewriting.body_text(rewriting.rewritten(TWICE, tiles, ComputeAt(("t",), "bl")))
    assert "alloc t: f64[18, 34]" in text
    assert "for i in bk - 1 .. min(bk + 16, n - 2) + 1:" in text
    assert "for j in bl - 1 .. min(bl + 32, m - 2) + 1:" in text


def test_three_stencils_in_tiles(rng: np.random.Generator) -> None:
    tiles = Tile(("k", "l"), (3, 4), ("bk", "bl"))
    after = rewriting.rewritten(THRICE, tiles, ComputeAt(("u",), "bl"), ComputeAt(("t",), "bl"))
    text = rewriting.body_text(after)
    assert "alloc t: f64[7, 8]" in text and "alloc u: f64[5, 6]" in text
    rewriting.assert_same(THRICE, after, [{"n": n, "m": m} for n in (5, 7, 10) for m in (0, 6, 11)], rng)
    parallel = rewriting.rewritten(after, Parallelize("bk"))
    rewriting.assert_same(THRICE, parallel, [{"n": 10, "m": 11}], rng)


def test_sums_are_moved(rng: np.random.Generator) -> None:
    total = Var("s", FLOAT64)
    sums = loop(
        "i", N, Carry("s", ONE), loop("j", M, Accumulate("s", "add", load(X2, I2, J2))), Store("t", (I2,), total)
    )
    spread = loop("k", N, loop("l", M, Store("out", (K2, L2), both("sub", load(X2, K2, L2), load(T, K2)))))
    before = kernel((X2, OUT2), Alloc(T), sums, spread)
    after = rewriting.rewritten(before, ComputeAt(("t",), "k"))
    assert "alloc t: f64[1]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m", block=3), rng)


def remainders() -> Statement:
    return loop("l", N, Store("out", (K,), load(T, (variable("l") * 7) % 3)))


READER = loop("k", N, Store("out", (K,), load(T, K)))
READER_OF_X = loop("k", N, Store("out", (K,), load(X, K)))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, T, OUT), SQUARES, SUMS), "t is no scratch of an iteration"),
        (line(SQUARES, loop("l", N, Store("t", (variable("l"),), ONE)), READER), ""),
        (
            line(SQUARES, READER, loop("l", N, Store("t", (variable("l"),), ONE))),
            "not made by nests of loops in front",
        ),
        (line(Store("t", (constant(0),), ONE), READER), "not made by nests of loops in front"),
        (line(loop("i", N, Store("t", (AT,), ONE), Store("x", (AT,), ONE)), READER), "do more than that"),
        (line(loop("i", 1, loop("j", N, Store("t", (AT + variable("j"),), ONE))), READER), "not those of its axes"),
        (line(loop("i", 1, Store("t", (AT * 0,), ONE)), READER), "not those of its axes"),
        (kernel((X, OUT), loop("h", 2, Alloc(T), SQUARES), READER_OF_X), "is not in the block of t"),
        (line(loop("i", N // 2, Store("t", (AT * 2,), ONE)), READER), "not those of its axes"),
        (line(loop("i", N, loop("j", 2, Store("t", (AT,), ONE))), READER), ""),
        (line(loop("i", N, Store("t", (AT,), ONE), step=2), READER), "the loop over i is for by 2"),
        (line(SQUARES, loop("k", N, Store("x", (K,), load(T, K)))), "x, which t is made of, changes before"),
        (line(SQUARES, loop("l", N, Store("x", (variable("l"),), ONE)), READER), "x, which t is made of, changes"),
        (line(SQUARES, READER, Let("v", load(T, constant(0)))), "t is not read in the loop over k alone"),
        (line(SQUARES, loop("k", N, Store("out", (K,), ONE))), "t is not read in the loop over k alone"),
        (line(SQUARES, loop("k", N, loop("l", N, Store("out", (K,), load(T, variable("l")))))), ""),
        (line(SQUARES, loop("k", N, remainders())), "not known from where to where"),
        (line(SQUARES, loop("k", N, loop("l", K, Store("out", (K,), load(T, variable("l")))))), "not known how far"),
        (line(loop("i", N - 1, Store("t", (AT + 1,), load(T, AT))), READER), "t is made of its own elements"),
    ],
)
def test_refusals(before: Kernel, reason: str, rng: np.random.Generator) -> None:
    if reason:
        rewriting.assert_refused(ComputeAt(("t",), "k"), before, reason)
    else:
        rewriting.assert_same(
            before, rewriting.rewritten(before, ComputeAt(("t",), "k")), rewriting.extents("n"), rng
        )


@pytest.mark.parametrize("index", [(I2, I2), (I2, constant(0)), (I2, I2 + J2), (J2, J2 + 1)])
def test_every_axis_has_a_loop(index: tuple[IntExpr, IntExpr]) -> None:
    fill = loop("i", N, loop("j", M, Store("t", index, ONE)))
    use = loop("k", N, loop("l", M, Store("out", (K2, L2), load(T2, K2, L2))))
    rewriting.assert_refused(ComputeAt(("t",), "l"), kernel((X2, OUT2), Alloc(T2), fill, use), "those of its axes")
    rows = loop("i", N, Store("t", (I2, constant(0)), ONE)), loop("i", N, Store("t", (I2, I2), ONE))
    for one in rows:
        before = kernel((X2, OUT2), Alloc(T2), one, use)
        rewriting.assert_refused(ComputeAt(("t",), "l"), before, "those of its axes")


def test_scalars_that_change_are_needed_where_they_are() -> None:
    fill = loop("i", N, Store("t", (AT,), Var("s", FLOAT64)))
    change = loop("j", N, Accumulate("s", "add", ONE))
    before = kernel((X, OUT), Carry("s", ONE), Alloc(T), fill, change, READER)
    rewriting.assert_refused(ComputeAt(("t",), "k"), before, "s, which t is made of, changes before it is read")


def test_pairs_of_a_collapsed_loop_read_no_interval() -> None:
    square = loop("k", N, loop("l", M, Store("out", (K2, L2), load(T2, K2, L2))))
    fill = loop("i", N, loop("j", M, Store("t", (I2, J2), load(X2, I2, J2))))
    before = rewriting.rewritten(kernel((X2, OUT2), Alloc(T2), fill, square), Collapse("k", "l", "p"))
    after = rewriting.rewritten(before, ComputeAt(("t",), "p"))
    assert "alloc t: f64[1, 1]" in rewriting.body_text(after)


def test_parts_of_a_buffer_run_over_what_of_them_is_needed(rng: np.random.Generator) -> None:
    """The ends of a line, its middle, and a loop that makes two buffers; where each begins is a word."""
    first, count = word("first"), word("count")
    t, u, x, out = (Buffer.packed(name, FLOAT64, first + count + 1) for name in ("t", "u", "x", "out"))
    before = kernel(
        (x, out),
        Alloc(t),
        Alloc(u),
        loop("i", first, Store("t", (AT,), load(x, AT)), Store("u", (AT,), both("mul", load(x, AT), load(x, AT)))),
        loop("j", count, Store("t", (J2 + first,), load(x, J2 + first))),
        loop("p", 1, Store("t", (variable("p") + (first + count),), ONE)),
        loop("h", count + 1, Store("u", (variable("h") + first,), load(t, variable("h") + first))),
        loop("k", first + count, Store("out", (K,), both("add", load(t, K + 1), load(u, K)))),
    )
    size = word("size")
    after = rewriting.rewritten(before, Split("k", size, "b"), ComputeAt(("t", "u"), "b"), Parallelize("k"))
    text = rewriting.body_text(after)
    assert "alloc t: f64[size + 1] for" in text and "alloc u: f64[size + 1] for" in text
    assert "for j in max(0, b*size - first) .. min(-first + min(b*size + size, count + first) + 1, count):" in text
    words = [{"first": a, "count": b, "size": c} for a in (0, 1, 7) for b in (0, 1, 9) for c in (1, 3, 20)]
    rewriting.assert_same(before, after, words, rng)


def test_an_axis_of_which_all_is_needed_stays_whole(rng: np.random.Generator) -> None:
    fill = loop("i", N, loop("j", M, Store("t", (I2, J2), load(X2, I2, J2))))
    use = loop("k", N - 1, loop("l", M, Store("out", (K2, L2), load(T2, K2 + 1, (L2 * 7) % 2))))
    before = kernel((X2, OUT2), Alloc(T2), fill, use)
    after = rewriting.rewritten(before, Split("k", 4, "b"), ComputeAt(("t",), "b"))
    assert "alloc t: f64[4, m] for each iteration" in rewriting.body_text(after)
    rewriting.assert_same(before, after, [{"n": n, "m": m} for n in (1, 4, 6) for m in (2, 5)], rng)


def test_a_loop_that_sums_stays_whole() -> None:
    """The loop over an axis that is needed in part adds to a scalar."""
    rising = loop("i", N, Accumulate("s", "add", load(X, AT)), Store("t", (AT,), Var("s", FLOAT64)))
    before = kernel((X, OUT), Alloc(T), loop("o", 1, Carry("s", ONE), rising), READER)
    rewriting.assert_refused(ComputeAt(("t",), "k"), before, "every iteration over i changes s")


def test_scratch_of_a_nest_moves_with_it(rng: np.random.Generator) -> None:
    """Rows of scratch are made whole, whatever part of a row is needed of them."""
    row = Buffer.packed("r", FLOAT64, M)
    turned = loop("p", M, Store("r", (M - 1 - variable("p"),), load(X2, I2, variable("p"))))
    fill = loop("i", N, Alloc(row), turned, loop("j", M, Store("t", (I2, J2), both("mul", load(row, J2), ONE))))
    use = loop("k", N - 1, loop("l", M, Store("out", (K2, L2), both("add", load(T2, K2, L2), load(T2, K2 + 1, L2)))))
    before = kernel((X2, OUT2), Alloc(T2), fill, use)
    after = rewriting.rewritten(before, Tile(("k", "l"), (3, 4), ("bk", "bl")), ComputeAt(("t",), "bl"))
    text = rewriting.body_text(after)
    assert "alloc t: f64[4, 4]" in text and "alloc r: f64[m]" in text and "for p in 0 .. m:" in text
    rewriting.assert_same(before, after, [{"n": n, "m": m} for n in (1, 4, 8) for m in (2, 5, 9)], rng)


def test_loops_that_make_scratch_of_a_nest_are_not_shortened() -> None:
    own = Buffer.packed("r", FLOAT64, N)
    fill = loop("i", N, Store("r", (AT,), load(X, AT)), Store("t", (AT,), ONE))
    before = kernel((X, OUT), Alloc(T), loop("o", 1, Alloc(own), fill), READER)
    rewriting.assert_refused(ComputeAt(("t",), "k"), before, "the loop over i makes scratch of the loops around it")
