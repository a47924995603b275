"""Kernels in blocks of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.block_rows import BlockRows
from xjit.ir.loops.build import less, plus
from xjit.ir.loops.intexpr import constant, variable, word
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Fold,
    If,
    Invoke,
    Kernel,
    Let,
    LoopKind,
    Statement,
    Store,
    Var,
    While,
)
from xjit.types import FLOAT32, INT64

K = variable("k")
X, Y, W = (Buffer.packed(name, FLOAT32, N) for name in "xyw")
TABLE = Buffer.packed("table", FLOAT32, N, M)
ROUNDS = Buffer.packed("rounds", INT64, constant(1))
T, V = Var("t", INT64), Var("v", FLOAT32)
MORE = less(T, number(9, INT64))
COUNTED = Fold(("t",), (plus(T, number(1, INT64)),))
BEGIN = Carry("t", number(0, INT64))
ADDED = loop("i", N, Store("y", (AT,), both("add", load(X, AT), load(Y, AT))))
MULTIPLIED = loop("j", N, Store("x", (J,), both("mul", load(X, J), load(Y, J))))
BLOCKS = BlockRows(4, "b")


def turns(*body: Statement, buffers: tuple[Buffer, ...] = (X, Y, W, TABLE, ROUNDS)) -> Kernel:
    return kernel(buffers, BEGIN, While(MORE, (*body, COUNTED)), Store("rounds", (constant(0),), T))


SCALED = turns(ADDED, MULTIPLIED, buffers=(X, Y, ROUNDS))
SUMS = turns(
    loop(
        "i",
        N,
        Carry("v", load(Y, AT)),
        loop("k", M, Accumulate("v", "add", load(TABLE, AT, K))),
        Store("y", (AT,), V),
    ),
    loop("j", N, loop("l", M, Store("table", (J, variable("l")), load(Y, J)))),
)
ARMS = turns(If(less(T, number(4, INT64)), (ADDED,), (MULTIPLIED,)))
READ_ELSEWHERE = turns(loop("i", N, Store("y", (AT,), both("add", load(W, N - AT - 1), load(Y, AT)))))
ALL = {"scaled": SCALED, "sums": SUMS, "arms": ARMS, "reads elsewhere": READ_ELSEWHERE}


def test_the_picture() -> None:
    rewriting.assert_pictured(BlockRows, SCALED)


@pytest.mark.parametrize("name", ALL)
def test_results_stay(name: str, rng: np.random.Generator) -> None:
    before = ALL[name]
    after = rewriting.rewritten(before, BLOCKS)
    assert rewriting.body_text(after).startswith("parallel b in 0 .. max(")
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_a_length_may_be_a_word(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(SUMS, BlockRows(word("rows"), "b"))
    several = ({"n": n, "m": 2, "rows": rows} for n in (1, 5, 8) for rows in (1, 3, 9))
    rewriting.assert_same(SUMS, after, several, rng)


def test_rows_of_others_are_refused() -> None:
    for touched, what in ((AT + 1, "of others"), (N - AT - 1, "of others"), (constant(0), "of one row")):
        neighbours = turns(loop("i", N, Store("y", (AT,), both("add", load(Y, touched), load(X, AT)))))
        rewriting.assert_refused(BLOCKS, neighbours, f"rows may meet in y: .*{what}")
    diagonal = turns(loop("i", N, Store("table", (AT, AT), load(X, AT))))
    rewriting.assert_refused(BLOCKS, diagonal, "rows may meet in table")
    number_of_all = turns(Let("v", load(Y, constant(0))), loop("i", N, Store("y", (AT,), V)))
    rewriting.assert_refused(BLOCKS, number_of_all, "rows may meet in y: not all")


def test_an_offset_stays_in_its_row_where_the_strides_say_so(rng: np.random.Generator) -> None:
    shifted = turns(
        loop("i", N, Store("table", (AT, constant(3)), load(X, AT))),
        loop("j", N, Store("x", (J,), load(TABLE, J, constant(0)))),
    )
    rewriting.assert_refused(BLOCKS, shifted, "the offset 0 along axis 1 may reach into another row")
    known = replace(shifted, facts=(M - 4, M - 1))
    rewriting.assert_same(known, BLOCKS.apply(known), ({"n": n, "m": 4} for n in (1, 4, 7)), rng)


def test_numbers_of_all_rows_are_refused() -> None:
    total = kernel((X, Y), Carry("v", number(0.0, FLOAT32)), loop("i", N, Accumulate("v", "add", load(X, AT))))
    rewriting.assert_refused(BLOCKS, total, "every iteration over i changes v")
    read = turns(ADDED, Store("x", (constant(0),), number(0.0, FLOAT32)))
    rewriting.assert_refused(BLOCKS, read, "rows may meet in x")


def test_loops_that_are_not_over_the_same_rows_are_refused() -> None:
    rewriting.assert_refused(
        BLOCKS, turns(ADDED, loop("j", M, Store("x", (J,), load(W, J)))), "ends at m, another at n"
    )
    rewriting.assert_refused(BLOCKS, turns(), "the kernel has no loops")
    rewriting.assert_refused(BLOCKS, turns(replace(ADDED, start=constant(1))), "does not run from 0")
    rewriting.assert_refused(BLOCKS, turns(replace(ADDED, kind=LoopKind.PARALLEL)), "one after the other")
    varying = kernel((X, Y), loop("i", AT, Store("y", (AT,), load(X, AT))))
    rewriting.assert_refused(BLOCKS, replace(varying, body=(Let("i", number(3, INT64)),)), "no loops")


def test_what_is_not_done_row_by_row_is_refused() -> None:
    rewriting.assert_refused(BLOCKS, turns(ADDED, Invoke("gemm", ("x",))), "a Invoke is not done row by row")
    row = Alloc(Buffer.packed("row", FLOAT32, N))
    staged = turns(
        row, loop("i", N, Store("row", (AT,), load(X, AT))), loop("j", N, Store("x", (J,), load(row.buffer, J)))
    )
    rewriting.assert_refused(BLOCKS, staged, "all rows share row")
