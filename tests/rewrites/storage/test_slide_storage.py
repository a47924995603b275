"""Scratch of one block and of some elements before it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, N, both, load
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse_in_blocks import FuseInBlocks
from xjit.codegen.rewrites.storage.slide_storage import SlideStorage
from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.loops.nodes import Alloc, Buffer, Kernel, Statement, Store
from xjit.types import FLOAT64

J = variable("j")
X, C, D, OUT = (Buffer.packed(name, FLOAT64, N) for name in ("x", "c", "d", "out"))


def squares(*more: Statement) -> Statement:
    return loop("i", N, Store("c", (AT,), both("mul", load(X, AT), load(X, AT))), *more)


def differences(back: IntExpr | int, start: IntExpr | int = 2) -> Statement:
    return loop("j", N, Store("out", (J,), both("sub", load(C, J), load(C, J - back))), start=start)


def in_blocks(*body: Statement, length: int = 4) -> Kernel:
    before = kernel((X, OUT), Alloc(C), *body)
    return FuseInBlocks(("i", "j"), length, "b").apply(before)


def test_the_picture() -> None:
    rewriting.assert_pictured(SlideStorage, in_blocks(squares(), differences(2), length=512))


@pytest.mark.parametrize("back", [0, 1, 2, 4, 5, 9])
def test_what_is_read_some_steps_later(back: int, rng: np.random.Generator) -> None:
    before = in_blocks(squares(), differences(back, back))
    after = rewriting.rewritten(before, SlideStorage(("c",), "b"))
    assert f"alloc c: f64[{4 + back}]" in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_steps_that_the_table_has(rng: np.random.Generator) -> None:
    back = word("back")
    before = in_blocks(squares(), differences(back, back))
    after = rewriting.rewritten(before, SlideStorage(("c",), "b"))
    assert "alloc c: f64[back + 4]" in rewriting.body_text(after)
    words = [{"n": n, "back": back} for n in (0, 3, 4, 11, 17) for back in (0, 1, 3, 4, 7, 12)]
    rewriting.assert_same(before, after, words, rng)


def test_two_lines_of_scratch_move_in_one_loop(rng: np.random.Generator) -> None:
    twice = Store("d", (AT,), both("add", load(X, AT), load(C, AT)))
    read = loop("j", N, Store("out", (J,), both("sub", load(D, J - 2), load(C, J - 2))), start=2)
    before = FuseInBlocks(("i", "j"), 4, "b").apply(kernel((X, OUT), Alloc(C), Alloc(D), squares(twice), read))
    after = rewriting.rewritten(before, SlideStorage(("c", "d"), "b"))
    assert rewriting.body_text(after).count("for b_h") == 1
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, OUT), loop("b", N)), "c is no line of scratch"),
        (kernel((X, OUT), Alloc(C), loop("b", N, loop("j", N, Store("c", (J,), load(X, J))), step=4)), "not known"),
        (
            kernel((X, OUT), Alloc(C), loop("b", N, Store("c", (variable("b") + 4,), load(X, AT * 0)), step=4)),
            "elements of c behind a block are needed",
        ),
        (
            kernel(
                (X, OUT), Alloc(C), squares(), loop("b", N, Store("out", (variable("b"),), load(C, variable("b"))))
            ),
            "c is not touched in the loop over b alone",
        ),
        (kernel((X, OUT), Alloc(C), loop("b", N, start=constant(1))), "begins later than at 0"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(SlideStorage(("c",), "b"), before, reason)
