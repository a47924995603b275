"""Scratch for every iteration of a loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.localize import Localize
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Alloc, Buffer, Invoke, Kernel, Statement, Store
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N) for name in ("x", "t", "out"))
SQUARE = Store("t", (AT,), both("mul", load(X, AT), load(X, AT)))
LINE = kernel((X, OUT), Alloc(T), loop("i", N, SQUARE, Store("out", (AT,), load(T, AT))))
P, Q, U = (Buffer.packed(name, FLOAT64, N, M) for name in "pqu")
FILL = loop("j", M, Store("u", (AT, J), load(P, AT, J)))
ROWS = kernel((P, Q), Alloc(U), loop("i", N, FILL, loop("k", M, Store("q", (AT, K), load(U, AT, M - 1 - K)))))


def test_the_picture() -> None:
    rewriting.assert_pictured(Localize, LINE)


@pytest.mark.parametrize("before", [LINE, ROWS])
def test_iterations_on_threads(before: Kernel, rng: np.random.Generator) -> None:
    name = "t" if before is LINE else "u"
    after = rewriting.rewritten(before, Localize(name, "i"), Parallelize("i"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_rows_have_the_length_of_what_is_touched() -> None:
    assert "alloc u: f64[1, m]" in rewriting.body_text(rewriting.rewritten(ROWS, Localize("u", "i")))


def test_blocks(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(LINE, Split("i", 4, "b"), Localize("t", "b"), Parallelize("b"))
    assert "alloc t: f64[4]" in rewriting.body_text(after)
    rewriting.assert_same(LINE, after, rewriting.extents("n"), rng)


def scratch(*body: Statement) -> Kernel:
    return kernel((X, OUT), Alloc(T), *body)


ONE = number(1.0, FLOAT64)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, T, OUT), *LINE.body[1:]), "t is no scratch of the kernel"),
        (scratch(Store("t", (N - 1,), ONE), *LINE.body[1:]), "t is not touched in the loop over i alone"),
        (scratch(loop("i", N, Store("out", (AT,), ONE))), "t is not touched in the loop over i alone"),
        (
            scratch(loop("i", N, SQUARE, Store("out", (AT,), load(T, N - 1 - AT)))),
            "two iterations over i may touch",
        ),
        (scratch(loop("i", N, Store("t", (constant(0),), ONE))), "two iterations over i may touch"),
        (
            scratch(loop("k", M, loop("i", N, Store("out", (AT,), load(T, AT)), SQUARE))),
            "t is not allocated for one run of the loop over i",
        ),
        (scratch(loop("i", N, Invoke("solve", ("t",)))), "a Invoke touches t"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(Localize("t", "i"), before, reason)
