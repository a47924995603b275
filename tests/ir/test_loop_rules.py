"""The rules of the loop IR: each is broken once, by a kernel that is right but for it; and the executor's checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.helpers import loop_kernels
from tests.helpers.loop_kernels import AT, ZERO, J, K, M, N, both, load, number
from xjit.codegen.language.plain_primitives import primitive
from xjit.codegen.rewrites.map_to_grid import MapToGrid
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError, Rewrite
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.stage import Stage
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.text.source import kernel_text
from xjit.ir.loops import show
from xjit.ir.loops.execute import (
    BarrierError,
    Executor,
    LoopsError,
    OutsideError,
    RaceError,
    UnwrittenError,
)
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Alloc,
    Argument,
    Barrier,
    Block,
    Buffer,
    Carry,
    Check,
    Fold,
    FromInt,
    Grouping,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    LoopKind,
    Order,
    Prim,
    Scope,
    Statement,
    Store,
    TransposeBlock,
    Var,
    While,
)
from xjit.ir.loops.verify import InvalidLoopsError, unproved, verify
from xjit.ir.loops.walk import replaced, statements
from xjit.types import BOOL, FLOAT32, FLOAT64, INT64

X, OUT = Buffer.packed("x", FLOAT64, N), Buffer.packed("out", FLOAT64, N)
SUM = Var("t", FLOAT64)
ONE = number(1.0, FLOAT64)
SINGLE = number(1.0, FLOAT32)
TRUE = number(True, BOOL)


def kernel(*body: Statement, access: Access = Access.WRITE) -> Kernel:
    return Kernel("test", (Argument(X, Access.READ), Argument(OUT, access)), body)


def loop(*body: Statement, **fields: Any) -> Loop:
    return replace(Loop("i", ZERO, N, body), **fields)


def in_grid(*body: Statement, between: Block = ()) -> Loop:
    threads = Loop("p", ZERO, constant(4), body, LoopKind.BLOCK_THREAD)
    return Loop("i", ZERO, N, (*between, threads), LoopKind.GRID_BLOCK)


COPY = Store("out", (AT,), load(X, AT))
TOTAL = (Carry("t", ONE), loop(Accumulate("t", "add", load(X, AT))), Store("out", (ZERO,), SUM))
SCRATCH = Buffer.packed("row", FLOAT64, constant(4))


@pytest.mark.parametrize(
    "right",
    [
        kernel(loop(COPY)),
        kernel(*TOTAL),
        kernel(loop(COPY, kind=LoopKind.PARALLEL)),
        kernel(loop(LetInt("j", AT * 1), Store("out", (J,), load(X, J)))),
        kernel(loop(If(TRUE, (COPY,), (Store("out", (AT,), ONE),)))),
        kernel(in_grid(Store("row", (variable("p"),), ONE), Barrier(), between=(Alloc(SCRATCH, Scope.BLOCK),))),
        kernel(Carry("t", ONE), loop(Accumulate("t", "add", SINGLE, order=Order(Grouping.BLOCKS, AT)))),
        kernel(Carry("t", ONE), Accumulate("t", "add", ONE, order=Order(Grouping.ERRORS))),
        kernel(loop(Alloc(SCRATCH)), loop(Alloc(SCRATCH))),
        loop_kernels.escape_times(),
        loop_kernels.elimination(),
        loop_kernels.sliding_maximum(3),
        loop_kernels.row_sums(),
    ],
)
def test_right_kernels(right: Kernel) -> None:
    assert verify(right) is right


TWICE = Let("v", ONE)

WRONG = {
    "v is given twice": kernel(TWICE, TWICE),
    "x is given twice": kernel(Let("x", ONE)),
    "the scalar v is not given before": kernel(Store("out", (ZERO,), Var("v", FLOAT64))),
    "the integer j is not given before": kernel(loop(Store("out", (J,), ONE))),
    "the buffer y is not given before": kernel(loop(Store("out", (AT,), Load("y", (AT,), FLOAT64)))),
    "t is a float64, not a float32": kernel(Carry("t", ONE), Store("out", (ZERO,), Var("t", FLOAT32))),
    "the elements of out are float64, not float32": kernel(loop(Store("out", (AT,), number(1.0, FLOAT32)))),
    "out has 1 axes, not 2": kernel(loop(Store("out", (AT, AT), ONE))),
    "the buffer x is only read": kernel(loop(Store("x", (AT,), ONE))),
    "a condition is a pred, not a float64": kernel(If(ONE, ())),
    "t does not change here": kernel(Carry("t", ONE), loop(Fold(("t",), (ONE,)), kind=LoopKind.PARALLEL)),
    "v does not change here": kernel(Let("v", ONE), loop(Accumulate("v", "add", ONE))),
    "s is a float32, not a float64": kernel(
        Carry("s", SINGLE), loop(Accumulate("s", "add", SINGLE, order=Order(Grouping.BLOCKS, AT)))
    ),
    "j is no loop around": kernel(
        LetInt("j", ZERO), Carry("t", ONE), Accumulate("t", "add", ONE, order=Order(Grouping.LANES, J))
    ),
    "row is given twice": kernel(Alloc(SCRATCH), Alloc(SCRATCH)),
    "as many values as names": kernel(Carry("t", ONE), Fold(("t",), (ONE, ONE))),
    "the step of a loop is positive": kernel(loop(COPY, step=0)),
    "the extent of an unrolled loop is a number": kernel(loop(COPY, kind=LoopKind.UNROLLED)),
    "a loop over blocks is inside of no other": kernel(Loop("k", ZERO, N, (in_grid(),))),
    "a loop over threads is inside": kernel(loop(kind=LoopKind.BLOCK_THREAD)),
    "scratch of a block is allocated between": kernel(in_grid(Alloc(SCRATCH, Scope.BLOCK))),
    "scratch of a thread is allocated inside": kernel(Alloc(SCRATCH, Scope.THREAD)),
    "a barrier is for the threads of a block": kernel(loop(Barrier())),
    "not all threads may come to the barrier": kernel(in_grid(If(TRUE, (Barrier(),)))),
    "the index n along axis 0 is outside of out": kernel(Store("out", (N,), ONE)),
    "the index -1 along axis 0 is outside of x": kernel(Let("v", load(X, constant(-1)))),
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_kernels(problem: str) -> None:
    with pytest.raises(InvalidLoopsError) as raised:
        verify(WRONG[problem])
    assert problem in str(raised.value)


@pytest.mark.parametrize("inner", [Loop("q", ZERO, variable("p"), (Barrier(),)), While(TRUE, (Barrier(),))])
def test_rounds_that_differ_by_thread_have_no_barrier(inner: Statement) -> None:
    with pytest.raises(InvalidLoopsError, match="not all threads"):
        verify(kernel(in_grid(inner)))


def test_indices_that_are_not_proved_are_listed() -> None:
    assert unproved(kernel(loop(Store("out", (AT,), load(X, AT + 1))))) == ["x[i + 1] along axis 0"]
    position, last = FromInt(AT + 1, INT64), FromInt(N, INT64)
    inside = If(Prim("lt", (position, last), BOOL), (Store("out", (AT,), load(X, AT + 1)),))
    assert unproved(kernel(loop(inside))) == []


# ---- the executor


def run(tested: Kernel, n: int = 6, **routines: Any) -> tuple[np.ndarray[Any, Any], int]:
    arrays = {"x": np.arange(float(n)), "out": np.zeros(n)}
    status = Executor(primitive, routines).run(tested, arrays, {"n": n})
    return arrays["out"], status


def test_all_statements_run() -> None:
    position = FromInt(AT, INT64)
    found, status = run(
        kernel(
            LetInt("last", N - 1),
            loop(
                Check(both("lt", position, number(4, INT64), BOOL), 3),
                If(
                    both("lt", position, number(3, INT64), BOOL),
                    (Store("out", (AT,), load(X, variable("last") - AT)),),
                    (Store("out", (AT,), Prim("cast", (position,), FLOAT64)),),
                ),
            ),
            Invoke("doubled", ("out",), (N - 1,)),
        ),
        doubled=lambda out, last: out.__imul__(2.0) if last == 5 else None,
    )
    assert found.tolist() == [10, 8, 6, 6, 8, 10] and status == 3


def test_several_scalars_change_at_once() -> None:
    a, b = Var("a", FLOAT64), Var("b", FLOAT64)
    begin = Carry("a", number(0.0, FLOAT64)), Carry("b", ONE)
    step = loop(Store("out", (AT,), a), Fold(("a", "b"), (b, both("add", a, b))))
    found, _ = run(kernel(*begin, step))
    assert found.tolist() == [0, 1, 1, 2, 3, 5]
    text = kernel_text(kernel(*begin, step)).text
    assert text.index("a_new = b") < text.index("b = a + b") < text.index("a = a_new")


def test_blocks_are_transposed() -> None:
    a, b = Buffer.packed("a", FLOAT64, N, M), Buffer.packed("b", FLOAT64, M, N)
    copy = TransposeBlock("b", (constant(1), ZERO), "a", (ZERO, constant(1)), (N, M - 1))
    tested = verify(Kernel("test", (Argument(a, Access.READ), Argument(b, Access.WRITE)), (copy,)))
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.zeros((3, 2))}
    Executor(primitive).run(tested, arrays, {"n": 2, "m": 3})
    assert arrays["b"].tolist() == [[0, 0], [1, 4], [2, 5]]
    assert "b[1, 0] = transposed a[0, 1] of n x m - 1" in show.kernel_text(tested)


ROW = Buffer.packed("row", FLOAT64, N)


@pytest.mark.parametrize(
    ("error", "tested"),
    [
        (OutsideError, kernel(loop(Store("out", (AT,), load(X, AT + 1))))),
        (OutsideError, kernel(loop(Store("out", (AT - 1,), ONE)))),
        (UnwrittenError, kernel(Alloc(ROW), loop(Store("out", (AT,), load(ROW, AT))))),
        (RaceError, kernel(loop(Store("out", (ZERO,), load(X, AT)), kind=LoopKind.PARALLEL))),
        (RaceError, kernel(loop(Store("out", (N - 1 - AT,), load(OUT, AT)), kind=LoopKind.VECTOR))),
        (RaceError, kernel(in_grid(Store("out", (AT,), load(X, variable("p")))))),
        (BarrierError, kernel(loop(Barrier(), kind=LoopKind.PARALLEL))),
        (BarrierError, kernel(Barrier())),
        (
            BarrierError,
            kernel(in_grid(If(both("lt", FromInt(variable("p"), INT64), number(2, INT64), BOOL), (Barrier(),)))),
        ),
    ],
)
def test_what_no_kernel_may_do(error: type[LoopsError], tested: Kernel) -> None:
    with pytest.raises(error):
        run(tested)


def test_iterations_without_order_may_write_the_same() -> None:
    found, _ = run(verify(kernel(loop(Store("out", (ZERO,), ONE), kind=LoopKind.PARALLEL))))
    assert found[0] == 1.0
    reread = loop(Store("out", (ZERO,), ONE), Let("v", load(OUT, ZERO)), kind=LoopKind.PARALLEL)
    with pytest.raises(RaceError, match="reads out"):
        run(kernel(reread))


def test_facts_about_words_hold_where_they_are_told() -> None:
    told = replace(kernel(loop(COPY)), facts=(N - 7,))
    assert "  given n - 7 >= 0" in show.kernel_text(told).splitlines()
    with pytest.raises(LoopsError, match="n - 7 is negative"):
        run(told)
    shorter = Buffer.packed("row", FLOAT64, N)
    write = Alloc(shorter), Store("row", (constant(6),), ONE)
    assert unproved(kernel(*write)) and not unproved(replace(kernel(*write), facts=(N - 7,)))


def test_scratch_of_an_iteration_is_its_own() -> None:
    body = (Alloc(ROW), Store("row", (ZERO,), load(X, AT)), Store("out", (AT,), load(ROW, ZERO)))
    found, _ = run(verify(kernel(loop(*body, kind=LoopKind.PARALLEL))))
    assert found.tolist() == list(range(6))


def test_threads_see_what_others_wrote_before_the_barrier() -> None:
    p = variable("p")
    swap = (Store("row", (p,), load(X, p)), Barrier(), Store("out", (p,), load(ROW, 3 - p)))
    grid = in_grid(*swap, between=(Alloc(ROW, Scope.BLOCK),))
    found, _ = run(verify(kernel(replace(grid, stop=constant(1)))))
    assert found.tolist() == [3, 2, 1, 0, 0, 0]
    without = replaced((replace(grid, stop=constant(1)),), swap[1], ())
    with pytest.raises((RaceError, UnwrittenError)):
        run(kernel(*without))


def test_arrays_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="out is expected to be float64"):
        Executor(primitive).run(kernel(), {"x": np.zeros(3), "out": np.zeros(4)}, {"n": 3})


# ---- refusals of rewrites


@pytest.mark.parametrize(
    ("rewrite", "tested", "reason"),
    [
        (Split("z", 4, "b"), kernel(loop(COPY)), "there is no loop over z"),
        (Split("i", 4, "b"), kernel(loop(COPY, step=2)), "has steps"),
        (Parallelize("i"), kernel(*TOTAL), "every iteration over i changes t"),
        (Parallelize("i"), kernel(loop(COPY, kind=LoopKind.PARALLEL)), "is parallel"),
        (Parallelize("i"), kernel(loop(Store("out", (AT,), load(OUT, AT - 1)))), "may read out"),
        (Parallelize("i"), kernel(loop(Store("out", (AT // 2,), ONE))), "may write out"),
        (Parallelize("i"), kernel(loop(Invoke("solve", ("out",)))), "it is not known what Invoke touches"),
        (Unroll("i"), kernel(loop(COPY)), "has n iterations"),
        (Unroll("i"), kernel(loop(COPY, stop=constant(65))), "has 65 iterations"),
        (Stage("y", "i", "row"), kernel(loop(COPY)), "there is no buffer y"),
        (Stage("a", "j", "row"), loop_kernels.elimination(), "reads 2 rows of a that stay"),
        (Rfactor("j", 3, "p"), loop_kernels.row_sums(), "3 is not a power of two"),
        (Rfactor("j", 4, "p"), loop_kernels.elimination(), "is not one reduction"),
        (MapToGrid("j", "p", 4), loop_kernels.row_sums(), "inside of another statement"),
        (MapToGrid("i", "p", 4), loop_kernels.row_sums(), "every iteration over j changes t"),
        (MapToGrid("k", "p", 4), loop_kernels.elimination(), "that another writes"),
        (MapToGrid("i", "p", 32), Rfactor("j", 64, "q").apply(loop_kernels.row_sums()), "for 32 threads"),
    ],
)
def test_refusals(rewrite: Rewrite, tested: Kernel, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        rewrite.apply(tested)


def test_a_row_that_is_written_is_not_staged() -> None:
    a = Buffer.packed("a", FLOAT64, N, N)
    update = Store("a", (AT, J), both("sub", load(a, AT, J), load(a, K, J)))
    rows = Loop("i", K, N, (Loop("j", ZERO, N, (update,)),))
    with pytest.raises(RefusedError, match="may write to the row"):
        Stage("a", "i", "row").apply(Kernel("test", (Argument(a, Access.UPDATE),), (Loop("k", ZERO, N, (rows,)),)))


def test_copies_of_an_unrolled_loop_have_names_of_their_own() -> None:
    body = Let("v", load(X, AT)), Store("out", (AT,), Var("v", FLOAT64))
    tested = verify(Unroll("i").apply(verify(kernel(loop(*body, stop=constant(2), start=ZERO)))))
    assert [one.name for one in statements(tested.body) if isinstance(one, Let)] == ["v", "v_1"]


# ---- text for people


def test_the_text_of_a_kernel() -> None:
    assert show.kernel_text(loop_kernels.row_sums()) == "\n".join(
        [
            "kernel row_sums(x: f32[n, m] read, s: f32[n] write)",
            "  for i in 0 .. n:",
            "    carry t: f32 = 0.0",
            "    for j in 0 .. m:",
            "      t = add(t, x[i, j])",
            "    s[i] = t",
        ]
    )


def test_text_that_kernels_cannot_have() -> None:
    long = Alloc(Buffer.packed("row", FLOAT64, AT + 1))
    with pytest.raises(ValueError, match="the extent of row is not known before the loops"):
        kernel_text(kernel(loop(long)))
    with pytest.raises(ValueError, match="no Invoke"):
        kernel_text(kernel(Invoke("solve", ("out",))))
