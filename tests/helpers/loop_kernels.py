"""Kernels of the loop IR written by hand: what a lowering would write for four programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Argument,
    Buffer,
    Carry,
    Const,
    Fold,
    Kernel,
    Load,
    Loop,
    Prim,
    Store,
    Value,
    Var,
    While,
)
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, FLOAT32, FLOAT64, INT32, DType

ZERO = constant(0)
AT, J, K, W = (variable(name) for name in "ijkw")
N, M = word("n"), word("m")


def number(value: Any, dtype: DType) -> Const:
    return Const(Literal.of(value, dtype))


def load(buffer: Buffer, *index: IntExpr) -> Load:
    return Load(buffer.name, index, buffer.dtype)


def both(name: str, a: Value, b: Value, dtype: DType | None = None) -> Prim:
    return Prim(name, (a, b), dtype or a.dtype)


def escape_times(most: int = 50) -> Kernel:
    """Rounds of z -> z² + c until |z| > 2: a recurrence whose length depends on values."""
    c_re, c_im = Buffer.packed("c_re", FLOAT64, N), Buffer.packed("c_im", FLOAT64, N)
    rounds = Buffer.packed("rounds", INT32, N)
    re, im, count = Var("re", FLOAT64), Var("im", FLOAT64), Var("count", INT32)
    square = both("add", both("mul", re, re), both("mul", im, im))
    inside = both("le", square, number(4.0, FLOAT64), BOOL)
    more = both("lt", count, number(most, INT32), BOOL)
    new_re = both("add", both("sub", both("mul", re, re), both("mul", im, im)), load(c_re, AT))
    new_im = both("add", both("mul", both("mul", re, im), number(2.0, FLOAT64)), load(c_im, AT))
    step = Fold(("re", "im", "count"), (new_re, new_im, both("add", count, number(1, INT32))))
    body = (
        Carry("re", number(0.0, FLOAT64)),
        Carry("im", number(0.0, FLOAT64)),
        Carry("count", number(0, INT32)),
        While(both("and", inside, more), (step,)),
        Store("rounds", (AT,), count),
    )
    arguments = Argument(c_re, Access.READ), Argument(c_im, Access.READ), Argument(rounds, Access.WRITE)
    return Kernel("escape_times", arguments, (Loop("i", ZERO, N, body),))


def elimination() -> Kernel:
    """Gaussian elimination without pivots, row after row in place."""
    a = Buffer.packed("a", FLOAT64, N, N)
    factor = Store("a", (AT, K), both("div", load(a, AT, K), load(a, K, K)))
    update = Store("a", (AT, J), both("sub", load(a, AT, J), both("mul", load(a, AT, K), load(a, K, J))))
    rows = Loop("i", K + 1, N, (factor, Loop("j", K + 1, N, (update,))))
    return Kernel("elimination", (Argument(a, Access.UPDATE),), (Loop("k", ZERO, N, (rows,)),))


def sliding_maximum(width: int) -> Kernel:
    """The greatest of each window of a line."""
    x, out = Buffer.packed("x", FLOAT32, N + width - 1), Buffer.packed("out", FLOAT32, N)
    body = (
        Carry("t", number(-np.inf, FLOAT32)),
        Loop("w", ZERO, constant(width), (Accumulate("t", "max", load(x, AT + W)),)),
        Store("out", (AT,), Var("t", FLOAT32)),
    )
    arguments = Argument(x, Access.READ), Argument(out, Access.WRITE)
    return Kernel("sliding_maximum", arguments, (Loop("i", ZERO, N, body),))


def row_sums() -> Kernel:
    """The sum of every row."""
    x, s = Buffer.packed("x", FLOAT32, N, M), Buffer.packed("s", FLOAT32, N)
    body = (
        Carry("t", number(0.0, FLOAT32)),
        Loop("j", ZERO, M, (Accumulate("t", "add", load(x, AT, J)),)),
        Store("s", (AT,), Var("t", FLOAT32)),
    )
    return Kernel("row_sums", (Argument(x, Access.READ), Argument(s, Access.WRITE)), (Loop("i", ZERO, N, body),))


def column_sums() -> Kernel:
    """The sum of every column, row after row."""
    x, s = Buffer.packed("x", FLOAT32, N, M), Buffer.packed("s", FLOAT32, M)
    step = Store("s", (J,), both("add", load(s, J), load(x, AT, J)))
    rows = Loop("i", ZERO, N, (Loop("j", ZERO, M, (step,)),))
    return Kernel("column_sums", (Argument(x, Access.READ), Argument(s, Access.UPDATE)), (rows,))
