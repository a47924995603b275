"""Stores whose places are checked, behind a jump."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.loop_kernels import both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel
from xjit.codegen.rewrites.values.skip_failed import SkipFailed
from xjit.ir.loops.build import less, truth
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, If, Kernel, Let, Prim, Statement, Store, Value, Var
from xjit.types import BOOL, FLOAT64, INT64

NINE, FIRST = constant(9), constant(0)
X, Y = Buffer.packed("x", FLOAT64, NINE), Buffer.packed("y", FLOAT64, NINE)
P = Buffer.packed("p", INT64, constant(2))
FAILED = Buffer.packed("failed", BOOL, constant(2))
V, OK, OK_TOO, AT, TOO = Var("v", INT64), Var("ok", BOOL), Var("ok_too", BOOL), variable("g"), variable("h")


def flag(name: str, place: int = 0) -> If:
    return If(Var(name, BOOL), (Store("failed", (constant(place),), truth(True)),))


def fails(name: str, condition: Value) -> Accumulate:
    return Accumulate(name, "or", Prim("not", (condition,), BOOL))


def safe(name: str, condition: Value, place: Value) -> Let:
    return Let(name, Prim("select", (condition, place, number(0, INT64)), INT64))


def within(name: str, value: Value) -> Let:
    return Let(name, less(value, number(9, INT64)))


CARRY = Carry("bad", truth(False))
POSITION = (within("ok", V), safe("g", OK, V))
ADD = Store("x", (AT,), both("add", load(X, AT), number(1.0, FLOAT64)))
CHECK = fails("bad", OK)


def checking(*body: Statement, then: tuple[Statement, ...] = (flag("bad"),)) -> Kernel:
    return kernel((X, Y, P, FAILED), Let("v", load(P, FIRST)), CARRY, *body, *then)


def lines(before: Kernel) -> list[str]:
    return rewriting.body_text(rewriting.rewritten(before, SkipFailed())).splitlines()


def test_the_picture() -> None:
    before, after, _ = rewriting.picture(SkipFailed)
    given = checking(*POSITION, ADD, CHECK)
    assert rewriting.body_text(given).split("\n", 1)[1] == before
    assert rewriting.body_text(SkipFailed().apply(given)).split("\n", 1)[1] == after


def test_checks_of_what_is_found_at_a_checked_place_are_behind_the_jump_too() -> None:
    """The element at a place is a place itself; whether it lies within is asked only where the first one does."""
    found = Let("w", Prim("cast", (load(Y, AT),), INT64))
    second = (within("ok_too", Var("w", INT64)), safe("h", OK_TOO, Var("w", INT64)))
    store = Store("x", (TOO,), number(2.0, FLOAT64))
    also = Carry("bad_too", truth(False))
    noted = If(Prim("or", (Var("bad", BOOL), Var("bad_too", BOOL)), BOOL), (flag("bad"), flag("bad_too", 1)))
    for checks in ((CHECK, fails("bad_too", OK_TOO)), (fails("bad_too", OK_TOO), CHECK)):
        text = lines(checking(also, *POSITION, found, *second, store, *checks, then=(noted,)))
        assert text[text.index("  if ok_too:") + 1 :][:2] == ["    h = select(ok_too, w, 0)", "    x[h] = 2.0"]
        assert text.index("if ok:") < text.index("  bad_too = or(bad_too, not(ok_too))")


def test_what_does_not_depend_on_the_place_stays() -> None:
    other = Store("y", (FIRST,), number(3.0, FLOAT64))
    text = lines(checking(*POSITION, other, ADD, CHECK))
    assert "y[0] = 3.0" in text
    assert "  x[g] = (x[g] + 1.0)" in text


@pytest.mark.parametrize("place", [0, 1])
def test_memory_that_others_touch_later_is_left_in_order(place: int) -> None:
    touching = (Store("x", (FIRST,), number(3.0, FLOAT64)), Store("y", (FIRST,), load(X, FIRST)))[place]
    rewriting.assert_refused(SkipFailed(), checking(*POSITION, ADD, touching, CHECK), "no store depends")


def test_a_kernel_without_checks_is_refused() -> None:
    rewriting.assert_refused(SkipFailed(), checking(*POSITION, ADD, CHECK, then=()), "no store depends")


# ---- whole functions


def counted(values: Any, bins: int, low: float, high: float) -> Any:
    counts = np.zeros(bins, dtype=np.int64)
    width = (high - low) / bins
    for value in values:
        if value < low:
            continue
        counts[int((value - low) / width)] += 1
    return counts


def chained(x: Any, places: Any) -> Any:
    for k in range(len(places)):
        x[places[int(x[k])]] += places[k]
    return x


def assert_same_outcome(function: Any, *arguments: Any) -> None:
    def outcome(one: Any) -> tuple[str, Any]:
        given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
        try:
            return "", (one(*given), given)
        except (IndexError, OverflowError, ValueError) as error:
            return repr(error), given

    (said, found), (wanted, expected) = outcome(xjit.xjit(function, strict=True)), outcome(function)
    assert said == wanted
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_equal(one, two)


@pytest.mark.parametrize("odd", [None, 5.0, 8.0, np.inf, np.nan, 1e300, -1e300])
def test_the_first_element_outside_raises(odd: float | None) -> None:
    values = np.linspace(-3.5, 2.9, 40)
    if odd is not None:
        values[17], values[30] = odd, 1e9
    assert SkipFailed.__name__ in str(xjit.xjit(counted).explain(values, 10, -3.0, 3.0))
    assert_same_outcome(counted, values, 10, -3.0, 3.0)


@pytest.mark.parametrize("wrong", [None, 8, -9, 2**40])
@pytest.mark.parametrize("where", [0, 3])
def test_stores_of_earlier_turns_are_made(wrong: int | None, where: int) -> None:
    places = np.array([1, 2, -1, 0, 3, 2, 1, 0])
    if wrong is not None:
        places[where] = wrong
    assert_same_outcome(chained, np.array([0.0, 1.0, 2.0, 3.0, 1.0, 0.0, 2.0, 1.0]), places)
