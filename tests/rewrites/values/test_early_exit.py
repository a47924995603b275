"""Reductions that end where they are decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.language.plain_primitives import primitive
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.values.early_exit import EarlyExit
from xjit.ir.loops.execute import Executor
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Fold, Kernel, Statement, Store, Value, Var
from xjit.types import BOOL, FLOAT64, INT64, DType

X, K = Buffer.packed("x", FLOAT64, N), Buffer.packed("k", INT64, N)
NEGATIVE = both("lt", load(X, AT), number(0.0, FLOAT64), BOOL)


def decided(reducer: str, value: Value, start: object, *more: Statement) -> Kernel:
    dtype: DType = value.dtype
    result = Buffer.packed("r", dtype, constant(1))
    body = loop("i", N, Accumulate("t", reducer, value), *more)
    return kernel((X, K, result), Carry("t", number(start, dtype)), body, Store("r", (constant(0),), Var("t", dtype)))


ANY = decided("or", NEGATIVE, False)
BLOCKS = Split("i", 4, "b")


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(EarlyExit)
    tested = rewriting.rewritten(ANY, BLOCKS)
    assert before in rewriting.body_text(tested)
    assert after in rewriting.body_text(rewriting.rewritten(tested, rewrite))


@pytest.mark.parametrize(
    "before",
    [
        ANY,
        decided("and", NEGATIVE, True),
        decided("or", load(K, AT), 0),
        decided("and", load(K, AT), -1),
        decided("max", load(K, AT), 3),
        decided("min", load(K, AT), 3),
    ],
)
def test_blocks(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, BLOCKS, EarlyExit("b"))
    for _ in range(5):
        rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_two_reductions_that_are_both_decided(rng: np.random.Generator) -> None:
    all_true = Accumulate("u", "and", NEGATIVE)
    both_results = Buffer.packed("r", BOOL, constant(2))
    body = loop("i", N, Accumulate("t", "or", NEGATIVE), all_true)
    given = Carry("t", number(False, BOOL)), Carry("u", number(True, BOOL))
    ends = [Store("r", (constant(at),), Var(name, BOOL)) for at, name in enumerate("tu")]
    before = kernel((X, both_results), *given, body, *ends)
    after = rewriting.rewritten(before, BLOCKS, EarlyExit("b"))
    assert "if ((t != True) | (u != False)):" in rewriting.body_text(after)
    for _ in range(5):
        rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_elements_behind_are_not_looked_at() -> None:
    after = rewriting.rewritten(ANY, BLOCKS, EarlyExit("b"))
    x = np.full(40, 1.0)
    x[5] = -1.0
    compared = []

    def counting(name: str, variant: str, operands: Sequence[Any], dtype: DType) -> Any:
        compared.extend([name] if name == "lt" else [])
        return primitive(name, variant, operands, dtype)

    arrays = {"x": x, "k": np.zeros(40, np.int64), "r": np.zeros(1, bool)}
    Executor(counting).run(after, arrays, {"n": 40})
    assert arrays["r"].tolist() == [True] and len(compared) == 8


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (decided("add", load(K, AT), 0), "no value of t is the last word"),
        (decided("max", load(X, AT), 0.0), "no value of t is the last word"),
        (decided("or", NEGATIVE, False, Store("k", (AT,), number(1, INT64))), "does more than to reduce"),
        (decided("or", NEGATIVE, False, Fold(("t",), (NEGATIVE,))), "no value of t is the last word"),
        (decided("or", NEGATIVE, False, Accumulate("t", "and", NEGATIVE)), "no value of t is the last word"),
        (kernel((X,), loop("i", N)), "is not a reduction in order"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(EarlyExit("i"), before, reason)
