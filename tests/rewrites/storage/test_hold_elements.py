"""Elements that while loops change, in registers as long as these go on."""

from __future__ import annotations

import numpy as np

from tests.helpers.loop_kernels import AT, ZERO, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.hold_elements import HoldElements
from xjit.ir.loops.build import less, plus
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Buffer, Carry, Fold, Kernel, Let, LoopKind, Statement, Store, Value, Var, While
from xjit.types import BOOL, FLOAT64, INT64

ON, X = Buffer.packed("on", BOOL, N), Buffer.packed("x", FLOAT64, N)
LONG = Buffer.packed("long", FLOAT64, N + 1)
ROW = variable("row")
OLD = Var("old", FLOAT64)
READ = Let("old", load(X, AT))
HALF = Store("x", (AT,), both("div", OLD, number(2.0, FLOAT64)))
LARGE = Store("on", (AT,), both("gt", OLD, number(1.0, FLOAT64), BOOL))
HELD = HoldElements("row")


def rows(*body: Statement, go: Value | None = None, kind: LoopKind = LoopKind.SERIAL) -> Kernel:
    """A loop over rows, each with turns of its own."""
    turns = While(load(ON, ROW) if go is None else go, body)
    return kernel((X, ON, LONG), loop("row", N, turns, kind=kind))


def single(*body: Statement) -> Statement:
    return loop("i", ROW + 1, *body, start=ROW)


def test_the_picture() -> None:
    rewriting.assert_pictured(HoldElements, rows(single(READ, HALF, LARGE)))


def test_results_stay(rng: np.random.Generator) -> None:
    again = Let("again", load(X, AT))
    summed = Store("long", (AT,), both("add", load(LONG, AT), Var("again", FLOAT64)))
    others = single(again, summed, Store("on", (AT,), both("gt", Var("again", FLOAT64), number(1.0, FLOAT64), BOOL)))
    several = rows(single(READ, HALF), others)
    for before in (rows(single(READ, HALF, LARGE)), several):
        after = rewriting.rewritten(before, HELD)
        rewriting.assert_same(before, after, ({"n": n} for n in (1, 4, 11)), rng)


def test_what_stands_beside_the_turns_stays(rng: np.random.Generator) -> None:
    t = Var("t", INT64)
    turns = While(both("and", less(t, number(5, INT64)), load(ON, ROW)), (single(READ, HALF, LARGE), _next(t)))
    before = kernel((X, ON), Carry("t", number(0, INT64)), loop("row", N, Fold(("t",), (number(0, INT64),)), turns))
    after = rewriting.rewritten(before, HELD)
    rewriting.assert_same(before, after, ({"n": n} for n in (1, 4, 11)), rng)


def _next(t: Var) -> Statement:
    return Fold(("t",), (plus(t, number(1, INT64)),))


def test_elements_at_several_places_stay_in_memory() -> None:
    neighbour = Store("long", (AT + 1,), both("add", load(LONG, AT), OLD))
    after = rewriting.rewritten(rows(single(READ, neighbour, HALF, LARGE)), HELD)
    text = rewriting.body_text(after)
    assert "x_held" in text and "on_held" in text and "long_held" not in text


def test_places_that_turns_move_are_refused() -> None:
    inner = loop("i", N, READ, HALF, LARGE)
    rewriting.assert_refused(HELD, rows(inner), "changes no element at one place alone")
    t = Var("t", INT64)
    moving = Store("x", (variable("t"),), number(1.0, FLOAT64))
    turns = While(less(t, number(1, INT64)), (moving, _next(t)))
    before = kernel((X,), Carry("t", number(0, INT64)), loop("row", N, turns))
    rewriting.assert_refused(HELD, before, "changes no element at one place alone")


def test_other_loops_are_refused() -> None:
    body = single(READ, HALF, LARGE)
    rewriting.assert_refused(HELD, rows(body, kind=LoopKind.VECTOR), "the loop over row is vector")
    rewriting.assert_refused(HELD, kernel((X, ON), loop("row", N, Store("x", (ROW,), load(X, ROW)))), "0 while loops")
    rewriting.assert_refused(HoldElements("k"), rows(body), "there is no loop over k")
    shared = loop("i", 1, Store("x", (ZERO,), number(1.0, FLOAT64)), kind=LoopKind.VECTOR)
    rewriting.assert_refused(HELD, rows(shared), "changes no element at one place alone")
