"""Iterations in which all positions lie inside of an array."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.specialize_inside import SpecializeInside
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Buffer, Const, FromInt, Kernel, Let, Prim, Statement, Store, Var
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, FLOAT32, INT64

UNSIGNED = np.dtype(np.uint32)
X, S = Buffer.packed("x", FLOAT32, constant(9)), Buffer.packed("s", FLOAT32, 4 * N)
B, ZERO = variable("b"), number(0.0, FLOAT32)
INSIDE = Var("inside", BOOL)


def unsigned(value: int) -> Const:
    return Const(Literal.of(np.uint32(value)))


POSITION = Prim("cast", (FromInt(AT, INT64),), UNSIGNED)
QUESTION = Let("inside", Prim("lt", (Prim("sub", (POSITION, unsigned(1)), UNSIGNED), unsigned(9)), BOOL))
GUARDED = Prim("load_where", (INSIDE, load(X, AT - 1)), FLOAT32)


def blocks(*body: Statement) -> Kernel:
    return kernel((X, S), loop("b", N, loop("i", 4 * B + 4, *body, start=4 * B)))


def test_the_picture() -> None:
    rewriting.assert_pictured(SpecializeInside, blocks(QUESTION, Store("s", (AT,), GUARDED)))


@pytest.mark.parametrize("value", [GUARDED, Prim("select", (INSIDE, GUARDED, ZERO), FLOAT32)], ids=["load", "both"])
def test_results_are_the_same(value: Prim) -> None:
    tested = blocks(QUESTION, Store("s", (AT,), value))
    after = rewriting.rewritten(tested, SpecializeInside("b"))
    rewriting.assert_same(tested, after, ({"n": n} for n in range(4)), np.random.default_rng(0))


def test_what_asks_for_nothing_stays() -> None:
    tested = blocks(Store("s", (AT,), load(S, AT)))
    rewriting.assert_refused(SpecializeInside("b"), tested, "asks for no position")


def test_positions_that_do_not_move_evenly_are_left_alone() -> None:
    half = Prim("cast", (FromInt(AT // 2, INT64),), UNSIGNED)
    tested = blocks(Let("inside", Prim("lt", (half, unsigned(9)), BOOL)), Store("s", (AT,), GUARDED))
    rewriting.assert_refused(SpecializeInside("b"), tested, "does not move evenly along i")
