"""Runs of kernels: a single one where nothing needs Python meanwhile, and what runs hand to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.programs.steps_of_programs import steps
from xjit.runtime.spec import CallStep, RunStep


def chosen_and_more(x: Any) -> tuple[Any, Any]:
    chosen = x[x > 0.5]
    return chosen, np.cumsum(chosen)


def repeated(values: Any, counts: Any) -> tuple[Any, Any]:
    found = np.repeat(values, counts)
    return found, np.cumsum(found)


def between(x: Any) -> Any:
    sums = np.cumsum(np.cumsum(x)[::-1])
    return np.linalg.eigvalsh(np.outer(sums, sums)) + np.cumsum(sums)


X = np.random.default_rng(3).random(40)
COUNTS = np.random.default_rng(4).integers(0, 5, 40)


@pytest.mark.parametrize(("function", "operands"), [(chosen_and_more, (X,)), (repeated, (X, COUNTS))])
def test_results_are_cut_behind_all_kernels(function: Callable[..., Any], operands: tuple[Any, ...]) -> None:
    kinds = [type(step) for step in steps(function, *operands)]
    assert kinds.count(RunStep) == 1
    runs = kinds.index(RunStep)
    assert CallStep not in kinds[:runs]
    for found, wanted in zip(xjit.jit(strict=True)(function)(*operands), function(*operands), strict=True):
        np.testing.assert_allclose(found, wanted)
        assert found.shape == wanted.shape


def test_a_run_keeps_to_itself_what_no_other_one_reads() -> None:
    found = steps(between, X)
    runs = [step for step in found if isinstance(step, RunStep)]
    assert len(runs) > 1
    read = {slot for step in found for slot in step.inputs}
    for run in runs[:-1]:
        assert set(run.results) <= read
    np.testing.assert_allclose(xjit.jit(between)(X), between(X))


def test_small_kernels_beside_a_loop_of_unknown_length_are_light() -> None:
    def halved(x: Any) -> Any:
        y, turns = x + 1, 0
        while y[0] > 1:
            y = y / 2
            turns += 1
        return np.cumsum(y), turns

    (run,) = [step for step in steps(halved, X) if isinstance(step, RunStep)]
    assert run.heavy
    assert {kernel.light for kernel in run.kernels if kernel.resumed} == {False}
    assert {kernel.light for kernel in run.kernels if not kernel.resumed} == {True}


def test_large_kernels_are_not_light() -> None:
    (run,) = [
        step for step in steps(lambda x: np.sin(x) + np.sin(x[::-1]), np.ones(1_000_000)) if isinstance(step, RunStep)
    ]
    assert {kernel.light for kernel in run.kernels} == {False}
