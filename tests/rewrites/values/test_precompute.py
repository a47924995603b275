"""Values of all iterations of a loop in a loop of their own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.precompute import Precompute
from xjit.ir.loops.intexpr import minimum, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, Let, LetInt, Prim, Statement, Store, Var
from xjit.types import FLOAT32

X = Buffer.packed("x", FLOAT32, N, M)
W, S = Buffer.packed("w", FLOAT32, N), Buffer.packed("s", FLOAT32, M)
K, B = variable("k"), variable("b")
T, U, V = (Var(name, FLOAT32) for name in "tuv")
ZERO = number(0.0, FLOAT32)
ADD_UP = loop("j", M, Store("s", (J,), both("add", load(S, J), both("mul", V, load(X, AT, J)))))


def rows(*body: Statement) -> Kernel:
    return kernel((X, W, S), loop("b", N, loop("i", minimum(B + 4, N), *body, start=B), step=4))


STEP = Let("v", Prim("exp", (load(W, AT),), FLOAT32)), ADD_UP
WEIGHTED = rows(*STEP)
TOTALS = rows(
    Carry("t", ZERO), loop("k", M, Accumulate("t", "add", load(X, AT, K))), Let("v", both("mul", T, T)), ADD_UP
)
NAMED = rows(LetInt("at", AT), Let("u", load(W, variable("at"))), Let("v", both("mul", U, U)), ADD_UP)
READ_TWICE = rows(Let("u", load(W, AT)), Let("v", both("mul", U, U)), ADD_UP, Store("s", (AT * 0,), U))
ALL = {
    "weighted": (WEIGHTED, (("v",),)),
    "totals": (TOTALS, (("v",),)),
    "totals and what is made of them": (TOTALS, (("t",), ("v",))),
    "named": (NAMED, (("v",),)),
    "both": (NAMED, (("u", "v"),)),
    "read twice": (READ_TWICE, (("v",),)),
}
WORDS = list(rewriting.extents("n", "m", block=4))


def test_the_picture() -> None:
    rewriting.assert_pictured(Precompute, WEIGHTED)


@pytest.mark.parametrize("name", ALL)
def test_results_stay(name: str, rng: np.random.Generator) -> None:
    before, steps = ALL[name]
    words = [one for one in WORDS if one["m"] > 0]
    rewrites = [Precompute("i", values, f"ahead{number}") for number, values in enumerate(steps)]
    after = rewriting.rewritten(before, *rewrites)
    rewriting.assert_same(before, after, words, rng)
    assert rewriting.body_text(after).count(" in b .. min(b + 4, n):") == len(steps) + 1


def test_blocks_of_named_bounds(rng: np.random.Generator) -> None:
    before = kernel((X, W, S), loop("i", N, *STEP))
    rewriting.assert_same(
        before, rewriting.rewritten(before, Split("i", 3, "b"), Precompute("i", ("v",), "k")), WORDS, rng
    )


def test_what_is_refused() -> None:
    triangle = kernel((X, W, S), loop("b", N, loop("i", B, *STEP)))
    rewriting.assert_refused(Precompute("i", ("v",), "k"), triangle, "how many iterations over i")
    changing = rows(
        Carry("t", ZERO),
        Accumulate("t", "add", load(W, AT)),
        Store("s", (AT * 0,), T),
        Accumulate("t", "add", load(W, AT)),
        Let("v", T),
        ADD_UP,
    )
    for values in (("t",), ("v",)):
        rewriting.assert_refused(
            Precompute("i", values, "k"), changing, "t (changes behind a use|is changed and needed)"
        )
    rewriting.assert_refused(Precompute("i", ("s",), "k"), WEIGHTED, "s is no value")
    reading = rows(Let("v", load(S, AT * 0)), ADD_UP)
    rewriting.assert_refused(Precompute("i", ("v",), "k"), reading, "s is changed and needed")
