"""Results in the place of values that nobody reads any more."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.codegen.rewrites.storage.stage_value import StageValue
from xjit.codegen.rewrites.storage.write_over import WriteOver
from xjit.ir.loops.intexpr import constant, minimum, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Buffer,
    Carry,
    Find,
    Kernel,
    Let,
    LetInt,
    Load,
    Prim,
    Statement,
    Store,
    Var,
)
from xjit.types import FLOAT32, FLOAT64

X, OUT = (Buffer.packed(name, FLOAT64, N, M) for name in ("x", "out"))
Y = Buffer.packed("y", FLOAT64, M)
S, V, W = (Var(name, FLOAT64) for name in "svw")
ADDED = kernel(
    (X, Y, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), both("add", load(X, AT, J), load(Y, J)))))
)


def exp(value: Load) -> Prim:
    return Prim("exp", (value,), FLOAT64)


def rows(*body: Statement) -> Kernel:
    return kernel((X, OUT), loop("i", N, Carry("s", number(0.0, FLOAT64)), *body))


SUM = loop("k", M, Accumulate("s", "add", load(X, AT, K)))
SHARES = rows(SUM, loop("j", M, Store("out", (AT, J), both("div", load(X, AT, J), S))))
FILL = loop("k", M, Let("v", exp(load(X, AT, K))), Accumulate("s", "add", V))
KEPT = rows(FILL, loop("j", M, Let("w", exp(load(X, AT, J))), Store("out", (AT, J), both("div", W, S))))
KEPT = StageInOutput("e", "out").apply(StageValue("v", "e").apply(KEPT))


def in_parts() -> Kernel:
    """Blocks of which the last part is a loop of its own."""
    start, end, middle = map(variable, ("b", "e", "w"))
    named = LetInt("e", minimum(start + 4, M)), LetInt("w", start + (end - start) // 2 * 2)
    parts = [
        loop(name, high, Store("out", (AT, variable(name)), exp(load(X, AT, variable(name)))), start=low)
        for name, low, high in (("j", start, middle), ("l", middle, end))
    ]
    return rows(loop("b", M, *named, *parts, step=4))


def assert_same(before: Kernel, after: Kernel, words: Mapping[str, int], rng: np.random.Generator) -> None:
    """The result of the second kernel is in the memory of what it is written over."""
    given = rewriting.arrays(before, words, rng)
    expected, _ = rewriting.executed(before, given, words)
    found, _ = rewriting.executed(after, {name: array for name, array in given.items() if name != "out"}, words)
    np.testing.assert_array_equal(found["x"], expected["out"])


def test_the_picture() -> None:
    rewriting.assert_pictured(WriteOver, ADDED)


@pytest.mark.parametrize(
    "before",
    [ADDED, Parallelize("i").apply(ADDED), SHARES, KEPT, Split("j", 4, "b").apply(SHARES), in_parts()],
    ids=["elements", "parallel", "two passes", "kept in the result", "blocks", "parts"],
)
def test_results_are_written_over(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, WriteOver("out", "x"))
    assert [one.buffer.name for one in after.arguments] == [one.buffer.name for one in before.arguments][:-1]
    for words in rewriting.extents("n", "m"):
        assert_same(before, after, words, rng)


BLOCKS_OF_COLUMNS = Buffer.packed("x", FLOAT64, constant(2), M, N)
FIRST = load(BLOCKS_OF_COLUMNS, constant(0), J, AT)


def of_columns(*values: Load) -> Kernel:
    """A result of which each element is added up of elements of an array with more axes than the result."""
    total = values[0] if len(values) == 1 else both("add", *values)
    return kernel(
        (BLOCKS_OF_COLUMNS, OUT), loop("i", N, loop("j", M, Store("out", (AT, J), both("mul", total, total))))
    )


def test_a_result_takes_the_axes_along_which_a_value_is_read(rng: np.random.Generator) -> None:
    before = of_columns(FIRST)
    after = rewriting.rewritten(before, WriteOver("out", "x"))
    for words in rewriting.extents("n", "m"):
        given = rewriting.arrays(before, words, rng)
        expected, _ = rewriting.executed(before, given, words)
        found, _ = rewriting.executed(after, {"x": given["x"]}, words)
        np.testing.assert_array_equal(found["x"][0].T, expected["out"])
        np.testing.assert_array_equal(found["x"][1], given["x"][1])


def stored(*index: int | None) -> Statement:
    """A store of the element that is so many positions on, and of another row or none."""
    down, along = index
    at = constant(0) if down is None else AT + down
    return Store("out", (AT, J), load(X, at, constant(0) if along is None else J + along))


LATER_ROWS = kernel((X, OUT), loop("i", N - 1, loop("j", M, stored(1, 0))))
COPIED = (loop("i", N, loop("j", M, stored(0, 0))),)


def search(stop: int) -> Kernel:
    fill = loop("j", M, Store("out", (AT, J), load(X, AT, J)))
    find = Find("p", load(X, AT, constant(0)), 1, constant(0), M, number(stop, FLOAT64))
    return kernel((X, OUT), loop("i", N, fill, find))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (kernel((X, OUT), loop("i", N - 1, loop("j", M, stored(-1, 0)), start=1)), r"x\[i - 1, j\] may be read"),
        (kernel((X, OUT), loop("i", N, loop("j", M, stored(0, None)))), r"x\[i, 0\] may be read"),
        (rows(loop("j", M, stored(0, 0)), SUM), r"x\[i, k\] may be read"),
        (rows(loop("j", M, stored(0, 0), Accumulate("s", "add", load(X, AT, J)))), r"x\[i, j\] may be read"),
        (
            Parallelize("i").apply(kernel((X, OUT), loop("i", N - 1, loop("j", M, stored(1, 0))))),
            r"x\[i \+ 1, j\] may",
        ),
        (search(0), "may be read"),
        (
            kernel((X, OUT), loop("i", N, loop("j", M, stored(0, 0))), loop("k", N, Let("v", load(X, K, K)))),
            "x.k, k.",
        ),
        (kernel((X, OUT), loop("i", N, Store("x", (AT, AT), load(OUT, AT, AT)))), "x is written already"),
        (kernel((X,), loop("i", N)), "there is no buffer out"),
        (kernel((X, Buffer.packed("out", FLOAT32, N, M)), loop("i", N)), "elements of another type"),
        (kernel((X, Buffer.packed("out", FLOAT64, N)), loop("i", N)), "not the same axes"),
        (of_columns(FIRST, load(BLOCKS_OF_COLUMNS, constant(1), J, AT)), "not the same axes"),
        (of_columns(load(BLOCKS_OF_COLUMNS, constant(1), J, AT)), "not the same axes"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(WriteOver("out", "x"), before, reason)


def test_later_rows_may_be_read_in_order() -> None:
    rewriting.rewritten(LATER_ROWS, WriteOver("out", "x"))
