"""One loop of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, variable
from xjit.ir.loops.nodes import UNKNOWN, Access, Alloc, Argument, Buffer, FromInt, Kernel, Loop, LoopKind, Prim, Store
from xjit.types import FLOAT64, INT64

H, L = variable("h"), variable("l")
ONE = number(1.0, FLOAT64)
LINE = Buffer.packed("line", FLOAT64, N * M)
POSITION = Prim("cast", (FromInt(J, INT64),), FLOAT64)
X, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out"))


def increments(start: IntExpr = ZERO, stop: IntExpr = M, **fields: Any) -> Kernel:
    body = Store("out", (AT, J), both("add", load(X, AT, J), number(1.0, FLOAT64)))
    loops = Loop("i", ZERO, N, (Loop("j", start, stop, (body,), **fields),), **fields)
    return Kernel("increments", (Argument(X, Access.READ), Argument(OUT, Access.UPDATE)), (loops,))


def test_the_picture() -> None:
    rewriting.assert_pictured(Collapse, increments())


@pytest.mark.parametrize(
    "before",
    [
        increments(),
        increments(constant(1), maximum(M - 1, 1)),
        kernel((X, OUT), loop("i", N - 2, loop("j", M - 3, increments().body[0].body[0].body[0]))),
        increments(kind=LoopKind.PARALLEL),
        loop_kernels.column_sums(),
    ],
    ids=["all", "inside", "none on both sides", "parallel", "carried"],
)
def test_pairs(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, Collapse("i", "j", "k"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_refusals() -> None:
    for tested, reason in (
        (loop_kernels.row_sums(), "the loop over i has more in it than the loop over j"),
        (Parallelize("i").apply(increments()), "the loop over i is parallel, that inside for"),
        (increments(step=2), "the loop over i or j has steps"),
        (increments(AT), "the bounds of the loop over j depend on i"),
        (increments(constant(0), constant(0)), "the loop over j has no iterations"),
    ):
        with pytest.raises(RefusedError, match=reason):
            Collapse("i", "j", "k").apply(tested)
    with pytest.raises(RefusedError, match="the pairs of i and j are no line, and have no name of their own"):
        Collapse("i", "j", "j").apply(increments())


def rows(stride: IntExpr, extents: tuple[IntExpr, IntExpr] = (UNKNOWN, UNKNOWN), **fields: Any) -> Kernel:
    """Rows of arguments that lie so far from each other, by way of scratch that is a line."""
    x, out = (Buffer(name, FLOAT64, extents, (stride, constant(1))) for name in ("x", "out"))
    fill = loop("h", N - 1, loop("l", M, Store("line", (H * M + L,), load(x, H, L))), start=1)
    store = Store("out", (AT, J), both("add", load(x, AT, J), load(LINE, AT * M + J)))
    return kernel((x, out), Alloc(LINE), fill, loop("i", N - 1, loop("j", M, store, **fields), start=1))


def test_rows_behind_each_other_need_no_division() -> None:
    after = rewriting.rewritten(rows(M), Collapse("h", "l", "l"), Collapse("i", "j", "k"))
    assert rewriting.body_text(after).splitlines()[1:] == [
        "for l in m .. -m + m*n:",
        "  line[l] = x[0, l]",
        "for k in m .. -m + m*n:",
        "  out[0, k] = (x[0, k] + line[k])",
    ]


@pytest.mark.parametrize(
    "before",
    [
        rows(M + 1),
        rows(M, (N, M)),
        rows(M, start=1),
        kernel((X, OUT), loop("i", N, loop("j", M, loop("l", J, Store("out", (AT, L), load(X, AT, L)))))),
        kernel((X, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), POSITION)))),
        kernel((LINE,), loop("i", N, loop("j", M - 3, Store("line", (AT * (M - 3) + J,), ONE)))),
    ],
    ids=["gaps", "extents", "parts of rows", "bounds", "values", "lengths below 0"],
)
def test_what_needs_its_place_is_told(before: Kernel) -> None:
    text = rewriting.body_text(rewriting.rewritten(before, Collapse("i", "j", "k")))
    assert "i = (k // " in text


def test_elements_of_lines_are_the_same(rng: np.random.Generator) -> None:
    out = Buffer.packed("out", FLOAT64, N * M)
    body = Store("out", (AT * M + J,), both("add", load(LINE, AT * M + J), number(1.0, FLOAT64)))
    for start, stop in ((0, N), (1, N - 1), (constant(2), maximum(N - 3, 2))):
        before = kernel((LINE, out), loop("i", stop, loop("j", M, body), start=start))
        after = rewriting.rewritten(before, Collapse("i", "j", "k"))
        assert "//" not in rewriting.body_text(after)
        rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)
