"""Loops in blocks, inside of the loops in their bodies."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.interchange import Interchange
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Buffer,
    Carry,
    Fold,
    FromInt,
    Kernel,
    Let,
    LetInt,
    Prim,
    Statement,
    Store,
    Var,
)
from xjit.types import FLOAT32, INT64

X, OUT = (Buffer.packed(name, FLOAT32, N, M) for name in ("x", "out"))
W, P = Buffer.packed("w", FLOAT32, N), Buffer.packed("p", FLOAT32, M)
S = Buffer.packed("s", FLOAT32, M)
K = variable("k")
ZERO, ONE = number(0.0, FLOAT32), number(1.0, FLOAT32)
T, U, V = (Var(name, FLOAT32) for name in "tuv")


def columns(*body: Statement, **fields: object) -> Kernel:
    return kernel((X, OUT, W, P, S), loop("j", M, *body, **fields))


def weighted() -> Kernel:
    step = Let("v", Prim("sqrt", (load(W, AT),), FLOAT32)), Accumulate("t", "add", both("mul", V, load(X, AT, J)))
    arguments = X, W, S
    body = Carry("t", ZERO), loop("i", N, *step), Store("s", (J,), T)
    return kernel(arguments, loop("j", M, *body))


MEAN = Let("mean", both("div", T, Prim("cast", (FromInt(N, INT64),), FLOAT32)))
APART = Let("apart", both("sub", load(X, K, J), Var("mean", FLOAT32)))
VARIANCES = columns(
    Carry("t", ZERO),
    loop("i", N, Accumulate("t", "add", load(X, AT, J))),
    MEAN,
    Carry("u", ZERO),
    loop("k", N, APART, Accumulate("u", "add", both("mul", Var("apart", FLOAT32), Var("apart", FLOAT32)))),
    Store("s", (J,), U),
)
SCANS = columns(
    Carry("t", ZERO),
    loop("i", N, Let("v", both("add", T, load(X, AT, J))), Fold(("t",), (V,)), Store("out", (AT, J), V)),
)
SCALED = columns(
    LetInt("at", J),
    Let("p_here", load(P, variable("at"))),
    Let("scale", both("mul", Var("p_here", FLOAT32), Var("p_here", FLOAT32))),
    Carry("t", ONE),
    loop("i", N, Accumulate("t", "max", both("mul", Var("scale", FLOAT32), load(X, AT, J)))),
    Store("s", (J,), both("add", T, Var("scale", FLOAT32))),
)
PAIRS = columns(
    Carry("t", ZERO),
    Carry("u", ONE),
    loop("i", N, Fold(("t", "u"), (both("add", U, load(X, AT, J)), T))),
    Store("s", (J,), both("sub", T, U)),
)
SUMS_OF_ROWS = columns(
    Carry("t", ZERO),
    loop(
        "i",
        N,
        Carry("row", ZERO),
        loop("k", M, Accumulate("row", "add", load(X, AT, K))),
        Let("v", both("mul", Var("row", FLOAT32), load(X, AT, J))),
        Accumulate("t", "add", V),
    ),
    Store("s", (J,), T),
)
PREFIXES = columns(
    Carry("t", ZERO),
    loop("i", N, loop("k", J, Accumulate("t", "add", load(X, AT, K)))),
    Store("s", (J,), T),
)
NESTED = columns(
    Carry("t", ZERO),
    loop(
        "i",
        N,
        Let("w_here", load(W, AT)),
        loop(
            "k",
            N,
            Let("v", both("mul", load(W, K), load(X, K, J))),
            Accumulate("t", "add", both("mul", V, Var("w_here", FLOAT32))),
        ),
    ),
    Store("s", (J,), T),
)
IN_PLACE = columns(
    Carry("t", ZERO),
    loop("i", N, Accumulate("t", "add", load(X, AT, J))),
    loop("k", N, Store("x", (K, J), both("sub", load(X, K, J), T))),
)
ALL = {
    "weighted": (weighted(), ("i",)),
    "variances": (VARIANCES, ("i", "k")),
    "variances, the last pass inside": (VARIANCES, ("i",)),
    "scans": (SCANS, ("i",)),
    "scaled": (SCALED, ("i",)),
    "pairs": (PAIRS, ("i",)),
    "sums of rows": (SUMS_OF_ROWS, ("i",)),
    "prefixes": (PREFIXES, ("i",)),
    "nested": (NESTED, ("i", "k")),
    "in place": (IN_PLACE, ("i", "k")),
}
WORDS = list(rewriting.extents("n", "m", block=3))


def test_the_picture() -> None:
    rewriting.assert_pictured(Interchange, weighted())


@pytest.mark.parametrize("name", ALL)
def test_results_stay(name: str, rng: np.random.Generator) -> None:
    before, into = ALL[name]
    after = rewriting.rewritten(before, Interchange("j", into, 3, "b"))
    rewriting.assert_same(before, after, WORDS, rng)
