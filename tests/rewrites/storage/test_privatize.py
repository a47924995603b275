"""Copies of elements for every iteration of a loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.privatize import Privatize
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Alloc, Buffer, FromInt, If, Invoke, Kernel, Store
from xjit.types import BOOL, FLOAT64, INT64

BLOCKS = (Split("j", 4, "b"), Reorder(("b", "i", "j")))
X, S = Buffer.packed("x", FLOAT64, N + 2, M + 2), Buffer.packed("s", FLOAT64, M + 2)
ONE = number(1.0, FLOAT64)


def test_the_picture() -> None:
    rewriting.assert_pictured(Privatize, rewriting.rewritten(loop_kernels.column_sums(), *BLOCKS))


def test_accumulators_of_a_block_of_columns(rng: np.random.Generator) -> None:
    before = loop_kernels.column_sums()
    after = rewriting.rewritten(before, *BLOCKS, Privatize("s", "b", "acc"), Parallelize("b"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


ROWS = kernel(
    (X, S),
    loop("i", N, loop("j", M, Store("x", (AT + 1, J), both("add", load(X, AT, J), load(X, AT + 2, J + 1))))),
)


@pytest.mark.parametrize("at", ["i", "j"])
def test_rows_with_neighbours(at: str, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(ROWS, Privatize("x", at, "own"))
    rewriting.assert_same(ROWS, after, rewriting.extents("n", "m", block=3), rng)


def test_what_is_only_read_is_not_written_back(rng: np.random.Generator) -> None:
    line = loop("i", N, loop("j", M, Store("s", (J,), load(X, AT, J + 1))))
    before = kernel((X, S), line)
    after = rewriting.rewritten(before, Privatize("x", "i", "row"))
    assert "row_out" not in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m", block=3), rng)


def test_windows_end_where_the_buffer_does(rng: np.random.Generator) -> None:
    # What a branch leaves out is not looked at: the interval goes beyond the buffer.
    short = Buffer.packed("s", FLOAT64, constant(2))
    inside = If(both("lt", FromInt(J, INT64), number(2, INT64), BOOL), (Store("s", (J,), load(X, AT, ZERO)),))
    before = kernel((X, short), loop("i", N, loop("j", 4, inside)))
    after = rewriting.rewritten(before, Privatize("s", "i", "own"))
    assert "for own_in in 0 .. 2:" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m", block=3), rng)


def scattered() -> Kernel:
    return kernel((X, S), loop("i", N, loop("j", M, Store("s", ((AT * J) % 3,), load(X, AT, J)))))


SCRATCH = kernel((S,), Alloc(Buffer.packed("r", FLOAT64, M)), loop("i", M, Store("r", (AT,), ONE)))


@pytest.mark.parametrize(
    ("before", "rewrite", "reason"),
    [
        (ROWS, Privatize("s", "i", "own"), "the loop over i does not touch s"),
        (SCRATCH, Privatize("r", "i", "own"), "r is no argument of the kernel"),
        (kernel((S,), loop("i", M, Invoke("solve", ("s",)))), Privatize("s", "i", "own"), "a Invoke touches s"),
        (scattered(), Privatize("s", "i", "own"), "not known from where to where the indices of s go"),
    ],
)
def test_refusals(before: Kernel, rewrite: Privatize, reason: str) -> None:
    rewriting.assert_refused(rewrite, before, reason)


def test_parallel_loops_have_been_asked() -> None:
    columns = rewriting.rewritten(loop_kernels.column_sums(), *BLOCKS)
    rewriting.assert_refused(Privatize("s", "b", "a"), Parallelize("b").apply(columns), "over b is parallel already")
