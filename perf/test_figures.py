"""The figures above single entries as tests; a missed one is measured twice more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from perf.gate import ATTEMPTS
from perf.measuring.bandwidth import measure_bandwidth
from perf.tables.compile_time import measure_compile_time
from perf.tables.entries import measure_entries
from perf.tables.figures import (
    Figure,
    bandwidth_figure,
    compile_figures,
    mean_figures,
    overhead_figures,
    shape_figures,
)
from perf.tables.overhead import measure_overhead
from perf.tables.shapes import measure_shapes


def missed(again: Callable[[], Sequence[Figure]]) -> list[Figure]:
    """Return the figures missed in the last of at most three measurements."""
    found: list[Figure] = []
    for _ in range(ATTEMPTS):
        found = [figure for figure in again() if not figure.met]
        if not found:
            break
    return found


def test_overhead() -> None:
    """One small call is cheap."""
    assert not missed(lambda: overhead_figures(measure_overhead()))


def test_bandwidth() -> None:
    """A chain of large arrays comes near the copy bandwidth."""
    assert not missed(lambda: [bandwidth_figure(measure_bandwidth())])


def test_compile_time() -> None:
    """First calls in a running process are short."""
    assert not missed(lambda: compile_figures(measure_compile_time()))


def test_shapes() -> None:
    """New shapes find the kernels of old ones."""
    assert not missed(lambda: shape_figures(measure_shapes()))


def test_geometric_means(request: pytest.FixtureRequest) -> None:
    """Over all programs, large ones are several times faster than NumPy and faster than JAX."""
    budget = request.config.getoption("--budget")
    assert not missed(lambda: mean_figures(measure_entries(budget)))
