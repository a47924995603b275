"""Loops over parts of something, cut into the blocks of the whole."""

from __future__ import annotations

import numpy as np

from tests.helpers.loop_kernels import AT, J, N, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.split_part import SplitPart
from xjit.ir.loops.intexpr import constant, variable, word
from xjit.ir.loops.nodes import Buffer, Statement, Store
from xjit.types import FLOAT64

S, F, M = word("s"), word("f"), word("m")
X = Buffer.packed("x", FLOAT64, F + N)
OUT = Buffer.packed("out", FLOAT64, F + N)
MIDDLE = loop("i", N, Store("out", (AT + F,), load(X, AT + F)))
WORDS = [{"f": f, "n": n, "s": s} for f in (0, 1, 5) for n in (0, 1, 9) for s in (1, 4, 20)]


def test_the_picture() -> None:
    rewriting.assert_pictured(SplitPart, kernel((X, OUT), MIDDLE), s=S, f=F, n=N)


def test_iterations_are_the_same(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), MIDDLE)
    rewriting.assert_same(before, rewriting.rewritten(before, SplitPart("i", S, "b", F, F + N)), WORDS, rng)


def test_parts_of_a_whole_are_fused(rng: np.random.Generator) -> None:
    ends: Statement = loop("j", F, Store("out", (J,), load(X, J)))
    before = kernel((X, OUT), ends, MIDDLE)
    parts = SplitPart("j", S, "b", constant(0), F + N), SplitPart("i", S, "c", F, F + N)
    after = rewriting.rewritten(before, *parts, Fuse("b", "c"))
    rewriting.assert_same(before, after, WORDS, rng)


def test_lengths_in_words_count_blocks(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), MIDDLE)
    after = rewriting.rewritten(before, Parallelize("i"), Split("i", S, "b"))
    assert "parallel b in 0 .. ((n + s - 1) // s):" in rewriting.body_text(after)
    assert "for i in b*s .. min(b*s + s, n):" in rewriting.body_text(after)
    rewriting.assert_same(before, after, WORDS, rng)


def test_what_may_be_no_part_is_refused() -> None:
    before = kernel((X, OUT), MIDDLE)
    rewriting.assert_refused(SplitPart("i", S, "b", F, N), before, "may be no part of 0 .. n from f on")
    rewriting.assert_refused(SplitPart("i", S, "b", constant(-1), F + N), before, "may be no part of")
    stepped = kernel((X, OUT), loop("i", N, Store("out", (variable("i"),), load(X, AT)), step=2))
    rewriting.assert_refused(SplitPart("i", S, "b", F, F + N), stepped, "has steps, or is written out")
