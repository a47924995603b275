"""Loops behind each other, a block of iterations at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse_in_blocks import FuseInBlocks
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, LetInt, Statement, Store, Var
from xjit.types import FLOAT64

J, K = variable("j"), variable("k")
X, C, OUT = (Buffer.packed(name, FLOAT64, N) for name in ("x", "c", "out"))
S = Var("s", FLOAT64)
SQUARES = loop("i", N, Store("c", (AT,), both("mul", load(X, AT), load(X, AT))))


def differences(back: IntExpr | int, *, start: IntExpr | int = 2, stop: IntExpr = N) -> Statement:
    return loop("j", stop, Store("out", (J,), both("sub", load(C, J), load(C, J - back))), start=start)


def test_the_picture() -> None:
    rewriting.assert_pictured(FuseInBlocks, kernel((X, C, OUT), SQUARES, differences(2)))


def scan(*more: Statement) -> Kernel:
    """A running sum, and what reads it."""
    first = loop("i", N, Accumulate("s", "add", load(X, AT)), Store("c", (AT,), S))
    return kernel((X, C, OUT), Carry("s", number(0.0, FLOAT64)), first, *more)


def total() -> Statement:
    return loop("k", N, Accumulate("t", "add", load(C, K)))


@pytest.mark.parametrize(
    "before",
    [
        kernel((X, C, OUT), SQUARES, differences(2)),
        scan(differences(2)),
        scan(LetInt("two", constant(2)), differences(variable("two"))),
        scan(differences(2, stop=N - 1)),
    ],
    ids=["squares", "scan", "named", "fewer"],
)
def test_two_loops(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, FuseInBlocks(("i", "j"), 4, "b"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_three_loops_of_which_one_is_in_blocks(rng: np.random.Generator) -> None:
    blocks = Carry("t", number(0.0, FLOAT64)), total(), Store("c", (constant(0),), Var("t", FLOAT64))
    before = kernel((X, C, OUT), loop("once", 1, *scan(differences(2), *blocks[:2]).body))
    before = Split("k", 4, "bk").apply(before)
    after = rewriting.rewritten(before, FuseInBlocks(("i", "j", "bk"), 4, "b"))
    assert rewriting.body_text(after).count(" by 4") == 1
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_the_block_of_the_longest_loop(rng: np.random.Generator) -> None:
    first, last = word("first"), word("last")
    before = kernel((X, C, OUT), SQUARES, differences(0, start=first, stop=last))
    after = rewriting.rewritten(before, FuseInBlocks(("i", "j"), 4, "b"))
    assert rewriting.body_text(after).startswith("for b in 0 .. max(last, n) by 4:")
    words = [{"n": 11, "first": a, "last": b} for a, b in ((0, 11), (2, 9), (5, 4))]
    rewriting.assert_same(before, after, words, rng)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, C, OUT), SQUARES, differences(-1, start=0, stop=N - 1)), "a loop needs later blocks"),
        (kernel((X, C, OUT), SQUARES, loop("j", N, Store("c", (N - 1 - J,), load(X, J)))), "a loop needs later"),
        (kernel((X, C, OUT), SQUARES, loop("j", N, Store("out", (J,), load(X, J)), step=2)), "has steps"),
        (kernel((X, C, OUT), SQUARES, Store("c", (constant(0),), load(X, constant(0))), differences(2)), "between"),
        (scan(loop("j", N, Store("out", (J,), S))), "s is changed and read"),
        (kernel((X, C, OUT), SQUARES), "no loop over j stands behind"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(FuseInBlocks(("i", "j"), 4, "b"), before, reason)
