"""Loops over arrays that apply an expression of the kernel language, compiled for a processor and run here."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end.numba_compat import CompiledModule, compile_kernel
from xjit.codegen.language.scalar_types import KINDS
from xjit.runtime.loading.loader import LoadedKernel, load_object

Array = np.ndarray[Any, Any]

PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
LINUX = "x86_64-unknown-linux-gnu"
AVX512 = llvm_pipeline.Target(LINUX, "skylake-avx512", "+fma,-prefer-256-bit")
AVX2 = llvm_pipeline.Target(LINUX, "haswell", "+fma")
SSE2 = llvm_pipeline.Target(LINUX, "x86-64", "")
"""The first of its line: no fused multiply-add, no rounding instructions."""

ELEMENTS = ("v", "w")
"""The names of the elements of the first and the second array in an expression."""


@dataclass(frozen=True, slots=True)
class Loop:
    """``out[i] = expression(x[i])`` or ``out[i] = expression(x[i], y[i])`` as machine code."""

    module: CompiledModule
    kernel: LoadedKernel | None
    source: str
    target: str

    def __call__(self, *inputs: Array) -> Array:
        """The expression of every element, or of every pair of elements of two arrays of one shape."""
        assert self.kernel is not None
        arrays = [np.ascontiguousarray(x, KINDS[self.source].dtype) for x in inputs]
        assert len({x.shape for x in arrays}) == 1
        out = np.empty(arrays[0].shape, KINDS[self.target].dtype)
        table = np.array([x.ctypes.data for x in (*arrays, out)], np.int64)
        PROTOTYPE(self.kernel.address)(0, out.size, table.ctypes.data)
        return out


def kernel_text(expression: str, source: str, target: str, arguments: int = 1) -> str:
    """The text of such a loop; the elements are called v and w."""
    pointers = [f"    x{place} = ptr_{source}(table, {place})\n" for place in range(arguments)]
    loads = [f"        {ELEMENTS[place]} = ld(x{place}, i)\n" for place in range(arguments)]
    return (
        "def kernel(lo, hi, table):\n"
        f"{''.join(pointers)}"
        f"    out = ptr_{target}(table, {arguments})\n"
        "    for i in range(lo, hi):\n"
        f"{''.join(loads)}"
        f"        st(out, i, {expression})\n"
    )


@functools.cache
def loop(
    expression: str,
    source: str,
    target: str | None = None,
    *,
    arguments: int = 1,
    processor: llvm_pipeline.Target | None = None,
    load: bool = True,
) -> Loop:
    """Compiles the loop, once per process; ``load=False`` for processors that this one cannot stand in for."""
    target = target or source
    text = kernel_text(expression, source, target, arguments)
    module = compile_kernel(text, keep_ir=True, target=processor)
    kernel = load_object(module.object_code, module.symbol) if load else None
    return Loop(module, kernel, source, target)


def units(result: Array, true: Array) -> Array:
    """Distance to the true value in units of the last place of that value; zero where either is not finite."""
    limits = np.finfo(result.dtype)
    exponent = np.maximum(np.frexp(true)[1] - 1, limits.minexp)
    unit = np.ldexp(np.ones((), true.dtype), exponent - limits.nmant)
    with np.errstate(all="ignore"):
        comparable = np.isfinite(result) & np.isfinite(true.astype(result.dtype))
        return np.where(comparable, np.abs(result.astype(true.dtype) - true) / unit, 0.0)


def same_class(result: Array, true: Array) -> Array:
    """Test where both are NaN, or both the same infinity, or both finite."""
    with np.errstate(all="ignore"):
        expected = true.astype(result.dtype)
    infinite = np.isinf(result) | np.isinf(expected)
    same: Array = (np.isnan(result) == np.isnan(expected)) & (~infinite | (result == expected))
    return same
