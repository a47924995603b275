"""Values read at positions that move along several axes: windows, and windows of what else is read elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.helpers.kernel_executors import PROCESSOR, on, small_tiles
from xjit import jit, ops, xjit
from xjit.ops.windows.window_view import window_view

Array = np.ndarray[Any, Any]
TILED = on(small_tiles(PROCESSOR))
Step = Callable[[Any], Any]


def _windows(shape: tuple[int, ...], rng: np.random.Generator) -> Step:
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)].tolist()
    windows = [int(rng.integers(1, max(1, min(4, shape[axis])) + 1)) for axis in axes]
    strides = rng.integers(1, 4, len(axes)).tolist()
    most = [(shape[axis] - 1) // max(size - 1, 1) for axis, size in zip(axes, windows, strict=True)]
    dilations = [int(rng.integers(1, max(min(far, 3), 1) + 1)) for far in most]
    outer = bool(rng.integers(2))
    return lambda x: window_view(x, windows, strides, dilations, axes, outer=outer)


def _slice(shape: tuple[int, ...], rng: np.random.Generator) -> Step:
    start, strides = [int(rng.integers(size // 3 + 1)) for size in shape], rng.integers(1, 3, len(shape)).tolist()
    return lambda x: ops.slice(x, start, shape, strides)


def _pad(shape: tuple[int, ...], rng: np.random.Generator) -> Step:
    rows = [(int(rng.integers(-1, 3)) if size > 1 else 0, int(rng.integers(3)), 0) for size in shape]
    return lambda x: ops.pad(x, np.int32(7), rows)


def _positions(shape: tuple[int, ...], rng: np.random.Generator) -> Step:
    axis = int(rng.integers(len(shape)))
    return lambda x: ops.add(ops.mul(x, np.int32(3)), ops.iota(ops.Shape(shape, np.int32), axis))


def _reduction(shape: tuple[int, ...], rng: np.random.Generator) -> Step:
    dims = sorted(rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)].tolist())
    by, start = ((ops.add, np.int32(0)), (ops.max, np.int32(-(2**31))))[rng.integers(2)]
    return lambda x: ops.reduce(x, start, by, dims)


def _along(apply: Callable[[Any, int], Any]) -> Callable[[tuple[int, ...], np.random.Generator], Step]:
    return lambda shape, rng: functools.partial(_applied, apply, int(rng.integers(len(shape))))


def _applied(apply: Callable[[Any, int], Any], axis: int, x: Any) -> Any:
    return apply(x, axis)


STEPS: dict[str, Callable[[tuple[int, ...], np.random.Generator], Step]] = {
    "window": _windows,
    "slice": _slice,
    "pad": _pad,
    "positions": _positions,
    "reduce": _reduction,
    "reverse": _along(lambda x, axis: ops.rev(x, (axis,))),
    "scan": _along(lambda x, axis: np.cumsum(x, axis=axis, dtype=np.int32)),
    "turn": _along(lambda x, axis: ops.transpose(x, (axis, *(k for k in range(x.ndim) if k != axis)))),
    "both": _along(lambda x, axis: ops.add(x, ops.rev(x, (axis,)))),
}


def _program(seed: int, names: Sequence[str] = (*STEPS,), longest: int = 12) -> tuple[list[Step], Array, Array]:
    """Steps with a window among them, an array to apply them to, and what comes out."""
    rng = np.random.default_rng(seed)
    x = value = rng.integers(-50, 50, rng.integers(3, longest, rng.integers(1, 4))).astype(np.int32)
    chosen, steps = ["window", *rng.choice(names, 5).tolist()], []
    rng.shuffle(chosen)
    for name in chosen:
        if 0 < value.size < 20_000 and value.ndim:
            steps.append(STEPS[name](value.shape, rng))
            value = np.asarray(steps[-1](value))
    return steps, x, value


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_with_windows(seed: int) -> None:
    steps, x, expected = _program(seed)
    got = xjit(lambda a: functools.reduce(lambda value, step: step(value), steps, a))(x)
    assert got.dtype == np.int32 and np.array_equal(got, expected)


@pytest.mark.parametrize("seed", range(40))
def test_scans_and_windows_in_small_tiles(seed: int) -> None:
    names = ("scan", "scan", "scan", "slice", "pad", "reverse", "both", "turn", "positions")
    steps, x, expected = _program(seed, names, 40)
    call = jit(lambda a: functools.reduce(lambda value, step: step(value), steps, a), target=TILED)
    assert np.array_equal(call(x), expected)
