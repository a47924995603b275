"""A loop some steps behind another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.skew import Skew
from xjit.ir.loops.intexpr import IntExpr, maximum
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, LoopKind, Statement, Store, Var
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N + 8) for name in ("x", "t", "out"))
S = Var("s", FLOAT64)
SQUARE = Store("t", (AT,), both("mul", load(X, AT), load(X, AT)))


def behind(ahead: int) -> Store:
    return Store("out", (K,), both("sub", load(T, K + ahead), load(T, K)))


def two(first: IntExpr, second: IntExpr, ahead: int, start: int = 0) -> Kernel:
    return kernel((X, T, OUT), loop("i", first, SQUARE), loop("k", second, behind(ahead), start=start))


def test_the_picture() -> None:
    rewriting.assert_pictured(Skew, two(N, N - 2, 2))


@pytest.mark.parametrize("steps", [0, 1, 3, 4])
@pytest.mark.parametrize(
    ("first", "second", "start"),
    [(N, N, 0), (N + 3, N, 0), (N, maximum(N - 3, 0), 0), (N, N + 3, 1), (M, N, 0), (M, N, 2)],
    ids=str,
)
def test_steps_behind(steps: int, first: IntExpr, second: IntExpr, start: int, rng: np.random.Generator) -> None:
    before = two(first, second, min(steps, 3), start)
    after = rewriting.rewritten(before, Skew("i", "k", steps))
    several = [words for words in rewriting.extents("n", "m") if words["m"] <= words["n"] + 5]
    rewriting.assert_same(before, after, several[:: 1 if "m" in str(first) else 6], rng)


def test_a_scan_that_is_read_later(rng: np.random.Generator) -> None:
    scan = loop("i", N + 5, Accumulate("s", "add", load(X, AT)), Store("t", (AT,), S))
    before = kernel((X, T, OUT), Carry("s", number(0.0, FLOAT64)), scan, loop("k", N, behind(5)))
    after = rewriting.rewritten(before, Skew("i", "k", 5))
    assert rewriting.body_text(after).count("for ") == 2
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def total(*second: Statement) -> Kernel:
    body = loop("i", N, Accumulate("s", "add", load(X, AT)), SQUARE), loop("k", N, *second)
    return kernel((X, T, OUT), Carry("s", number(0.0, FLOAT64)), *body)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (two(N, N, 4), r"needs that over i more than 3 steps on: t\[i\], which is written, and t\[k \+ 4\]"),
        (two(N, N, 0, -4), "the loop over k may begin before that over i"),
        (total(Store("out", (K,), S)), "s is changed and read"),
        (total(Store("x", (K + 4,), S)), "s is changed and read"),
        (total(Store("x", (K + 4,), load(T, K))), r"x\[i\], which is read, and x\[k \+ 4\], which is written"),
        (
            kernel((X, T, OUT), loop("i", N, SQUARE), loop("k", N, behind(0), step=2)),
            "over k is for by 2, not for by 1",
        ),
        (
            kernel((X, T, OUT), loop("i", N, SQUARE, kind=LoopKind.PARALLEL), loop("k", N, behind(0))),
            "over i is parallel by 1",
        ),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    if "-4" in rewriting.body_text(before):
        with pytest.raises(Exception, match=reason):
            Skew("i", "k", 3).apply(before)
        return
    rewriting.assert_refused(Skew("i", "k", 3), before, reason)
