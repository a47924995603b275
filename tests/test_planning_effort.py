"""Effort of planning grows with the program, not with its square: counted in questions asked, not in seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.fusion import groups, reads


def sweeps(count: int) -> Callable[[Any], Any]:
    def relaxed(a: Any) -> Any:
        for _ in range(count):
            inner = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
            a = np.pad(inner, 1)
        return a

    return relaxed


def effort(monkeypatch: pytest.MonkeyPatch, count: int) -> tuple[int, int]:
    """Count the operands looked for and the groups tried to plan so many sweeps."""
    asked = [0, 0]

    def counted(number: int, function: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_call(*args: Any, **kwargs: Any) -> Any:
            asked[number] += 1
            return function(*args, **kwargs)

        return count_and_call

    with monkeypatch.context() as patched:
        patched.setattr(reads, "sources", counted(0, reads.sources))
        patched.setattr(groups.Grouping, "_placement", counted(1, groups.Grouping._placement))
        xjit.jit(sweeps(count)).explain(np.ones((150, 150)))
    return asked[0], asked[1]


def test_stencils_of_stencils_are_planned_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = effort(monkeypatch, 12), effort(monkeypatch, 24)
    # The first guess may look at as many values as a kernel holds before it gives up.
    assert long[0] <= 2 * short[0] + 1_500 and long[1] <= 2.2 * short[1]


def test_all_borders_are_stored_where_stencils_meet() -> None:
    found = xjit.jit(sweeps(24)).explain(np.ones((150, 150)))
    assert len(found.kernels) == 24
    assert sum("no kernel can be cut at its borders" in reason for reason in found.reasons) == 23
