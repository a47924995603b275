"""Iterations in which a condition holds, found by the bits of a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.loop_kernels import AT, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.mark_iterations import MarkIterations
from xjit.ir.loops.intexpr import constant, minimum, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Buffer,
    Carry,
    If,
    Kernel,
    Let,
    Loop,
    LoopKind,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.types import BOOL, FLOAT64

X, Y = Buffer.packed("x", FLOAT64, N), Buffer.packed("y", FLOAT64, N)
Q = Var("q", FLOAT64)
LESS = both("lt", load(X, AT), Q, BOOL)
ZERO = Store("y", (AT,), number(0.0, FLOAT64))
LIMIT = Let("q", number(0.25, FLOAT64))
MARKED = MarkIterations("i")


def asking(condition: Value, *then: Statement, more: Statement | None = None, **fields: object) -> Kernel:
    """A kernel with a loop whose iterations do something where a condition holds."""
    body: tuple[Statement, ...] = (If(condition, then),)
    one: Loop = loop("i", N, *body, *([] if more is None else [more]), **fields)
    return kernel((X, Y), LIMIT, one)


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(MarkIterations)
    given = asking(LESS, ZERO)
    assert rewriting.body_text(given).split("\n", 1)[1] == before
    assert rewriting.body_text(rewriting.rewritten(given, rewrite)).split("\n", 1)[1] == after


@pytest.mark.parametrize("fields", [{}, {"start": 3}, {"step": 5}, {"start": 2, "step": 7}])
def test_the_same_elements_are_changed(fields: Mapping[str, int], rng: np.random.Generator) -> None:
    before = asking(LESS, ZERO, **fields)
    words = [{"n": n} for n in (0, 1, 63, 64, 65, 128, 150)]
    rewriting.assert_same(before, rewriting.rewritten(before, MARKED), words, rng)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_order_stays(share: float, rng: np.random.Generator) -> None:
    """All, or as good as none, of the iterations go on; a sum that rounds sees them from the first to the last."""
    total = Carry("s", number(0.0, FLOAT64)), Store("y", (constant(0),), Var("s", FLOAT64))
    step = If(both("lt", load(X, AT), number(share * 9.0, FLOAT64), BOOL), (Accumulate("s", "add", load(X, AT)),))
    before = kernel((X, Y), total[0], loop("i", N, step), total[1])
    rewriting.assert_same(before, rewriting.rewritten(before, MARKED), [{"n": 64}, {"n": 200}], rng)


def test_one_number_is_enough_for_a_short_loop(rng: np.random.Generator) -> None:
    short = (minimum(N, 700) + 9) // 10
    before = kernel((X, Y), LIMIT, loop("i", minimum(N, 64), If(LESS, (ZERO,))))
    assert "word" not in rewriting.body_text(rewriting.rewritten(before, MARKED))
    rewriting.assert_same(before, rewriting.rewritten(before, MARKED), [{"n": 64}, {"n": 70}], rng)
    longer = kernel((X, Y), LIMIT, loop("i", short, If(LESS, (ZERO,))))
    assert "word" in rewriting.body_text(rewriting.rewritten(longer, MARKED))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (asking(LESS, ZERO, more=ZERO), "does more than to ask a condition"),
        (asking(LESS, ZERO, kind=LoopKind.PARALLEL), "have no order"),
        (asking(LESS, Store("x", (AT,), number(0.0, FLOAT64))), "changes what its condition is made of"),
    ],
)
def test_refusals(given: Kernel, reason: str) -> None:
    rewriting.assert_refused(MARKED, given, reason)


def test_a_condition_on_a_scalar_that_changes_is_refused() -> None:
    low = Carry("s", number(9.0, FLOAT64))
    step = If(both("lt", load(X, AT), Var("s", FLOAT64), BOOL), (Accumulate("s", "min", load(X, AT)),))
    end = Store("y", (constant(0),), Var("s", FLOAT64))
    rewriting.assert_refused(MARKED, kernel((X, Y), low, loop("i", N, step), end), "changes what its condition")
    other = If(LESS, (), (ZERO,))
    rewriting.assert_refused(MARKED, kernel((X, Y), LIMIT, loop("i", N, other)), "does more than")


def test_means_of_rings_are_those_of_numpy(rng: np.random.Generator) -> None:
    """Rings of a picture are much narrower than its rows: blocks and groups are marked."""

    def means(picture: Any, radius: Any, edges: Any) -> Any:
        found = np.zeros(len(edges) - 1)
        for k in range(len(edges) - 1):
            found[k] = picture[(radius >= edges[k]) & (radius < edges[k + 1])].sum()
        return found

    y, x = np.indices((70, 1300)) - np.array([35.0, 650.0])[:, None, None]
    radius, picture, edges = np.hypot(y, x), rng.standard_normal((70, 1300)), np.linspace(0.0, 600.0, 41)
    compiled = xjit.xjit(means, strict=True)
    np.testing.assert_allclose(compiled(picture, radius, edges), means(picture, radius, edges), rtol=1e-12, atol=1e-9)
    assert MarkIterations.__name__ in str(compiled.explain(picture, radius, edges))


def test_variables_are_named_anew() -> None:
    """Two loops of one kernel are marked one after the other."""
    second = loop("j", N, If(both("lt", load(X, variable("j")), Q, BOOL), (Store("y", (variable("j"),), Q),)))
    after = rewriting.rewritten(
        kernel((X, Y), LIMIT, loop("i", N, If(LESS, (ZERO,))), second), MARKED, MarkIterations("j")
    )
    text = rewriting.body_text(after)
    assert "bits_2" in text
    assert "lowest_2" in text
