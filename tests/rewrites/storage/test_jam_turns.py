"""Two turns of a while loop in one pass over an array."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, ZERO, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.storage.jam_turns import JamTurns
from xjit.ir.loops.intexpr import minimum, variable
from xjit.ir.loops.nodes import Buffer, Carry, Fold, FromInt, Kernel, Let, LetInt, Statement, Store, Value, Var, While
from xjit.types import BOOL, FLOAT64, INT64

X, A = Buffer.packed("x", FLOAT64, M), Buffer.packed("a", FLOAT64, N)
S, V, T = Var("s", INT64), Var("v", FLOAT64), Var("t", FLOAT64)
MORE = both("lt", S, FromInt(N, INT64), BOOL)
COUNT = Fold(("s",), (both("add", S, number(1, INT64)),))
TAKE = Let("v", load(A, variable("s")))
TWO = number(2.0, FLOAT64)


def scaled(by: Value, ahead: int = 0) -> Statement:
    return loop("i", M - ahead, Store("x", (AT,), both("mul", load(X, AT + ahead), by)))


def turns(*body: Statement, condition: Value = MORE) -> Kernel:
    return kernel((X, A), Carry("s", number(0, INT64)), Carry("t", TWO), While(condition, body))


def test_the_picture() -> None:
    whole = kernel((X, A), Carry("s", number(0, INT64)), While(MORE, (TAKE, COUNT, scaled(V))))
    rewriting.assert_pictured(JamTurns, whole)


@pytest.mark.parametrize(
    "before", [turns(TAKE, COUNT, scaled(V)), turns(TAKE, scaled(V), COUNT), turns(COUNT, scaled(T))]
)
def test_even_and_odd_numbers_of_turns(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, JamTurns("i"))
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


END = LetInt("end", minimum(M, N))
LASTING = Let("u", both("mul", T, TWO))


def up_to_its_end(by: Value) -> Statement:
    return loop("i", variable("end"), Store("x", (AT,), both("mul", load(X, AT), by)))


def test_a_value_that_turns_have_alike_is_said_once(rng: np.random.Generator) -> None:
    before = turns(END, LASTING, TAKE, COUNT, up_to_its_end(both("add", V, Var("u", FLOAT64))))
    after = rewriting.rewritten(before, JamTurns("i"))
    text = rewriting.body_text(after)
    assert text.count("end = ") == text.count("u = ") == 1
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_a_value_that_each_turn_has_anew_ends_no_loop_of_two() -> None:
    end = LetInt("end", minimum(M, variable("s")))
    rewriting.assert_refused(JamTurns("i"), turns(end, COUNT, up_to_its_end(TWO)), "differ: for 0 .. end by 1")
    end = LetInt("end", minimum(M, variable("k")))
    before = turns(Let("k", S), end, COUNT, up_to_its_end(TWO))
    rewriting.assert_refused(JamTurns("i"), before, "differ: for 0 .. end by 1")


DOUBLED = Fold(("t",), (both("add", T, T),))
FIRST = load(X, ZERO)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, A), scaled(TWO)), "the loop over i is in no while loop"),
        (turns(COUNT, DOUBLED, scaled(T)), "a turn changes t, which the loop over i reads"),
        (turns(COUNT, loop("i", M, DOUBLED)), "the loop over i changes t"),
        (turns(COUNT, Let("v", FIRST), scaled(V)), "the loop over i and the rest of a turn both touch x"),
        (turns(COUNT, scaled(TWO), condition=both("lt", FIRST, TWO, BOOL)), "both touch x"),
        (turns(COUNT, Store("a", (ZERO,), TWO), scaled(load(A, ZERO))), "both touch a"),
        (turns(COUNT, scaled(TWO, 1)), "the loop over i_turn needs all of that over i"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(JamTurns("i"), before, reason)
