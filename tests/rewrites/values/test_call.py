"""Functions that are called instead of inlined."""

from __future__ import annotations

import numpy as np

from tests.helpers.loop_kernels import AT, J, M, N, both, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.call import Call
from xjit.ir.loops.nodes import Buffer, Let, Prim, Store, Var
from xjit.types import FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out"))
W = Buffer.packed("w", FLOAT64, N)
SINES = kernel(
    (X, W, OUT),
    loop(
        "i",
        N,
        Let("v", Prim("sin", (load(W, AT),), FLOAT64)),
        loop("j", M, Store("out", (AT, J), both("add", Prim("sin", (load(X, AT, J),), FLOAT64), Var("v", FLOAT64)))),
    ),
)


def test_the_picture(rng: np.random.Generator) -> None:
    rewriting.assert_pictured(Call, SINES)


def test_results_stay(rng: np.random.Generator) -> None:
    for loop_name, variant in (("i", "rare"), ("j", "rare"), ("j", "called")):
        after = rewriting.rewritten(SINES, Call(loop_name, variant))
        rewriting.assert_same(SINES, after, [{"n": 3, "m": 4}], rng)


def test_what_is_refused() -> None:
    after = rewriting.rewritten(SINES, Call("i", "rare"))
    rewriting.assert_refused(Call("i", "rare"), after, "calls no function that has the form rare")
