"""Loops over rows that are left when few of them go on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.values.leave_rows import LeaveRows
from xjit.ir.loops.build import less, plus
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Fold, Kernel, Let, Prim, Statement, Store, Var, While
from xjit.types import BOOL, FLOAT32, INT64

ON = Buffer.packed("on", BOOL, N)
X, W = Buffer.packed("x", FLOAT32, N), Buffer.packed("w", FLOAT32, N)
ROUNDS = Buffer.packed("rounds", INT64, constant(1))
T, V = Var("t", INT64), Var("v", FLOAT32)
GO, OLD = Var("go", BOOL), Var("old", FLOAT32)
MORE = less(T, number(9, INT64))
COUNTED = Fold(("t",), (plus(T, number(1, INT64)),))
BEGIN = Carry("t", number(0, INT64))
HALF = both("div", OLD, number(2.0, FLOAT32))
LARGE = both("gt", OLD, number(1.0, FLOAT32), BOOL)
READ = (Let("go", load(ON, AT)), Let("old", load(X, AT)))
KEPT = Store("x", (AT,), Prim("select", (GO, HALF, OLD), FLOAT32))
ENDED = Store("on", (AT,), both("and", GO, LARGE))
HALVED = loop("i", N, *READ, KEPT, ENDED)
LEFT = LeaveRows("on", 2)


def turns(*body: Statement, then: tuple[Statement, ...] = ()) -> Kernel:
    return kernel((X, ON, W, ROUNDS), BEGIN, While(MORE, body), *then)


def rows(*body: Statement) -> Kernel:
    return turns(loop("i", N, *READ, *body), COUNTED)


def test_the_picture() -> None:
    rewriting.assert_pictured(LeaveRows, turns(HALVED, COUNTED))


@pytest.mark.parametrize("few", [0, 1, 3, 100])
def test_results_stay(few: int, rng: np.random.Generator) -> None:
    numbered = loop("i", N, *READ, Store("x", (AT,), Prim("select", (GO, both("sub", OLD, V), OLD), FLOAT32)), ENDED)
    counting = turns(Let("v", load(W, constant(0))), numbered, COUNTED, then=(Store("rounds", (constant(0),), T),))
    for before in (turns(HALVED, COUNTED), turns(COUNTED, HALVED), counting):
        after = rewriting.rewritten(before, LeaveRows("on", few))
        rewriting.assert_same(before, after, ({"n": n} for n in (1, 4, 5, 11)), rng)


def test_numbers_of_turns_stay_what_they_are(rng: np.random.Generator) -> None:
    """A row that is gone through by itself sees the numbers that its turns have in the loop over all rows."""
    number_of_turn = Prim("cast", (T,), FLOAT32)
    added = Store("x", (AT,), Prim("select", (GO, both("add", OLD, V), OLD), FLOAT32))
    fewer = Store("on", (AT,), both("and", GO, both("lt", OLD, number(6.0, FLOAT32), BOOL)))
    before = turns(Let("v", number_of_turn), loop("i", N, *READ, added, fewer), COUNTED)
    after = rewriting.rewritten(before, LEFT)
    rewriting.assert_same(before, after, ({"n": n} for n in (1, 5, 11)), rng)


def test_rows_that_do_not_rest_are_refused() -> None:
    always = Store("x", (AT,), HALF)
    rewriting.assert_refused(LEFT, rows(always, ENDED), "x may change where on does not hold")
    elsewhere = Store("x", (AT,), Prim("select", (GO, HALF, load(W, AT)), FLOAT32))
    rewriting.assert_refused(LEFT, rows(elsewhere, ENDED), "x may change")
    other_way = Store("x", (AT,), Prim("select", (GO, OLD, HALF), FLOAT32))
    rewriting.assert_refused(LEFT, rows(other_way, ENDED), "x may change")
    by_others = Store("x", (AT,), Prim("select", (load(ON, constant(0)), HALF, OLD), FLOAT32))
    rewriting.assert_refused(LEFT, rows(by_others, ENDED), "x may change")
    begun_again = Store("on", (AT,), LARGE)
    rewriting.assert_refused(LEFT, rows(KEPT, begun_again), "on may change")


def test_what_is_not_of_rows_is_refused() -> None:
    rewriting.assert_refused(LEFT, turns(loop("i", N, *READ, KEPT), COUNTED), "0 while loops")
    total = turns(Fold(("t",), (plus(T, number(1, INT64)),)), HALVED)
    summed = replace(total, body=(Carry("v", number(0.0, FLOAT32)), *total.body))
    (begin, first, whole) = summed.body
    assert isinstance(whole, While)
    adding = loop("i", N, *READ, KEPT, ENDED, Accumulate("v", "add", OLD))
    rewriting.assert_refused(LEFT, replace(summed, body=(begin, first, While(MORE, (adding, COUNTED)))), "Accumulate")
    rewriting.assert_refused(LEFT, turns(Let("v", load(X, constant(0))), HALVED, COUNTED), "an element of x")
    stored = turns(HALVED, Store("rounds", (constant(0),), T), COUNTED)
    rewriting.assert_refused(LEFT, stored, "does more than to go along rows")
    turned = loop("i", N, Let("go", load(ON, AT)), Let("old", load(X, N - AT - 1)), KEPT, ENDED)
    rewriting.assert_refused(LEFT, turns(turned, COUNTED), "x may change")
    mixed = rows(Store("x", (AT,), Prim("select", (GO, load(X, N - AT - 1), OLD), FLOAT32)), ENDED)
    rewriting.assert_refused(LEFT, mixed, "elements of x that others have")
    shorter = loop("j", constant(3), Store("w", (constant(0),), number(0.0, FLOAT32)))
    rewriting.assert_refused(LEFT, turns(HALVED, shorter, COUNTED), "is not one over the rows")
