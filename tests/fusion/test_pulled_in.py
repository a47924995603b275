"""Stages of tiles that one loop computes in place: the same bits, and no scratch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import KERNEL_EXECUTORS, PROCESSOR, on, small_tiles
from xjit.inspect.explain import Explanation

Array = np.ndarray[Any, Any]

RANDOM = np.random.default_rng(5)
GRID = RANDOM.uniform(0.5, 2.0, size=(13, 19))
WILLING = replace(small_tiles(PROCESSOR), far_bytes=0, tiling_cost=1e9)
AGAIN, SCRATCH = "is computed at each place that reads it", "stays in scratch"


def laplacian(u: Any) -> Any:
    return 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def diffused(u: Any) -> Any:
    """Fluxes between neighbours of a Laplacian, without those that would go up the slope."""
    laplace = laplacian(u)
    down = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    down[down * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0.0] = 0.0
    across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    across[across * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0.0] = 0.0
    return u[2:-2, 2:-2] - 0.1 * (down[1:] - down[:-1] + across[:, 1:] - across[:, :-1])


def biharmonic(u: Any) -> Any:
    return laplacian(laplacian(u))


def root_steps(u: Any) -> Any:
    roots = np.sqrt(u)
    return roots[1:] - roots[:-1]


def padded(u: Any) -> Any:
    """The border is made apart from the rest."""
    around = np.pad(np.sqrt(u), 1, mode="edge")
    return around[2:] - around[:-2]


def running(u: Any) -> Any:
    """Running sums are in scratch, as no element of them is made by itself."""
    sums = np.sqrt(np.cumsum(u, axis=1))
    return sums[1:] - sums[:-1]


PROGRAMS = {one.__name__: one for one in (diffused, biharmonic, root_steps, padded, running)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("run", KERNEL_EXECUTORS.values(), ids=lambda run: str(run.__name__))
def test_bits_are_numpys(run: Any, name: str) -> None:
    for array in (GRID, GRID.astype(np.float32), np.asfortranarray(GRID), GRID[::-1]):
        found, expected = run(PROGRAMS[name], (array,), WILLING), PROGRAMS[name](array)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


def explained(function: Callable[..., Any], array: Array, **numbers: Any) -> Explanation:
    return xjit.jit(function, target=on(replace(PROCESSOR, **numbers))).explain(array)


@pytest.mark.parametrize("name", ["diffused", "biharmonic"])
def test_stages_in_memory_are_one_loop(name: str) -> None:
    found = str(explained(PROGRAMS[name], np.zeros((1800, 1000))))
    assert AGAIN in found
    assert SCRATCH not in found


def test_stages_in_the_cache_stay_in_tiles() -> None:
    found = str(explained(biharmonic, np.zeros((1000, 1000))))
    assert SCRATCH in found
    assert AGAIN not in found


def test_stages_with_much_to_compute_stay_in_tiles() -> None:
    found = str(explained(lambda u: biharmonic(biharmonic(u)), np.zeros((1800, 1000))))
    assert SCRATCH in found


def test_running_sums_stay_in_scratch() -> None:
    found = str(explained(running, GRID, **{field: getattr(WILLING, field) for field in WILLING.__slots__}))
    assert AGAIN not in found
