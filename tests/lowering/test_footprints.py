"""Footprints of nests: the bytes that iterations of a launch touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from tests.helpers.kernel_executors import on
from xjit import compile
from xjit.codegen.lowering.kernels.footprints import ENDLESS, NestFootprint, NoFootprintError, footprints
from xjit.machine import processor

X = np.zeros((50, 40))


def of(function: Callable[..., Any], *arguments: Any) -> tuple[NestFootprint, ...]:
    """The footprints of the only kernel of a function."""
    found, leaves = captured(function, *arguments)
    target = on(processor()).inside_time_tiles()
    values = found.guards.fetch(leaves) or ()
    (kernel,) = compile.lower_graph(found.graph, values, found.views, target=target).kernels
    return footprints(kernel[0])


def touched(nest: NestFootprint) -> set[tuple[int, int, int, bool]]:
    return {(one.low, one.high, one.step, one.written) for one in nest.touched}


def test_rows_of_a_stencil() -> None:
    (nest,) = of(lambda x: x[:-2, 1:-1] + x[2:, 1:-1], X)
    assert (nest.first, nest.count) == (0, 48)
    assert touched(nest) == {(0, 38 * 8, 40 * 8, False), (0, 38 * 8, 38 * 8, True)}


def test_elements_that_follow_each_other_are_one_loop() -> None:
    (nest,) = of(lambda x: x + 1.0, X)
    assert nest.count == 2000
    assert touched(nest) == {(0, 8, 8, False), (0, 8, 8, True)}


def test_parts_of_a_result_are_nests_behind_each_other() -> None:
    nests = of(lambda x: np.concatenate([x[:1], x[:-2] + x[2:], x[-1:]]), X)
    assert [nest.first for nest in nests] == [sum(one.count for one in nests[:at]) for at in range(len(nests))]
    assert any(one.step == 0 or one.step == 8 for nest in nests for one in nest.touched if one.written)


def test_what_data_decides_may_lie_anywhere() -> None:
    (nest,) = of(lambda x, y, k: x + np.take(y, k, mode="clip"), X, X[0], np.array(3))
    assert nest.count == 2000
    assert (-8 * ENDLESS, 8 * (ENDLESS + 1), 0, False) in touched(nest)


def test_loops_that_threads_do_not_share_as_rows_have_none() -> None:
    with pytest.raises(NoFootprintError, match="inside of another"):
        of(lambda x, rows: x[rows, 3:] * 2.0, X, np.arange(9))


def test_a_loop_of_unknown_length_has_none() -> None:
    def halved(x: Any) -> Any:
        return xjit.while_loop(lambda y: y.sum() > 1.0, lambda y: y * 0.5, x)

    with pytest.raises(NoFootprintError):
        of(halved, X[0])
