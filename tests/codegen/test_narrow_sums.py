"""Sums of truth values and of integers of 8 and 16 bits: exact at the extremes of every block, in narrow vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from tests.helpers.vector_loops import AVX512
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end.numba_compat import compile_kernel

EXTREMES: dict[str, tuple[int, ...]] = {
    "bool": (1,),
    "int8": (-128, 127),
    "uint8": (255,),
    "int16": (-32768, 32767),
    "uint16": (65535,),
}
each_type = pytest.mark.parametrize("dtype", EXTREMES)
each_run = pytest.mark.parametrize("run", [run_serial, run_parallel, run_uncompiled], ids=lambda run: run.__name__)


@each_type
@each_run
@pytest.mark.parametrize("count", [1, 9, 511, 512, 513, 1025])
def test_extremes_add_up(dtype: str, run: Any, count: int) -> None:
    """Every element as large as can be: the sum of a block is as large as its accumulator has to hold."""
    for extreme in EXTREMES[dtype]:
        rows = np.full((3, count), extreme, dtype)
        assert run(lambda x: x.sum(axis=1), [rows]).tolist() == [extreme * count] * 3
        assert run(lambda x: x.sum(axis=0), [rows]).tolist() == [extreme * 3] * count


@each_type
def test_long_sums_are_exact(dtype: str) -> None:
    for extreme in EXTREMES[dtype]:
        x = np.full(1_000_003, extreme, dtype)
        for result in (run_serial(np.sum, [x]), run_parallel(np.sum, [x])):
            assert result == extreme * 1_000_003 and result.dtype == x.sum().dtype


@each_type
def test_sums_of_random_numbers_are_numpys(dtype: str, rng: np.random.Generator) -> None:
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = rng.integers(low, high, (7, 3000), endpoint=True).astype(dtype)
    programs: dict[str, Callable[[Any], Any]] = {
        "all": lambda v: v.sum(),
        "started": lambda v: v.sum(axis=1, initial=5),
        "as int32": lambda v: v.sum(axis=1, dtype=np.int32),
        "as uint64": lambda v: v.sum(axis=1, dtype=np.uint64),
        "counted": lambda v: np.count_nonzero(v > 0, axis=1),
        "two": lambda v: (v.sum(axis=1), v.astype(np.float64).sum(axis=1), v.max(axis=1)),
        "inside": lambda v: v.reshape(7, 30, 100).sum(axis=2).max(axis=1),
        "strided": lambda v: v[:, ::-3].sum(axis=1),
        "in its own type": lambda v: v.sum(axis=1, dtype=v.dtype),
    }
    for name, program in programs.items():
        found, expected = run_serial(program, [x]), program(x)
        for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other), name


@pytest.mark.skipif(not llvm_pipeline.host().triple.startswith("x86_64"), reason="needs the code generator of x86")
@pytest.mark.parametrize(
    ("dtype", "vector"),
    [("bool", r"<32 x i16>"), ("int8", r"<16 x i32>"), ("uint16", r"<16 x i32>"), ("int32", r"<8 x i64>")],
)
def test_blocks_are_added_in_narrow_vectors(dtype: str, vector: str) -> None:
    source = xjit.jit(lambda x: x.sum(axis=1)).source(np.ones((9, 2000), dtype))
    ir = compile_kernel(source, keep_ir=True, target=AVX512).llvm_ir
    assert ir is not None and re.search(rf"= add (nuw |nsw )*{vector} %", ir)
    assert dtype == "int32" or not re.search(r"= add <8 x i64>", ir)
