"""Copies of rows into columns, in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.transpose_copy import TransposeCopy
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.text.source import kernel_text
from xjit.ir.loops.nodes import Buffer, Kernel, Let, LoopKind, Statement, Store, Var
from xjit.types import FLOAT32, FLOAT64

X, Y = Buffer.packed("x", FLOAT64, M, N), Buffer.packed("y", FLOAT32, M, N)
OUT, LOW = Buffer.packed("out", FLOAT64, N, M), Buffer.packed("low", FLOAT32, N, M)
MOVED = Store("out", (AT, J), load(X, J, AT))
BLOCKS = TransposeCopy("i", "j", (8,))


def copying(*body: Statement, rows: Buffer = X) -> Kernel:
    return kernel((rows, Y, OUT, LOW), loop("i", N, loop("j", M, *body)))


def test_the_picture() -> None:
    rewriting.assert_pictured(TransposeCopy, copying(MOVED))


@pytest.mark.parametrize("block", [1, 3, 8])
def test_every_edge(block: int, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(copying(MOVED), TransposeCopy("i", "j", (block,)))
    rewriting.assert_same(copying(MOVED), after, rewriting.extents("n", "m"), rng)


def test_several_copies_in_tiles(rng: np.random.Generator) -> None:
    named = Let("v", load(Y, J, AT)), Store("low", (AT, J), Var("v", FLOAT32))
    before = copying(MOVED, *named)
    after = rewriting.rewritten(before, Tile(("i", "j"), (4, 5), ("bi", "bj")), TransposeCopy("i", "j", (2, 3)))
    text = rewriting.body_text(after)
    assert text.index("out[i, j] = transposed") < text.index("low[i, j] = transposed")
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_words_for_blocks_stop_at_their_edges() -> None:
    words = kernel_text(rewriting.rewritten(copying(MOVED), BLOCKS)).text
    assert "turn_f64(out, out_at0 + j, m, x, i + j * n, n, m - j, n - i)" in words
    with pytest.raises(ValueError, match="a block has 8 rows and columns at most, not"):
        kernel_text(rewriting.rewritten(copying(MOVED), TransposeCopy("i", "j", (16,))))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (
            copying(Store("out", (AT, J), both("add", load(X, J, AT), load(X, J, AT)))),
            "what is stored in out is comp",
        ),
        (copying(Let("v", both("add", load(X, J, AT), load(X, J, AT)))), "is no copy"),
        (copying(MOVED, MOVED), "the loops make 2 copies, not 1"),
        (copying(Store("out", (AT, J), load(OUT, J, AT))), "a buffer is written twice, or copied from and to"),
        (copying(Store("out", (AT, J), load(X, J, J * 0))), "the loop over i does not go along one axis, by one"),
        (copying(Store("out", (AT, J), load(X, AT, J))), "elements along axis 0 of x do not lie side by side"),
        (copying(Store("out", (J, AT), load(X, J, AT))), "elements along axis 0 of out do not lie side by side"),
        (kernel((X, OUT), loop("i", N, loop("j", AT, MOVED))), "the bounds of the loop over j depend on i"),
        (
            kernel((X, OUT), loop("i", N, loop("j", M, MOVED), loop("k", M))),
            "the loop over i has more in it than that over j",
        ),
        (
            kernel((X, OUT), loop("i", N, loop("j", M, MOVED), kind=LoopKind.PARALLEL)),
            "the loop over i is parallel by 1, not for by 1",
        ),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(BLOCKS, before, reason)
