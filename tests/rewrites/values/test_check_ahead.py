"""Positions from memory that are checked in front of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers.loop_kernels import J, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import Arrays, kernel, loop
from xjit.codegen.rewrites.analysis.checked_positions import checked_positions
from xjit.codegen.rewrites.values.check_ahead import CheckAhead
from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.loops.nodes import (
    Accumulate,
    Buffer,
    Carry,
    FromInt,
    Kernel,
    Let,
    Loop,
    LoopKind,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import statements
from xjit.types import BOOL, FLOAT64, INT32, INT64

SIZE = 9
X, K = Buffer.packed("x", FLOAT64, constant(SIZE)), Buffer.packed("k", INT64, N)
NARROW, R = Buffer.packed("narrow", INT32, N), Buffer.packed("r", FLOAT64, constant(1))
BAD = Buffer.packed("found", BOOL, constant(1))
P, INSIDE, ZERO, NINE = Var("p", INT64), Var("inside", BOOL), number(0, INT64), number(SIZE, INT64)
FIRST, WITH_CHECKS = constant(0), CheckAhead("j", "far")
SUM = Accumulate("t", "add", load(X, variable("at")))


def wrapped(size: Value) -> Prim:
    return Prim("select", (both("lt", P, ZERO, BOOL), both("add", P, size), P), INT64)


def within(least: Value, size: Value) -> Prim:
    return both("and", both("ge", P, least, BOOL), both("lt", P, size, BOOL))


def checks(found: Value, condition: Value, size: Value = NINE) -> Sequence[Statement]:
    """The names that a lookup at a position needs."""
    at = Prim("select", (INSIDE, wrapped(size), ZERO), INT64)
    return Let("p", found), Let("inside", condition), Let("at", at)


FAILS = Accumulate("bad", "or", Prim("not", (INSIDE,), BOOL))
USUAL = *checks(load(K, J), within(number(-SIZE, INT64), NINE)), SUM, FAILS


def summed(*body: Statement, start: int = 0, **fields: Any) -> Kernel:
    begin = Carry("bad", number(False, BOOL)), Carry("t", number(0.0, FLOAT64))
    end = Store("r", (FIRST,), Var("t", FLOAT64)), Store("found", (FIRST,), Var("bad", BOOL))
    return kernel((X, K, NARROW, R, BAD), *begin, loop("j", N, *body, start=start, **fields), *end)


def of(*positions: int) -> Arrays:
    n = len(positions)
    plain: Arrays = {
        "x": np.arange(1.0, 1 + SIZE),
        "k": np.array(positions, np.int64),
        "narrow": np.zeros(n, np.int32),
    }
    plain["narrow"][:] = np.clip(positions, -(2**31), 2**31 - 1)
    return plain | {"r": np.zeros(1), "found": np.zeros(1, bool)}


POSITIONS = [(), (0,), (8, 0, 3, 3), (-1, -9), (3, 9), (0, -10, 8), (2**62, 1), (-(2**63), 5), (2**63 - 1,)]


def assert_same(before: Kernel, after: Kernel, least: int = -(2**63), **words: int) -> None:
    for positions in POSITIONS:
        if any(at < least for at in positions):
            continue
        given = of(*positions)
        named = words | {"n": len(positions)}
        (expected, _), (found, _) = (rewriting.executed(one, given, named) for one in (before, after))
        for name in ("r", "found"):
            np.testing.assert_array_equal(found[name], expected[name], err_msg=f"{name} of {positions}")


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(CheckAhead)
    tested = summed(*USUAL)
    assert before in rewriting.body_text(tested)
    assert after in rewriting.body_text(rewriting.rewritten(tested, rewrite))
    assert_same(tested, rewriting.rewritten(tested, rewrite))


DOWN, UP = (FromInt(word(name), INT64) for name in ("down", "up"))
FOUND = Var("found_at", INT64)
OF_SIZE = both("and", both("ge", FOUND, ZERO, BOOL), both("lt", FOUND, UP, BOOL))
OF_FOUND = (
    Let("p", load(K, J)),
    Let("found_at", wrapped(UP)),
    Let("inside", OF_SIZE),
    Let("at", Prim("select", (INSIDE, FOUND, ZERO), INT64)),
    SUM,
    FAILS,
)


@pytest.mark.parametrize(
    "body",
    [
        USUAL,
        (*checks(Prim("cast", (load(NARROW, J),), INT64), within(number(-SIZE, INT64), NINE)), SUM, FAILS),
        (*checks(both("add", load(K, J), number(1, INT64)), within(number(-SIZE, INT64), NINE)), SUM, FAILS),
        (*checks(load(K, J), within(DOWN, UP), UP), SUM, FAILS),
        OF_FOUND,
    ],
    ids=["usual", "narrow", "moved", "words", "of what is found"],
)
def test_checks_are_left_out_where_all_positions_lie_inside(body: Sequence[Statement]) -> None:
    before = summed(*body)
    after = rewriting.rewritten(before, WITH_CHECKS)
    assert_same(before, after, down=-SIZE, up=SIZE)
    inside = next(one for one in statements(after.body) if isinstance(one, Loop) and one.variable == "j_inside")
    kept = [one for one in inside.body if not isinstance(one, Let)]
    assert [type(one) for one in inside.body[:-1]] == [Let] and len(kept) == 1
    assert isinstance(kept[0], Accumulate) and kept[0].reducer == "add"


def test_positions_that_are_known_not_to_be_too_far_below() -> None:
    before = summed(*checks(load(K, J), both("lt", P, NINE, BOOL)), SUM, FAILS)
    assert_same(before, rewriting.rewritten(before, WITH_CHECKS), least=-SIZE)


def test_bounds_that_say_nothing_of_positions_keep_the_checks() -> None:
    """A bound from below above zero, and a size below it, are seen when the kernel runs."""
    before = summed(*checks(load(K, J), within(DOWN, UP), UP), SUM, FAILS)
    after = rewriting.rewritten(before, WITH_CHECKS)
    assert_same(before, after, down=2, up=SIZE)
    assert_same(before, after, down=0, up=0)
    assert_same(before, after, down=0, up=-3)


def test_a_position_that_is_looked_up_itself() -> None:
    q = Var("q", INT64)
    nine, second = number(SIZE, INT64), Buffer.packed("second", INT64, constant(SIZE))
    inner = both("and", both("ge", q, ZERO, BOOL), both("lt", q, nine, BOOL))
    outer = (
        Let("q", load(K, J)),
        Let("inner", inner),
        Let("there", Prim("select", (Var("inner", BOOL), q, ZERO), INT64)),
        *checks(load(second, variable("there")), within(number(-SIZE, INT64), NINE)),
        SUM,
        FAILS,
        Accumulate("bad", "or", Prim("not", (Var("inner", BOOL),), BOOL)),
    )
    plain = summed(*outer)
    before = kernel([*(one.buffer for one in plain.arguments), second], *plain.body)
    after = rewriting.rewritten(before, WITH_CHECKS)
    assert {at.name for at in checked_positions(_loop(before)).positions} == {"p", "q"}
    for table in ([3, 1, 4, 1, 5, 0, 2, 6, 5], [3, 1, -4, 1, 5, 9, 2, 6, 5]):
        for positions in ((0, 1, 8), (2, 5), (-1, 4), (9, 0)):
            given = of(*positions) | {"second": np.array(table, np.int64)}
            (expected, _), (found, _) = (
                rewriting.executed(one, given, {"n": len(positions)}) for one in (before, after)
            )
            assert (found["r"], found["found"]) == (expected["r"], expected["found"])


def _loop(tested: Kernel) -> Loop:
    return next(one for one in tested.body if isinstance(one, Loop))


def other(index: IntExpr) -> Sequence[Statement]:
    return *checks(load(K, index), within(number(-SIZE, INT64), NINE)), SUM, FAILS


HALF = Prim("cast", (both("mul", load(X, FIRST), number(0.5, FLOAT64)),), INT64)
SUM_ALONE = Accumulate("t", "add", load(X, FIRST))
EVEN = both("eq", P, ZERO, BOOL)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ((SUM_ALONE,), "checks no positions"),
        ((*checks(FromInt(J, INT64), within(number(-SIZE, INT64), NINE)), SUM, FAILS), "checks no positions"),
        ((*checks(HALF, within(number(-SIZE, INT64), NINE)), SUM, FAILS), "checks no positions"),
        ((*checks(load(K, J), both("and", EVEN, both("lt", P, NINE, BOOL))), SUM, FAILS), "checks no positions"),
        ((*checks(load(K, J), within(number(2, INT64), NINE)), SUM, FAILS), "checks no positions"),
        ((*USUAL, Store("k", (J,), ZERO)), "changes what its positions"),
    ],
)
def test_refusals(body: Sequence[Statement], reason: str) -> None:
    rewriting.assert_refused(WITH_CHECKS, summed(*body), reason)


def test_positions_that_the_loop_moves_are_left_alone() -> None:
    step = Accumulate("u", "add", number(1, INT64))
    plain = summed(*other(variable("u")), step)
    before = kernel([one.buffer for one in plain.arguments], Carry("u", ZERO), *plain.body)
    rewriting.assert_refused(WITH_CHECKS, before, "changes what its positions")


def test_loops_without_order_are_left_alone() -> None:
    flag = Carry("bad", number(False, BOOL))
    at = Store("r", (J,), load(X, variable("at")))
    several = Buffer.packed("r", FLOAT64, N)
    body = loop("j", N, *USUAL[:3], at, FAILS, kind=LoopKind.PARALLEL)
    rewriting.assert_refused(WITH_CHECKS, kernel((X, K, several), flag, body), "is parallel already")
