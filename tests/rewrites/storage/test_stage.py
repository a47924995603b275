"""Rows in scratch."""

from __future__ import annotations

import numpy as np

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, J, K, M, N, both, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.stage import Stage
from xjit.ir.loops.nodes import Alloc, Buffer, Store
from xjit.types import FLOAT64

A, OUT = Buffer.packed("a", FLOAT64, N, M), Buffer.packed("out", FLOAT64, N, M)


def test_a_row_that_is_read_again_and_again(rng: np.random.Generator) -> None:
    before = loop_kernels.elimination()
    after = rewriting.rewritten(before, Stage("a", "i", "row"))
    assert "row[row_at] = a[k, row_at]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_a_row_that_may_not_be_there_stays() -> None:
    first = loop("i", N, loop("j", M, Store("out", (AT, J), both("sub", load(A, AT, J), load(A, K * 0, J)))))
    rewriting.assert_refused(Stage("a", "i", "row"), kernel((A, OUT), first), "where the loop has no iterations")


def test_scratch_may_have_elements_that_are_not_written() -> None:
    fill = loop("j", M, Store("a", (K * 0, J), load(OUT, K * 0, J)))
    use = loop("i", N, Store("out", (AT, K * 0), load(A, K * 0, K * 0)))
    before = kernel((OUT,), loop("k", N, Alloc(A), fill, use))
    rewriting.assert_refused(Stage("a", "i", "row"), before, "there is no buffer a among the arguments")
