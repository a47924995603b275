"""Loops in lanes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.vectorize import Vectorize
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import (
    Accumulate,
    Barrier,
    Buffer,
    Carry,
    Fold,
    Kernel,
    Let,
    Loop,
    LoopKind,
    Statement,
    Store,
    Var,
    While,
)
from xjit.types import BOOL, FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, M + 1) for name in ("x", "out"))
ONE = number(1.0, FLOAT64)
T, W = Var("t", FLOAT64), Var("w", FLOAT64)
LARGEST = (Store("out", (J,), both("mul", load(X, J), W)), Accumulate("t", "max", load(X, J)))


def line(*body: Statement, kind: LoopKind = LoopKind.SERIAL) -> Kernel:
    found = loop("j", M, *body, kind=kind)
    return kernel((X, OUT), Let("w", load(X, M)), Carry("t", ONE), found, Store("out", (M,), T))


def test_the_picture() -> None:
    picture = line(*LARGEST)
    before, after, rewrite = rewriting.picture(Vectorize)
    assert before in rewriting.body_text(picture)
    assert after in rewriting.body_text(rewriting.rewritten(picture, rewrite))


@pytest.mark.parametrize(
    "before",
    [
        line(*LARGEST),
        line(Accumulate("t", "add", load(X, J), lanes=8)),
        line(Carry("u", ONE), Accumulate("u", "add", load(X, J)), Store("out", (J,), Var("u", FLOAT64))),
        line(Store("x", (J,), both("add", load(X, J), ONE))),
        line(loop("w2", 2, Store("out", (J,), load(X, J)), kind=LoopKind.UNROLLED)),
    ],
    ids=["largest", "lanes", "own sums", "in place", "unrolled"],
)
def test_lanes(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, Vectorize("j"))
    assert any(isinstance(one, Loop) and one.kind is LoopKind.VECTOR for one in after.body)
    rewriting.assert_same(before, after, rewriting.extents("m"), rng)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (line(Accumulate("t", "add", load(X, J))), "not for lanes: t is rounded, or changed, in order"),
        (line(Fold(("t",), (load(X, J),))), "not for lanes: t is rounded, or changed, in order"),
        (line(Accumulate("t", "max", load(X, J)), Accumulate("t", "min", ONE)), "t is rounded, or changed, in order"),
        (line(Accumulate("t", "max", load(X, J)), Store("out", (J,), T)), "t is changed and read"),
        (line(Store("x", (J + 1,), load(X, J))), r"lanes of j need each other: x\[j.*may be one element"),
        (line(Store("out", (constant(0),), load(X, J))), "lanes of j need each other"),
        (line(While(number(False, BOOL), ())), "lanes may go round a while different times"),
        (line(Store("out", (J,), ONE), kind=LoopKind.PARALLEL), "the loop over j is parallel already"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(Vectorize("j"), before, reason)


def test_only_innermost_loops() -> None:
    rewriting.assert_refused(Vectorize("i"), loop_kernels.column_sums(), "it has the loop over j in it")
    threads = loop("p", 4, loop("j", M, Barrier(), kind=LoopKind.SERIAL), kind=LoopKind.BLOCK_THREAD)
    grid = kernel((X,), loop("i", N, threads, kind=LoopKind.GRID_BLOCK))
    rewriting.assert_refused(Vectorize("j"), grid, "lanes do not wait for each other")
