"""Minima and maxima written out: zeros in order, NaN kept, in vectors, numbers and at the end of loops."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import xjit
from tests.helpers.vector_loops import AVX2, loop
from xjit.codegen.cpu.extremes import written_out
from xjit.codegen.cpu.llvm_pipeline import Target, host

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 3.5)
HERE = host()
pytestmark = pytest.mark.skipif(not HERE.triple.startswith("x86_64"), reason="other processors have instructions")
AVX512 = Target(HERE.triple, "skylake-avx512", "+fma,+avx512dq,+avx512vl,-prefer-256-bit")
has_avx512 = "+avx512dq" in HERE.features.split(",")
FUNCTIONS = {"fmin": np.minimum, "fmax": np.maximum}
LAST = "  %r = tail call {0} @llvm.vector.reduce.f{1}.v{2}(<{2} x {0}> %v)\n"


def expected(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smaller or larger one; of two zeros the negative or the positive one."""
    found = FUNCTIONS[name](x, y)
    negative = np.signbit(x) | np.signbit(y) if name == "fmin" else np.signbit(x) & np.signbit(y)
    zero = np.where(negative, -0.0, 0.0).astype(x.dtype)
    return np.where(found == 0, zero, found).astype(x.dtype)


def assert_same(found: np.ndarray, right: np.ndarray) -> None:
    np.testing.assert_array_equal(found, right)
    known = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(right)[known])


@pytest.mark.parametrize("processor", [AVX2, AVX512], ids=["AVX2", "AVX-512"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_pairs(name: str, kind: str, processor: Target) -> None:
    if processor is AVX512 and not has_avx512:
        pytest.skip("needs AVX-512")
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)) * 3)
    with np.errstate(under="ignore"):
        x, y = pairs.astype(np.float32 if kind == "f32" else np.float64).T.copy()
    compiled = loop(f"{name}(v, w)", kind, arguments=2, processor=processor)
    assert not re.search(r"call [^\n]*@llvm\.m(in|ax)imum", compiled.module.llvm_ir or "")
    assert_same(compiled(x, y), expected(name, x, y))
    assert_same(np.array([compiled(x[k : k + 1], y[k : k + 1])[0] for k in range(40)]), expected(name, x, y)[:40])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_rows_of_zeros_and_nan(name: str, dtype: str) -> None:
    """The answer lies at every place of rows of several lengths, alone among others."""
    reduce = getattr(np, name)
    compiled = xjit.jit(lambda x: reduce(x, axis=1), strict=True)
    for length in (9, 16, 33, 77):
        for common, alone in itertools.product((0.0, -0.0, 2.0, -2.0), (0.0, -0.0, np.nan, -np.nan)):
            x = np.full((length, length), common, dtype)
            np.fill_diagonal(x, alone)
            one, other = np.full(length, common, dtype), np.full(length, alone, dtype)
            assert_same(compiled(x), expected(f"f{name}", one, other))


@pytest.mark.parametrize(("element", "lanes"), [("float", 64), ("double", 8), ("double", 2)])
@pytest.mark.parametrize("kind", ["minimum", "maximum"])
def test_the_last_step_is_a_tree(kind: str, element: str, lanes: int) -> None:
    text = written_out(LAST.format(element, kind, lanes), AVX512.features)
    assert "llvm.vector.reduce" not in text
    assert text.count(" fcmp o") == lanes.bit_length() - 1


def test_numbers_stay_in_registers_of_vectors() -> None:
    text = written_out(
        "  %r = call double @llvm.minimum.f64(double %a, double 0x7FF0000000000000)\n", AVX512.features
    )
    assert "insertelement <2 x double> poison, double 0x7FF0000000000000" in text
    assert "%r = extractelement <2 x double>" in text
