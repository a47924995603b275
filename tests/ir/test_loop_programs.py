"""Four programs through the whole of the loop IR: by hand, by rewrites, by the executor, as text, compiled.

What stands here is what the IR has to carry: a recurrence of unknown length, rows updated in place, windows, and a
reduction by the threads of a block.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers import loop_kernels
from xjit.codegen.cuda.ptx import ptx
from xjit.codegen.front_end import numba_compat
from xjit.codegen.language.plain_primitives import primitive
from xjit.codegen.language.uncompiled import run_kernel
from xjit.codegen.rewrites.map_to_grid import MapToGrid
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import RefusedError, Rewrite, applied
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.stage import Stage
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.text.source import KernelText, kernel_text
from xjit.ir.loops import show
from xjit.ir.loops.execute import Executor, RaceError
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Barrier, Kernel, Loop, LoopKind
from xjit.ir.loops.verify import unproved, verify
from xjit.ir.loops.walk import replaced, statements
from xjit.runtime.loading.loader import load_object

Arrays = Mapping[str, np.ndarray[Any, Any]]
ADDRESS = ctypes.POINTER(ctypes.c_int64)


def rewritten(kernel: Kernel, *rewrites: Rewrite) -> Kernel:
    return applied(verify(kernel), rewrites, verified=True)


def compiled(text: KernelText, kernel: Kernel, arrays: Arrays, words: Mapping[str, int]) -> None:
    """Run the machine code of a kernel on one thread."""
    module = numba_compat.compile_kernel(text.text)
    loaded = load_object(module.object_code, module.symbol, externals=module.externals)
    pointers = [arrays[argument.buffer.name].ctypes.data for argument in kernel.arguments]
    table = (ctypes.c_int64 * (len(pointers) + len(text.words)))(*pointers, *(words[name] for name in text.words))
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ADDRESS)(loaded.address)
    run(0, evaluate(text.rounds, words), ctypes.cast(table, ADDRESS))


def uncompiled(text: KernelText, kernel: Kernel, arrays: Arrays, words: Mapping[str, int]) -> None:
    """Run the text of a kernel in Python."""
    table = [arrays[argument.buffer.name] for argument in kernel.arguments]
    run_kernel(text.text, 0, evaluate(text.rounds, words), [*table, *(words[name] for name in text.words)])


def results(kernel: Kernel, arrays: Arrays, words: Mapping[str, int]) -> Sequence[Arrays]:
    """Run a kernel in three ways on copies of the arrays."""
    found = []
    text = kernel_text(kernel)
    for way in (
        lambda copies: Executor(primitive).run(kernel, copies, words),
        lambda copies: uncompiled(text, kernel, copies, words),
        lambda copies: compiled(text, kernel, copies, words),
    ):
        copies = {name: array.copy() for name, array in arrays.items()}
        way(copies)
        found.append(copies)
    return found


# ---- a recurrence of unknown length


def escaped(c: np.ndarray[Any, Any], most: int) -> list[int]:
    rounds = []
    for point in c:
        z, count = 0j, 0
        while abs(z) <= 2 and count < most:
            z, count = z * z + point, count + 1
        rounds.append(count)
    return rounds


@pytest.mark.parametrize("rewrites", [(), (Split("i", 8, "b"), Parallelize("b"))], ids=["naive", "in blocks"])
def test_a_loop_that_values_end(rewrites: Sequence[Rewrite], rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.escape_times(50), *rewrites)
    c = rng.uniform(-2, 0.5, 21) + 1j * rng.uniform(-1, 1, 21)
    arrays = {"c_re": c.real.copy(), "c_im": c.imag.copy(), "rounds": np.zeros(21, np.int32)}
    for found in results(kernel, arrays, {"n": 21}):
        np.testing.assert_array_equal(found["rounds"], escaped(c, 50))
    assert not unproved(kernel)


# ---- rows updated in place


def eliminated(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    a = a.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@pytest.mark.parametrize(
    "rewrites",
    [(), (Stage("a", "i", "row"),), (Parallelize("i"),), (Stage("a", "i", "row"), Parallelize("i"))],
    ids=["naive", "staged", "parallel", "both"],
)
def test_rows_updated_in_place(rewrites: Sequence[Rewrite], rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.elimination(), *rewrites)
    a = rng.uniform(1, 2, (9, 9)) + 9 * np.eye(9)
    for found in results(kernel, {"a": a}, {"n": 9}):
        np.testing.assert_array_equal(found["a"], eliminated(a))
    assert not unproved(kernel)


def test_rows_that_need_those_above_stay_in_order() -> None:
    with pytest.raises(RefusedError, match=r"an iteration over k may .* that another writes"):
        Parallelize("k").apply(loop_kernels.elimination())


def test_the_executor_sees_the_race_that_was_refused(rng: np.random.Generator) -> None:
    (outer,) = loop_kernels.elimination().body
    assert isinstance(outer, Loop)
    racing = Loop(outer.variable, outer.start, outer.stop, outer.body, LoopKind.PARALLEL)
    kernel = Kernel("racing", loop_kernels.elimination().arguments, (racing,))
    with pytest.raises(RaceError):
        Executor(primitive).run(kernel, {"a": rng.uniform(1, 2, (4, 4))}, {"n": 4})


# ---- windows


@pytest.mark.parametrize(
    "rewrites", [(), (Unroll("w"), Split("i", 16, "b"), Parallelize("b"))], ids=["naive", "unrolled in blocks"]
)
def test_windows(rewrites: Sequence[Rewrite], rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.sliding_maximum(5), *rewrites)
    x = rng.standard_normal(54).astype(np.float32)
    x[20] = np.nan
    expected = np.lib.stride_tricks.sliding_window_view(x, 5).max(axis=1)
    for found in results(kernel, {"x": x, "out": np.empty(50, np.float32)}, {"n": 50}):
        np.testing.assert_array_equal(found["out"], expected)
    assert not unproved(kernel)


# ---- the threads of a block


GRID = (Rfactor("j", 64, "p"), MapToGrid("i", "thread", 64))


def test_partial_sums_on_threads_of_a_block(rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.row_sums(), *GRID)
    x = rng.integers(-9, 9, (3, 150)).astype(np.float32)
    s = np.zeros(3, np.float32)
    Executor(primitive).run(kernel, {"x": x, "s": s}, {"n": 3, "m": 150})
    np.testing.assert_array_equal(s, x.sum(axis=1))
    assert not unproved(kernel)


def test_partial_sums_on_a_processor(rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.row_sums(), Rfactor("j", 4, "p"))
    x = rng.integers(-9, 9, (3, 150)).astype(np.float32)
    for found in results(kernel, {"x": x, "s": np.zeros(3, np.float32)}, {"n": 3, "m": 150}):
        np.testing.assert_array_equal(found["s"], x.sum(axis=1))


def test_without_the_barriers_there_is_a_race(rng: np.random.Generator) -> None:
    kernel = rewritten(loop_kernels.row_sums(), *GRID)
    text = show.kernel_text(kernel)
    assert text.count("barrier") == 7
    last = [one for one in statements(kernel.body) if isinstance(one, Barrier)][2]
    racing = Kernel(kernel.name, kernel.arguments, replaced(kernel.body, last, ()))
    with pytest.raises(RaceError):
        Executor(primitive).run(
            racing, {"x": np.ones((1, 70), np.float32), "s": np.zeros(1, np.float32)}, {"n": 1, "m": 70}
        )


def test_a_block_as_ptx() -> None:
    kernel = rewritten(loop_kernels.row_sums(), *GRID)
    found = kernel_text(kernel)
    assert found.threads == 64 and str(found.rounds) == "n"
    text = ptx(found.text)
    assert ".visible .entry kernel(" in text and ".target sm_90" in text
    assert re.search(r"\.shared .* shared_f32", text)
    assert text.count("bar.sync") >= 7 and "%ctaid.x" in text and "%tid.x" in text
    # Sums are rounded as they are written: nothing is fused.
    assert "fma" not in text and "add.rn.f32" in text


def test_functions_as_ptx() -> None:
    lines = ("x = ptr_f64(table, 0)", "i = thread_index()", "st(x, i, exp_f64(ldw(x, i)))")
    found = ptx("\n    ".join(["def kernel(lo, hi, table):", *lines, ""]))
    assert "call" not in found and "fma.rn.f64" in found
