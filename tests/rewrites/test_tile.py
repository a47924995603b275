"""Nests of loops in tiles."""

from __future__ import annotations

import numpy as np

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, J, M, N, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.tile import Tile
from xjit.ir.loops.nodes import Buffer, Store
from xjit.types import FLOAT64

X, OUT = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, M, N)
COPY = kernel((X, OUT), loop("i", N, loop("j", M, Store("out", (J, AT), load(X, AT, J)))))


def test_the_picture() -> None:
    rewriting.assert_pictured(Tile, COPY)


def test_tiles(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(COPY, Tile(("i", "j"), (4, 3), ("bi", "bj")))
    rewriting.assert_same(COPY, after, rewriting.extents("n", "m"), rng)
    assert rewriting.body_text(after) == rewriting.body_text(
        rewriting.rewritten(COPY, *Tile(("i", "j"), (4, 3), ("bi", "bj")).rewrites())
    )


def test_carried_elements(rng: np.random.Generator) -> None:
    before = loop_kernels.column_sums()
    after = rewriting.rewritten(before, Tile(("i", "j"), (4, 4), ("bi", "bj")))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_refusals() -> None:
    rewriting.assert_refused(Tile(("i", "j"), (4,), ("bi", "bj")), COPY, "as many lengths and names")
    skewed = Store("x", (AT + 1, J), load(X, AT, J + 1))
    nest = kernel((X,), loop("i", N - 1, loop("j", M - 1, skewed)))
    rewriting.assert_refused(Tile(("i", "j"), (4, 4), ("bi", "bj")), nest, "the order of .* matters")
    rewriting.assert_refused(Tile(("i", "k"), (4, 4), ("bi", "bk")), COPY, "there is no loop over k")
