"""Operands and results that run through memory across the others: blocks in registers, tiles, orders and edges."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.front_end.test_codegen_pipeline import check_same, on_x86, text
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.language.scalar_types import KINDS, TURNED
from xjit.types import DTYPES

TURN = """
s = ptr_{0}(table, 0)
o = ptr_{0}(table, 1)
turn_{0}(o, 3, 45, s, 5, 37, word(table, 2), word(table, 3))
"""
SMALL = [kind for kind in KINDS if KINDS[kind].bytes in TURNED]
RUNS = {"uncompiled": run_uncompiled, "serial": run_serial, "parallel": run_parallel}
ALL = tuple(RUNS.values())


def elements(shape: tuple[int, ...], dtype: Any) -> Any:
    """Elements that differ from their neighbours, in row-major order."""
    count = int(np.prod(shape))
    return (np.arange(count) * 37 % 101).astype(dtype).reshape(shape)


def check(function: Callable[..., Any], *arguments: Any, runs: Any = ALL) -> None:
    """NumPy's elements in NumPy's memory order."""
    expected = function(*arguments)
    for run in runs:
        for got, want in zip(
            *(x if isinstance(x, tuple) else (x,) for x in (run(function, arguments), expected)), strict=True
        ):
            assert got.dtype == want.dtype and got.strides == want.strides
            assert got.tobytes() == want.tobytes()


def is_tiled(function: Callable[..., Any], *arguments: Any) -> bool:
    return "turn_" in xjit.jit(function).source(*arguments)


def is_copied_in_blocks(function: Callable[..., Any], *arguments: Any) -> bool:
    text = xjit.jit(function).source(*arguments)
    return "turn_" in text and "scratch" not in text and "ld(" not in text


# ---- blocks


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("counts", [(16, 16), (20, 30), (3, 5), (16, 3), (2, 16), (0, 4), (4, 0)])
def test_blocks_are_transposed(kind: str, counts: tuple[int, int]) -> None:
    dtype, most = KINDS[kind].dtype, TURNED[KINDS[kind].bytes]
    source, target = (elements((40, 50), np.int64) % 97).astype(dtype).ravel(), np.zeros(2000, dtype)
    rows, columns = (min(count, most) for count in counts)
    expected = target.copy()
    for i, j in itertools.product(range(rows), range(columns)):
        expected[3 + j * 45 + i] = source[5 + i * 37 + j]
    check_same(TURN.format(kind), 1, [source, target, *counts])
    assert target.tobytes() == expected.tobytes()


@on_x86
@pytest.mark.parametrize(("kind", "shuffles"), [("u8", 64), ("f32", 24), ("f64", 24), ("c128", 8)])
def test_blocks_stay_in_registers(kind: str, shuffles: int) -> None:
    target = Target("x86_64-unknown-linux-gnu", "haswell", "+fma")
    ir = compile_kernel(text(TURN.format(kind)), keep_ir=True, target=target).llvm_ir
    assert ir is not None and ir.count("shufflevector") == shuffles


# ---- programs

SHAPES = [(9, 9), (9, 70), (130, 9), (33, 65), (64, 128), (131, 67), (1, 40), (40, 1), (0, 9), (5, 40), (300, 17)]


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_every_type(name: str) -> None:
    x = elements((33, 21), np.int64).astype(DTYPES[name])
    check(lambda a: np.array(a.T, order="C"), x)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_every_edge(shape: tuple[int, int], dtype: str) -> None:
    x, y, row = elements(shape, dtype), elements(shape[::-1], dtype), elements(shape[:1], dtype)
    check(lambda a, b, c: a.T * b + c, x, y, row, runs=(run_serial, run_parallel))
    check(lambda a: np.array(a.T, order="C"), x, runs=(run_serial, run_parallel))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("steps", [(1, 1), (-1, 1), (1, -1), (-1, -1), (2, 3), (-2, -3), (1, 20)])
@pytest.mark.parametrize("orders", ["CF", "FC", "FF"])
def test_every_direction(run: Any, steps: tuple[int, int], orders: str) -> None:
    x, y = (np.array(elements((46, 63), "f4"), order=order) for order in orders)
    across = tuple(slice(None, None, step) for step in steps)
    check(lambda a, b: a[across] - 2 * b[across], x, y, runs=(run,))
    check(lambda a, b: np.array(a[across], order="C"), x, y, runs=(run,))
    check(lambda a, b: np.array(b[across], order="F"), x, y, runs=(run,))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("axes", [(1, 0, 2, 3), (0, 2, 1, 3), (0, 3, 2, 1), (3, 2, 1, 0), (0, 1, 3, 2), (2, 3, 0, 1)])
def test_axes_outside_stay_outside(run: Any, axes: tuple[int, ...]) -> None:
    x = elements((3, 12, 10, 17), "i2")
    check(lambda a: np.array(a.transpose(axes), order="C"), x, runs=(run,))
    check(lambda a, b: a.transpose(axes) + b, x, elements(tuple(x.shape[axis] for axis in axes), "i2"), runs=(run,))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_several_operands_and_results(run: Any) -> None:
    x, y = elements((45, 30), "f8"), elements((30, 45), "f4")

    def both(a: Any, b: Any) -> Any:
        total = a.T + b
        return total, np.array((a.T - b).T, order="C"), np.array((total * a.T).T, order="C")

    check(both, x, y, runs=(run,))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_rare_arguments_in_tiles(run: Any) -> None:
    x, y = elements((45, 30), "f8") * 1e9, elements((30, 45), "f8")
    got = run(lambda a, b: np.sin(a.T) + b, (x, y))
    np.testing.assert_allclose(got, np.sin(x.T) + y, rtol=1e-14)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_positions_and_parts_in_tiles(run: Any) -> None:
    x, y = elements((45, 30), "f8"), elements((30, 45), "f8")
    check(lambda a, b: np.where(np.arange(45) > np.arange(30)[:, None], a.T, b), x, y, runs=(run,))
    check(lambda a, b: np.concatenate([a.T + b, a.T[:, :20]], axis=1), x, y, runs=(run,))
    check(lambda a, b: np.pad(a.T, 1)[1:-1, :-2] + b, x, y, runs=(run,))


def test_nests_one_behind_the_other_use_the_same_scratch() -> None:
    def joined(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.concatenate([a.T, np.sqrt(b.T), c.T]) * d

    arguments = tuple(elements(shape, "f8") for shape in [(100, 90), (100, 70), (100, 130), (290, 100)])
    source = xjit.jit(joined).source(*arguments)
    assert (source.count("turn_f64(m0"), source.count("= scratch_f64(")) == (3, 1)
    check(joined, *arguments)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("steps", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_several_copies(run: Any, steps: tuple[int, int]) -> None:
    x, y, z = elements((45, 30), "f8"), elements((45, 30), "i2"), elements((45, 30), "c16")
    across = tuple(slice(None, None, step) for step in steps)
    check(lambda a, b, c: tuple(np.array(v[across].T, order="C") for v in (a, b, c)), x, y, z, runs=(run,))
    check(lambda a, b, c: np.concatenate([a[across].T, a[:, ::-1].T], axis=1), x, y, z, runs=(run,))


# ---- when


def test_tiles_are_for_what_lies_across() -> None:
    x, y = np.ones((40, 50)), np.ones((50, 40))
    assert is_tiled(lambda a, b: a.T + b, x, y)
    assert not is_tiled(lambda a, b: a + b.T, x, np.asfortranarray(y))
    assert not is_tiled(lambda a, b: a.T[:8] + b[:8], x, y)  # short axes are written out or vector code as they are
    assert not is_tiled(lambda a, b: a[:, 0] + b, x, y)


def test_copies_go_from_buffer_to_buffer() -> None:
    x = np.ones((40, 50))
    assert is_copied_in_blocks(lambda a: a.T.copy(), x)
    assert is_copied_in_blocks(lambda a: np.rot90(a).copy(), x)
    assert is_copied_in_blocks(lambda a: a.T.copy(), np.ones((40, 16), "i2"))
    assert is_copied_in_blocks(lambda a: a.T.copy(), np.ones((40, 50), "c16"))
    assert not is_copied_in_blocks(lambda a: a.T + 1, x)  # memory as it is
    assert not is_copied_in_blocks(lambda a, b: a.T + b, x, np.ones((50, 40)))
    assert not is_copied_in_blocks(lambda a: a.T.astype("f4", order="C"), x)
    assert not is_copied_in_blocks(lambda a: a[:, ::2].T.copy(), x)


def test_tiles_do_not_depend_on_sizes() -> None:
    def source(rows: int, columns: int) -> str:
        text = xjit.jit(lambda a, b: a.T + b).source(np.ones((rows, columns)), np.ones((columns, rows)))
        return re.sub(r"#.*", "", text)

    assert source(40, 50) == source(41, 9) == source(33, 3200)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("across", [False, True])
def test_sums_are_read_along_rows_and_across_them(run: Any, across: bool) -> None:
    x, y = elements((40, 30), "f8"), elements((30, 40), "f8")

    def program(a: Any, b: Any) -> Any:
        first = np.cumsum(a, axis=1)
        return first.T + b if across else first + b.T

    check(program, x, y, runs=(run,))
