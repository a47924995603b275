"""Axes of a few elements: reductions over them are expressions, loops around them are written out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled
from tests.helpers.vector_loops import AVX512
from xjit.codegen.cpu.llvm_pipeline import host
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.numerics import TINY

POINTS = np.random.default_rng(0).normal(size=(50, 3))
BYTES = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
FOURS = np.random.default_rng(1).normal(size=(40, 4))


def kernels(function: Callable[..., Any], *arguments: Any) -> int:
    return len(xjit.jit(function).explain(*arguments).kernels)


def loops_of(function: Callable[..., Any], *arguments: Any) -> list[str]:
    return re.findall(r"for (\w+) in", xjit.jit(function).source(*arguments))


def columns(x: Any) -> Any:
    return x.sum(axis=0), x.max(axis=0), x.mean(axis=0)


def nearest(x: Any, centres: Any) -> Any:
    return np.square(x[:, None, :] - centres[None, :, :]).sum(axis=2).argmin(axis=1)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "lengths": (lambda x: np.sqrt((x * x).sum(axis=1)), (POINTS,)),
    "first axis": (lambda x: x.sum(axis=0), (np.ascontiguousarray(POINTS.T),)),
    "softmax": (formulas.softmax, (FOURS,)),
    "softmax of single": (formulas.softmax, (FOURS.astype(np.float32),)),
    "centred": (lambda x: x - x.mean(axis=1, keepdims=True), (POINTS,)),
    "deviation": (lambda x: x.std(axis=1), (FOURS,)),
    "accelerations": (formulas.accelerations, (POINTS, np.linspace(0.5, 1.5, 50))),
    "columns": (columns, (POINTS,)),
    "columns of integers": (lambda x: x.sum(axis=0), ((POINTS * 10).astype(np.int32),)),
    "nearest": (nearest, (POINTS, POINTS[:5])),
    "nearest of many": (nearest, (POINTS, POINTS[:20])),
    "largest": (lambda x: x.argmax(axis=1), (FOURS,)),
    "any": (lambda x: (x > 1).any(axis=1), (FOURS,)),
    "half": (lambda x: x.sum(axis=1), (FOURS.astype(np.float16),)),
    "complex": (lambda z: z.sum(axis=1) * 2, (FOURS + 1j,)),
    "product": (lambda x: x.prod(axis=(0, 1)), (np.random.default_rng(2).normal(size=(2, 3, 30)),)),
    "started": (lambda x: x.sum(axis=1, initial=3.0), (FOURS,)),
    "all of it": (lambda x: x.sum(), (np.arange(5.0),)),
    "strided": (lambda x: (x * 2).sum(axis=1), (POINTS[::-2, ::-1],)),
    "fortran": (lambda x: (x * 2).sum(axis=1), (np.asfortranarray(POINTS),)),
    "two short axes": (lambda x: x - x.mean(axis=(1, 2), keepdims=True), (np.arange(120.0).reshape(30, 2, 2),)),
    "long rows of short": (lambda x: x - x.max(axis=2, keepdims=True), (np.arange(840.0).reshape(4, 70, 3) % 7,)),
    "nearest of long": (
        nearest,
        (np.sin(np.arange(600.0)).reshape(30, 20), np.cos(np.arange(240.0)).reshape(12, 20)),
    ),
    "sum in a maximum": (lambda x: x.sum(axis=2).max(axis=1), (np.sin(np.arange(6000.0)).reshape(10, 5, 120),)),
    "sum in all": (lambda x: np.log(np.square(x).sum(axis=1)).sum(), (np.sin(np.arange(6000.0)).reshape(100, 60),)),
    "sums of two kinds": (
        lambda x, y: (x.sum(axis=2) - (x * y).max(axis=2)).min(axis=1),
        (np.sin(np.arange(2400.0)).reshape(10, 20, 12), np.cos(np.arange(12.0))),
    ),
    "sum in a sum in a sum": (
        lambda x: np.sqrt(np.square(x).sum(axis=3)).sum(axis=2).max(axis=1),
        (np.sin(np.arange(9.0 * 10 * 11 * 12)).reshape(9, 10, 11, 12),),
    ),
    "single in blocks": (
        lambda x: x.sum(axis=2).max(axis=1),
        (np.sin(np.arange(30000.0)).reshape(3, 10, 1000).astype(np.float32),),
    ),
    "less a row": (lambda x, row: x - row, (POINTS, np.array([1.0, 2.0, 3.0]))),
    "less a row, two results": (lambda x, row: (x - row, x * 2), (POINTS, np.array([1.0, 2.0, 3.0]))),
    "turned around": (lambda x: x[:, ::-1] * 2 + x, (POINTS,)),
    "by the first": (lambda x: x * x[:, :1], (FOURS,)),
    "without the last": (lambda x: x[:, :3] * x[:, 3:], (FOURS,)),
    "numbered": (lambda x: x * np.arange(3.0) + np.arange(50.0)[:, None], (POINTS,)),
    "far": (lambda x, row: np.sin(x * row), (POINTS * 1e6, np.array([1.0, 2.0, 3.0]))),
    "bytes": (lambda x: 255 - x[..., ::-1], (BYTES,)),
    "mask": (lambda x, row: (x > row) & (x[..., :1] != 7), (BYTES, np.array([40, 50, 60], np.uint8))),
    "halves": (lambda x, row: x.astype(np.float16) - row, (POINTS, np.array([1.0, 2.0, 3.0], np.float16))),
    "planes": (lambda x, row: x - row[:, None, None], (np.moveaxis(BYTES, 2, 0), np.array([9, 8, 7], np.uint8))),
    "joined": (lambda x: np.concatenate([x[..., ::-1], x[..., :1]], axis=2), (BYTES,)),
    "chosen": (lambda x: x[:, np.array([2, 0, 1])] + 1, (POINTS,)),
    "both kinds": (lambda x: (x - x.mean(axis=1, keepdims=True)).sum(axis=0), (POINTS,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "run", [run_unrolled, run_uncompiled, run_serial, run_parallel], ids=lambda run: run.__name__
)
def test_results_are_numpys(name: str, run: Any) -> None:
    function, arguments = PROGRAMS[name]
    found, expected = run(function, arguments), function(*arguments)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        exact = other.dtype.kind in "biu" or name in ("largest", "half")
        np.testing.assert_allclose(one, other, rtol=0 if exact else 1e-5 if other.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize(
    "name", ["lengths", "softmax", "centred", "deviation", "accelerations", "nearest", "nearest of long", "largest"]
)
def test_one_kernel_suffices(name: str) -> None:
    function, arguments = PROGRAMS[name]
    assert kernels(function, *arguments) == 1


def test_short_axes_have_no_loop() -> None:
    assert loops_of(lambda x: x.sum(axis=1), np.ones((100, TINY))) == ["i0"]
    assert loops_of(lambda x: x.sum(axis=1), np.ones((100, TINY + 1))) != ["i0"]
    assert loops_of(formulas.softmax, FOURS) == ["i0"]


def test_short_loops_are_written_out() -> None:
    """Short rows that fall together with no other axis become steps of the loop around them."""
    row = np.ones(TINY, np.float32)
    wide = np.ones((100, TINY), np.float32)
    assert loops_of(lambda x, r: x - r, wide, row) == ["i0"]
    assert loops_of(lambda x, r: x - r, np.ones((100, TINY + 1)), np.ones(TINY + 1)) == ["i0", "i1"]
    assert loops_of(lambda x: ~x[..., ::-1], BYTES) == ["i0"]
    # One loop already, a row that fills a vector, and no longer loop around.
    assert loops_of(lambda x, y: x - y, wide, wide) == ["i0"]
    assert loops_of(lambda x, r: x - r, wide.astype(np.float64), row.astype(np.float64)) == ["i0", "i1"]
    assert loops_of(lambda x, r: x - r, wide[:TINY], row) == ["i0", "i1"]


def test_long_bodies_keep_their_short_loop() -> None:
    def long(x: Any, row: Any) -> Any:
        for _ in range(50):
            x = x * x - row
        return x

    assert loops_of(long, POINTS, POINTS[0]) == ["i0", "i1"]


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="needs the code generator of x86")
@pytest.mark.parametrize("name", ["bytes", "mask", "without the last", "less a row"])
def test_written_out_loops_are_shuffles(name: str) -> None:
    """Neither single elements nor gathers and scatters: wide loads and stores, taken apart and put together."""
    function, arguments = PROGRAMS[name]
    ir = compile_kernel(xjit.jit(function).source(*arguments), keep_ir=True, target=AVX512).llvm_ir
    assert ir is not None and "gather" not in ir and "scatter" not in ir
    assert re.search(r"%wide.vec\d* = load <\d+ x", ir) and re.search(r"%interleaved.vec\d* = shufflevector <", ir)


def test_shared_values_are_computed_once() -> None:
    source = xjit.jit(formulas.softmax).source(FOURS)
    assert source.count("exp_f64(") == 4
    # In the loop over whole groups of lanes, and in that over the rest.
    assert xjit.jit(formulas.accelerations).source(*PROGRAMS["accelerations"][1]).count("sqrt(") == 2


def test_neighbours_are_read_from_one_place() -> None:
    """Three coordinates in a row, addressed from one pointer: vector loads with a shuffle, not gathers."""
    source = xjit.jit(PROGRAMS["lengths"][0]).source(POINTS)
    assert re.findall(r"ld\(a0, ([^)]*)\)", source) == ["i0 * 3", "i0 * 3 + 1", "i0 * 3 + 2"]


def test_a_sum_of_negative_zeros_is_zero_as_numpys() -> None:
    zeros = np.full((20, 3), -0.0)
    assert not np.signbit(run_serial(lambda x: x.sum(axis=1), [zeros])).any()
    assert not np.signbit(zeros.sum(axis=1)).any()


@pytest.mark.parametrize("exponent", [0.5, 1.5, 2.5, -0.5, -1.5, -2.5])
def test_powers_of_halves(exponent: float) -> None:
    x = np.array([0.0, -0.0, 1.0, 4.0, 2.25, -1.0, np.inf, -np.inf, np.nan, 1e-300, 1e200, 1e206, 5e-324, 3e120])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            run_serial(lambda v: np.power(v, exponent), [x]), np.power(x, exponent), rtol=1e-15, atol=1e-323
        )


def test_short_sums_of_what_a_loop_has_made() -> None:
    weights = np.arange(9.0)[:, None, None]

    def function(x: Any) -> Any:
        for turn in range(1000):
            x[turn % 9] *= 0.999
        total = (x * weights).sum(axis=0)
        return total * (1.0 + total)

    x = np.ones((9, 100, 300))
    np.testing.assert_allclose(xjit.jit(strict=True)(function)(x.copy()), function(x), rtol=1e-12)
