"""Reductions in parts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, M, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.split import Split
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, Statement, Store, Var
from xjit.types import FLOAT32, INT64, DType


def total(reducer: str = "add", dtype: DType = FLOAT32, start: int = 1, **fields: int) -> Kernel:
    x, s = Buffer.packed("x", dtype, M), Buffer.packed("s", dtype, constant(1))
    step = Accumulate("t", reducer, load(x, J), **fields)
    body = loop("j", M, step), Store("s", (constant(0),), Var("t", dtype))
    return kernel((x, s), Carry("t", number(start, dtype)), *body)


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(Rfactor)
    tested = total()
    assert before in rewriting.body_text(tested)
    assert after in rewriting.body_text(rewriting.rewritten(tested, rewrite))


@pytest.mark.parametrize("parts", [2, 4, 8])
@pytest.mark.parametrize("reducer", ["add", "mul", "min", "max", "and", "or", "xor"])
def test_exact_reducers(reducer: str, parts: int, rng: np.random.Generator) -> None:
    before = total(reducer, INT64, 3)
    after = rewriting.rewritten(before, Rfactor("j", parts, "p"))
    rewriting.assert_same(before, after, rewriting.extents("m"), rng)


def test_sums_that_begin_with_something_count_it_once(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(total(start=5), Rfactor("j", 4, "p"))
    found, _ = rewriting.executed(after, {"x": np.ones(9, np.float32), "s": np.zeros(1, np.float32)}, {"m": 9})
    assert found["s"].tolist() == [14]


def test_the_sign_of_zero_is_kept() -> None:
    x, s = Buffer.packed("x", FLOAT32, M), Buffer.packed("s", FLOAT32, constant(1))
    step = loop("j", M, Accumulate("t", "add", load(x, J)))
    last = Store("s", (constant(0),), Var("t", FLOAT32))
    before = kernel((x, s), Carry("t", number(-0.0, FLOAT32)), step, last)
    after = rewriting.rewritten(before, Rfactor("j", 2, "p"))
    given = {"x": np.full(5, -0.0, np.float32), "s": np.zeros(1, np.float32)}
    assert np.signbit(rewriting.executed(after, given, {"m": 5})[0]["s"]).tolist() == [True]


def test_sums_of_blocks(rng: np.random.Generator) -> None:
    before = total(dtype=INT64)
    after = rewriting.rewritten(before, Split("j", 4, "b"), Rfactor("j", 2, "p"))
    rewriting.assert_same(before, after, rewriting.extents("m"), rng)


T = Var("t", FLOAT32)
LINE = Buffer.packed("x", FLOAT32, M)


def line(*body: Statement) -> Kernel:
    return kernel((LINE,), Carry("t", number(1, FLOAT32)), loop("j", M, *body))


@pytest.mark.parametrize(
    ("before", "parts", "reason"),
    [
        (total(), 3, "3 is not a power of two above 1"),
        (line(Store("x", (J,), T), Accumulate("t", "add", load(LINE, J))), 4, "is not one reduction"),
        (total(lanes=8), 4, "is not one reduction"),
        (line(Accumulate("t", "add", both("mul", load(LINE, J), T))), 4, "t is read by its own reduction"),
        (line(Accumulate("t", "sub", load(LINE, J))), 4, "sub is no reducer that is known to be regrouped"),
    ],
)
def test_refusals(before: Kernel, parts: int, reason: str) -> None:
    rewriting.assert_refused(Rfactor("j", parts, "p"), before, reason)
