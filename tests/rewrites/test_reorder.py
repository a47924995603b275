"""Loops in another order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.vectorize import Vectorize
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Argument,
    Buffer,
    Carry,
    Fold,
    Kernel,
    Let,
    LetInt,
    Loop,
    LoopKind,
    Statement,
    Store,
    Var,
)
from xjit.types import FLOAT64, INT64

A = Buffer.packed("a", FLOAT64, N, M)
T = Var("t", FLOAT64)


def nest(*body: Statement) -> Kernel:
    loops = Loop("i", constant(1), N - 1, (Loop("j", constant(1), M - 1, body),))
    return Kernel("nest", (Argument(A, Access.UPDATE),), (loops,))


def moved(row: int, column: int) -> Kernel:
    """Each element takes that of another row and column."""
    return nest(Store("a", (AT, J), both("add", load(A, AT, J), load(A, AT + row, J + column))))


def test_the_picture() -> None:
    rewriting.assert_pictured(Reorder, loop_kernels.column_sums())


def test_columns_first(rng: np.random.Generator) -> None:
    before = loop_kernels.column_sums()
    after = rewriting.rewritten(before, Reorder(("j", "i")))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_three_loops_change_their_places(rng: np.random.Generator) -> None:
    before = loop_kernels.column_sums()
    after = rewriting.rewritten(before, Split("i", 4, "b"), Reorder(("j", "b", "i")))
    assert [line.split(" in")[0].strip() for line in rewriting.body_text(after).splitlines()[:3]] == [
        "for j",
        "for b",
        "for i",
    ]
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 0), (1, 1), (-1, -1), (0, -1), (-1, 0)])
def test_directions_that_stay(row: int, column: int, rng: np.random.Generator) -> None:
    before = moved(row, column)
    after = rewriting.rewritten(before, Reorder(("j", "i")))
    rewriting.assert_same(before, after, [{"n": 6, "m": 5}, {"n": 2, "m": 2}, {"n": 1, "m": 0}], rng)


@pytest.mark.parametrize(("row", "column"), [(-1, 1), (1, -1)])
def test_directions_that_turn_around_are_refused(row: int, column: int) -> None:
    with pytest.raises(RefusedError, match=r"the order of i and j matters: .*a\[i, j\], which is written,"):
        Reorder(("j", "i")).apply(moved(row, column))


def test_rounded_sums_keep_their_order() -> None:
    def total(reducer: str, zero: object) -> Kernel:
        body = Loop("i", ZERO, N, (Loop("j", ZERO, M, (Accumulate("t", reducer, load(A, AT, J)),)),))
        return Kernel("total", (Argument(A, Access.UPDATE),), (Carry("t", number(zero, FLOAT64)), body))

    with pytest.raises(RefusedError, match="t is rounded in the order of the loops"):
        Reorder(("j", "i")).apply(total("add", 0.0))
    Reorder(("j", "i")).apply(total("max", -np.inf))


def test_sums_of_integers_have_any_order(rng: np.random.Generator) -> None:
    x, s = Buffer.packed("x", INT64, N, M), Buffer.packed("s", INT64, constant(1))
    loops = Loop("i", ZERO, N, (Loop("j", ZERO, M, (Accumulate("t", "add", load(x, AT, J)),)),))
    body = Carry("t", number(0, INT64)), loops, Store("s", (ZERO,), Var("t", INT64))
    before = Kernel("total", (Argument(x, Access.READ), Argument(s, Access.WRITE)), body)
    rewriting.assert_same(before, rewriting.rewritten(before, Reorder(("j", "i"))), rewriting.extents("n", "m"), rng)


def test_other_refusals() -> None:
    with pytest.raises(RefusedError, match="the bounds of the loop over j depend on i"):
        triangle = Loop("i", ZERO, N, (Loop("j", ZERO, AT, (Store("a", (AT, J), load(A, AT, J)),)),))
        Reorder(("j", "i")).apply(Kernel("triangle", (Argument(A, Access.UPDATE),), (triangle,)))
    with pytest.raises(RefusedError, match="the loop over k has more in it than one of the loops"):
        Reorder(("i", "k")).apply(Kernel("k", (), (Loop("k", ZERO, N, (*moved(0, 1).body, *moved(0, 1).body)),)))
    with pytest.raises(RefusedError, match="the loop over j is vector already"):
        Reorder(("j", "i")).apply(Vectorize("j").apply(loop_kernels.column_sums()))
    with pytest.raises(RefusedError, match="t is changed and read"):
        fold = Fold(("t",), (both("mul", T, load(A, AT, J)),))
        outer = Loop("i", ZERO, N, (Loop("j", ZERO, M, (fold,)),))
        Reorder(("j", "i")).apply(Kernel("k", (Argument(A, Access.READ),), (Carry("t", load(A, K, K)), outer)))


X, OUT, W = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, N, M), Buffer.packed("w", FLOAT64, N)


def scaled(weights: Buffer = W, stop: IntExpr = M, kind: LoopKind = LoopKind.SERIAL) -> Kernel:
    """Rows times numbers, of which each is named in front of its row."""
    value = both("mul", load(X, AT, J), Var("v", FLOAT64))
    inner = rewriting.loop("j", stop, Store("out", (AT, J), value), kind=kind)
    at = (AT, ZERO)[: len(weights.extents)]
    names = Let("v", load(weights, *at)), LetInt("last", AT - 1)
    return rewriting.kernel((X, OUT, W), rewriting.loop("i", N, *names, inner))


def test_names_stay_with_their_loop(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(scaled(), Reorder(("j", "i")))
    assert rewriting.body_text(after).splitlines() == [
        "for j in 0 .. m:",
        "  for i in 0 .. n:",
        "    v = w[i]",
        "    last = i - 1",
        "    out[i, j] = (x[i, j] * v)",
    ]
    rewriting.assert_same(scaled(), after, rewriting.extents("n", "m"), rng)


def test_names_that_bounds_or_stores_need_are_refused() -> None:
    rewriting.assert_refused(Reorder(("j", "i")), scaled(stop=variable("last")), "the bounds of .* over j depend")
    rewriting.assert_refused(Reorder(("j", "i")), scaled(OUT), r"v = out\[i, 0\] stands in between and needs out")


@pytest.mark.parametrize("name", ["i", "j"])
def test_parallel_loops_change_their_places(name: str, rng: np.random.Generator) -> None:
    before = scaled(kind=LoopKind.PARALLEL) if name == "j" else Parallelize("i").apply(scaled())
    after = rewriting.rewritten(before, Reorder(("j", "i")))
    assert f"parallel {name}" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


@pytest.mark.parametrize("column", [-1, 1])
def test_a_parallel_loop_stays_inside_of_one_whose_iterations_need_each_other(column: int) -> None:
    rows = moved(-1, column).body[0]
    assert isinstance(rows, Loop) and isinstance(rows.body[0], Loop)
    shared = replace(rows, body=(replace(rows.body[0], kind=LoopKind.PARALLEL),))
    rewriting.assert_refused(Reorder(("j", "i")), replace(moved(-1, column), body=(shared,)), "the order of i and j")
