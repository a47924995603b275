"""Machine code of a fixed processor: vector instructions in the loops, and no call into the C library.

Checked on LLVM's IR after optimisation, for a processor with 512-bit vectors, whichever this machine has.
"""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from xjit import numerics
from xjit.codegen.cpu.lane_trees import UnorderedSumError
from xjit.codegen.cpu.llvm_pipeline import Target, host, preferring
from xjit.codegen.front_end.numba_compat import compile_kernel

WIDE = preferring(
    "512",
    Target("x86_64-unknown-linux-gnu", "skylake-avx512", "+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw"),
)
pytestmark = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="needs the code generator of x86")

ROWS = np.ones((64, 100))
SINGLE = ROWS.astype(np.float32)

# What clearing and copying whole rows becomes.
MEMORY = {"memset", "memcpy", "memmove"}

LOOPS: dict[str, tuple[Any, tuple[Any, ...], str, str]] = {
    # name: function, arguments, a vector type of its loop, an instruction on it
    "chain": (formulas.chain, (SINGLE, SINGLE), "<16 x float>", "fmul"),
    "softmax": (formulas.softmax, (SINGLE,), "<16 x float>", "fdiv"),
    "sum_of_squares": (formulas.sum_of_squares, (SINGLE,), "<64 x float>", "fadd"),
    "row_maximum": (formulas.row_maximum, (SINGLE,), "<16 x float>", "fcmp ogt"),
    "row_sums_of_every_second": (lambda x: x.sum(axis=1), (SINGLE[:, ::2],), "<64 x float>", "fadd"),
    "column_extremes_of_every_third": (lambda x: x.max(axis=0), (ROWS[:, ::3],), "<8 x double>", "fcmp uno"),
    "row_sums_backward": (lambda x: x.sum(axis=1), (ROWS[:, ::-2],), "<32 x double>", "fadd"),
    "backward_and_forward": (lambda x, y: x + y, (SINGLE[:, ::-1], SINGLE), "<16 x float>", "fadd"),
    "exclusive_or": (lambda x: np.bitwise_xor.reduce(x, axis=1), (ROWS.astype(np.int32),), "<16 x i32>", "xor"),
    "first_extreme": (lambda x: np.argmin(x, axis=1), (SINGLE,), "<16 x float>", "fcmp olt"),
    "extreme_of_chosen": (
        lambda x: np.where(np.isnan(x), -np.inf, x).max(axis=1),
        (ROWS,),
        "<8 x double>",
        "fcmp ogt",
    ),
    "integers": (formulas.collatz, (np.ones(100, np.int32),), "<16 x i32>", "mul"),
    "hypotenuse": (formulas.hypotenuse, (ROWS, ROWS), "<8 x double>", r"call [^@]*@llvm.sqrt.v8f64"),
    "column_means": (formulas.column_means, (ROWS,), "<16 x double>", "fadd"),
    "logsumexp": (formulas.logsumexp, (ROWS,), "<32 x double>", "fadd"),
    "black_scholes": (formulas.black_scholes, (ROWS[0], ROWS[0], ROWS[0]), "<8 x double>", "fdiv"),
}


def optimised(source: str) -> tuple[str, tuple[str, ...]]:
    """LLVM IR of kernel text and the functions outside of it that its machine code calls."""
    module = compile_kernel(source, keep_ir=True, target=WIDE)
    assert module.llvm_ir is not None
    return module.llvm_ir, module.externals


def is_vector_code(ir: str, vector: str, instruction: str) -> bool:
    """Return whether the instruction occurs on the vector type."""
    return re.search(f"= (tail )?{instruction}[^=\n]*{re.escape(vector)}", ir) is not None


def called(ir: str) -> set[str]:
    """The functions that are called, LLVM's own instructions left out."""
    names = re.findall(r"call [^@\n]*@(?:\"([^\"]+)\"|([\w.$]+))", ir)
    return {one or other for one, other in names if not (one or other).startswith("llvm.")}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_vector_code(name: str) -> None:
    function, arguments, vector, instruction = LOOPS[name]
    ir, externals = optimised(xjit.jit(function).source(*arguments))
    assert is_vector_code(ir, vector, instruction), ir
    assert not called(ir) and MEMORY.issuperset(externals)
    assert "masked.gather" not in ir  # no faster than element after element, and nothing is read ahead


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_may_be_computed_in_another_order(name: str) -> None:
    """No float instruction says that its order or its rounding do not matter; which zero an extreme is, is known."""
    function, arguments, *_ = LOOPS[name]
    ir, _ = optimised(xjit.jit(function).source(*arguments))
    flags = set(re.findall(r"\b(?:fast|reassoc|contract|nnan|ninf|nsz|arcp|afn)\b", ir.partition("\nattributes")[0]))
    assert flags <= {"nsz"} and not re.search(r"call [^@\n]*@llvm.vector.reduce.f(add|mul)", ir)
    assert "llvm.fma" not in ir or name in ("softmax", "logsumexp", "black_scholes")


def test_a_loop_that_is_not_added_in_lanes_is_refused() -> None:
    """The vectoriser has been told otherwise, or cannot: 16 lanes, or none."""
    source = xjit.jit(formulas.sum_of_squares).source(SINGLE)
    with pytest.raises(UnorderedSumError, match="one after the other"):
        optimised(source.replace("radd(s0_block, v0)", "radd(s0_block, s0_block * v0)"))
    with mock.patch.object(numerics, "LANE_BYTES", 64), pytest.raises(UnorderedSumError, match="16 at a time"):
        optimised(source)


# ---- each check fails where it should

BROKEN = {
    # an ordered sum keeps its order, so it cannot be vector code
    "sum_of_squares": (r"radd\(s0_block, v0\)", "s0_block + v0"),
    # compare and select instead of the instruction for the maximum, with a store that orders the loop
    "row_maximum": (r"fmax\(t0, x0\)", "select(x0 > t0, x0, t0)"),
    "row_sums_of_every_second": (r"radd\(s0_block, x0\)", "s0_block + x0"),
    "row_sums_backward": (r"radd\(s0_block, [^)]*\)\)", "s0_block + x0"),
    "column_extremes_of_every_third": (r"keep_max\(t0_now, x0\)", "fmod(t0_now, x0)"),
    "first_extreme": (r"fmin\(s0_block, x0\)", "fmod(s0_block, x0)"),
    "backward_and_forward": (r"x0 \+ x1", "fmod(x0, x1)"),
    "exclusive_or": (r"t0 \^ x0", "srem(t0, x0)"),
    # a function of the C library for each element
    "chain": (r"x0 - f32\(1.5\)", "fmod(x0, f32(1.5))"),
    "softmax": (r"exp_f32\((v\d+)\)", r"fmod(\1, \1)"),
    "hypotenuse": (r"sqrt\(", "fmod(x0, "),
    # a division that vectors do not have
    "integers": (r"i32\(3\) \* x0", "sdiv(i32(3), x0 | i32(1))"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_loops_are_noticed(name: str) -> None:
    function, arguments, vector, instruction = LOOPS[name]
    source = xjit.jit(function).source(*arguments)
    broken = re.sub(BROKEN[name][0], BROKEN[name][1], source)
    assert broken != source
    ir, externals = optimised(broken)
    assert not is_vector_code(ir, vector, instruction) or called(ir) or not MEMORY.issuperset(externals)


@pytest.mark.parametrize("name", ["sin", "tan", "fmod"])
def test_a_loop_that_notes_rare_arguments_is_not_interleaved(name: str) -> None:
    function = getattr(np, name)
    arguments = (ROWS[0],) * function.nin
    quiet, _ = optimised(xjit.xjit(lambda *x: function(*x)).source(*arguments))
    largest, _ = optimised(xjit.xjit(lambda *x: x[0].astype(np.int64).max()).source(*arguments))
    # So LLVM calls what combines the vectors of one step.
    assert "<8 x double>" in quiet and "rdx" not in quiet
    assert "rdx" in largest


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_a_loop_over_rare_arguments_calls_twice_is_not_inlined(dtype: str) -> None:
    function = xjit.jit(lambda x: np.sin(np.exp(x) * np.exp(x / 2)) + np.tanh(x))
    x = np.linspace(-3.0, 7.0, 1000).astype(dtype)
    usual, rare = function.source(x).split("if rare0:")
    kind = "f64" if dtype == "float64" else "f32"
    assert usual.count(f"exp_{kind}(") == rare.count(f"exp_{kind}_rare(") == 2
    assert usual.count(f"tanh_{kind}(") == rare.count(f"tanh_{kind}(") == 1
    assert f"exp_{kind}_rare(" not in usual and f"exp_{kind}(" not in rare
    assert function(x)[-2:].tobytes() == function(np.append(x, x.dtype.type(1e4)))[998:1000].tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_negative_numbers_are_vector_code(dtype: str) -> None:
    x = ROWS[0].astype(dtype)
    source = xjit.xjit(lambda x, y: x**y).source(x, x)
    kind, lanes = ("f64", "<8 x double>") if dtype == "float64" else ("f32", "<16 x float>")
    assert f"pow_{kind}(" in source.split("if rare0:")[1]
    ir, _ = optimised(source)
    assert ir.count(f"fdiv {lanes}") >= 2 and not called(ir)  # one logarithm in the usual loop, one in the other


def test_only_short_texts_are_searched_for_pairs() -> None:
    pair = "    st(o, 0, ld(a, 0) * ld(b, 0))\n    st(o, 1, ld(a, 1) * ld(b, 1))\n"
    names = "".join(f"    {name} = ptr_f64(table, {slot})\n" for slot, name in enumerate("abop"))
    rest = "".join(f"    st(p, {7 * number}, ld(a, {number % 2}))\n" for number in range(128))
    short, _ = optimised(f"def kernel(lo, hi, table):\n{names}{pair}")
    long, _ = optimised(f"def kernel(lo, hi, table):\n{names}{pair}{rest}")
    assert "fmul <2 x double>" in short
    assert "fmul double" in long and "<2 x double>" not in long


# ---- steps of a few elements


def every(step: int) -> Any:
    """A program that reads every so many elements of one buffer."""
    return lambda x: x[::step] - x.dtype.type(1)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "int64"])
@pytest.mark.parametrize("step", [2, 3, 4, -1])
def test_short_steps_are_taken_from_whole_vectors(dtype: str, step: int) -> None:
    """The step is part of the text, so that elements come out of vectors by shuffles."""
    source = xjit.jit(every(step)).source(np.ones(3000, dtype))
    ir, externals = optimised(source)
    assert (f"i0 * {step}" if step > 0 else "-i0") in source
    assert re.search(r"%wide\.(vec|load)\d* = load <", ir) and "gather" not in ir
    assert not called(ir) and MEMORY.issuperset(externals)


@pytest.mark.parametrize(
    ("dtype", "step"), [("float64", 5), ("float64", 8), ("uint8", 9), ("complex64", 2), ("float32", -2)]
)
def test_longer_steps_are_no_gathers(dtype: str, step: int) -> None:
    """They would be, if LLVM knew them; a step that is known at the run only is scalar code, which is faster."""
    source = xjit.jit(every(step)).source(np.ones(3000, dtype))
    assert f"i0 * {step}" not in source and "gather" not in optimised(source)[0]


def test_stores_at_short_steps_are_no_scatters() -> None:
    source = xjit.jit(lambda x, y: np.stack([x, y], axis=1)).source(SINGLE[0], SINGLE[1])
    ir = optimised(source)[0]
    assert "scatter" not in ir and re.search(r"store <\d+ x float> %interleaved", ir)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("step", [2, 3, 7, 8, 9, -1, -2, -3, -8, -9])
def test_steps_read_the_elements_that_numpy_reads(dtype: str, step: int) -> None:
    for count in (1, 2, 63, 64, 65, 200, 1001):
        x = np.arange(count).astype(dtype)
        assert np.array_equal(xjit.jit(every(step))(x), every(step)(x))
        rows = np.arange(count * 20).reshape(20, count).astype(dtype)[:, ::step]
        assert np.array_equal(xjit.jit(lambda v: v + v)(rows), rows + rows)
