"""Floats that a loop carries, taken behind a jump instead of chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.loop_kernels import both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.rewrites.values.choose_by_jump import ChooseByJump
from xjit.ir.loops.build import less, truth
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Buffer, Carry, Fold, Kernel, Let, Loop, Prim, Statement, Store, Value, Var, While
from xjit.types import BOOL, FLOAT64, INT64

X = Buffer.packed("x", FLOAT64, constant(9))
T, D, U, V, W = (Var(name, FLOAT64) for name in "tduvw")
LARGE = Var("large", BOOL)
THREE = number(3.0, FLOAT64)
TEST = Let("large", less(THREE, U))
NEXT = Fold(("u",), (both("add", V, W),))


def chosen(name: str, one: Value, other: Value) -> Let:
    return Let(name, Prim("select", (LARGE, one, other), one.dtype))


FIRST, SECOND = chosen("v", number(0.0, FLOAT64), U), chosen("w", both("sub", T, D), T)


def repeating(*turn: Statement) -> Kernel:
    begin = (Carry(one.name, number(0.5, FLOAT64)) for one in (T, D, U))
    return kernel((X,), *begin, Carry("more", truth(True)), While(Var("more", BOOL), turn))


def test_the_picture() -> None:
    before, after, _ = rewriting.picture(ChooseByJump)
    given = repeating(TEST, FIRST, SECOND, NEXT)

    def turn(one: Kernel) -> list[str]:
        return rewriting.body_text(one).splitlines()[4:]

    assert turn(given) == before.splitlines()
    assert turn(ChooseByJump().apply(given)) == after.splitlines()


def test_a_choice_of_what_is_made_later_is_made_later() -> None:
    late = chosen("w", both("sub", D, V), T)
    text = rewriting.body_text(rewriting.rewritten(repeating(TEST, FIRST, late, NEXT), ChooseByJump()))
    assert text.index("v = 0.0") < text.index("w = (d - v)")
    loaded = chosen("w", load(X, constant(0)), T)
    stored = Store("x", (constant(0),), U)
    text = rewriting.body_text(rewriting.rewritten(repeating(TEST, FIRST, stored, loaded, NEXT), ChooseByJump()))
    assert text.index("x[0] = u") < text.index("w = x[0]")


@pytest.mark.parametrize(
    "turn",
    [
        (Let("large", less(THREE, T)), FIRST, SECOND, NEXT),
        (TEST, FIRST, SECOND),
        (TEST, FIRST, Let("w", U), NEXT, Loop("i", constant(0), constant(3), (Store("x", (constant(0),), U),))),
        (TEST, chosen("v", U, THREE), Let("w", T), NEXT),
        (TEST, chosen("n", number(1, INT64), number(2, INT64)), Let("v", Var("u", FLOAT64)), Let("w", T), NEXT),
    ],
    ids=["known ahead", "no chain", "loops", "extremes", "integers"],
)
def test_other_turns_are_refused(turn: tuple[Statement, ...]) -> None:
    rewriting.assert_refused(ChooseByJump(), repeating(*turn), "no turn of a loop waits")


def test_llvm_keeps_such_jumps() -> None:
    """Without the word it would choose."""
    text = """def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    v = ld(x, 0)
    if v < f64(1.0):
        keep_jump()
        v = f64(2.0)
    st(x, 1, v)
"""

    def made(source: str) -> str:
        return compile_kernel(source, keep_ir=True).llvm_ir or ""

    assert "select" not in made(text)
    assert "select" in made(text.replace("keep_jump()", "v = v"))


# ---- whole functions


def wrapped_walk(steps: Any) -> Any:
    """Go back where a walk has gone too far, and count how often."""
    place, turns = 0.0, 0
    out = np.empty_like(steps)
    for i in range(len(steps)):
        place = place * 1.1 + steps[i]
        if place > 1.0:
            place = place - 2.0
            turns += 1
        elif place < -1.0:
            place = place + 2.0
        out[i] = place
    return out, turns


def test_a_walk_goes_as_in_numpy() -> None:
    steps = np.random.default_rng(5).standard_normal(200)
    steps[150] = np.nan
    compiled = xjit.jit(wrapped_walk)
    found, expected = compiled(steps), wrapped_walk(steps)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    assert found[1] == expected[1]
    assert ChooseByJump.__name__ in str(compiled.explain(steps))
