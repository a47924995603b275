"""Vectors are as wide as the setting says, and as is best for the processor where it says nothing."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

from tests.helpers.vector_loops import LINUX
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.llvm.vector_width import best_bits, preference

AVX2 = ("+avx", "+avx2", "+fma")
OLD = (*AVX2, "+avx512f", "+avx512vl", "+avx512vnni", "+avx512bf16")
NEW = (*OLD, "+avx512vbmi2")
REGISTERS = {"128": "xmm", "256": "ymm", "512": "zmm"}
LOOP = """
def kernel(lo, hi, table):
    x = ptr_{kind}(table, 0)
    for i in range(lo, hi):
        st(x, i, {function}_{kind}(ldw(x, i)))
"""


@pytest.mark.parametrize(
    ("cpu", "features", "bits"),
    [
        *((cpu, OLD, "256") for cpu in ("skylake-avx512", "cascadelake", "cooperlake", "cannonlake")),
        *((cpu, NEW, "512") for cpu in ("icelake-client", "tigerlake", "rocketlake")),
        *((cpu, NEW, "512") for cpu in ("icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids")),
        *((cpu, NEW, "512") for cpu in ("znver4", "znver5")),
        ("knl", ("+avx512f",), "512"),
        ("icelake-server", OLD, "512"),
        ("one-to-come", NEW, "512"),
        ("x86-64-v4", OLD, "256"),
    ],
)
def test_the_best_width_is_known_by_name_and_else_by_features(cpu, features, bits):
    assert best_bits(cpu, features) == bits
    assert preference("", cpu, features) == preference(bits, cpu, features)


def test_a_setting_goes_before_what_is_best():
    assert preference("512", "cascadelake", OLD) == ("-prefer-128-bit", "-prefer-256-bit")
    assert preference("256", "sapphirerapids", NEW) == ("-prefer-128-bit", "+prefer-256-bit")
    assert preference("128", "znver5", NEW) == ("+prefer-128-bit", "-prefer-256-bit")


def test_processors_without_a_choice_are_left_alone():
    assert [preference(setting, "haswell", AVX2) for setting in ("", "256", "512")] == [(), (), ()]
    assert preference("128", "generic", ("+neon",)) == ()


def test_a_setting_of_another_width_is_an_error(monkeypatch):
    monkeypatch.setenv("XJIT_VECTOR_BITS", "384")
    with pytest.raises(ValueError, match="XJIT_VECTOR_BITS is empty, 128, 256 or 512; got '384'"):
        llvm_pipeline.host()


@pytest.mark.parametrize("setting", REGISTERS)
def test_this_processor_gets_what_the_setting_says(setting, monkeypatch):
    monkeypatch.setenv("XJIT_VECTOR_BITS", setting)
    target = llvm_pipeline.host()
    names = target.features.split(",")
    assert {*names} >= {*preference(setting, target.cpu, names)}
    assert "+prefer-128-bit" in names or setting != "128" or "+avx" not in names


def registers(target: Target, function: str, kind: str) -> set[str]:
    """The kinds of vector registers in which a loop's machine code computes."""
    module = compile_kernel(LOOP.format(function=function, kind=kind), target=target, keep_ir=True)
    assert module.llvm_ir is not None
    parsed = llvm_pipeline.parse(module.llvm_ir, target)
    lines = llvm_pipeline.target_machine(target).emit_assembly(parsed).splitlines()
    return {name for line in lines if re.search(r"p[sd]\t", line) for name in re.findall(r"%([xyz]mm)\d", line)}


@pytest.mark.parametrize(
    ("cpu", "setting", "widest"),
    [
        *(("icelake-server", setting, setting or "512") for setting in ("", "128", "256", "512")),
        *(("skylake-avx512", setting, setting or "256") for setting in ("", "128", "256", "512")),
        *(("znver4", setting, setting or "512") for setting in ("", "128", "256", "512")),
        *(("haswell", setting, "128" if setting == "128" else "256") for setting in ("", "128", "256", "512")),
    ],
)
def test_machine_code_uses_no_wider_registers_and_these(cpu, setting, widest):
    if "x86_64" not in llvm.get_process_triple():
        pytest.skip("the code generator of x86 is not there")
    features = AVX2 if cpu == "haswell" else NEW
    found = registers(llvm_pipeline.preferring(setting, Target(LINUX, cpu, ",".join(features))), "exp", "f64")
    wider = {name for bits, name in REGISTERS.items() if int(bits) > int(widest)}
    assert REGISTERS[widest] in found and not found & wider


@pytest.mark.parametrize(("function", "kind"), [("sin", "f32"), ("log2", "f32"), ("exp", "f32")])
def test_wider_elements_do_not_make_wider_registers(function, kind):
    if "x86_64" not in llvm.get_process_triple():
        pytest.skip("the code generator of x86 is not there")
    target = llvm_pipeline.preferring("", Target(LINUX, "skylake-avx512", ",".join(OLD)))
    found = registers(target, function, kind)
    assert "ymm" in found and "zmm" not in found
