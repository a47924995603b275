"""Loops over many vector functions call them, a register of elements at a time, with the bits of inlined ones."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.vmath import VECTOR_FUNCTIONS
from xjit.runtime.loading.loader import load_object

NAMES = ("sin", "exp", "tanh", "cos", "log1p", "arctan2", "hypot")
LENGTHS = (2, 8, 31, 129)


def long_chain(x: Any, y: Any) -> Any:
    v = x * y
    for _ in range(2):
        v = np.sin(v * x) + y
        v = np.tanh(v) - np.exp(-v)
        v = np.cos(v + x) * np.log1p(y)
        v = np.arctan2(v, x) + np.hypot(v, y)
    return v


def chain_sums(x: Any, y: Any) -> Any:
    return long_chain(x, y).sum(axis=-1)


def chain_running(x: Any, y: Any) -> Any:
    return np.cumsum(long_chain(x, y))


def inlined(function: Any, *arrays: Any) -> Any:
    """Return what the function computes where every vector function is inlined."""
    compiled = xjit.jit(function, target=on(replace(PROCESSOR, called_functions=10**9)))
    assert "_called(" not in compiled.source(*arrays)
    return compiled(*arrays)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", LENGTHS)
def test_bits_are_those_of_functions_inlined(rng, dtype, length):
    x, y = rng.uniform(0.5, 2.0, (2, length)).astype(dtype)
    compiled = xjit.jit(long_chain)
    assert "sin_f" in compiled.source(x, y) and "_called(" in compiled.source(x, y)
    assert compiled(x, y).tobytes() == inlined(long_chain, x, y).tobytes()


@pytest.mark.parametrize("place", [0, 3, 8, 17, 18])
def test_rare_arguments_are_right_in_every_lane(rng, place):
    x, y = rng.uniform(0.5, 2.0, (2, 19))
    for rare in (1e300, -1e17, np.inf, np.nan, 5e-324, -0.0):
        x[place] = rare
        assert xjit.jit(long_chain)(x, y).tobytes() == inlined(long_chain, x, y).tobytes()


@pytest.mark.parametrize("function", [chain_sums, chain_running])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reductions_and_scans_keep_their_order(rng, function, dtype):
    x, y = rng.uniform(0.5, 2.0, (2, 1300)).astype(dtype)
    assert xjit.jit(function)(x, y).tobytes() == inlined(function, x, y).tobytes()


def test_elements_of_two_widths_share_a_loop(rng):
    def mixed(x: Any, y: Any) -> Any:
        return long_chain(x, x) + long_chain(y, y)

    x, y = rng.uniform(0.5, 2.0, 77), rng.uniform(0.5, 2.0, 77).astype(np.float32)
    assert xjit.jit(mixed)(x, y).tobytes() == inlined(mixed, x, y).tobytes()


def test_few_functions_are_inlined(rng):
    x = rng.uniform(0.5, 2.0, 20)
    assert "_called(" not in xjit.jit(lambda x: np.sin(x) + np.exp(x)).source(x)


def test_complex_functions_are_inlined_with_all_others(rng):
    def function(x: Any, y: Any) -> Any:
        return long_chain(x, x) + np.exp(y).real

    assert "_called(" not in xjit.jit(function).source(rng.uniform(0.5, 2.0, 20), np.ones(20, np.complex128))


LOOP = """
def kernel(lo, hi, table):
    a0 = ptr_{kind}(table, 0)
    a1 = ptr_{kind}(table, 1)
    o0 = ptr_{kind}(table, 2)
    for i0 in range(lo, hi):
        st(o0, i0, {call})
"""
STRANGE = np.array([0.0, -0.0, 1.0, -1.5, 3e9, -7e12, 1e300, 5e-324, 700.0, -800.0, np.inf, -np.inf, np.nan, 0.3])


@pytest.mark.parametrize("name", sorted(VECTOR_FUNCTIONS))
def test_every_function_has_a_form_with_its_bits(name):
    kind = name.rpartition("_")[2]
    with np.errstate(over="ignore"):
        first = np.tile(STRANGE, 3).astype({"f32": np.float32, "f64": np.float64}[kind])
    second = np.roll(first, 5)
    calls = [f"{each}(ld(a0, i0){second_operand(name)})" for each in (f"{name}_called", name)]
    results = [run(call, kind, first, second) for call in calls]
    assert results[0] == results[1]


def second_operand(name: str) -> str:
    """The text of what a function takes beside its first argument."""
    function = lookup(name)
    assert function is not None
    return ", ld(a1, i0)" if len(function.arguments) == 2 else ""


def run(call: str, kind: str, first: Any, second: Any) -> bytes:
    """The bytes of a call for all elements of two arrays, those of all NaN alike."""
    module = compile_kernel(LOOP.format(kind=kind, call=call))
    kernel = load_object(module.object_code, module.symbol)
    result = np.empty_like(first)
    table = np.array([array.ctypes.data for array in (first, second, result)])
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    prototype(kernel.address)(0, len(first), table.ctypes.data)
    result[np.isnan(result)] = np.nan
    return result.tobytes()


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "lanes"),
    [
        ("x86_64-unknown-linux-gnu", "x86-64", "", 4),
        ("x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,+fma,+f16c", 4),
        ("aarch64-unknown-linux-gnu", "generic", "+neon", 4),
    ],
)
def test_a_loop_calls_forms_as_wide_as_registers_of_other_processors(capfd, triple, cpu, features, lanes):
    text = LOOP.format(kind="f64", call="exp_f64_called(ld(a0, i0))")
    try:
        module = compile_kernel(text, keep_ir=True, target=Target(triple, cpu, features))
    except RuntimeError as error:  # LLVM was built without this processor
        pytest.skip(str(error))
    assert module.llvm_ir is not None
    kernel = module.llvm_ir.partition("@kernel(")[2].partition("\n}")[0]
    assert set(re.findall(r"@xjit_exp_f64_called_x(\d+)\(", kernel)) == {str(lanes)}
    form = re.search(
        rf"^define [^\n]*@xjit_exp_f64_called_x{lanes}\(.*?^}}", module.llvm_ir, re.MULTILINE | re.DOTALL
    )
    assert form is not None and f"fadd <{lanes} x double>" in form[0] and "extractelement" not in form[0]
    assert "not vectorized" not in capfd.readouterr().err


def test_a_loop_that_calls_keeps_whole_registers_on_the_stack():
    text = LOOP.format(kind="f64", call="exp_f64_called(ld(a0, i0)) + ld(a1, i0)")
    found = re.search(r"^define [^\n]*@kernel\(.*$", compile_kernel(text, keep_ir=True).llvm_ir or "", re.MULTILINE)
    assert found is not None and "alignstack" in found[0] + attributes(text, found[0])


def attributes(text: str, definition: str) -> str:
    """The attributes that a definition names by a number."""
    number = definition.partition(" #")[2].partition(" ")[0]
    ir = compile_kernel(text, keep_ir=True).llvm_ir or ""
    return ir.partition(f"attributes #{number} = ")[2].partition("\n")[0]
