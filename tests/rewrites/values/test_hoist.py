"""Invariant values, moved in front of loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.hoist import Hoist
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Accumulate, Alloc, Buffer, Carry, Kernel, Let, LetInt, Prim, Statement, Store, Var
from xjit.types import FLOAT64

X, Y = Buffer.packed("x", FLOAT64, N), Buffer.packed("y", FLOAT64, M)
OUT = Buffer.packed("out", FLOAT64, M)
V, T = Var("v", FLOAT64), Var("t", FLOAT64)
LAST = variable("last")
SCALED = (
    LetInt("last", N - 1),
    Let("v", Prim("sqrt", (load(X, LAST),), FLOAT64)),
    Store("out", (J,), both("mul", load(Y, J), V)),
)


def line(*body: Statement) -> Kernel:
    return kernel((X, Y, OUT), loop("j", M, *body))


def rows(*body: Statement) -> Kernel:
    return kernel((X, Y, OUT), loop("i", N, loop("j", M, *body)))


def test_the_picture() -> None:
    # An element that may not be there stays in the loop.
    text = rewriting.body_text(rewriting.rewritten(line(*SCALED), Hoist("j")))
    assert text.splitlines()[:3] == ["last = n - 1", "for j in 0 .. m:", "  v = sqrt(x[last])"]
    more = Buffer.packed("x", FLOAT64, N + 1)
    rewriting.assert_pictured(Hoist, kernel((more, Y, OUT), loop("j", M, LetInt("last", N), *SCALED[1:])))


def test_what_stays_the_same(rng: np.random.Generator) -> None:
    before = rows(
        Let("v", load(X, AT)),
        Let("u", both("add", V, number(1.0, FLOAT64))),
        Let("t", both("mul", load(Y, J), Var("u", FLOAT64))),
        Store("out", (J,), both("add", load(OUT, J), T)),
    )
    after = rewriting.rewritten(before, Hoist("j"))
    assert rewriting.body_text(after).splitlines()[1:4] == ["  v = x[i]", "  u = (v + 1.0)", "  for j in 0 .. m:"]
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)
    rewriting.assert_refused(Hoist("i"), after, "no name in the loop over i stays the same")


ROW = Buffer.packed("row", FLOAT64, N + 1)
ZEROS = number(0.0, FLOAT64)
CHANGING = {
    "by the loop": line(Let("v", load(OUT, J))),
    "may not be there": line(Let("v", load(X, ZERO))),
    "written": kernel((X,), loop("i", N, loop("j", M, Let("v", load(X, AT)), Store("x", (AT,), V)))),
    "changed": kernel((Y,), Carry("t", ZEROS), loop("j", M, Let("v", T), Accumulate("t", "add", load(Y, J)))),
    "own scratch": line(Alloc(ROW), Let("v", load(ROW, ZERO))),
    "own scalar": line(Carry("t", ZEROS), Let("v", T)),
}


@pytest.mark.parametrize("before", CHANGING.values(), ids=CHANGING)
def test_what_changes(before: Kernel) -> None:
    rewriting.assert_refused(Hoist("j"), before, "no name in the loop over j stays the same")
