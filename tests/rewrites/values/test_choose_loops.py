"""Loops that run only where what they make is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.loop_kernels import J, M, N, both, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.choose_loops import ChooseLoops
from xjit.ir.loops.build import equal, number, position
from xjit.ir.loops.intexpr import constant, minimum, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Kernel, Let, LetInt, Prim, Statement, Store, Var
from xjit.types import BOOL, FLOAT64

AT, K = variable("i"), variable("k")
X, Y = Buffer.packed("x", FLOAT64, N), Buffer.packed("y", FLOAT64, N)
OUT = Buffer.packed("out", FLOAT64, constant(2))
NONE = equal(position(K), number(0))
ZERO = number(0, FLOAT64)
S, T, V = (Var(name, FLOAT64) for name in "stv")
FIRST = Carry("s", ZERO), loop("j", N - N * K, Accumulate("s", "add", load(X, J)))
SECOND = Carry("t", ZERO), loop("i", N * K, Accumulate("t", "add", load(Y, AT)))
CHOICE = Let("v", Prim("select", (NONE, S, T), FLOAT64))
END = Store("out", (constant(0),), V)
START = LetInt("k", minimum(M, 1))


def choosing(*body: Statement) -> Kernel:
    """A kernel that begins with a number of the run, 0 or 1."""
    return kernel((X, Y, OUT), START, *body)


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(ChooseLoops)
    given = choosing(*FIRST, *SECOND, CHOICE, END)
    assert before in rewriting.body_text(given)
    assert after in rewriting.body_text(rewriting.rewritten(given, rewrite))


@pytest.mark.parametrize("turned", [False, True])
def test_either_group_runs(turned: bool, rng: np.random.Generator) -> None:
    """Whichever is written first, and with what both read between them."""
    named = Let("w", load(X, constant(0)))
    body = (*SECOND, named, *FIRST) if turned else (*FIRST, named, *SECOND)
    more = Store("out", (constant(1),), Prim("add", (V, Var("w", FLOAT64)), FLOAT64))
    before = choosing(*body, CHOICE, END, more)
    after = rewriting.rewritten(before, ChooseLoops())
    for n in (1, 5):
        rewriting.assert_same(before, after, [{"n": n, "m": m} for m in (0, 1)], rng)


@pytest.mark.parametrize(
    "body",
    [
        (*FIRST, *SECOND, CHOICE, END, Store("out", (constant(1),), S)),
        (*FIRST, *SECOND, Accumulate("s", "add", T), CHOICE, END),
        (*FIRST, Let("t", load(Y, constant(0))), CHOICE, END),
        (*FIRST, *SECOND, Store("y", (constant(0),), ZERO), CHOICE, END),
        (*FIRST, *SECOND, Let("v", both("add", S, T, FLOAT64)), END),
        (*FIRST, *SECOND, Let("v", Prim("select", (both("lt", S, T, BOOL), S, T), FLOAT64)), END),
    ],
    ids=["read behind", "both in one", "no loop", "memory changes", "no choice", "in the condition"],
)
def test_what_is_not_made_for_the_choice_alone_stays(body: tuple[Statement, ...]) -> None:
    rewriting.assert_refused(ChooseLoops(), choosing(*body), "no value is chosen between what loops make")


def test_loops_that_store_elsewhere_stay() -> None:
    storing = loop("j", N - N * K, Accumulate("s", "add", load(X, J)), Store("x", (J,), ZERO))
    body = (FIRST[0], storing, *SECOND, CHOICE, END)
    rewriting.assert_refused(ChooseLoops(), choosing(*body), "no value is chosen between what loops make")


@pytest.mark.parametrize("n", [1, 7, 8, 9, 12, 40, 70])
def test_a_triangle_is_solved_as_by_numpy(n: int, rng: np.random.Generator) -> None:
    """Sums of few and of many elements, of rows and of columns that grow."""

    def solved(a: Any) -> Any:
        for i in range(len(a)):
            for j in range(i):
                a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
            for j in range(i, len(a)):
                a[i, j] -= a[i, :i] @ a[:i, j]
        return a

    given = rng.random((n, n)) + n * np.eye(n)
    compiled = xjit.xjit(solved, strict=True)
    np.testing.assert_allclose(compiled(given.copy()), solved(given.copy()), rtol=1e-12)
    if n == 40:
        assert ChooseLoops.__name__ in str(compiled.explain(given.copy()))
