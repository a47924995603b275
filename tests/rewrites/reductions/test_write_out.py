"""Short reductions without a loop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, J, N, both, load, number
from tests.ir.test_loop_programs import compiled
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.reductions.lanes import Lanes
from xjit.codegen.rewrites.reductions.write_out import WriteOut
from xjit.codegen.text.source import kernel_text
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Accumulate, Buffer, Carry, Grouping, Kernel, Let, Order, Statement, Store, Var
from xjit.types import FLOAT32, FLOAT64, DType

D = variable("d")


def sums(terms: int, dtype: DType = FLOAT64, grouping: Grouping | None = Grouping.LANES) -> Kernel:
    """The sum of short products."""
    x, y = (Buffer.packed(name, dtype, constant(max(terms, 1))) for name in "xy")
    order = None if grouping is None else Order(grouping, D)
    step = Accumulate("t", "add", Var("v", dtype), order=order)
    product = Let("v", both("mul", load(x, D), load(y, D)))
    out = Buffer.packed("out", dtype, constant(1))
    body = (
        Carry("t", number(0.0, dtype)),
        loop("d", terms, product, step),
        Store("out", (constant(0),), Var("t", dtype)),
    )
    return kernel((x, y, out), *body)


def test_the_picture() -> None:
    before, after, rewrite = rewriting.picture(WriteOut)
    lines = [rewriting.body_text(one).splitlines()[1:-1] for one in (sums(3), rewrite.apply(sums(3)))]
    assert lines == [before.splitlines(), after.splitlines()]


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
@pytest.mark.parametrize("terms", [1, 7, 8, 9, 24, 31, 33, 41, 63])
def test_elements_are_added_as_in_lanes(terms: int, dtype: DType, rng: np.random.Generator) -> None:
    before = sums(terms, dtype)
    several = [WriteOut("d")], [Lanes("d", "k"), Lanes("k", "l")]
    given, results = rewriting.arrays(before, {}, rng), []
    for rewrites in several:
        after = rewriting.rewritten(before, *rewrites)
        arrays = {name: array.copy() for name, array in given.items()}
        compiled(kernel_text(after), after, arrays, {})
        results.append(arrays["out"].tobytes())
    assert results[0] == results[1]


def test_elements_without_an_order_are_added_one_by_one(rng: np.random.Generator) -> None:
    before = sums(16, grouping=None)
    rewriting.assert_same(before, rewriting.rewritten(before, WriteOut("d")), [{}], rng)


X = Buffer.packed("x", FLOAT64, N)
STEP = Accumulate("t", "add", load(X, AT))


def adding(*body: Statement, stop: object = 4) -> Kernel:
    return kernel((X,), Carry("t", number(0.0, FLOAT64)), loop("i", stop, *body))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (adding(STEP, stop=N), "the loop over i has not a small number of iterations"),
        (adding(STEP, stop=65), "the loop over i has not a small number of iterations"),
        (adding(STEP, STEP), "the loop over i does more than to reduce values"),
        (adding(loop("j", 3, Accumulate("t", "add", load(X, J)))), "does more than to reduce values"),
        (
            adding(Accumulate("t", "add", load(X, AT), order=Order(Grouping.BLOCKS, AT))),
            "elements of t are not combined along i alone",
        ),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    rewriting.assert_refused(WriteOut("i"), before, reason)
