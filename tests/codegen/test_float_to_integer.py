"""Conversions of floats to integers: cut towards zero, saturating, NaN zero; vector code where nothing saturates."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, loop
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.cpu.emitters import CpuTraits
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.front_end.numba_frontend import Frontend
from xjit.codegen.language.intrinsics import to_u8
from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS

ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
each_float = pytest.mark.parametrize("source", FLOATS)
each_integer = pytest.mark.parametrize("target", INTEGERS)


def limits(target: str) -> tuple[int, int]:
    bits = KINDS[target].bits
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if target.startswith("i") else (0, 2**bits - 1)


def saturated(value: float, target: str) -> int:
    low, high = limits(target)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.trunc(value), low), high)


def arguments(source: str) -> np.ndarray[Any, Any]:
    """The limits of all integer types and what lies next to them, fractions, and everything that is no number."""
    dtype = KINDS[source].dtype
    edges = [float(edge) for target in INTEGERS for edge in limits(target)]
    near = [edge + step for edge in edges for step in (-1.0, -0.5, -0.25, 0.25, 0.5, 1.0)]
    small = [0.0, -0.0, 0.5, 0.75, 0.99999, 1.5, 2.5, 100.7, 1e-40, 5e-324, 1e20, 3e38, 1e300, math.inf, math.nan]
    with np.errstate(over="ignore"):
        points = np.array([*edges, *near, *small], dtype)
    every = np.concatenate([points, np.nextafter(points, np.inf, dtype=dtype), np.nextafter(points, 0, dtype=dtype)])
    return np.concatenate([every, -every])


@each_float
@each_integer
def test_edges_saturate(source: str, target: str) -> None:
    x = arguments(source)
    expected = [saturated(float(value), target) for value in x]
    # Once as it is and once in pieces, so that every value passes through vector code and through what follows it.
    convert = loop(f"to_{target}(v)", source, target)
    assert convert(x).tolist() == expected
    assert [number for part in np.array_split(x, 60) for number in convert(part).tolist()] == expected


@pytest.mark.parametrize("target", [target for target in INTEGERS if KINDS[target].bits <= 16])
def test_every_half_is_converted(target: str) -> None:
    """All 65536 floats of 16 bits, in single and double precision."""
    with np.errstate(invalid="ignore"):
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        expected = [saturated(float(value), target) for value in halves]
        for source in FLOATS:
            assert loop(f"to_{target}(v)", source, target)(halves.astype(KINDS[source].dtype)).tolist() == expected


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("processor", [AVX512, AVX2, SSE2], ids=lambda processor: str(processor.cpu))
@pytest.mark.parametrize("target", [target for target in INTEGERS if KINDS[target].bits <= 32])
@each_float
def test_loops_convert_vectors(source: str, target: str, processor: llvm_pipeline.Target) -> None:
    module = loop(f"to_{target}(v)", source, target, processor=processor, load=False).module
    vector = "float" if source == "f32" else "double"
    assert module.llvm_ir is not None and module.externals == ()
    assert re.search(rf"= fpto[su]i <\d+ x {vector}>", module.llvm_ir)
    assert "fptoui.sat" not in module.llvm_ir and "fptosi.sat" not in module.llvm_ir


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
def test_images_stay_vectors() -> None:
    """Bytes to bytes by way of floats: no element is converted on its own while the vectors last."""
    image = np.zeros((10, 30), np.uint8)
    source = xjit.jit(lambda x: np.clip(x * np.float32(1.25), 0, 255).astype(np.uint8)).source(image)
    ir = compile_kernel(source, keep_ir=True, target=AVX512).llvm_ir
    assert ir is not None
    assert re.search(r"= uitofp <(16|32|64) x i8>", ir) and re.search(r"= fptosi <(16|32|64) x float>", ir)


def byte_of(x: Any) -> Any:
    return to_u8(x)


@pytest.mark.parametrize(("architecture", "has_instruction"), [("aarch64", True), ("x86_64", False)])
def test_processors_with_the_instruction_use_it(architecture: str, has_instruction: bool) -> None:
    text = Frontend(CpuTraits(fma=True, architecture=architecture)).translate(byte_of, ("f32",), "u8", "byte_of")
    assert ("llvm.fptoui.sat.i8.f32" in text) is has_instruction
