"""Scratch of several axes as a line."""

from __future__ import annotations

import numpy as np

from tests.helpers.loop_kernels import AT, J, K, M, N, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.flatten import Flatten
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Alloc, Buffer, Invoke, Statement, Store
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "t", "out"))
FILL = loop("i", N, loop("j", M, Store("t", (AT, J), load(X, AT, J))))
READ: Statement = loop(
    "k", N, loop("l", M, Store("out", (K, variable("l")), load(T, N - 1 - K, M - 1 - variable("l"))))
)


def test_the_picture() -> None:
    rewriting.assert_pictured(Flatten, kernel((X,), Alloc(T), FILL))


def test_elements_are_the_same(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), Alloc(T), FILL, READ)
    after = rewriting.rewritten(before, Flatten("t"))
    assert "t[i*m + j]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_refusals() -> None:
    rewriting.assert_refused(Flatten("x"), kernel((X, OUT), Alloc(T), FILL, READ), "x is no scratch of the kernel")
    gaps = Buffer("t", FLOAT64, (N, M), (M + 1, constant(1)))
    rewriting.assert_refused(Flatten("t"), kernel((X, OUT), Alloc(gaps), FILL, READ), "t has gaps, or its first axis")
    routine = kernel((X, OUT), Alloc(T), FILL, READ, Invoke("sort", ("t",)))
    rewriting.assert_refused(Flatten("t"), routine, "a Invoke touches t")
