"""Scratch in the place of a result."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Kernel,
    Let,
    LetInt,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.types import FLOAT32, FLOAT64

J = variable("j")
X, OUT = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, N, M)
E, S = Buffer.packed("e", FLOAT64, M), Var("s", FLOAT64)
EXPONENTIALS = loop(
    "j", M, Store("e", (J,), Prim("exp", (load(X, AT, J),), FLOAT64)), Accumulate("s", "add", load(E, J))
)


def share(at: IntExpr = K, to: IntExpr = K, row: IntExpr = AT) -> Store:
    return Store("out", (row, to), both("div", load(E, at), S))


BEGIN = Alloc(E), Carry("s", number(0.0, FLOAT64)), EXPONENTIALS


def rows(*last: Statement) -> Kernel:
    return kernel((X, OUT), loop("i", N, *BEGIN, *last))


SHARES = rows(loop("k", M, share()))


def test_the_picture() -> None:
    rewriting.assert_pictured(StageInOutput, SHARES)


@pytest.mark.parametrize(
    "before",
    [
        SHARES,
        Parallelize("i").apply(SHARES),
        rows(loop("k", M, Let("v", load(E, K)), Store("out", (AT, K), both("div", Var("v", FLOAT64), load(E, K))))),
        Split("k", 4, "b").apply(SHARES),
    ],
    ids=["rows", "parallel", "named", "blocks"],
)
def test_rows_in_the_output(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, StageInOutput("e", "out"))
    assert "alloc" not in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_the_output_may_be_read_where_the_scratch_is_filled(rng: np.random.Generator) -> None:
    fill = Let("v", load(OUT, AT, J)), Store("e", (J,), Prim("exp", (Var("v", FLOAT64),), FLOAT64))
    before = kernel((X, OUT), loop("i", N, *BEGIN[:2], loop("j", M, *fill), loop("k", M, share())))
    after = rewriting.rewritten(before, StageInOutput("e", "out"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_planes_in_the_output(rng: np.random.Generator) -> None:
    plane, out = Buffer.packed("e", FLOAT64, N, M), OUT
    fill = loop("i", N, loop("j", M, Store("e", (AT, J), load(X, AT, J))))
    k, line = variable("k"), variable("l")
    last = loop(
        "k", N, loop("l", M, Store("out", (k, line), both("mul", load(plane, k, line), load(plane, k, line))))
    )
    before = kernel((X, out), Alloc(plane), fill, last)
    after = rewriting.rewritten(before, StageInOutput("e", "out"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def read_behind(value: Value) -> Kernel:
    return rows(loop("k", M, share(), Let("v", value)))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, OUT)), "e is no scratch of the kernel"),
        (rows(loop("k", M, share(), share())), "out is not written by one store in a nest of loops"),
        (rows(loop("k", M - 1, share())), "out is not written whole, each element once"),
        (rows(loop("k", M - 1, share(to=K + 1))), "out is not written whole, each element once"),
        (rows(loop("l", 2, loop("k", M, share()))), "out is not written whole, each element once"),
        (rows(loop("k", M, share(at=M - 1 - K))), "written before e is read there"),
        (read_behind(load(E, K)), "written before e is read there"),
        (read_behind(load(OUT, AT, K)), "out is read"),
        (rows(loop("k", M, share()), Let("v", load(E, M - 1))), "not written by the last statement that needs e"),
        (rows(loop("k", M, share()), loop("l", M, Store("out", (AT, variable("l")), S))), "not written by the last"),
        (rows(LetInt("q", AT), loop("k", M, share(row=variable("q")))), "the row of out changes while e is used"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(StageInOutput("e", "out"), before, reason)


def test_elements_have_one_type() -> None:
    narrow = Buffer.packed("out", FLOAT32, N, M)
    last = loop("k", M, Store("out", (AT, K), Prim("cast", (load(E, K),), FLOAT32)))
    before = kernel((X, narrow), loop("i", N, *BEGIN, last))
    rewriting.assert_refused(StageInOutput("e", "out"), before, "out is no buffer of the element type of e")
