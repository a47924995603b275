"""Scratch in a ring."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.skew import Skew
from xjit.codegen.rewrites.storage.fold_storage import FoldStorage
from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import Alloc, Buffer, Invoke, Kernel, LoopKind, Statement, Store
from xjit.types import FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N + 8) for name in ("x", "out"))
T = Buffer.packed("t", FLOAT64, N + 8)
SQUARE = Store("t", (AT,), both("mul", load(X, AT), load(X, AT)))


def line(*body: Statement) -> Kernel:
    return kernel((X, OUT), Alloc(T), *body)


def test_the_picture() -> None:
    short = Buffer.packed("t", FLOAT64, N)
    body = loop("i", N, SQUARE, Store("out", (AT,), load(short, AT)))
    rewriting.assert_pictured(FoldStorage, kernel((X, OUT), Alloc(short), body))


@pytest.mark.parametrize(("steps", "extent"), [(0, 1), (2, 3), (2, 4), (5, 6), (5, 8)])
def test_values_read_some_steps_later(steps: int, extent: int, rng: np.random.Generator) -> None:
    late = Store("out", (K,), both("sub", load(T, K + steps), load(T, K)))
    before = line(loop("i", N + 5, SQUARE), loop("k", N, late))
    after = rewriting.rewritten(before, Skew("i", "k", steps), FoldStorage("t", extent))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
    if steps:
        skewed = rewriting.rewritten(before, Skew("i", "k", steps))
        rewriting.assert_refused(
            FoldStorage("t", steps), skewed, f"may need more than {steps} elements of t at a time"
        )


def test_loops_of_what_is_left_read_the_ring(rng: np.random.Generator) -> None:
    before = line(loop("i", N, SQUARE), loop("k", N, Store("out", (K,), load(T, K))))
    after = rewriting.rewritten(before, Skew("i", "k", 3), FoldStorage("t", 4))
    assert "for k_last in max(0, n - 3) .. n:" in rewriting.body_text(after)
    assert "t[(k_last % 4)]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
    skewed = rewriting.rewritten(before, Skew("i", "k", 3))
    rewriting.assert_refused(FoldStorage("t", 2), skewed, "may need more than 2 elements")


X2, OUT2, T2 = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out", "t"))


def test_rows_in_a_ring(rng: np.random.Generator) -> None:
    make = loop("i", N, loop("j", M, Store("t", (AT, J), both("mul", load(X2, AT, J), load(X2, AT, J)))))
    last = both("add", load(T2, K, M - 1), load(T2, K + 1, M - 1))
    rows = loop("k", N - 1, loop("q", 1, Store("out", (K, M - 1), last)))
    before = kernel((X2, OUT2), Alloc(T2), make, rows)
    after = rewriting.rewritten(before, Skew("i", "k", 1), FoldStorage("t", 2))
    assert "alloc t: f64[2, m]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, [{"n": n, "m": m} for n in (0, 1, 2, 5) for m in (1, 4)], rng)


def test_a_column_at_a_time(rng: np.random.Generator) -> None:
    line = loop("j", M, Store("t", (AT, J), load(X2, AT, J)))
    rows = loop("i", N, line, loop("l", M, Store("out", (AT, constant(0)), load(T2, AT, constant(0)))))
    before = kernel((X2, OUT2), Alloc(T2), rows)
    after = rewriting.rewritten(before, FoldStorage("t", 1))
    rewriting.assert_same(before, after, rewriting.extents("n", "m", block=3), rng)
    rewriting.assert_refused(FoldStorage("t", 3, axis=1), before, "may need more than 3 elements of t at a time")


def down(at: IntExpr) -> Kernel:
    return line(loop("i", N, Store("t", (N - AT,), load(X, AT)), Store("out", (AT,), load(T, at))))


@pytest.mark.parametrize(
    ("before", "rewrite", "reason"),
    [
        (kernel((X,)), FoldStorage("x", 1), "x is no scratch of the kernel"),
        (line(), FoldStorage("t", 1, axis=1), "t has no axis 1"),
        (line(), FoldStorage("t", 0), "t has no axis 0, or would have no element"),
        (line(loop("i", N, SQUARE, Invoke("solve", ("t",)))), FoldStorage("t", 1), "a Invoke touches t"),
        (line(loop("i", N, SQUARE), loop("k", N, Store("out", (K,), load(T, K)))), FoldStorage("t", 4), "at a time"),
        (
            line(loop("i", N, loop("k", N, Store("t", (K * 5 % 7,), load(X, AT))))),
            FoldStorage("t", 7),
            "not known from where to where the indices of t go",
        ),
        (down(N - AT), FoldStorage("t", 4), "the loop over i may need more than 4 elements of t at a time"),
        (line(loop("i", N, Store("t", ((AT * 5) % 7,), load(X, AT)))), FoldStorage("t", 7), ""),
        (line(loop("i", N, SQUARE, kind=LoopKind.PARALLEL)), FoldStorage("t", 2), "loop over i may need more"),
        (line(Store("t", (N,), load(X, N)), loop("i", N, SQUARE)), FoldStorage("t", 1), "loop over i may need more"),
        (
            line(loop("i", N, Store("t", (AT,), load(X, AT)), Store("out", (AT,), load(T, constant(0))))),
            FoldStorage("t", 2),
            "loop over i may need more than 2",
        ),
    ],
)
def test_refusals(before: Kernel, rewrite: FoldStorage, reason: str) -> None:
    reason = reason or "loop over i may need more than 7"
    rewriting.assert_refused(rewrite, before, reason)


def test_fused_loops_need_one_element(rng: np.random.Generator) -> None:
    before = line(
        loop("i", N, SQUARE), loop("k", N, Store("out", (K,), both("add", load(T, K), number(1.0, FLOAT64))))
    )
    after = rewriting.rewritten(before, Fuse("i", "k"), FoldStorage("t", 1))
    assert "alloc t: f64[1]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
