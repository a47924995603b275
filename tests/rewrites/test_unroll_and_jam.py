"""Several iterations of a loop in one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.ir.loops.intexpr import constant, minimum, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    FromInt,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Loop,
    LoopKind,
    Statement,
    Store,
    Var,
)
from xjit.ir.loops.verify import unproved
from xjit.types import BOOL, FLOAT64, INT64

X, OUT = (Buffer.packed(name, FLOAT64, N + 2, M + 2) for name in ("x", "out"))
LINE = Buffer.packed("line", FLOAT64, N + 2)
ROW = Buffer.packed("row", FLOAT64, M)
ONE = number(1.0, FLOAT64)
T = Var("t", FLOAT64)


def rows(*body: Statement) -> Kernel:
    return kernel((X, OUT, LINE), loop("i", N, *body))


DIFFERENCES = rows(loop("j", M, Store("out", (AT, J), both("sub", load(X, AT + 1, J), load(X, AT, J)))))
TOTAL = (Carry("t", ONE), loop("j", M, Accumulate("t", "add", load(X, AT, J))), Store("line", (AT,), T))
SUMS = rows(*TOTAL)
CENTRED = rows(
    *TOTAL,
    Let("mean", both("mul", T, T)),
    loop("k", M, Store("out", (AT, variable("k")), both("sub", load(X, AT, variable("k")), Var("mean", FLOAT64)))),
)
SCRATCH = rows(
    LetInt("up", AT + 1),
    Alloc(ROW),
    loop("j", M, Store("row", (J,), load(X, variable("up"), J))),
    loop("k", M, Store("out", (AT, variable("k")), load(ROW, variable("k")))),
)
SHARED = (
    loop("j", M, Store("row", (J,), load(X, AT, J))),
    loop("k", M, Store("out", (AT, variable("k")), load(ROW, variable("k")))),
)
TRIANGLE = rows(loop("j", AT, Let("v", load(X, J, ZERO)), Store("out", (AT, ZERO), Var("v", FLOAT64))))
CUBE = rows(loop("j", M, loop("l", J, Store("out", (AT, J), load(X, AT, variable("l"))))))
ALL = {
    "differences": DIFFERENCES,
    "sums": SUMS,
    "centred": CENTRED,
    "scratch": SCRATCH,
    "triangle": TRIANGLE,
    "bounds by j": CUBE,
    "columns": loop_kernels.column_sums(),
}
WORDS = [words for words in rewriting.extents("n", "m", block=3) if words["m"] in (0, 1, 4)]


def test_the_picture() -> None:
    rewriting.assert_pictured(UnrollAndJam, loop_kernels.column_sums())


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("name", ALL)
def test_with_a_tail(name: str, factor: int, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(ALL[name], UnrollAndJam("i", factor))
    several = [words for words in WORDS if name != "bounds by j" or words["m"]]
    rewriting.assert_same(ALL[name], after, several, rng)


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("columns", "triangle")])
def test_with_an_overlap(name: str, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(ALL[name], UnrollAndJam("i", 3, Tail.OVERLAP))
    rewriting.assert_same(ALL[name], after, WORDS, rng)
    assert not unproved(after) or unproved(ALL[name])


def test_loops_inside_are_one() -> None:
    text = rewriting.body_text(rewriting.rewritten(CENTRED, UnrollAndJam("i", 2, Tail.OVERLAP)))
    assert text.splitlines() == [
        "for i in 0 .. n by 2:",
        "  if (s64(n) >= 2):",
        "    i_at = min(i, n - 2)",
        "    carry t: f64 = 1.0",
        "    carry t_1: f64 = 1.0",
        "    for j in 0 .. m:",
        "      t = add(t, x[i_at, j])",
        "      t_1 = add(t_1, x[i_at + 1, j])",
        "    line[i_at] = t",
        "    line[i_at + 1] = t_1",
        "    mean = (t * t)",
        "    mean_1 = (t_1 * t_1)",
        "    for k in 0 .. m:",
        "      out[i_at, k] = (x[i_at, k] - mean)",
        "      out[i_at + 1, k] = (x[i_at + 1, k] - mean_1)",
        "  else:",
        "    for i_tail in i .. n:",
        "      carry t_tail: f64 = 1.0",
        "      for j_tail in 0 .. m:",
        "        t_tail = add(t_tail, x[i_tail, j_tail])",
        "      line[i_tail] = t_tail",
        "      mean_tail = (t_tail * t_tail)",
        "      for k_tail in 0 .. m:",
        "        out[i_tail, k_tail] = (x[i_tail, k_tail] - mean_tail)",
    ]


@pytest.mark.parametrize(("count", "loops"), [(6, 1), (7, 2)])
def test_known_extents_need_no_tail_and_no_question(count: int, loops: int, rng: np.random.Generator) -> None:
    line = loop("i", constant(count), Store("line", (AT,), load(X, AT, ZERO)))
    before = kernel((X, LINE), line)
    after = rewriting.rewritten(before, UnrollAndJam("i", 2))
    assert len(after.body) == loops
    overlapped = rewriting.rewritten(before, UnrollAndJam("i", 2, Tail.OVERLAP))
    assert "if" not in rewriting.body_text(overlapped)
    rewriting.assert_same(before, after, [{"n": 9, "m": 0}], rng)
    rewriting.assert_same(before, overlapped, [{"n": 9, "m": 0}], rng)


def test_in_blocks(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(SUMS, Split("i", 8, "b"), UnrollAndJam("i", 4))
    rewriting.assert_same(SUMS, after, WORDS, rng)
    twice = rewriting.rewritten(SUMS, UnrollAndJam("i", 4), UnrollAndJam("i_tail", 2))
    rewriting.assert_same(SUMS, twice, WORDS, rng)


PARALLEL = replace(DIFFERENCES, body=(replace(DIFFERENCES.body[0], kind=LoopKind.PARALLEL),))


@pytest.mark.parametrize("tail", Tail)
def test_iterations_in_any_order(tail: Tail, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(PARALLEL, UnrollAndJam("i", 3, tail))
    rewriting.assert_same(PARALLEL, after, WORDS, rng)


def test_a_fact_about_the_extent_answers_the_question(rng: np.random.Generator) -> None:
    told = replace(PARALLEL, facts=(N - 3,))
    after = rewriting.rewritten(told, UnrollAndJam("i", 3, Tail.OVERLAP))
    assert rewriting.body_text(after).splitlines()[:2] == ["parallel i in 0 .. n by 3:", "  i_at = min(i, n - 3)"]
    rewriting.assert_same(told, after, [words for words in WORDS if words["n"] >= 3], rng)


def test_loops_inside_that_run_in_any_order_are_joined(rng: np.random.Generator) -> None:
    inner = loop("j", M, Store("out", (AT, J), load(X, AT, J)), kind=LoopKind.PARALLEL)
    before = kernel((X, OUT), loop("i", 2, inner))
    after = rewriting.rewritten(before, UnrollAndJam("i", 2), Unroll("i"))
    assert rewriting.body_text(after).splitlines() == [
        "parallel j in 0 .. m:",
        "  out[0, j] = x[0, j]",
        "  out[1, j] = x[1, j]",
    ]
    rewriting.assert_same(before, after, [words for words in WORDS if words["n"]], rng)


@pytest.mark.parametrize("kind", [LoopKind.SERIAL, LoopKind.PARALLEL])
def test_loops_in_any_order_need_nothing_of_later_ones(kind: LoopKind, rng: np.random.Generator) -> None:
    moved = loop("j", M, Store("x", (AT + 1, J + 1), load(X, AT, J)), kind=kind)
    before = kernel((X,), loop("i", N, moved))
    if kind is LoopKind.PARALLEL:
        rewriting.assert_refused(UnrollAndJam("i", 2), before, "run side by side: .*may be one element")
    else:
        rewriting.assert_same(before, rewriting.rewritten(before, UnrollAndJam("i", 2)), WORDS, rng)


def test_integers_that_are_alike_are_named_once(rng: np.random.Generator) -> None:
    end, own, at = variable("end"), variable("own"), variable("at")
    block = loop("j", end, Store("out", (own, J), load(X, AT, at)), start=variable("b"))
    ends = LetInt("end", minimum(variable("b") + 3, M)), LetInt("own", AT + 0), LetInt("at", end - 1)
    before = rows(replace(loop("b", M, *ends, block), step=3))
    after = rewriting.rewritten(before, UnrollAndJam("i", 2, Tail.OVERLAP))
    lines = [line.strip() for line in rewriting.body_text(after).splitlines()]
    assert lines[3:11] == [
        "for b in 0 .. m by 3:",
        "end = min(b + 3, m)",
        "own = i_at",
        "own_1 = i_at + 1",
        "at = end - 1",
        "for j in b .. end:",
        "out[own, j] = x[i_at, at]",
        "out[own_1, j] = x[i_at + 1, at]",
    ]
    rewriting.assert_same(before, after, WORDS, rng)


def test_integers_of_loops_that_are_not_joined_are_not_shared(rng: np.random.Generator) -> None:
    at = variable("at")
    ragged = loop("l", AT, LetInt("at", variable("l") + 0), loop("j", M, Store("out", (AT, J), load(X, at, J))))
    before = rows(ragged)
    after = rewriting.rewritten(before, UnrollAndJam("i", 2))
    rewriting.assert_same(before, after, WORDS, rng)


def diagonal(row: int, column: int) -> Kernel:
    return rows(loop("j", M, Store("x", (AT + 1, J + 1), load(X, AT + 1 + row, J + 1 + column)), start=1))


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 0), (1, 1), (-1, -1), (0, -1), (-1, 0), (-2, 1), (2, -1)])
def test_directions(row: int, column: int, rng: np.random.Generator) -> None:
    before = kernel((Buffer.packed("x", FLOAT64, N + 4, M + 2),), *diagonal(row, column).body)
    after = rewriting.rewritten(before, UnrollAndJam("i", 2))
    inside = [{"n": n, "m": m} for n in (0, 1) for m in (0, 1)] if abs(row) == 2 else WORDS
    rewriting.assert_same(before, after, inside if row < 1 and row > -2 else [], rng)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (diagonal(-1, 1), "run side by side: .*may be one element"),
        (diagonal(1, -1), "run side by side: .*may be one element"),
        (
            rows(Store("line", (AT,), ONE), loop("j", M), Let("v", load(LINE, AT + 1))),
            "run side by side: .*may be one element",
        ),
        (rows(loop("j", M, Invoke("solve", ("out",)))), "it is not known what solve touches"),
        (kernel((X,), loop("i", 1)), "the loop over i has fewer than 2 iterations"),
        (kernel((X,), loop("i", N, step=2)), "the loop over i is for by 2"),
        (kernel((X,), loop("i", N, kind=LoopKind.VECTOR)), "the loop over i is vector by 1"),
        (
            kernel((X, OUT), Alloc(ROW), loop("i", N, *SHARED, kind=LoopKind.PARALLEL)),
            r"run side by side: row\[k\]",
        ),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(UnrollAndJam("i", 2), before, reason)


def test_iterations_without_loops_follow_each_other(rng: np.random.Generator) -> None:
    step = Store("line", (J,), both("add", load(LINE, J), load(X, AT, ZERO))), Let("v", load(LINE, J))
    before = rows(loop("j", N, *step))
    after = rewriting.rewritten(before, UnrollAndJam("i", 2))
    rewriting.assert_same(before, after, WORDS, rng)


def test_rounded_sums_of_several_iterations_keep_their_order(rng: np.random.Generator) -> None:
    def total(*body: Statement) -> Kernel:
        return kernel((X, LINE), Carry("t", ONE), loop("i", N, *body), Store("line", (ZERO,), T))

    add = Accumulate("t", "add", load(X, AT, J))
    rewriting.assert_refused(UnrollAndJam("i", 2), total(loop("j", M, add)), "t is rounded in the order")
    one = total(Let("v", load(X, AT, ZERO)), Accumulate("t", "add", Var("v", FLOAT64)))
    rewriting.assert_same(one, rewriting.rewritten(one, UnrollAndJam("i", 3)), WORDS, rng)
    twice = total(Accumulate("t", "add", load(X, AT, ZERO)), Accumulate("t", "add", load(X, AT, ZERO)))
    rewriting.assert_same(twice, rewriting.rewritten(twice, UnrollAndJam("i", 3)), WORDS, rng)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (loop_kernels.column_sums(), "may not run twice: an iteration over i may .* s"),
        (
            rows(Store("line", (AT,), both("add", load(LINE, AT), ONE))),
            r"may not run twice: line\[i\], which is written",
        ),
        (kernel((X,), Carry("t", ONE), loop("i", N, Accumulate("t", "add", ONE))), "may not run twice: every"),
    ],
)
def test_what_may_not_run_twice(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(UnrollAndJam("i", 2, Tail.OVERLAP), before, reason)


def test_branches_are_not_joined(rng: np.random.Generator) -> None:
    even = both("eq", FromInt(AT % 2, INT64), number(0, INT64), BOOL)
    before = rows(If(even, (loop("j", M, Store("out", (AT, J), ONE)),), (Store("line", (AT,), ONE),)))
    after = rewriting.rewritten(before, UnrollAndJam("i", 2))
    rewriting.assert_same(before, after, WORDS, rng)
    assert isinstance(after.body[0], Loop) and len(after.body[0].body) == 2
