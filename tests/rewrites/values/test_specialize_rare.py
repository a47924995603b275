"""Blocks that run a second time where an argument was rare."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.specialize_rare import SpecializeRare
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import (
    Accumulate,
    Buffer,
    Carry,
    Check,
    Fold,
    If,
    Invoke,
    Kernel,
    Let,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.types import BOOL, FLOAT64

X, OUT = Buffer.packed("x", FLOAT64, N), Buffer.packed("out", FLOAT64, N)
V, T, U = (Var(name, FLOAT64) for name in "vtu")
ONE = number(1.0, FLOAT64)


def sine(value: Value) -> Value:
    return Prim("sin", (value,), FLOAT64)


WAVE = (Let("v", sine(load(X, AT))), Store("out", (AT,), V), Accumulate("t", "add", V))


def line(*body: Statement) -> Kernel:
    return kernel((X, OUT), Carry("t", ONE), loop("i", N, *body))


BLOCKS = Split("i", 4, "b")


def test_the_picture() -> None:
    tested = rewriting.rewritten(line(*WAVE), BLOCKS)
    before, after, rewrite = rewriting.picture(SpecializeRare)
    assert rewriting.body_text(tested).endswith(before)
    assert rewriting.body_text(rewriting.rewritten(tested, rewrite)).endswith(after)


TWICE = (
    Store("out", (AT,), sine(both("mul", sine(load(X, AT)), load(X, AT)))),
    Fold(("t", "u"), (both("add", U, sine(load(X, AT))), T)),
)
INSIDE = (loop("j", M, Accumulate("t", "add", sine(load(X, AT)))), Store("out", (AT,), ONE))
OWN = (Carry("w", ONE), Accumulate("w", "add", sine(load(X, AT))), Store("out", (AT,), Var("w", FLOAT64)))


@pytest.mark.parametrize("body", [WAVE, TWICE, INSIDE, OWN], ids=["wave", "twice", "inside", "own"])
@pytest.mark.parametrize("rare", [False, True])
def test_blocks(body: tuple[Statement, ...], rare: bool, rng: np.random.Generator) -> None:
    results = Buffer.packed("r", FLOAT64, constant(2))
    end = Store("r", (constant(0),), T), Store("r", (constant(1),), U)
    whole = kernel((X, OUT, results), Carry("t", ONE), Carry("u", ONE), loop("i", N, *body), *end)
    before = rewriting.rewritten(whole, BLOCKS)
    after = rewriting.rewritten(before, SpecializeRare("i", "far"))
    for words in rewriting.extents("n"):
        given = rewriting.arrays(before, words | {"m": 2}, rng)
        if rare and words["n"]:
            given["x"][rng.integers(0, words["n"], 2)] = 1e300, -1e17
        expected, found = (rewriting.executed(one, given, words | {"m": 2})[0] for one in (before, after))
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name].view(np.uint8), array.view(np.uint8), err_msg=name)


def test_parallel_blocks_have_flags_of_their_own(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), loop("i", N, *WAVE[:2]))
    after = rewriting.rewritten(before, BLOCKS, SpecializeRare("i", "far"), Parallelize("b"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


LESS = both("lt", V, ONE, BOOL)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ((Store("out", (AT,), Prim("exp", (load(X, AT),), FLOAT64)),), "calls no function with rare arguments"),
        ((Store("x", (AT,), sine(load(X, AT))),), r"may not run twice: x\[i\], which is written,"),
        ((Store("x", (AT,), sine(load(OUT, AT))), Let("v", load(X, N - 1 - AT))), "may not run twice"),
        ((Let("v", sine(load(X, AT))), If(LESS, (Store("out", (AT,), V),))), "decides by values, which are wrong"),
        ((Let("v", sine(load(X, AT))), Check(LESS, 1)), "decides by values, which are wrong"),
        ((Let("v", sine(load(X, AT))), Invoke("solve", ("out",))), "it is not known what solve touches"),
    ],
)
def test_refusals(body: tuple[Statement, ...], reason: str) -> None:
    rewriting.assert_refused(SpecializeRare("i", "far"), kernel((X, OUT), loop("i", N, *body)), reason)


def test_loops_without_order_are_refused() -> None:
    tested = Parallelize("i").apply(kernel((X, OUT), loop("i", N, *WAVE[:2])))
    rewriting.assert_refused(SpecializeRare("i", "far"), tested, "the loop over i is parallel already")


def test_elements_of_rows_are_their_own(rng: np.random.Generator) -> None:
    x, out = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, N, M)
    before = kernel((x, out), loop("i", N, loop("j", M, Store("out", (AT, J), sine(load(x, AT, J))))))
    after = rewriting.rewritten(before, SpecializeRare("j", "far"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m", block=3), rng)
