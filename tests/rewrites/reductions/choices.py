"""Kernels that add up, for each of several numbers, what conditions choose of a row."""

from __future__ import annotations

from tests.helpers.loop_kernels import AT, M, N, both, load, number
from tests.rewrites.rewriting import kernel, loop
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Kernel, Let, Order, Prim, Store, Value, Var
from xjit.types import BOOL, FLOAT64, INT64, DType

T = variable("t")
Q = Var("q", FLOAT64)


def chosen(length: IntExpr, condition: str = "lt", *, turned: bool = False, dtype: DType = FLOAT64) -> Kernel:
    """A kernel that adds up elements of y, and counts them, where those of x compare with a number of the turn."""
    x, y = (Buffer.packed(name, dtype, length) for name in "xy")
    w, r = Buffer.packed("w", dtype, M), Buffer.packed("r", FLOAT64, M)
    limit = Var("q", dtype)
    pair = (limit, load(x, AT)) if turned else (load(x, AT), limit)
    value = Prim("select", (both(condition, *pair, BOOL), load(y, AT), number(0, dtype)), dtype)
    step = Accumulate("s", "add", value, order=Order(Grouping.BLOCKS, AT))
    inside = loop("i", length, step)
    start, end = Carry("s", number(0.0, FLOAT64)), Store("r", (T,), Var("s", FLOAT64))
    return kernel((x, y, w, r), loop("t", M, start, Let("q", load(w, T)), inside, end))


def counted(value: Value) -> Kernel:
    """A kernel that counts, for each of several numbers, the elements of a row for which a condition holds."""
    x, w, r = Buffer.packed("x", FLOAT64, N), Buffer.packed("w", FLOAT64, M), Buffer.packed("r", INT64, M)
    inside = loop("i", N, Accumulate("s", "add", Prim("cast", (value,), INT64)))
    start, end = Carry("s", number(0, INT64)), Store("r", (T,), Var("s", INT64))
    return kernel((x, w, r), loop("t", M, start, Let("q", load(w, T)), inside, end))


def in_lanes() -> Kernel:
    """A kernel that adds up what a condition chooses of two blocks, in lanes."""
    x, y = (Buffer.packed(name, FLOAT64, constant(1024)) for name in "xy")
    w, r = Buffer.packed("w", FLOAT64, M), Buffer.packed("r", FLOAT64, M, constant(2))
    b, chosen = variable("b"), both("lt", load(x, AT), Q, BOOL)
    value = Prim("select", (chosen, load(y, AT), number(0.0, FLOAT64)), FLOAT64)
    step = loop("i", b + 512, Accumulate("s", "add", value, lanes=32), start=b)
    start, end = Carry("s", number(0.0, FLOAT64)), Store("r", (T, b // 512), Var("s", FLOAT64))
    blocks = loop("b", 1024, start, step, end, step=512)
    return kernel((x, y, w, r), loop("t", M, Let("q", load(w, T)), blocks))
