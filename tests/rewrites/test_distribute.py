"""Two loops of one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, ZERO, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.distribute import Distribute
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import Accumulate, Alloc, Buffer, Carry, Kernel, Let, LetInt, LoopKind, Statement, Store, Var
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N + 1) for name in ("x", "t", "out"))
ONE = number(1.0, FLOAT64)
V = Var("v", FLOAT64)


def three(at: IntExpr = AT, value: object = None) -> Kernel:
    body = (
        Let("v", both("add", load(X, AT), ONE)),
        Store("t", (AT,), V),
        Store("out", (AT,), both("mul", V, load(T, at))),
    )
    return kernel((X, T, OUT), loop("i", N, *body))


def test_the_picture() -> None:
    rewriting.assert_pictured(Distribute, three())


@pytest.mark.parametrize("before", [three(), three(AT + 1), Parallelize("i").apply(three())])
def test_two_loops(before: Kernel, rng: np.random.Generator) -> None:
    if "i + 1" in rewriting.body_text(before):
        rewriting.assert_refused(
            Distribute("i", 2, "k"), before, r"need the rest of earlier ones: t\[i\].*t\[i \+ 1\]"
        )
        return
    after = rewriting.rewritten(before, Distribute("i", 2, "k"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
    rewriting.assert_same(before, rewriting.rewritten(after, Fuse("i", "k")), rewriting.extents("n"), rng)


def test_named_integers_are_copied(rng: np.random.Generator) -> None:
    last = variable("last")
    body = LetInt("last", N - AT), Let("v", load(X, last)), Store("t", (AT,), V), Store("out", (last,), V)
    before = kernel((X, T, OUT), loop("i", N, *body))
    after = rewriting.rewritten(before, Distribute("i", 3, "k"))
    assert "v_k = x[last_k]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_values_of_earlier_iterations_may_be_read(rng: np.random.Generator) -> None:
    body = Store("t", (AT + 1,), load(X, AT)), Store("out", (AT,), load(T, AT))
    before = kernel((X, T, OUT), loop("i", N, *body))
    after = rewriting.rewritten(before, Distribute("i", 1, "k"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def one(*body: Statement) -> Kernel:
    return kernel((X, T, OUT), Carry("s", ONE), loop("i", N, *body))


ROW = Buffer.packed("row", FLOAT64, constant(1))
S = Var("s", FLOAT64)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (one(Accumulate("s", "add", load(X, AT)), Store("out", (AT,), S)), "s is changed and read"),
        (
            one(Let("v", load(T, AT)), Store("t", (AT,), V), Store("out", (AT,), V)),
            "v is read from t, which is written",
        ),
        (one(Carry("v", ONE), Store("out", (AT,), V)), "the rest of the loop over i needs v"),
        (one(Alloc(ROW), Store("row", (ZERO,), ONE)), "the rest of the loop over i needs row"),
        (one(Store("out", (AT,), ONE)), "the loop over i has 1 statements"),
        (
            kernel((X, T), loop("i", N, Store("t", (AT,), ONE), Let("v", ONE), kind=LoopKind.GRID_BLOCK)),
            "the loop over i is one of a grid",
        ),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    at = 2 if "which is written" in reason else 1
    rewriting.assert_refused(Distribute("i", at, "k"), before, reason)
