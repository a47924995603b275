"""Gathers and scatters with random valid dimension numbers against loops over their index equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.helpers.harness import run_eager
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from tests.ops.index_equations import gathered, scattered
from xjit import ops

Dims = tuple[int, ...]

INDEX_TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
COMPUTATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (ops.add, lambda old, new: old + new),
    "max": (ops.max, lambda old, new: max(old, new)),
    "new": (lambda old, new: new, lambda old, new: new),
    "digits": (lambda old, new: ops.add(ops.mul(old, 3), new), lambda old, new: old * 3 + new),
    "less": (lambda old, new: ops.sub(new, old), lambda old, new: new - old),
}


@dataclass(frozen=True)
class Windows:
    """Random dimensions of an operand, of indices, and which of them belong together."""

    operand: Dims
    indices: Any
    leading: Dims
    vector_dim: int
    windowed: Dims
    dropped: Dims
    starting: Dims
    batching: Dims
    batches: Dims
    window: Dims

    @property
    def whole(self) -> Dims:
        """The dimensions of the result of a gather, or of the updates of a scatter."""
        leading, window = iter(self.leading), iter(self.window)
        return tuple(
            next(window if axis in self.windowed else leading) for axis in range(len(self.leading) + len(self.window))
        )


def chosen(rng: np.random.Generator, values: Any, count: int) -> list[int]:
    return sorted(int(one) for one in rng.permutation(list(values))[:count])


def windows(seed: int, longest: int = 5) -> Windows:
    """Dimensions without meaning but for being valid; some of them empty, index vectors too."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(0, 5))
    shape = [int(rng.integers(0 if rng.random() < 0.1 else 1, longest)) for _ in range(rank)]
    axes = list(range(rank))
    batching = chosen(rng, axes, int(rng.integers(0, min(rank, 2) + 1)) if rng.random() < 0.4 else 0)
    rest = [axis for axis in axes if axis not in batching and shape[axis]]
    dropped = chosen(rng, rest, int(rng.integers(0, len(rest) + 1)))
    kept = [axis for axis in axes if axis not in (*batching, *dropped)]
    free = [axis for axis in axes if axis not in batching]
    starting = [int(one) for one in rng.permutation(free)[: int(rng.integers(0, len(free) + 1))]]
    lead = [int(rng.integers(1, longest)) for _ in range(int(rng.integers(0, 3)))]
    places = list(range(len(lead) + len(batching)))
    batches = [int(one) for one in rng.permutation(places)[: len(batching)]]
    others = iter(lead)
    leading = [shape[batching[batches.index(one)]] if one in batches else next(others) for one in places]
    implied = len(starting) == 1 and rng.random() < 0.5
    vector_dim = len(leading) if implied else int(rng.integers(0, len(leading) + 1))
    dims = leading if implied else [*leading[:vector_dim], len(starting), *leading[vector_dim:]]
    dtype = INDEX_TYPES[int(rng.integers(len(INDEX_TYPES)))]
    indices = rng.integers(-2, longest + 1, dims).astype(dtype)
    window = [int(rng.integers(min(shape[axis], 1), shape[axis] + 1)) for axis in kept]
    windowed = chosen(rng, range(len(leading) + len(kept)), len(kept))
    numbers = [one + (one >= vector_dim and not implied) for one in batches]
    return Windows(
        *(tuple(shape), indices, tuple(leading), vector_dim, tuple(windowed), tuple(dropped), tuple(starting)),
        *(tuple(batching), tuple(numbers), tuple(window)),
    )


def gather_of(seed: int) -> tuple[Callable[..., Any], tuple[Any, Any], Any]:
    """A gather, its operands and its result."""
    one = windows(seed)
    kept = iter(one.window)
    dropped = {*one.dropped, *one.batching}
    sizes = tuple(min(1, size) if axis in dropped else next(kept) for axis, size in enumerate(one.operand))
    numbers: dict[str, Any] = {
        "offset_dims": one.windowed,
        "collapsed_slice_dims": one.dropped,
        "slice_sizes": sizes,
        "start_index_map": one.starting,
        "index_vector_dim": one.vector_dim,
        "operand_batching_dims": one.batching,
        "start_indices_batching_dims": one.batches,
    }
    operand = np.arange(int(np.prod(one.operand)), dtype=np.int32).reshape(one.operand)
    return (
        (lambda a, i: ops.gather(a, i, **numbers)),
        (operand, one.indices),
        gathered(operand, one.indices, **numbers),
    )


def scatter_of(seed: int) -> tuple[Callable[..., Any], tuple[Any, Any, Any], Any]:
    """A scatter, its operands and its result."""
    one = windows(seed)
    numbers: dict[str, Any] = {
        "index_vector_dim": one.vector_dim,
        "update_window_dims": one.windowed,
        "inserted_window_dims": one.dropped,
        "scatter_dims_to_operand_dims": one.starting,
        "input_batching_dims": one.batching,
        "scatter_indices_batching_dims": one.batches,
    }
    rng = np.random.default_rng(seed)
    operand = rng.integers(0, 100, one.operand).astype(np.int32)
    updates = rng.integers(0, 100, one.whole).astype(np.int32)
    combine, plain = COMPUTATIONS[list(COMPUTATIONS)[seed % len(COMPUTATIONS)]]

    def function(a: Any, i: Any, u: Any) -> Any:
        return ops.scatter(a, i, u, combine, **numbers)

    with np.errstate(over="ignore"):
        (expected,) = scattered((operand,), one.indices, (updates,), plain, **numbers)
    return function, (operand, one.indices, updates), expected


@pytest.mark.parametrize("seed", range(300))
def test_gather(seed: int) -> None:
    function, operands, expected = gather_of(seed)
    runs = [run_eager, *([run_uncompiled] if seed < 150 else []), *([run_serial, run_parallel] if seed < 30 else [])]
    for run in runs:
        np.testing.assert_array_equal(run(function, operands), expected)


@pytest.mark.parametrize("seed", range(300))
def test_scatter(seed: int) -> None:
    function, operands, expected = scatter_of(seed)
    runs = [run_eager, *([run_uncompiled] if seed < 150 else []), *([run_serial, run_parallel] if seed < 30 else [])]
    for run in runs:
        np.testing.assert_array_equal(run(function, operands), expected)
