"""Several iterations of a loop in one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.ir.loops.intexpr import constant, variable
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
    twice = rewriting.rewritten(SUMS, UnrollAndJam("i", 2), UnrollAndJam("i_tail", 2))
    rewriting.assert_same(SUMS, twice, WORDS, rng)


def diagonal(row: int, column: int) -> Kernel:
    return rows(loop("j", M, Store("x", (AT + 1, J + 1), load(X, AT + 1 + row, J + 1 + column)), start=1))


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 0), (1, 1), (-1, -1), (0, -1), (-1, 0), (-2, 1), (2, -1)])
def test_directions(row: int, column: int, rng: np.random.Generator) -> None:
    before = kernel((X,), *diagonal(row, column).body)
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
        (kernel((X,), loop("i", N, kind=LoopKind.PARALLEL)), "the loop over i is parallel by 1"),
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
