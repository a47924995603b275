"""Kernels that add the elements of a row up in an order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.helpers.loop_kernels import AT, J, M, N, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.record import Rewrite
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Kernel, Order, Statement, Store, Var
from xjit.types import FLOAT64, DType

ZERO = constant(0)


def summed(grouping: Grouping, dtype: DType = FLOAT64, reducer: str = "add", *more: Statement) -> Kernel:
    """A kernel that adds up one row."""
    wide = FLOAT64 if grouping.is_wide else dtype
    x, out = Buffer.packed("x", dtype, N), Buffer.packed("out", wide, constant(1))
    line = ZERO if grouping is Grouping.ERRORS else J
    step = Accumulate("s", reducer, load(x, J), order=Order(grouping, line))
    start = Carry("s", number(0 if reducer == "add" else 1, wide))
    return kernel((x, out), start, loop("j", N, *more, step), Store("out", (ZERO,), Var("s", wide)))


def of_views() -> Kernel:
    """A kernel that adds up the elements of two loops as one line."""
    x, out = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, constant(1))
    step = Accumulate("s", "add", load(x, AT, J), order=Order(Grouping.BLOCKS, AT))
    start, end = Carry("s", number(0.0, FLOAT64)), Store("out", (ZERO,), Var("s", FLOAT64))
    return kernel((x, out), start, loop("i", N, loop("j", M, step)), end)


def lengths(*several: int) -> Iterator[dict[str, int]]:
    """Yield lengths of a row around those of groups and blocks."""
    yield from ({"n": n} for n in several or (0, 1, 7, 8, 33, 75, 511, 512, 513, 1100))


def assert_same_sum(before: Kernel, after: Kernel, rng: np.random.Generator, *several: int) -> None:
    rewriting.assert_same(before, after, lengths(*several), rng)


def assert_pictured(rewrite: type[Any], tested: Kernel, *first: Rewrite) -> None:
    """The docstring of a rewrite shows lines of a kernel before and after it."""
    before, after, found = rewriting.picture(rewrite)
    tested = rewriting.rewritten(tested, *first)
    assert before in rewriting.body_text(tested)
    assert after in rewriting.body_text(rewriting.rewritten(tested, found))
