"""LLVM is told how many elements a step of a loop takes, where weighing that takes long and nothing depends on it."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

from tests.helpers.vector_loops import LINUX
from xjit.codegen.cpu import emit_loops
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.front_end.numba_frontend import Frontend
from xjit.codegen.language import inline_functions, intrinsics
from xjit.codegen.language.scalar_types import KernelTypeError
from xjit.codegen.language.uncompiled import run_kernel
from xjit.llvm.targets import CpuTraits, Registers
from xjit.runtime.loading.loader import load_object

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
AVX512 = "+avx,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512dq,+avx512bw,-prefer-256-bit"

NOTING = """
def kernel(lo, hi, table):
    a0 = ptr_{kind}(table, 0)
    o0 = ptr_{kind}(table, 1)
    t0 = {kind}(0.0)
    rare0 = b1(0)
    for i0 in range(lo, hi):
        x0 = ld(a0, i0)
        rare0 = rare0 | sin_{kind}_is_far(x0)
        v0 = sin_{kind}_near(x0)
        {statement}
    if rare0:
        for i0 in range(lo, hi):
            st(o0, i0, sin_{kind}_rare(ld(a0, i0)))
    st(o0, lo, t0)
"""
STORE = "st(o0, i0, v0)"


def widths(text: str, vector_bits: int) -> list[int]:
    """Return how many elements at a time LLVM is told to take, loop by loop."""
    found = re.findall(r'"llvm.loop.vectorize.width", i32 (\d+)', translated(text, Registers(vector_bits)))
    return [int(width) for width in found]


def translated(text: str, registers: Registers) -> str:
    """The LLVM assembly of a kernel before the passes."""
    used = inline_functions.used_in(text)
    scope: dict[str, Any] = intrinsics.namespace() | {function.name: function for function in used}
    exec(text, scope)
    frontend = Frontend(CpuTraits(fma=True, architecture="x86_64", registers=registers))
    return frontend.translate(scope["kernel"], ("i64", "i64", "table"), "void", "kernel", used, text)


@pytest.mark.parametrize(("kind", "bits", "elements"), [("f64", 512, 8), ("f64", 128, 2)])
def test_a_loop_that_notes_rare_arguments_fills_a_register(kind, bits, elements):
    assert widths(NOTING.format(kind=kind, statement=STORE), bits) == [elements]


def test_llvm_chooses_for_narrower_elements_which_functions_compute_in_wider_ones():
    assert widths(NOTING.format(kind="f32", statement=STORE), 512) == []


def test_a_loop_that_carries_a_float_is_not_told_as_it_would_add_in_any_order():
    assert widths(NOTING.format(kind="f64", statement=f"t0 = t0 + v0\n        {STORE}"), 512) == []


def test_a_loop_that_reads_what_it_writes_is_not_told():
    assert widths(NOTING.format(kind="f64", statement="st(o0, i0, v0 + ldw(o0, i0))"), 512) == []


def test_a_loop_that_calls_functions_has_no_scalar_rest_where_there_are_masks():
    text = CALLING.format(load="ld(a0, i0)")
    asked = ["predicate" in translated(text, Registers(512, masks=masks)) for masks in (True, False)]
    assert asked == [True, False]
    text = compile_kernel(text, keep_ir=True, target=Target(LINUX, "znver4", AVX512)).llvm_ir or ""
    assert "llvm.masked.store" in text and "call double @xjit_exp_f64_called(" not in text


def test_vectors_that_end_at_the_last_element_are_not_read_in_a_step_that_goes_on():
    assert "predicate" not in translated(CALLING.format(load="ld2(a0, i0)"), Registers(512, masks=True))


CALLING = """
def kernel(lo, hi, table):
    a0 = ptr_f64(table, 0)
    o0 = ptr_f64(table, 1)
    for i0 in range(lo, hi):
        st(o0, i0, exp_f64_called({load}))
"""


SIDE_BY_SIDE = """
def kernel(lo, hi, table):
    a0 = ptr_f64(table, 0)
    o0 = ptr_f64(table, 1)
    n0 = word(table, 2)
    n1 = word(table, 3)
    t0 = scratch_f64(8)
    for b0 in range(lo, hi):
        start = select(b0 * 8 < n1 - 8, b0 * 8, n1 - 8)
        for i1 in range(start, start + 8):
            st(t0, i1 - start, f64(0.0))
        for j0 in range(n0):
            for i2 in lanes(start, {count}):
                st(t0, i2 - start, ldw(t0, i2 - start) + ld(a0, j0 * n1 + i2))
        for i3 in range(start, start + 8):
            st(o0, i3, ldw(t0, i3 - start))
"""


def test_lanes_are_taken_all_at_once_and_leave_scratch_in_registers():
    text = SIDE_BY_SIDE.format(count=8)
    assert widths(text, 256) == [8]
    assert "alloca" not in (compile_kernel(text, keep_ir=True).llvm_ir or "alloca")


def test_lanes_are_a_number_of_the_text():
    with pytest.raises(KernelTypeError, match="a literal number"):
        translated(SIDE_BY_SIDE.format(count="n0"), Registers(256))


def test_lanes_run_one_after_the_other_uncompiled():
    rows, out = np.arange(33.0).reshape(3, 11), np.zeros(11)
    run_kernel(SIDE_BY_SIDE.format(count=8), 0, 2, [rows, out, 3, 11])
    np.testing.assert_array_equal(out, rows.sum(axis=0))


IN_ORDER = """
def kernel(lo, hi, table):
    a0 = ptr_i64(table, 0)
    o0 = ptr_f64(table, 1)
    n0 = word(table, 2)
    t0 = f64(0.0)
    o1 = lo
    o2 = o1 < n0
    while o2:
        {statement}
        o1 = o1 + i64(1)
        o2 = o1 < n0
    st(o0, lo, t0)
"""
COPIES = "llvm.loop.unroll.count"


def in_order(statement: str) -> str:
    """Return the LLVM assembly of a while loop before the passes."""
    return translated(IN_ORDER.format(statement=statement), Registers(512))


def test_a_short_while_loop_is_written_out():
    text = IN_ORDER.format(statement="t0 = t0 * f64(0.5) - f64(ld(a0, o1))")
    assert translated(text, Registers(512)).count(COPIES) == 1
    optimised = compile_kernel(text, keep_ir=True, target=Target(LINUX, "znver4", AVX512)).llvm_ir or ""
    assert optimised.count("fmul double") == emit_loops.COPIES + 1  # the turns that are left over have a loop


def test_a_while_loop_written_out_computes_what_python_does():
    text = IN_ORDER.format(statement="t0 = t0 * f64(0.5) - f64(ld(a0, o1))")
    kernel = load_object(compile_kernel(text).object_code, "kernel")
    for count in range(10):
        x = np.random.default_rng(count).integers(-9, 9, count)
        wanted = 0.0
        for one in x:
            wanted = wanted * 0.5 - float(one)
        found = np.empty(1)
        table = np.array([x.ctypes.data, found.ctypes.data, count], np.int64)
        KERNEL(kernel.address)(0, 1, table.ctypes.data)
        assert found[0] == wanted


def test_a_while_loop_that_chooses_integers_stays_as_it_is():
    assert COPIES not in in_order("t0 = f64(select(ld(a0, o1) < i64(3), ld(a0, o1), i64(3)))")


def test_a_while_loop_around_others_stays_as_it_is():
    inner = "for i0 in range(n0):\n            t0 = t0 - f64(ld(a0, i0))"
    assert COPIES not in in_order(inner)


def test_a_long_while_loop_stays_as_it_is():
    assert COPIES not in in_order("\n        ".join(["t0 = t0 * f64(0.5) - f64(ld(a0, o1))"] * 40))


@pytest.mark.parametrize("statement", ["t0 = t0 - exp_f64(t0)", "keep_jump()"])
def test_a_while_loop_that_calls_stays_as_it_is(statement):
    assert COPIES not in in_order(statement)
