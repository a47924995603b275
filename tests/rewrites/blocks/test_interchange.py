"""Loops in blocks, inside of the loops in their bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.interchange import Interchange
from xjit.codegen.rewrites.unroll_and_jam import Tail
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Fold,
    FromInt,
    Kernel,
    Let,
    LetInt,
    LoopKind,
    Prim,
    Statement,
    Store,
    Var,
)
from xjit.types import BOOL, FLOAT32, INT64

X, OUT = (Buffer.packed(name, FLOAT32, N, M) for name in ("x", "out"))
W, P = Buffer.packed("w", FLOAT32, N), Buffer.packed("p", FLOAT32, M)
S = Buffer.packed("s", FLOAT32, M)
ROUNDS = Buffer.packed("rounds", INT64, constant(1))
K = variable("k")
ZERO, ONE = number(0.0, FLOAT32), number(1.0, FLOAT32)
T, U, V = (Var(name, FLOAT32) for name in "tuv")


def columns(*body: Statement, **fields: object) -> Kernel:
    return kernel((X, OUT, W, P, S), loop("j", M, *body, **fields))


def weighted() -> Kernel:
    step = Let("v", Prim("sqrt", (load(W, AT),), FLOAT32)), Accumulate("t", "add", both("mul", V, load(X, AT, J)))
    arguments = X, W, S
    body = Carry("t", ZERO), loop("i", N, *step), Store("s", (J,), T)
    return kernel(arguments, loop("j", M, *body))


MEAN = Let("mean", both("div", T, Prim("cast", (FromInt(N, INT64),), FLOAT32)))
APART = Let("apart", both("sub", load(X, K, J), Var("mean", FLOAT32)))
VARIANCES = columns(
    Carry("t", ZERO),
    loop("i", N, Accumulate("t", "add", load(X, AT, J))),
    MEAN,
    Carry("u", ZERO),
    loop("k", N, APART, Accumulate("u", "add", both("mul", Var("apart", FLOAT32), Var("apart", FLOAT32)))),
    Store("s", (J,), U),
)
SCANS = columns(
    Carry("t", ZERO),
    loop("i", N, Let("v", both("add", T, load(X, AT, J))), Fold(("t",), (V,)), Store("out", (AT, J), V)),
)
SCALED = columns(
    LetInt("at", J),
    Let("p_here", load(P, variable("at"))),
    Let("scale", both("mul", Var("p_here", FLOAT32), Var("p_here", FLOAT32))),
    Carry("t", ONE),
    loop("i", N, Accumulate("t", "max", both("mul", Var("scale", FLOAT32), load(X, AT, J)))),
    Store("s", (J,), both("add", T, Var("scale", FLOAT32))),
)
PAIRS = columns(
    Carry("t", ZERO),
    Carry("u", ONE),
    loop("i", N, Fold(("t", "u"), (both("add", U, load(X, AT, J)), T))),
    Store("s", (J,), both("sub", T, U)),
)
SUMS_OF_ROWS = columns(
    Carry("t", ZERO),
    loop(
        "i",
        N,
        Carry("row", ZERO),
        loop("k", M, Accumulate("row", "add", load(X, AT, K))),
        Let("v", both("mul", Var("row", FLOAT32), load(X, AT, J))),
        Accumulate("t", "add", V),
    ),
    Store("s", (J,), T),
)
PREFIXES = columns(
    Carry("t", ZERO),
    loop("i", N, loop("k", J, Accumulate("t", "add", load(X, AT, K)))),
    Store("s", (J,), T),
)
NESTED = columns(
    Carry("t", ZERO),
    loop(
        "i",
        N,
        Let("w_here", load(W, AT)),
        loop(
            "k",
            N,
            Let("v", both("mul", load(W, K), load(X, K, J))),
            Accumulate("t", "add", both("mul", V, Var("w_here", FLOAT32))),
        ),
    ),
    Store("s", (J,), T),
)
IN_PLACE = columns(
    Carry("t", ZERO),
    loop("i", N, Accumulate("t", "add", load(X, AT, J))),
    loop("k", N, Store("x", (K, J), both("sub", load(X, K, J), T))),
)
CHANGING = columns(
    Carry("t", ZERO),
    loop(
        "i",
        N,
        Carry("row", load(W, AT)),
        Let("v", both("mul", Var("row", FLOAT32), load(P, J))),
        Accumulate("row", "add", ONE),
        loop("k", N, Accumulate("t", "add", both("mul", V, load(X, K, J)))),
    ),
    Store("s", (J,), T),
)
COUNT, FLAG = Var("count", INT64), Var("flag", BOOL)
ONE_MORE = Accumulate("count", "add", number(1, INT64))
COUNTED = kernel(
    (X, S, ROUNDS),
    Carry("count", number(0, INT64)),
    Carry("flag", number(False, BOOL)),
    loop("j", M, loop("i", N, ONE_MORE, Accumulate("flag", "or", both("lt", load(X, AT, constant(0)), ONE, BOOL)))),
    Store("rounds", (constant(0),), Prim("select", (FLAG, COUNT, number(-1, INT64)), INT64)),
)
ALL = {
    "weighted": (weighted(), ("i",)),
    "variances": (VARIANCES, ("i", "k")),
    "variances, the last pass inside": (VARIANCES, ("i",)),
    "scans": (SCANS, ("i",)),
    "scaled": (SCALED, ("i",)),
    "pairs": (PAIRS, ("i",)),
    "sums of rows": (SUMS_OF_ROWS, ("i",)),
    "prefixes": (PREFIXES, ("i",)),
    "nested": (NESTED, ("i", "k")),
    "in place": (IN_PLACE, ("i", "k")),
    "counted": (COUNTED, ("i",)),
    "changing": (CHANGING, ("i", "k")),
}
WORDS = [words for words in rewriting.extents("n", "m", block=3) if words["n"] in (0, 1, 4)]


def test_the_picture() -> None:
    rewriting.assert_pictured(Interchange, weighted())


@pytest.mark.parametrize("name", ALL)
def test_results_stay(name: str, rng: np.random.Generator) -> None:
    before, into = ALL[name]
    after = rewriting.rewritten(before, Interchange("j", into, 3, "b"))
    rewriting.assert_same(before, after, WORDS, rng)


def test_a_loop_that_threads_share_stays_shared(rng: np.random.Generator) -> None:
    before = columns(*VARIANCES.body[0].body, kind=LoopKind.PARALLEL)
    after = rewriting.rewritten(before, Interchange("j", ("i", "k"), 3, "b"))
    assert rewriting.body_text(after).startswith("parallel b in 0 .. ((m + 2) // 3):")
    rewriting.assert_same(before, after, WORDS, rng)


def test_values_of_scalars_wait_in_scratch_and_others_are_computed_again() -> None:
    text = rewriting.body_text(rewriting.rewritten(VARIANCES, Interchange("j", ("i", "k"), 3, "b")))
    assert "mean_b[-b_start + j_3] = mean" in text
    again = rewriting.body_text(rewriting.rewritten(SCALED, Interchange("j", ("i",), 3, "b")))
    assert again.count("alloc") == 1 and again.count("= p[") == 2


def test_rows_are_summed_once_for_a_block() -> None:
    lines = rewriting.body_text(rewriting.rewritten(SUMS_OF_ROWS, Interchange("j", ("i",), 3, "b"))).splitlines()
    places = [lines.index(next(line for line in lines if start in line)) for start in ("row = add", "v = (row")]
    assert "for j_2 in b_start .. b_stop:" in "".join(lines[places[0] : places[1]])


def test_what_is_refused() -> None:
    interchange = Interchange("j", ("i",), 3, "b")
    running = columns(loop("i", N, Store("out", (AT, J), load(X, AT, J))), Store("s", (J,), load(S, J + 1)))
    rewriting.assert_refused(interchange, running, r"may write s\[j \+ 1\]|may read s\[j \+ 1\]")
    triangle = columns(loop("i", J, Store("out", (AT, J), load(X, AT, J))))
    rewriting.assert_refused(interchange, triangle, "bounds of the loop over i depend on j")
    total = kernel((X, S), Carry("t", ZERO), loop("j", M, loop("i", N, Accumulate("t", "add", load(X, AT, J)))))
    rewriting.assert_refused(interchange, total, "t is rounded in the order of the loops")
    lanes = columns(
        Carry("t", ZERO), loop("i", N, Accumulate("t", "add", load(X, AT, J), lanes=8)), Store("s", (J,), T)
    )
    rewriting.assert_refused(interchange, lanes, "t is accumulated in lanes")
    row = Alloc(Buffer.packed("row", FLOAT32, N))
    staged = columns(
        row,
        loop("i", N, Store("row", (AT,), load(X, AT, J))),
        loop("k", N, Store("out", (K, J), load(row.buffer, K))),
    )
    rewriting.assert_refused(Interchange("j", ("i", "k"), 3, "b"), staged, "row is needed behind loops")
    rewriting.assert_refused(Interchange("j", ("i",), J, "b"), SCALED, "how many iterations j are at most")


def test_the_last_block_may_begin_earlier() -> None:
    tested = replace(weighted(), facts=(M - 4,))
    after = rewriting.rewritten(tested, Interchange("j", ("i",), 4, "b", Tail.OVERLAP))
    assert "b_stop = b_start + 4" in rewriting.body_text(after)
    several = ({"n": n, "m": m} for n in (0, 1, 3) for m in (4, 5, 8, 11))
    rewriting.assert_same(tested, after, several, np.random.default_rng(0))


def test_blocks_overlap_only_where_one_is_full_and_may_run_twice() -> None:
    rewrite = Interchange("j", ("i",), 4, "b", Tail.OVERLAP)
    rewriting.assert_refused(rewrite, weighted(), "may have fewer than 4 iterations")
    rewriting.assert_refused(
        Interchange("j", ("i", "k"), 4, "b", Tail.OVERLAP), replace(IN_PLACE, facts=(M - 4,)), "may not run twice"
    )
