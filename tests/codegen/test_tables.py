"""Tables that vector code looks up in registers: the same numbers by every instruction, and in uncompiled text."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.vector_loops import AVX2, LINUX, SSE2, loop
from xjit.codegen.cpu import llvm_pipeline, tables, wide_forms
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.llvm import elf

HERE = llvm_pipeline.host()
ON_X86 = HERE.triple.startswith("x86_64")
HAS_AVX512 = set(HERE.features.split(",")) >= wide_forms.FEATURES
WITH_AVX2 = Target(LINUX, "haswell", "+avx2,+fma")
WITH_AVX512 = Target(LINUX, "skylake-avx512", ",".join(("+avx2,+fma", *sorted(wide_forms.FEATURES))))
ARM = Target("aarch64-unknown-linux-gnu", "generic", "+neon")

NUMBERS = tuple(float(np.float32(1.0) / np.float32(3 + place)) for place in range(16))
SHIFTS = (0, 1, 2, 19, 21, 28)
FUNCTIONS = {shift: tables.table(f"third_and_on_{shift}_f32", NUMBERS, shift) for shift in SHIFTS}


def operands(shift: int) -> np.ndarray:
    """Floats with all places in their bits, in no order, and all else in the other bits."""
    rng = np.random.default_rng(shift)
    bits = rng.integers(0, 2**32, 4096, np.uint32)
    return bits.view(np.float32)


def expected(shift: int) -> np.ndarray:
    return np.array(NUMBERS, np.float32)[operands(shift).view(np.uint32) >> np.uint32(shift) & np.uint32(15)]


def check(shift: int, processor: Target | None) -> str:
    """The text of a loop that has been found to look up what it should, remainders and all."""
    name = FUNCTIONS[shift].name
    looked_up = loop(f"{name}(v)", "f32", processor=processor)
    assert np.array_equal(looked_up(operands(shift)), expected(shift))
    for count in (1, 7, 33):
        assert np.array_equal(looked_up(operands(shift)[:count]), expected(shift)[:count])
    assert looked_up.module.llvm_ir is not None
    return looked_up.module.llvm_ir


@pytest.mark.parametrize("shift", SHIFTS)
def test_uncompiled_text_looks_the_number_up(shift: int) -> None:
    found = [FUNCTIONS[shift](x) for x in operands(shift)[:100]]
    assert np.array_equal(found, expected(shift)[:100])


@pytest.mark.parametrize("shift", SHIFTS)
def test_this_processor_looks_the_number_up(shift: int) -> None:
    check(shift, None)


@pytest.mark.skipif(not HAS_AVX512, reason="the widths are those of AVX-512")
@pytest.mark.parametrize("bits", ["128", "256", "512"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_all_widths_look_the_number_up(shift: int, bits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VECTOR_BITS", bits)
    text = check(shift, llvm_pipeline.host())
    assert ("permvar.sf.512" if bits == "512" else "vpermi2var.ps.256") in text


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("shift", SHIFTS)
def test_older_processors_look_the_number_up(shift: int) -> None:
    assert "avx2.permps" in check(shift, WITH_AVX2)
    assert "avx2.permps" not in check(shift, SSE2)


def test_half_a_register_is_looked_up_too() -> None:
    """As next to longer elements, which say how many there are at a time."""
    sums = loop(f"f64({FUNCTIONS[19].name}(v)) + f64(0.25)", "f32", "f64")
    assert np.array_equal(sums(operands(19)), expected(19).astype(np.float64) + 0.25)


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("target", [WITH_AVX2, WITH_AVX512], ids=["avx2", "avx512"])
@pytest.mark.parametrize("name", ["log2_f32", "log10_f32", "tanh_f32"])
def test_vector_code_of_functions_calls_nothing_and_loads_no_number(name: str, target: Target) -> None:
    module = loop(f"{name}(v)", "f32", processor=target, load=False).module
    assert module.llvm_ir is not None
    body = module.llvm_ir.partition("vector.body:")[2].partition("middle.block:")[0]
    calls = {line.split("@")[1].split("(")[0] for line in body.splitlines() if " call " in line}
    assert any("perm" in call for call in calls)
    assert all(call.startswith("llvm.") for call in calls)
    assert body.count(" load ") == body.count("store ")
    symbols = elf.symbols(module.object_code)
    assert symbols is not None and not symbols.undefined


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("target", [WITH_AVX2, WITH_AVX512, ARM, SSE2], ids=["avx2", "avx512", "arm", "sse2"])
def test_forms_of_every_width_are_whole(shift: int, target: Target) -> None:
    """Definitions of the forms can be read and have no call left but those of instructions, elsewhere too."""
    for form in wide_forms.forms_of(FUNCTIONS[shift]):
        text = wide_forms.definitions([form], target)
        module = llvm_pipeline.llvm.parse_assembly(text)
        module.verify()
        declared = llvm_pipeline.declared_symbols(module)
        assert declared == ()
        assert ("tbl4" in text) == (target is ARM)


def test_only_forms_that_are_called_are_defined() -> None:
    function = FUNCTIONS[0]
    call = f"  %r = call <16 x float> @{function.symbol}_x16(<16 x float> %a)\n"
    declared = f"declare <8 x float> @{function.symbol}_x8(<8 x float>)\n"
    called = wide_forms.called(wide_forms.calls_in(declared + call), [function])
    assert [form.lanes for form in called] == [16]
    defined = wide_forms.definitions(called, WITH_AVX512)
    assert f"@{function.symbol}_x16(" in defined and f"@{function.symbol}_x8(" not in defined


def test_what_processors_have() -> None:
    assert [wide_forms.machine(one).instructions for one in (SSE2, WITH_AVX2, ARM)] == ["loads", "avx2", "neon"]
    assert wide_forms.among(["xjit_root_exponent_f32", FUNCTIONS[0].symbol], SSE2) == (FUNCTIONS[0],)
    assert wide_forms.among(["xjit_root_exponent_f32", FUNCTIONS[0].symbol], WITH_AVX2) == (FUNCTIONS[0],)
    assert wide_forms.among(["xjit_root_exponent_f32"], AVX2) == ()


def test_a_table_has_sixteen_floats() -> None:
    with pytest.raises(ValueError, match="has 15"):
        tables.table("too_short_f32", NUMBERS[:15])
    with pytest.raises(ValueError, match=r"0\.1 is no float"):
        tables.definition("f", tables.Table((0.1, *NUMBERS[1:]), 0))
