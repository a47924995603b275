"""Values that loops keep for those behind them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.codegen.rewrites.storage.stage_value import StageValue
from xjit.ir.loops.intexpr import IntExpr, minimum, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Kernel,
    Let,
    LetInt,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.types import FLOAT64

X, OUT = Buffer.packed("x", FLOAT64, N, M), Buffer.packed("out", FLOAT64, N, M)
S, V, W = (Var(name, FLOAT64) for name in "svw")
ZERO = number(0.0, FLOAT64)


def exp(value: Value) -> Prim:
    return Prim("exp", (value,), FLOAT64)


def fill(*more: Statement, stop: IntExpr = M) -> Statement:
    return loop("j", stop, Let("v", exp(load(X, AT, J))), Accumulate("s", "add", V), *more)


def share(value: Value | None = None, to: Buffer = OUT) -> Statement:
    made = Let("w", exp(load(X, AT, K)) if value is None else value)
    return loop("k", M, made, Store(to.name, (AT, K), both("div", W, S)))


def rows(*body: Statement) -> Kernel:
    return kernel((X, OUT), loop("i", N, Carry("s", ZERO), *body))


SHARES = rows(fill(), share())


def test_the_picture() -> None:
    rewriting.assert_pictured(StageValue, SHARES)


def in_two_parts(times: int = 2) -> Kernel:
    """Blocks of which the last part is a loop of its own."""
    parts = []
    start, end = variable("b"), variable("end")
    for name, low, high in (("j", start, variable("w0")), ("l", variable("w0"), end)):
        at = variable(name)
        made = Let(f"v_{name}", exp(load(X, AT, at)))
        parts.append(loop(name, high, made, Accumulate("s", "add", Var(f"v_{name}", FLOAT64)), start=low))
    named = LetInt("end", minimum(start + 4, M)), LetInt("w0", start + (end - start) // 2 * times)
    return rows(loop("b", M, *named, *parts, step=4), share())


PARTS = in_two_parts()


@pytest.mark.parametrize(
    ("before", "value"),
    [
        (SHARES, "v"),
        (Split("j", 4, "b").apply(SHARES), "v"),
        (Split("k", 4, "b").apply(SHARES), "v"),
        (PARTS, "v_j"),
        (PARTS, "v_l"),
        (
            rows(
                fill(),
                share(),
                loop("l", M, Let("u", exp(load(X, AT, variable("l")))), Accumulate("s", "add", Var("u", FLOAT64))),
            ),
            "v",
        ),
        (rows(fill(), share(to=X)), "v"),
    ],
    ids=["rows", "stored in blocks", "loaded in blocks", "parts", "last part", "three loops", "in place"],
)
def test_rows_of_values(before: Kernel, value: str, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, StageValue(value, "e"))
    stored = {"v"} if value == "v" else {"v_j", "v_l"}
    assert rewriting.body_text(after).count("exp(") == len(stored)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_loops_that_need_more_compute_it(rng: np.random.Generator) -> None:
    whole = loop("l", M, Let("u", exp(load(X, AT, variable("l")))), Accumulate("s", "add", Var("u", FLOAT64)))
    part = loop("k", M - 1, Let("w", exp(load(X, AT, K))), Store("out", (AT, K), W))
    before = rows(fill(stop=M - 1), whole, part)
    after = rewriting.rewritten(before, StageValue("v", "e"))
    assert rewriting.body_text(after).count("exp(") == 2
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


def test_operands_that_nobody_needs_any_more_go() -> None:
    body = Let("x0", load(X, AT, K)), Let("w", exp(Var("x0", FLOAT64))), Store("out", (AT, K), both("div", W, S))
    after = rewriting.rewritten(rows(fill(), loop("k", M, *body)), StageValue("v", "e"))
    assert "x0" not in rewriting.body_text(after)


def doubled(name: str, at: IntExpr, times: int) -> tuple[Let, ...]:
    """Named values, each the sum of the one before it with itself."""
    start = Let(f"{name}0", load(X, AT, at))
    sums = (both("add", one, one) for one in (Var(f"{name}{number}", FLOAT64) for number in range(times)))
    return start, *(Let(f"{name}{number}", one) for number, one in enumerate(sums, 1))


def test_values_that_each_take_the_one_before_twice(rng: np.random.Generator) -> None:
    """The meaning of such a value, written out, has as many operands as there are powers of two."""
    first, second = doubled("a", J, 100), doubled("b", K, 100)
    first, second = (*first[:-1], Let("v", first[-1].value)), (*second[:-1], Let("w", second[-1].value))
    before = rows(
        loop("j", M, *first, Accumulate("s", "add", V)),
        loop("k", M, *second, Store("out", (AT, K), both("div", W, S))),
    )
    after = rewriting.rewritten(before, StageValue("v", "e"))
    assert "b99" not in rewriting.body_text(after)
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)
    others = (*second[:50], Let("b50", both("multiply", *2 * [Var("b49", FLOAT64)])), *second[51:])
    part = loop("k", M, *others, Store("out", (AT, K), both("div", W, S)))
    other = rows(loop("j", M, *first, Accumulate("s", "add", V)), part)
    rewriting.assert_refused(StageValue("v", "e"), other, "no loop computes v again")


def test_a_value_waits_in_the_row_of_the_result(rng: np.random.Generator) -> None:
    after = rewriting.rewritten(SHARES, StageValue("v", "e"), StageInOutput("e", "out"))
    assert "alloc" not in rewriting.body_text(after)
    rewriting.assert_same(SHARES, after, rewriting.extents("n", "m"), rng)


def test_scratch_of_the_kernel_is_taken(rng: np.random.Generator) -> None:
    before = kernel((X, OUT), Alloc(Buffer.packed("e", FLOAT64, M)), *SHARES.body)
    after = rewriting.rewritten(before, StageValue("v", "e"))
    assert rewriting.body_text(after).count("alloc") == 1
    rewriting.assert_same(before, after, rewriting.extents("n", "m"), rng)


@pytest.mark.parametrize(
    "before",
    [
        rows(fill()),
        rows(fill(), share(exp(load(OUT, AT, K)))),
        rows(fill(stop=M - 1), share()),
        rows(fill(Store("x", (AT, J), V)), share()),
        rows(fill(), loop("l", M, Store("x", (AT, variable("l")), S)), share()),
        rows(fill(), loop("k", M, Let("w", exp(load(X, AT, K))), Store("x", (AT, M - 1 - K), both("div", W, S)))),
        rows(loop("j", M, Let("v", exp(both("add", load(X, AT, J), S))), Accumulate("s", "add", V)), share()),
    ],
    ids=["alone", "other", "fewer", "written by the first", "written between", "written by the last", "changed"],
)
def test_refusals(before: Kernel) -> None:
    rewriting.assert_refused(
        StageValue("v", "e"), before, "no loop computes v again behind one that stores all of it"
    )


def test_parts_that_may_run_over_their_block_are_not_known() -> None:
    before = in_two_parts(3)
    rewriting.assert_refused(StageValue("v_j", "e"), before, "no loop computes v_j again behind one that stores all")


def test_a_scalar_that_changes_is_another_value() -> None:
    made = loop("j", M, Let("v", exp(both("add", load(X, AT, J), S))), Store("out", (AT, J), V))
    change = loop("l", M, Accumulate("s", "add", load(X, AT, variable("l"))))
    again = loop("k", M, Let("w", exp(both("add", load(X, AT, K), S))), Store("out", (AT, K), W))
    rewriting.assert_refused(StageValue("v", "e"), rows(made, change, again), "no loop computes v again")
    rewriting.rewritten(rows(made, again), StageValue("v", "e"))
