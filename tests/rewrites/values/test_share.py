"""Values that are computed once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.codegen.rewrites.values.share import Share
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Fold, If, Kernel, Let, Statement, Store, Value, Var, While
from xjit.types import BOOL, FLOAT64

X, Y, Z = (Buffer.packed(name, FLOAT64, N + 1) for name in "xyz")
T = Var("t", FLOAT64)
ONE = number(1.0, FLOAT64)


def square(value: Value) -> Value:
    return both("mul", value, value)


SQUARE = square(load(X, AT))
PICTURE = (
    Store("out", (AT,), both("add", SQUARE, load(Y, AT))),
    Store("y", (AT,), both("sub", SQUARE, load(Y, AT))),
    Store("z", (AT,), load(Y, AT)),
)
OUT = Buffer.packed("out", FLOAT64, N)


def line(*body: Statement) -> Kernel:
    return kernel((X, Y, Z, OUT), Carry("t", ONE), loop("i", N, *body), Store("z", (N,), T))


def lines(tested: Kernel) -> list[str]:
    return [text.strip() for text in rewriting.body_text(rewriting.rewritten(tested, Share("i", "v"))).splitlines()]


def test_the_picture() -> None:
    rewriting.assert_pictured(Share, kernel((X, Y, Z, OUT), loop("i", N, *PICTURE)))


NAMED = line(Let("a", SQUARE), Store("out", (AT,), SQUARE), Let("b", SQUARE), Store("y", (AT,), Var("b", FLOAT64)))
CHANGED = line(Accumulate("t", "add", square(T)), Store("out", (AT,), square(T)), Fold(("t",), (square(T),)))
WRITTEN = line(Store("x", (AT,), square(SQUARE)), Store("y", (AT,), both("add", load(X, AT), load(X, AT))))
BRANCH = line(
    If(both("lt", load(X, AT), load(Y, AT), BOOL), (Store("x", (AT,), ONE),), (Store("z", (AT,), load(X, AT)),)),
    Store("out", (AT,), both("sub", load(X, AT), load(Y, AT))),
)
INNER = line(
    Store("out", (AT,), square(load(X, AT))),
    loop("j", M, Store("x", (AT,), both("add", load(X, AT), square(load(Y, AT))))),
    Store("y", (AT,), square(load(X, AT))),
)


@pytest.mark.parametrize("before", [NAMED, CHANGED, WRITTEN, BRANCH, INNER])
def test_values_used_twice(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, Share("i", "v"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)
    rewriting.assert_refused(Share("i", "w"), after, "the loop over i computes nothing twice")


def test_names_that_are_there_are_taken() -> None:
    assert lines(NAMED)[2:7] == ["v0 = x[i]", "a = (v0 * v0)", "out[i] = a", "y[i] = a", "z[n] = t"]


def test_values_behind_a_change_are_others() -> None:
    assert lines(CHANGED)[2:6] == ["t = add(t, (t * t))", "v0 = (t * t)", "out[i] = v0", "t = v0"]
    assert lines(WRITTEN)[2:7] == ["v0 = x[i]", "v1 = (v0 * v0)", "x[i] = (v1 * v1)", "v2 = x[i]", "y[i] = (v2 + v2)"]
    assert [text for text in lines(INNER) if "x[i]" in text and text[0] == "v"] == ["v0 = x[i]", "v2 = x[i]"]


def test_of_two_names_for_a_value_the_first_one_stays(rng: np.random.Generator) -> None:
    a, b, c = (Var(name, FLOAT64) for name in "abc")
    twice = Let("a", load(X, AT)), Let("b", load(X, AT)), Let("c", both("mul", b, ONE))
    before = line(*twice, Store("out", (AT,), both("add", both("mul", a, ONE), both("mul", c, b))))
    assert lines(before)[2:5] == ["a = x[i]", "c = (a * 1.0)", "out[i] = (c + (c * a))"]
    rewriting.assert_same(before, rewriting.rewritten(before, Share("i", "v")), rewriting.extents("n", "m"), rng)
    condition = Carry("go", number(True, BOOL)), While(both("lt", b, a, BOOL), (Fold(("t",), (b,)),))
    loose = line(*twice[:2], *condition)
    assert "while (a < a):" in lines(loose)
    rewriting.assert_same(loose, rewriting.rewritten(loose, Share("i", "v")), rewriting.extents("n", "m"), rng)


def test_loops_inside_use_names_given_in_front_of_them(rng: np.random.Generator) -> None:
    k = variable("k")
    same = both("mul", load(X, AT), load(Y, k))
    inside = Store("out", (AT,), SQUARE), Accumulate("t", "add", same), Store("y", (k,), same)
    before = line(Let("a", SQUARE), loop("k", N, *inside), Store("z", (AT,), both("add", SQUARE, square(T))))
    assert lines(before)[2:11] == [
        "v0 = x[i]",
        "a = (v0 * v0)",
        "for k in 0 .. n:",
        "out[i] = a",
        "v1 = (v0 * y[k])",
        "t = add(t, v1)",
        "y[k] = v1",
        "z[i] = (a + (t * t))",
        "z[n] = t",
    ]
    rewriting.assert_same(before, rewriting.rewritten(before, Share("i", "v")), rewriting.extents("n", "m"), rng)


def test_conditions_of_branches_are_values_of_the_block() -> None:
    assert lines(BRANCH)[2:4] == ["v0 = y[i]", "if (x[i] < v0):"]


def test_rows_that_share_their_neighbours(rng: np.random.Generator) -> None:
    k = variable("k")
    x, out = Buffer.packed("x", FLOAT64, N + 1, M), Buffer.packed("out", FLOAT64, N, M)
    row = loop("k", M, Store("out", (AT, k), both("add", load(x, AT, k), load(x, AT + 1, k))))
    before = kernel((x, out), loop("i", N, row))
    after = rewriting.rewritten(before, UnrollAndJam("i", 2), Share("k", "v"))
    assert rewriting.body_text(after).splitlines()[2:5] == [
        "    v0 = x[i + 1, k]",
        "    out[i, k] = (x[i, k] + v0)",
        "    out[i + 1, k] = (v0 + x[i + 2, k])",
    ]
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_refusals() -> None:
    rewriting.assert_refused(Share("i", "v"), line(Store("out", (AT,), load(X, AT))), "computes nothing twice")
    condition = While(both("lt", load(X, AT), load(X, AT), BOOL), ())
    rewriting.assert_refused(Share("i", "v"), line(condition), "computes nothing twice")
