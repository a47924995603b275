"""One loop of two that stand one behind the other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.loop_kernels import AT, K, M, N, both, load, number
from tests.rewrites import rewriting
from tests.rewrites.rewriting import kernel, loop
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.ir.loops.intexpr import IntExpr, word
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Block,
    Buffer,
    Carry,
    Fold,
    Invoke,
    Kernel,
    Let,
    Statement,
    Store,
    Var,
)
from xjit.types import FLOAT64

X, T, OUT = (Buffer.packed(name, FLOAT64, N + 1) for name in ("x", "t", "out"))
ONE = number(1.0, FLOAT64)


def producer(at: IntExpr = AT) -> Store:
    return Store("t", (at,), both("add", load(X, AT), ONE))


def consumer(at: IntExpr = K) -> Store:
    return Store("out", (K,), both("mul", load(T, at), load(X, K)))


def two(first: Store, second: Store, *between: Statement) -> Kernel:
    return kernel((X, T, OUT), loop("i", N, first), *between, loop("k", N, second))


def test_the_picture() -> None:
    rewriting.assert_pictured(Fuse, two(producer(), consumer()))


@pytest.mark.parametrize(
    "before",
    [
        two(producer(), consumer()),
        two(producer(AT + 1), consumer()),
        two(producer(), consumer(), Let("v", load(X, N)), Carry("w", Var("v", FLOAT64))),
        two(producer(), Store("x", (K,), load(T, K))),
        two(producer(), Store("x", (K,), ONE)),
    ],
    ids=["same", "earlier", "names between", "overwritten later", "overwritten"],
)
def test_loops_one_behind_the_other(before: Kernel, rng: np.random.Generator) -> None:
    after = rewriting.rewritten(before, Fuse("i", "k"))
    assert len([line for line in rewriting.body_text(after).splitlines() if line.startswith("for")]) == 1
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)


def test_loops_in_loops(rng: np.random.Generator) -> None:
    rows = loop("j", M, loop("i", N, producer()), loop("k", N, consumer()))
    before = kernel((X, T, OUT), rows)
    rewriting.assert_same(before, rewriting.rewritten(before, Fuse("i", "k")), rewriting.extents("n", "m"), rng)


def test_sums_of_loops_that_do_not_read_them(rng: np.random.Generator) -> None:
    sums = (loop("i", N, Accumulate("s", "add", load(X, AT))), loop("k", N, Fold(("u",), (load(X, K),))))
    body = (
        Carry("s", ONE),
        Carry("u", ONE),
        *sums,
        Store("out", (N,), both("sub", Var("s", FLOAT64), Var("u", FLOAT64))),
    )
    before = kernel((X, OUT), *body)
    rewriting.assert_same(before, rewriting.rewritten(before, Fuse("i", "k")), rewriting.extents("n"), rng)


def totals(*between: Statement, second: Block = ()) -> Kernel:
    first = loop("i", N, Accumulate("s", "add", load(X, AT)))
    return kernel((X, OUT), Carry("s", ONE), first, *between, loop("k", N, *second))


S = Var("s", FLOAT64)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (
            two(producer(), consumer(K + 1)),
            r"needs all of that over i: t\[i\].* and t\[k \+ 1\]|t\[i \+ 1\], which is",
        ),
        (two(producer(), Store("x", (K + 1,), ONE)), r"x\[i\], which is read, and x\[i \+ 1\], which is written,"),
        (two(producer(), Store("t", (K + 1,), ONE)), r"t\[i\], which is written, and t\[i \+ 1\], which is written,"),
        (two(producer(), consumer(), Store("x", (N,), ONE)), r"x\[n\] = 1.0 stands in between"),
        (two(producer(), consumer(), Let("v", load(T, N))), r"v = t\[n\] stands in between and needs t"),
        (totals(second=(Store("out", (K,), S),)), "s is changed and read"),
        (totals(Let("v", S)), "v = s stands in between and needs s"),
        (totals(second=(Accumulate("s", "add", load(X, K)),)), "s is rounded in the order of the loops"),
        (kernel((X, OUT), loop("i", N, producer()), loop("k", N, Invoke("solve", ("out",)))), "what solve touches"),
        (
            kernel((X, T, OUT), loop("i", N, producer()), loop("k", N + 1, consumer())),
            r"differ: for 0 .. n by 1, and",
        ),
        (kernel((X, T, OUT), loop("i", N, producer()), loop("j", N, loop("k", N, consumer()))), "no loop over k"),
    ],
)
def test_refusals(before: Kernel, reason: str) -> None:
    if "solve" in reason:
        before = kernel((X, T, OUT), *before.body)
    rewriting.assert_refused(Fuse("i", "k"), before, reason)


def test_parallel_loops_stay_without_order(rng: np.random.Generator) -> None:
    def parallel(at: IntExpr) -> Kernel:
        found = two(producer(), consumer(at))
        return Parallelize("k").apply(Parallelize("i").apply(found))

    before, after = parallel(K), rewriting.rewritten(parallel(K), Fuse("i", "k"))
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
    earlier = kernel((X, T, OUT), *two(producer(AT + 1), consumer()).body)
    both_parallel = Parallelize("k").apply(Parallelize("i").apply(earlier))
    rewriting.assert_refused(Fuse("i", "k"), both_parallel, "may be one element")


def test_scratch_between_comes_first(rng: np.random.Generator) -> None:
    row = Buffer.packed("row", FLOAT64, word("n"))
    fill = loop("k", N, Store("row", (K,), load(T, K)), Store("out", (K,), load(row, K)))
    before = kernel((X, T, OUT), loop("i", N, producer()), Alloc(row), fill)
    after = rewriting.rewritten(before, Fuse("i", "k"))
    assert rewriting.body_text(after).startswith("alloc row")
    rewriting.assert_same(before, after, rewriting.extents("n"), rng)
