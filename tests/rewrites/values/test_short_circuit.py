"""Conditions of loops of which the second is looked at where the first holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from tests.helpers.loop_kernels import both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel
from xjit.codegen.rewrites.values.short_circuit import ShortCircuit
from xjit.ir.loops.build import less, truth
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Buffer, Carry, Fold, Kernel, Let, Prim, Statement, Store, Value, Var, While
from xjit.types import BOOL, FLOAT64, INT64

X = Buffer.packed("x", FLOAT64, constant(9))
J, INSIDE, LARGER, MORE = Var("j", INT64), Var("inside", BOOL), Var("larger", BOOL), Var("more", BOOL)
FIRST = Let("inside", Prim("le", (number(0, INT64), J), BOOL))
AT = Let("at", Prim("select", (INSIDE, J, number(0, INT64)), INT64))
SECOND = Let("larger", less(Var("v", FLOAT64), load(X, variable("at"))))
CHOICE = Let("both", Prim("select", (INSIDE, LARGER, truth(False)), BOOL))
NEXT = Fold(("more",), (Var("both", BOOL),))
DOWN = Fold(("j",), (both("sub", J, number(1, INT64)),))


def repeating(*turn: Statement, more: Value = MORE) -> Kernel:
    begin = Carry("j", number(8, INT64)), Carry("v", number(0.5, FLOAT64)), Carry("more", truth(True))
    return kernel((X,), *begin, While(more, turn))


def test_the_picture() -> None:
    before, after, _ = rewriting.picture(ShortCircuit)
    given = repeating(FIRST, AT, SECOND, CHOICE, NEXT)

    def turn(one: Kernel) -> list[str]:
        return rewriting.body_text(one).splitlines()[4:]

    assert turn(given) == before.splitlines()[2:]
    assert turn(ShortCircuit().apply(given)) == after.splitlines()[2:]


@pytest.mark.parametrize(
    "turn",
    [
        (FIRST, AT, SECOND, Store("x", (constant(0),), number(1.0, FLOAT64)), CHOICE, NEXT),
        (FIRST, AT, SECOND, DOWN, CHOICE, NEXT),
        (FIRST, Let("larger", less(J, number(3, INT64))), CHOICE, NEXT),
        (FIRST, AT, SECOND, CHOICE, DOWN),
        (FIRST, AT, SECOND, CHOICE, NEXT, Store("x", (variable("at"),), number(1.0, FLOAT64))),
    ],
    ids=["memory", "scalars", "no place", "no condition of the loop", "others"],
)
def test_other_turns_are_refused(turn: tuple[Statement, ...]) -> None:
    rewriting.assert_refused(ShortCircuit(), repeating(*turn), "no loop has a condition")


# ---- whole functions


def sorted_by_insertion(x: Any) -> Any:
    moves = 0
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = value
    return moves


def first_above(x: Any, value: float) -> Any:
    found = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        j = i
        while j < len(x) and x[j] <= value:
            j += 1
        found[i] = j
    return found


@pytest.mark.parametrize("piece", [6.0, 60.0, 1e6])
def test_loops_end_where_their_first_condition_fails(piece: float) -> None:
    """Calls of few turns, that end in the inner loop, and such that count its turns at once."""
    numbers = np.random.default_rng(3).standard_normal(40)
    target = on(replace(PROCESSOR, piece_work=piece))
    mine, expected = numbers.copy(), numbers.copy()
    compiled = xjit.jit(sorted_by_insertion, target=target)
    assert compiled(mine) == sorted_by_insertion(expected)
    np.testing.assert_array_equal(mine, np.sort(numbers))
    assert compiled(np.empty(0)) == 0
    above = xjit.jit(first_above, target=target)
    np.testing.assert_array_equal(above(numbers, 1.0), first_above(numbers, 1.0))
    assert ShortCircuit.__name__ in str(above.explain(numbers, 1.0))
