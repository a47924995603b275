"""Costs of elementary functions on two makers' processors, counted from machine code; neither need be at hand."""

from __future__ import annotations

import pytest

from tools.costs import assembly
from tools.costs.model import PROCESSORS, counts, cycles, kind_of
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.vmath import VECTOR_FUNCTIONS

on_x86 = pytest.mark.skipif(
    not llvm_pipeline.host().triple.startswith("x86_64"), reason="the code generator of x86 is not there"
)

# Cycles per element, on Intel's servers and on Zen 4, and divisions in a turn of the loop: a little above what is
# counted, as another LLVM may choose another instruction here and there.
LIMITS = {
    "exp_f32": (0.48, 0.68, 0),
    "exp_f64": (1.35, 2.0, 0),
    "exp2_f32": (0.37, 0.47, 0),
    "exp2_f64": (1.06, 1.58, 0),
    "expm1_f32": (0.68, 0.68, 0),
    "expm1_f64": (2.0, 2.1, 0),
    "log_f32": (0.68, 0.48, 1),
    "log_f64": (2.1, 2.0, 1),
    "log2_f32": (0.53, 0.47, 0),
    "log2_f64": (2.1, 1.95, 1),
    "log10_f32": (0.59, 0.53, 0),
    "log10_f64": (2.2, 2.1, 1),
    "log1p_f32": (0.88, 0.8, 1),
    "log1p_f64": (2.25, 2.1, 1),
    "tanh_f32": (0.66, 0.66, 0),
    "tanh_f64": (2.65, 2.8, 1),
    "sinh_f32": (0.9, 0.9, 0),
    "sinh_f64": (2.1, 2.4, 0),
    "cosh_f32": (0.74, 0.8, 0),
    "cosh_f64": (1.8, 2.25, 0),
    "sin_f32": (1.0, 1.2, 0),
    "sin_f64": (1.55, 2.25, 0),
    "cos_f32": (1.2, 1.2, 0),
    "cos_f64": (1.75, 2.25, 0),
    "tan_f32": (0.95, 0.95, 1),
    "tan_f64": (2.4, 2.8, 1),
    "cbrt_f32": (0.75, 0.95, 0),
    "cbrt_f64": (1.8, 2.5, 0),
}

# Cycles per element on Intel's servers of NumPy's own loops, counted in the same way from the machine code of NumPy
# 2.4, without the calls that some of them make for every vector.
NUMPY_ON_INTEL = {
    "exp_f64": 1.25,
    "exp2_f32": 0.406,
    "exp2_f64": 1.188,
    "log_f64": 2.094,
    "log2_f32": 0.594,
    "log2_f64": 2.156,
    "log10_f32": 0.625,
    "log10_f64": 2.156,
    "tanh_f32": 0.813,
    "sinh_f32": 0.844,
    "cosh_f32": 0.75,
    "tan_f64": 2.781,
    "cbrt_f32": 0.859,
    "cbrt_f64": 2.469,
}

TEXT = """
\t.globl\tkernel
kernel:
.LBB0_1:
\txorl\t%eax, %eax
.LBB0_2:
\tvmovups\t(%rdi,%rax,4), %zmm0
\tvmovaps\t%zmm0, %zmm1 {%k1}
\tvmovaps\t%zmm0, %zmm2
\tvdivps\t%zmm1, %zmm0, %zmm0
\tvfmadd213ps\t%zmm3, %zmm2, %zmm0
\tvmovups\t%zmm0, -64(%rsp)
\tvmovups\t%zmm0, (%rsi,%rax,4)
\tjne\t.LBB0_2
\tjne\t.LBB0_1
"""


def test_the_innermost_loop_is_found() -> None:
    (body,) = assembly.innermost(TEXT.splitlines())
    assert len(body) == 8 and body[0].startswith("\tvmovups") and body[-1].startswith("\tjne")
    assert assembly.written(body) == 64
    assert counts(body) == {"choose": 1, "divide f32": 1, "multiply": 1}


def test_the_busiest_part_of_a_processor_decides() -> None:
    (body,) = assembly.innermost(TEXT.splitlines())
    loop = assembly.HotLoop(body, 16)
    assert cycles(loop, PROCESSORS["Intel server"].costs) == 10.0 / 16
    assert cycles(loop, PROCESSORS["Zen 4"].costs) == 6.0 / 16


def test_operations_on_masks_count() -> None:
    assert kind_of("\tkmovw\t%k0, %edx") == kind_of("\tkortestw\t%k1, %k1") == "mask"


def test_an_instruction_that_nobody_counted_is_an_error() -> None:
    assert kind_of("\taddq\t$16, %rax") is None
    with pytest.raises(LookupError, match="vunheardof"):
        kind_of("\tvunheardofps\t%zmm0, %zmm1, %zmm2")


@on_x86
@pytest.mark.parametrize("name", LIMITS)
def test_functions_cost_no_more_than_they_may(name: str) -> None:
    *most, divisions = LIMITS[name]
    for processor, limit in zip(PROCESSORS.values(), most, strict=True):
        loop = assembly.hot_loop(VECTOR_FUNCTIONS[name].near, processor.cpu)
        found = counts(loop.instructions)
        assert cycles(loop, processor.costs) <= limit, found
        lanes = 512 // int(name[-2:])
        # Where f32 computes in f64 a turn may take more than one vector.
        assert sum(found.get(f"divide {kind}", 0) for kind in ("f32", "f64")) * lanes <= divisions * loop.elements
        assert "gather" not in found and not any("call" in line for line in loop.instructions)


@on_x86
@pytest.mark.parametrize("name", NUMPY_ON_INTEL)
def test_functions_cost_about_what_those_of_numpy_do(name: str) -> None:
    processor = PROCESSORS["Intel server"]
    own = cycles(assembly.hot_loop(VECTOR_FUNCTIONS[name].near, processor.cpu), processor.costs)
    assert own <= NUMPY_ON_INTEL[name] / 0.95
