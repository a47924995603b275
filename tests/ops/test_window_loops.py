"""Operations over windows with random valid parameters, against loops written from their index equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.helpers.harness import array
from tests.helpers.oracles import window_loops
from xjit import ops, xjit

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Computation:
    """A computation as operations and as NumPy's on scalars; ``inits`` are tried as init values."""

    operation: Callable[..., Any]
    loops: Callable[..., tuple[Any, ...]]
    inits: tuple[tuple[Any, ...], ...]
    dtypes: tuple[tuple[str, ...], ...]


def _last_place(m: Any, i: Any, x: Any, j: Any) -> tuple[Any, Any]:
    return (x, j) if x >= m else (m, i)


COMPUTATIONS = {
    "sum": Computation(ops.add, lambda a, x: (a + x,), ((0,), (7,)), (("s32",), ("u8",), ("f64",), ("c64",))),
    "max": Computation(ops.max, lambda a, x: (np.maximum(a, x),), ((-100,), (3,)), (("s16",), ("f32",))),
    "min": Computation(ops.min, lambda a, x: (np.minimum(a, x),), ((100,),), (("u8",), ("f64",))),
    "product": Computation(ops.mul, lambda a, x: (a * x,), ((1,),), (("s64",), ("f64",))),
    "or": Computation(ops.or_, lambda a, x: (a | x,), ((0,), (1,)), (("pred",), ("s8",))),
    "digits": Computation(lambda a, x: a * 3 + x, lambda a, x: (a * 3 + x,), ((0,), (2,)), (("s32",), ("f64",))),
    "last place": Computation(
        lambda m, i, x, j: (ops.select(ops.ge(x, m), x, m), ops.select(ops.ge(x, m), j, i)),
        _last_place,
        ((-100, -1),),
        (("f32", "s32"),),
    ),
}


def _shifted(result: Any, value: Any) -> Any:
    return result * 2 + value


def _lists(rng: np.random.Generator, rank: int, longest: int) -> dict[str, Any]:
    kind = rng.integers(3)
    pairs = [(int(rng.integers(-2, 4)), int(rng.integers(-2, 4))) for _ in range(rank)]
    return {
        "window": [int(rng.integers(1, longest)) if rng.integers(3) else 1 for _ in range(rank)],
        "strides": rng.integers(1, 4, rank).tolist(),
        "base": [int(rng.integers(1, 4)) if not rng.integers(3) else 1 for _ in range(rank)],
        "dilations": [int(rng.integers(1, 4)) if not rng.integers(3) else 1 for _ in range(rank)],
        "padding": "SAME" if kind == 0 else "VALID" if kind == 1 else pairs,
    }


@pytest.mark.parametrize("name", COMPUTATIONS)
@pytest.mark.parametrize("seed", range(8))
def test_reduce_window(name: str, seed: int) -> None:
    rng, computation = np.random.default_rng([seed, len(name)]), COMPUTATIONS[name]
    dtypes = computation.dtypes[seed % len(computation.dtypes)]
    rank, longest = (1, 50) if seed == 1 else (int(rng.integers(1, 4)), 5)
    shape = tuple(rng.integers(0 if seed == 2 else 1, 3 * longest if rank == 1 else 8, rank).tolist())
    operands = [array(dtype, rng.integers(0, 5, shape)) for dtype in dtypes]
    starts = computation.inits[seed % len(computation.inits)]
    inits = [array(dtype, start)[()] for dtype, start in zip(dtypes, starts, strict=True)]
    lists = _lists(rng, rank, longest)

    def call(*given: Any) -> Any:
        return ops.reduce_window(tuple(given), tuple(inits), computation.operation, *lists.values())

    with np.errstate(all="ignore"):
        expected = window_loops.reduce_window(operands, inits, computation.loops, **lists)
    for run in (call, xjit(call)):
        got = run(*operands)
        for one, other in zip(got if len(operands) > 1 else (got,), expected, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            assert np.allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_select_and_scatter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, longest = int(rng.integers(1, 4)), 5
    lists = _lists(rng, rank, 45 if seed in (3, 4) else longest)
    window, strides, padding = (lists[key] for key in ("window", "strides", "padding"))
    shape = tuple(rng.integers(1, 8, rank).tolist())
    dtype = ("s32", "f32", "u8", "f64")[seed % 4]
    operand, init = array(dtype, rng.integers(0, 5, shape)), array(dtype, seed % 3)[()]
    ones = [1] * rank
    pairs = window_loops.pairs_of(padding, shape, window, strides, ones, ones)
    counts = window_loops.counts_of(shape, window, strides, ones, pairs)
    source = array(dtype, rng.integers(0, 9, counts))
    keeps, picks = ((ops.ge, np.greater_equal), (ops.lt, np.less))[seed % 2]
    combine, combines = ((ops.add, np.add), (_shifted, _shifted))[seed // 2 % 2]

    def call(x: Any, s: Any) -> Any:
        return ops.select_and_scatter(x, keeps, window, strides, padding, s, init, combine)

    with np.errstate(all="ignore"):
        expected = window_loops.select_and_scatter(operand, picks, window, strides, padding, source, init, combines)
    for run in (call, xjit(call)):
        got = run(operand, source)
        assert got.dtype == expected.dtype and np.array_equal(got, expected)
