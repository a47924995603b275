"""Vector forms of inline functions: the same bits as the functions, in vector code, with nothing left to call."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.vector_loops import AVX2, LINUX, loop
from xjit.codegen.cpu import llvm_pipeline, wide_forms
from xjit.codegen.cpu.wide_forms import FEATURES
from xjit.codegen.front_end import numba_compat
from xjit.codegen.language.inline_functions import InlineFunction, inline, lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath.exponentials.log import log_f32
from xjit.llvm import elf

NAMES = (
    *("root_exponent_f32", "root_fraction_f32", "quarters_exponent_f32", "quarters_fraction_f32"),
    "whole_exponent_f32",
)
LOGARITHMS = ("log_f32", "log2_f32", "log10_f32")
WIDE = llvm_pipeline.Target(LINUX, "skylake-avx512", ",".join(("+fma", *sorted(FEATURES), "-prefer-256-bit")))
HALF_AS_WIDE = llvm_pipeline.Target(WIDE.triple, WIDE.cpu, WIDE.features.replace("-prefer", "+prefer"))
HERE = llvm_pipeline.host()
needs_avx512 = pytest.mark.skipif(
    not set(HERE.features.split(",")) >= FEATURES, reason="only processors with AVX-512 have vector forms"
)


@inline("f32(f32)", out_of_line=True)
def rare_logarithm_f32(x):
    return log_f32(x)


def function(name: str) -> InlineFunction:
    found = lookup(name)
    assert found is not None and found.wide
    return found


def edges(kind: str) -> np.ndarray:
    """Floats around those where fractions begin anew, over all exponents; more of them than any vector has lanes."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    beginnings = np.array([1.0, 0.75, 1.5, np.sqrt(0.5), np.sqrt(2.0)]).astype(dtype)
    around = np.concatenate(
        [beginnings, np.nextafter(beginnings, dtype.type(9)), np.nextafter(beginnings, -beginnings)]
    )
    exponents = np.arange(limits.minexp - limits.nmant, limits.maxexp)
    with np.errstate(under="ignore"):
        return np.append(np.ldexp(around[:, None], exponents).ravel(), limits.max).astype(dtype)


@needs_avx512
@pytest.mark.parametrize("bits", ["128", "256", "512"])
@pytest.mark.parametrize("name", NAMES)
def test_forms_give_the_bits_of_their_functions(name: str, bits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = function(name).result
    x = edges(kind)
    x = x[x > 0]
    monkeypatch.setenv("XJIT_VECTOR_BITS", bits)
    wide = loop(f"{name}(v)", kind, processor=llvm_pipeline.host())
    lanes = int(bits) // KINDS[kind].dtype.itemsize // 8
    assert wide.module.llvm_ir is not None and f".{bits}(<{lanes} x " in wide.module.llvm_ir
    plain = loop(f"{name}(v)", kind, processor=AVX2)
    assert plain.module.llvm_ir is not None and "avx512" not in plain.module.llvm_ir
    expected = plain(x)
    assert np.array_equal(wide(x), expected)
    # One element at a time is what a loop leaves over, where the function itself is called.
    assert np.array_equal(np.concatenate([wide(one) for one in x[::97, None]]), expected[::97])


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_of_what_has_none(name: str) -> None:
    given = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -1e-45, -3e38], np.float32)
    expected = np.array([-np.inf, -np.inf, np.inf, *[np.nan] * 5], np.float32)
    for processor in (HERE, AVX2):
        result = loop(f"{name}(v)", "f32", processor=processor)(np.repeat(given, 40))
        assert np.array_equal(result, np.repeat(expected, 40), equal_nan=True)


@pytest.mark.parametrize(("target", "bits"), [(WIDE, 512), (HALF_AS_WIDE, 256)], ids=["512", "256"])
@pytest.mark.parametrize("name", LOGARITHMS)
def test_loops_are_left_with_the_forms_and_no_calls(name: str, target: llvm_pipeline.Target, bits: int) -> None:
    module = loop(f"{name}(v)", "f32", processor=target, load=False).module
    assert module.llvm_ir is not None
    calls = {line.split("@")[1].split("(")[0] for line in module.llvm_ir.splitlines() if " call " in line}
    assert [one for one in calls if not one.startswith("llvm.")] == []
    assert {f"llvm.x86.avx512.mask.{part}.ps.{bits}" for part in ("getexp", "getmant")} <= calls
    symbols = elf.symbols(module.object_code)
    assert symbols is not None and not symbols.undefined


SCALES = ("times_power_f32", "times_power_f64")


def near_one_and_powers(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers near one, and integers of every size, from results that are zero to infinite ones."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    rounder = dtype.type(1.5) * dtype.type(2.0) ** limits.nmant
    power = np.arange(limits.minexp - limits.nmant - 2, limits.maxexp + 2)
    one = np.linspace(0.5, 1.5, 701).astype(dtype)
    return np.tile(one, len(power)), np.repeat(rounder + power.astype(dtype), len(one))


@needs_avx512
@pytest.mark.parametrize("bits", ["128", "256", "512"])
@pytest.mark.parametrize("name", SCALES)
def test_scaling_rounds_as_its_function_does(name: str, bits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = function(name).result
    x, shifted = near_one_and_powers(kind)
    monkeypatch.setenv("XJIT_VECTOR_BITS", bits)
    wide = loop(f"{name}(v, w)", kind, arguments=2, processor=llvm_pipeline.host())
    assert wide.module.llvm_ir is not None and f"scalef.p{'sd'[kind == 'f64']}.{bits}" in wide.module.llvm_ir
    plain = loop(f"{name}(v, w)", kind, arguments=2, processor=AVX2)
    assert plain.module.llvm_ir is not None and "scalef" not in plain.module.llvm_ir
    expected = plain(x, shifted)
    assert (expected == 0).any() and np.isinf(expected).any()
    assert np.array_equal(wide(x, shifted).view(np.uint8), expected.view(np.uint8))


RESTS = ("rest_of_power_f32", "rest_of_power_f64")
NEAREST_SCALES = ("times_nearest_power_f32", "times_nearest_power_f64")


def powers(kind: str) -> np.ndarray:
    """Numbers around all halves between the first and the last power of two, and beyond these."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    halves = np.arange(2 * (limits.minexp - limits.nmant - 3), 2 * (limits.maxexp + 3)).astype(dtype) / 2
    small = np.ldexp(dtype.type(1), np.arange(limits.minexp, 0)).astype(dtype)
    beyond = np.array([1e4, limits.max, np.inf], dtype)
    around = [np.nextafter(halves, halves - 1), halves, np.nextafter(halves, halves + 1)]
    return np.concatenate([*around, small, -small, beyond, -beyond, [np.nan]]).astype(dtype)


@needs_avx512
@pytest.mark.parametrize("bits", ["128", "256", "512"])
@pytest.mark.parametrize("name", (*RESTS, *NEAREST_SCALES))
def test_nearest_powers_are_those_of_the_function(name: str, bits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = function(name).result
    x = powers(kind)
    operands = (x,) if name in RESTS else (np.linspace(0.7, 1.5, len(x)).astype(x.dtype), x)
    monkeypatch.setenv("XJIT_VECTOR_BITS", bits)
    call, count = f"{name}({', '.join('vw'[: len(operands)])})", len(operands)
    wide = loop(call, kind, arguments=count, processor=llvm_pipeline.host())
    assert wide.module.llvm_ir is not None and f"reduce.p{'sd'[kind == 'f64']}.{bits}" in wide.module.llvm_ir
    plain = loop(call, kind, arguments=count, processor=AVX2)
    assert plain.module.llvm_ir is not None and "avx512" not in plain.module.llvm_ir
    found, expected = wide(*operands), plain(*operands)
    if name in RESTS:
        limits = np.finfo(x.dtype)
        inside = (x > limits.minexp - limits.nmant - 2) & (x < limits.maxexp + 1)
        assert np.array_equal(found[inside], expected[inside])
        assert (np.abs(found[~np.isnan(x)]) <= 0.5).all() and np.isnan(found[np.isnan(x)]).all()
    else:
        assert (expected == 0).any() and np.isinf(expected).any()
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("name", (*NAMES, *SCALES, *RESTS, *NEAREST_SCALES))
@pytest.mark.parametrize("target", [WIDE, HALF_AS_WIDE], ids=["512", "256"])
def test_vectors_of_several_registers_are_made_of_halves(name: str, target: llvm_pipeline.Target) -> None:
    """As many lanes as a loop may ask for, however wide registers are."""
    found = function(name)
    widest = max(wide_forms.forms_of(found), key=lambda form: form.bits)
    vector = widest.declaration.split(" @")[0].removeprefix("declare ")
    names = [f"%a{place}" for place in range(len(found.arguments))]
    arguments = ", ".join(f"{vector} {name}" for name in names)
    call = f"  %r = call {vector} @{widest.name}({arguments})\n  ret {vector} %r\n"
    text = f"define {vector} @call({arguments}) {{\n{call}}}\n"
    module = llvm_pipeline.parse(widest.declaration + text, target)
    llvm_pipeline.link_as_is(module, wide_forms.definitions([widest], target))
    llvm_pipeline.inline_calls(module, target)
    calls = {line.split("@")[1].split("(")[0] for line in str(module).splitlines() if " call " in line}
    assert calls and all(call.startswith("llvm.x86.") for call in calls)
    assert {call.rpartition(".")[2] for call in calls} == {"512" if target is WIDE else "256"}


def test_a_function_waits_only_where_there_are_forms() -> None:
    call = "call float @xjit_root_exponent_f32("
    assert call in numba_compat.inline_function_ir("log_f32", target=WIDE)
    assert call not in numba_compat.inline_function_ir("log_f32", target=AVX2)


def test_functions_out_of_line_are_complete() -> None:
    text = numba_compat.inline_function_ir("rare_logarithm_f32", target=WIDE)
    assert " noinline" in text and "xjit_root_exponent_f32(float" not in text
