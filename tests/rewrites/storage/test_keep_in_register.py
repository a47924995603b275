"""Scratch of one element in registers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, ZERO, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.storage.keep_in_register import KeepInRegister, kept_in_registers
from xjit.ir.loops.nodes import Alloc, Block, Buffer, If, Invoke, Kernel, LoopKind, Statement, Store
from xjit.types import BOOL, FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N) for name in ("x", "out"))
T, U, LONG = Buffer.packed("t", FLOAT64), Buffer.packed("u", FLOAT64), Buffer.packed("t", FLOAT64, N)
FIRST = Store("t", (), number(1.0, FLOAT64))
SUMS = (Store("out", (AT,), load(T)), Store("t", (), both("add", load(T), load(X, AT))))
RUNNING = kernel((X, OUT), Alloc(T), FIRST, loop("i", N, *SUMS))
TWICE = (Alloc(U), Store("u", (), both("mul", load(X, AT), load(X, AT))), Store("out", (AT,), load(U)))


def test_the_picture() -> None:
    rewriting.assert_pictured(KeepInRegister, RUNNING)


def test_one_value_has_a_name(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), loop("i", N, *TWICE))
    after = rewriting.rewritten(before, KeepInRegister("u"))
    assert "  u = (x[i] * x[i])" in rewriting.body_text(after) and "carry" not in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def in_branches(then: Block, otherwise: Block = ()) -> Kernel:
    """Scratch of which a branch may change the value."""
    positive = both("lt", number(0.0, FLOAT64), load(X, AT), BOOL)
    branch = If(positive, then, otherwise)
    return kernel((X, OUT), Alloc(T), FIRST, loop("i", N, branch, Store("out", (AT,), load(T))))


def test_branches(rng: np.random.Generator) -> None:
    one, other = (Store("t", (), both(name, load(T), load(X, AT))) for name in ("add", "sub"))
    for before in (RUNNING, in_branches((one,)), in_branches((one,), (other,))):
        after = rewriting.rewritten(before, KeepInRegister("t"))
        assert "alloc" not in rewriting.body_text(after)
        rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_iterations_of_their_own_may_be_in_parallel() -> None:
    before = kernel((X, OUT), loop("i", N, *TWICE))
    after = rewriting.rewritten(before, Parallelize("i"), KeepInRegister("u"))
    assert "alloc" not in rewriting.body_text(after)


def test_several_at_once(rng: np.random.Generator) -> None:
    """A name for one value within a loop, a carried one around it, and one that is stored before its loop."""
    other = Buffer.packed("v", FLOAT64)
    inside = (*TWICE[:2], Store("out", (AT,), both("mul", load(U), load(T))))
    stored = (Store("t", (), both("add", load(T), load(U))), Store("v", (), both("sub", load(other), load(T))))
    ahead = Alloc(T), Alloc(other), FIRST, Store("v", (), number(2.0, FLOAT64))
    before = kernel((X, OUT), *ahead, loop("i", N, *inside, *stored))
    after = kept_in_registers(before, ("t", "v", "u"))
    text = rewriting.body_text(after)
    assert "alloc" not in text and text.count("carry") == 2 and "  u = (x[i] * x[i])" in text
    assert after == rewriting.rewritten(before, *map(KeepInRegister, ("t", "v", "u")))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def scratch(*body: Statement) -> Kernel:
    return kernel((X, OUT), Alloc(T), FIRST, *body)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, OUT), loop("i", N, Store("out", (AT,), load(X, AT)))), "t is no scratch of the kernel"),
        (kernel((X, OUT), Alloc(LONG), Store("t", (ZERO,), load(X, ZERO))), "t has more than one element"),
        (scratch(loop("i", N, *SUMS, kind=LoopKind.PARALLEL)), "iterations over i store into t in no order"),
        (scratch(Invoke("sort", ("t",))), "a Invoke touches t"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(KeepInRegister("t"), before, reason)
