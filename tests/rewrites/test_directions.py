"""Dependences of two places: by intervals, by order, by divisors."""

from __future__ import annotations

import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.analysis.dependence import carried_by
from xjit.codegen.rewrites.analysis.directions import Place, earlier, elements, later, rereads
from xjit.codegen.rewrites.analysis.intervals import Interval, interval, most
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, variable
from xjit.ir.loops.nodes import Buffer, LetInt, Store, TransposeBlock
from xjit.ir.loops.ranges import Ranges
from xjit.types import FLOAT64

X, OUT = Buffer.packed("x", FLOAT64, N * 3), Buffer.packed("out", FLOAT64, N * 3)
ONE = number(1.0, FLOAT64)
FAR, B = variable("far"), variable("b")


@pytest.mark.parametrize(
    ("index", "read", "after", "before"),
    [
        (AT, AT, True, True),
        (AT, AT + 1, True, False),
        (AT + 1, AT, False, True),
        (AT * 2, AT * 2 + 1, True, True),
        (AT * 2, AT * 4 + 3, True, True),
        (AT * 2, AT * 3, True, False),
        (AT % 3, AT % 3, False, False),
    ],
)
def test_one_line(index: IntExpr, read: IntExpr, after: bool, before: bool) -> None:
    around = loop("i", N)
    writes = Place((around,), (Store("out", (index,), ONE),))
    reads = Place((around,), (Store("x", (AT,), load(OUT, read)),))
    assert (elements(Ranges(), writes, reads, later(around)) == "") is after
    assert (elements(Ranges(), writes, reads, earlier(around)) == "") is before


def test_steps_have_a_divisor() -> None:
    even = kernel((OUT,), loop("i", N, Store("out", (AT,), load(OUT, AT + 1)), step=2))
    assert carried_by(even.body) == ""
    assert "may read out[i + 1]" in carried_by(
        kernel((OUT,), loop("i", N, Store("out", (AT,), load(OUT, AT + 1)))).body
    )


def test_blocks_of_blocks_are_apart() -> None:
    inner = loop("i", minimum(B + 4, N), Store("out", (AT,), ONE), start=B)
    assert carried_by(kernel((OUT,), loop("b", N, inner, step=4)).body) == ""
    assert "may write out[i]" in carried_by(kernel((OUT,), loop("b", N, inner, step=3)).body)


def test_named_integers_are_what_they_name() -> None:
    def named(expr: IntExpr) -> str:
        return carried_by((loop("i", N, LetInt("far", expr), Store("out", (FAR,), ONE)),))

    assert named(AT * 2 + 1) == "" and named(N - AT) == "" and "may write" in named(AT // 2)


def test_transposed_blocks_touch_what_they_copy() -> None:
    a, b = Buffer.packed("a", FLOAT64, N, M), Buffer.packed("b", FLOAT64, M, N)

    def tiles(step: int) -> TransposeBlock:
        return TransposeBlock("b", (constant(0), AT), "a", (AT, constant(0)), (constant(step), M))

    apart = kernel((a, b), loop("i", N - 3, tiles(4), step=4))
    rewriting.rewritten(apart, Parallelize("i"))
    rewriting.assert_refused(Parallelize("i"), kernel((a, b), loop("i", N - 3, tiles(5), step=4)), "may write b")


def test_a_block_that_reads_what_it_writes() -> None:
    assert rereads(Ranges(), (Store("out", (AT,), load(X, AT)),)) == ""
    assert "out[i], which is written," in rereads(Ranges(), (Store("out", (AT,), load(OUT, AT)),))
    assert rereads(Ranges(), (Store("out", (AT,), load(OUT, AT + 1)),)) == ""


@pytest.mark.parametrize(
    ("expr", "low", "high"),
    [
        (J, AT, minimum(AT + 4, N) - 1),
        (J - AT, constant(0), minimum(AT + 4, N) - AT - 1),
        (J * -2 + 1, minimum(AT + 4, N) * -2 + 3, AT * -2 + 1),
        (minimum(J, K), minimum(AT, K), minimum(minimum(AT + 4, N) - 1, K)),
        (J * M, AT * M, minimum(AT + 4, N) * M - M),
        (J // 2, AT // 2, (minimum(AT + 4, N) - 1) // 2),
        (AT, AT, AT),
    ],
)
def test_intervals(expr: IntExpr, low: IntExpr, high: IntExpr) -> None:
    found = interval(expr, (loop("j", minimum(AT + 4, N), start=AT),))
    assert found == Interval(low, high)


def test_intervals_that_are_not_known() -> None:
    around = (loop("j", N),)
    assert interval(J * J, around) is None and interval(J % 3, around) is None and interval(K % J, around) is None


def test_the_most_that_an_extent_is() -> None:
    assert most(minimum(AT + 4, N) - AT) == constant(4)
    assert most(minimum(N, M)) == minimum(N, M)
    assert most(AT) is None and most(minimum(AT, J)) is None
    assert Interval(AT, J) | Interval(AT + 1, J + 1) == Interval(AT, J + 1)
