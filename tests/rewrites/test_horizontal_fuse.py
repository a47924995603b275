"""Loops that share one loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, ZERO, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.horizontal_fuse import HorizontalFuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, Let, LoopKind, Store, Var
from xjit.types import FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N + 1) for name in ("x", "out"))
Y = Buffer.packed("y", FLOAT64, M)
ONE = number(1.0, FLOAT64)
INCREMENT = Store("out", (AT,), both("add", load(X, AT), ONE))
FILL = Store("y", (K,), load(X, ZERO))
TWO = kernel((X, OUT, Y), loop("i", N, INCREMENT), loop("k", M, FILL, start=1))


def test_the_picture() -> None:
    rewriting.assert_pictured(HorizontalFuse, TWO)


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("whole", [(), ("k",), ("i", "k")])
def test_concatenated(length: int, whole: tuple[str, ...], rng: np.random.Generator) -> None:
    after = rewriting.rewritten(TWO, HorizontalFuse(("i", "k"), "s", length, whole))
    assert len(after.body) == 1
    rewriting.assert_same(TWO, after, rewriting.extents("n", "m"), rng)
    if not whole:
        parallel = rewriting.rewritten(after, Parallelize("s"))
        rewriting.assert_same(TWO, parallel, rewriting.extents("n", "m"), rng)


def test_parallel_loops(rng: np.random.Generator) -> None:
    before = rewriting.rewritten(TWO, Parallelize("i"), Parallelize("k"))
    after = rewriting.rewritten(before, HorizontalFuse(("i", "k"), "s", 4))
    assert rewriting.body_text(after).startswith("parallel s in")
    rewriting.assert_same(TWO, after, rewriting.extents("n", "m"), rng)


X2, OUT2 = Buffer.packed("x", FLOAT64, N + 2, M), Buffer.packed("out", FLOAT64, N + 2, M)
LINE = variable("l")


def test_borders_and_the_interior(rng: np.random.Generator) -> None:
    first = loop("j", M, Store("out", (ZERO, J), load(X2, ZERO, J)))
    inner = loop("k", M, Store("out", (AT + 1, K), both("sub", load(X2, AT + 2, K), load(X2, AT, K))))
    last = loop("l", M, Store("out", (N + 1, LINE), load(X2, N + 1, LINE)))
    before = kernel((X2, OUT2), first, loop("i", N, inner), last)
    rewrite = HorizontalFuse(("j", "i", "l"), "s", 1, whole=("j", "l"))
    after = rewriting.rewritten(before, Parallelize("i"), rewrite)
    assert rewriting.body_text(after).startswith("parallel s in 0 .. n + 2:")
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_order_is_kept(rng: np.random.Generator) -> None:
    t = Var("t", FLOAT64)
    sums = loop("i", N, Accumulate("t", "add", load(X, AT)), Store("out", (AT,), t))
    spread = loop("k", N, Store("x", (K,), both("mul", load(OUT, N - 1 - K), t)))
    before = kernel((X, OUT), Carry("t", ONE), sums, spread)
    after = rewriting.rewritten(before, HorizontalFuse(("i", "k"), "s", 4))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
    rewriting.assert_refused(Parallelize("s"), after, "may|changes t")


def parallel(*several: Store) -> Kernel:
    return kernel(
        (X, OUT, Y), *(loop(at, N, one, kind=LoopKind.PARALLEL) for at, one in zip("ik", several, strict=True))
    )


def test_sums_have_no_threads() -> None:
    whole = loop("k", N, Accumulate("t", "max", load(X, K)))
    before = kernel((X, OUT), Carry("t", ONE), loop("i", N, INCREMENT, kind=LoopKind.PARALLEL), whole)
    rewrite = HorizontalFuse(("i", "k"), "s", 1, whole=("k",))
    rewriting.assert_refused(rewrite, before, "loops without order need each other: t changes")


@pytest.mark.parametrize(
    ("before", "rewrite", "reason"),
    [
        (TWO, HorizontalFuse(("k", "i"), "s", 4), "no loop over i stands behind that over k"),
        (
            kernel((X, OUT, Y), *TWO.body, loop("j", 2)),
            HorizontalFuse(("i", "j", "k"), "s", 4),
            "in the order i, j, k",
        ),
        (
            Parallelize("k").apply(TWO),
            HorizontalFuse(("i", "k"), "s", 4),
            "the loop over k is parallel by 1, not for",
        ),
        (
            kernel((X, OUT, Y), loop("i", N, INCREMENT, step=2), loop("k", M, FILL)),
            HorizontalFuse(("i", "k"), "s", 4),
            "the loop over i is for by 2, not for by 1",
        ),
        (
            parallel(INCREMENT, Store("x", (K,), ONE)),
            HorizontalFuse(("i", "k"), "s", 4),
            r"need each other: x\[i\], which is read, and x\[k\], which is written",
        ),
        (
            kernel((X, OUT, Y), TWO.body[0], Let("v", load(OUT, constant(0))), TWO.body[1]),
            HorizontalFuse(("i", "k"), "s", 4),
            r"v = out\[0\] stands in between and needs out",
        ),
    ],
)
def test_refusals(before: Kernel, rewrite: HorizontalFuse, reason: str) -> None:
    rewriting.assert_refused(rewrite, before, reason)
