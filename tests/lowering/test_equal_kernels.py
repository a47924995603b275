"""Kernels of one structure are lowered once, and are what they would be if each were lowered by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.codegen.lowering.kernels import equal_kernels, nests
from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.codegen.text.source import kernel_text
from xjit.fusion.plan import KernelStep
from xjit.ir.node import Node

SWEEPS = 6


def relaxed(a: Any) -> Any:
    for _ in range(SWEEPS):
        a = np.pad(0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]), 1)
    return a


def rolled(a: Any) -> Any:
    for _ in range(SWEEPS):
        a = 0.25 * (np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1))
    return a


def shrinking(a: Any) -> Any:
    for _ in range(SWEEPS):
        a = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    return a


def balanced(a: Any) -> Any:
    for _ in range(SWEEPS):
        a = a / (1.0 + np.sqrt((a * a).sum(axis=0)))
        a = a / (1.0 + np.sqrt((a * a).sum(axis=1, keepdims=True)))
    return a


def shuffled(a: Any) -> Any:
    order = np.argsort(a[:, 0])
    for _ in range(SWEEPS):
        a = np.sort(np.cumsum(np.tanh(a)[order], axis=1)[::-1], axis=1)
    return a


def scaled(a: Any) -> Any:
    """The factors differ, and with them the kernels."""
    for number in range(SWEEPS):
        a = np.pad(a[1:-1, 1:-1] * (number + 1.5) + a[2:, 1:-1], 1)
    return a


def lowered_by(
    monkeypatch: pytest.MonkeyPatch, function: Callable[[Any], Any], argument: Any = None
) -> tuple[int, int]:
    """Return how many kernels a program has, and how many were lowered; each is compared with one that was lowered
    alone.
    """
    counts = [0, 0]
    lower_equal = equal_kernels.EqualKernels.lower

    def lower_counted(*args: Any, **options: Any) -> LoweredKernel:
        counts[1] += 1
        return nests.lower(*args, **options)

    def lower_both(self: equal_kernels.EqualKernels, step: KernelStep, spent: frozenset[Node]) -> LoweredKernel:
        counts[0] += 1
        found = lower_equal(self, step, spent)
        known = self.layouts, self.leaves, self.stored
        alone = nests.lower(step.groups, *known, spent, step.tiling, self.machine, self.varying)
        assert kernel_text(found.kernel) == kernel_text(alone.kernel)
        assert (found.pointers, found.words, found.in_place) == (alone.pointers, alone.words, alone.in_place)
        assert (found.extent, found.work, found.groups) == (alone.extent, alone.work, alone.groups)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(equal_kernels, "lower", lower_counted)
        patched.setattr(equal_kernels.EqualKernels, "lower", lower_both)
        xjit.jit(function).explain(np.ones((40, 50)) if argument is None else argument)
    return counts[0], counts[1]


@pytest.mark.parametrize("function", [relaxed, rolled, balanced, shuffled])
def test_kernels_of_one_structure_are_lowered_once(
    monkeypatch: pytest.MonkeyPatch, function: Callable[[Any], Any]
) -> None:
    kernels, lowered = lowered_by(monkeypatch, function)
    assert lowered < kernels


@pytest.mark.parametrize("function", [scaled, shrinking])
def test_other_numbers_and_other_extents_make_other_kernels(
    monkeypatch: pytest.MonkeyPatch, function: Callable[[Any], Any]
) -> None:
    kernels, lowered = lowered_by(monkeypatch, function)
    assert kernels == lowered > 1


def test_other_strides_make_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def running(arrays: list[Any]) -> list[Any]:
        return [np.cumsum(one, axis=1) for one in arrays]

    whole, other, apart = np.ones((40, 50)), np.ones((40, 50)), np.ones((40, 100))[:, ::2]
    assert lowered_by(monkeypatch, running, [whole, other]) == (2, 1)
    assert lowered_by(monkeypatch, running, [whole, apart]) == (2, 2)


def test_explanations_name_the_arrays_of_each_kernel() -> None:
    found = xjit.jit(relaxed).explain(np.ones((40, 50)))
    assert len(found.kernels) == SWEEPS
    assert len({(one.bytes_read, one.bytes_written) for one in found.kernels}) == 1


def test_results_are_those_of_numpy() -> None:
    for function in (relaxed, rolled, shrinking, balanced, shuffled, scaled):
        a = np.random.default_rng(3).random((40, 50))
        np.testing.assert_allclose(xjit.jit(function)(a), function(a), rtol=1e-12)
