"""Reductions into parts for every iteration of a loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.privatize_reduction import PrivatizeReduction
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Fold, Kernel, Statement, Store, Var
from xjit.types import FLOAT32, INT64, DType

BLOCKS = Split("i", 4, "b")


def total(dtype: DType, reducer: str = "add", *more: Statement) -> Kernel:
    x, r = Buffer.packed("x", dtype, N), Buffer.packed("r", dtype, constant(1))
    body = loop("i", N, Accumulate("t", reducer, load(x, AT)), *more)
    return kernel((x, r), Carry("t", number(2, dtype)), body, Store("r", (constant(0),), Var("t", dtype)))


def columns(reducer: str = "add") -> Kernel:
    x, s = Buffer.packed("x", INT64, N, M), Buffer.packed("s", INT64, M)
    step = Store("s", (J,), both(reducer, load(s, J), load(x, AT, J)))
    return kernel((x, s), loop("i", N, loop("j", M, step)))


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(PrivatizeReduction)
    tested = rewriting.rewritten(total(FLOAT32), BLOCKS)
    assert before in rewriting.body_text(tested)
    assert after in rewriting.body_text(rewriting.rewritten(tested, rewrite))


@pytest.mark.parametrize("reducer", ["add", "mul", "min", "max", "xor"])
def test_chunks_on_threads(reducer: str, rng: np.random.Generator) -> None:
    before = total(INT64, reducer)
    rewrites = BLOCKS, PrivatizeReduction("t", "b", "part"), Parallelize("part_at")
    rewriting.assert_same(before, rewriting.rewritten(before, *rewrites), rewriting.extents("n"), rng)


@pytest.mark.parametrize("reducer", ["add", "max"])
def test_rows_on_threads(reducer: str, rng: np.random.Generator) -> None:
    rewrites = BLOCKS, PrivatizeReduction("s", "b", "part"), Parallelize("part_at")
    after = rewriting.rewritten(columns(reducer), *rewrites)
    rewriting.assert_same(columns(reducer), after, rewriting.extents("n", "m"), rng)


X, S = Buffer.packed("x", INT64, N), Buffer.packed("s", INT64, N)
T = Var("t", INT64)
ROW = both("add", load(S, AT), load(X, AT))


def rows(*body: Statement) -> Kernel:
    return kernel((X, S), Carry("t", number(0, INT64)), loop("i", N, *body))


def test_loops_that_threads_share_are_refused() -> None:
    whole = kernel((X, S), loop("i", N, Store("s", (AT,), ROW)))
    parallel = Parallelize("i").apply(whole)
    rewriting.assert_refused(PrivatizeReduction("s", "i", "part"), parallel, "the loop over i is parallel already")


@pytest.mark.parametrize(
    ("before", "target", "reason"),
    [
        (total(INT64), "x", "the loop over i does not reduce into x"),
        (rows(Accumulate("t", "add", load(X, AT)), Store("s", (AT,), T)), "t", "t is read, or changed in order"),
        (rows(Fold(("t",), (load(X, AT),))), "t", "t is read, or changed in order"),
        (rows(Accumulate("t", "sub", load(X, AT))), "t", "t is changed by sub, not by one reducer"),
        (rows(Accumulate("t", "add", T), Accumulate("t", "max", T)), "t", "t is read"),
        (
            rows(Accumulate("t", "add", load(X, AT)), Accumulate("t", "max", load(X, AT))),
            "t",
            "t is changed by add, max, not by one reducer",
        ),
        (rows(Store("s", (AT,), load(X, AT))), "s", "s is read, or changed in order"),
        (rows(Store("s", (AT,), both("add", load(X, AT), load(X, AT)))), "s", "s is read, or changed in order"),
        (rows(Store("s", (AT,), both("sub", load(S, AT), load(X, AT)))), "s", "s is changed by sub"),
        (rows(Store("s", (N - 1 - AT,), ROW)), "s", "s is read, or changed in order"),
        (rows(Store("s", (AT,), both("add", load(S, AT), load(S, AT)))), "s", "s is read, or changed in order"),
    ],
)
def test_refusals(before: Kernel, target: str, reason: str) -> None:
    rewriting.assert_refused(PrivatizeReduction(target, "i", "part"), before, reason)
