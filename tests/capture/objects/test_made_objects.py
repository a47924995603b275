"""Objects that a call makes and returns."""

from __future__ import annotations

import copy
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from tests.capture.objects.objects_with_state import (
    Frozen,
    Pair,
    Particles,
    Welford,
    check,
)
from xjit import xjit
from xjit.errors import CaptureError


def test_objects_as_results() -> None:
    def f(p: Any, x: Any) -> Any:
        made = Welford(3, x * 2.0, x.sum())
        frozen = Frozen(x + 1.0, 2.0)
        return made, {"again": made, "frozen": frozen}, [Pair(frozen, None)], dataclasses.replace(frozen, b=3.0)

    check(f, Particles, np.arange(4.0), traces=1)


def test_results_are_new_objects_each_time() -> None:
    compiled = xjit(strict=True)(lambda x: Welford(1, x * 2.0, [x]))
    x = np.ones(3)
    one, other = compiled(x), compiled(x)
    assert one is not other
    assert one.mean is not other.mean
    assert one.m2 is not other.m2
    assert one.m2[0] is x
    copied = copy.copy(one)
    assert type(copied) is Welford
    assert copied.mean is one.mean


def test_objects_that_refer_to_each_other() -> None:
    def f(p: Any, x: Any) -> Any:
        p.child = Particles(3)
        p.child.parent, p.child.last = p, p.child
        both = [x, p.child]
        p.child.both, p.both = both, both
        p.table = {"both": both}
        return both

    check(f, Particles, np.arange(3.0), calls=2, traces=2)


def test_init_runs_while_tracing_only() -> None:
    runs = []

    class Counted:
        def __init__(self, x: Any) -> None:
            self.x = x
            self.length = len(x)

        def __init_subclass__(cls) -> None:
            runs.append(cls)

        @functools.cached_property
        def total(self) -> Any:
            return self.x.sum()

    def f(x: Any) -> Any:
        made = Counted(x * 2.0)
        made.total  # noqa: B018
        return made

    found, wanted = xjit(strict=True)(f)(np.arange(3.0)), f(np.arange(3.0))
    assert vars(found).keys() == vars(wanted).keys()
    assert (found.total, found.length, runs) == (6.0, 3, [])


def test_classes_that_make_objects_in_their_own_way_are_refused() -> None:
    class Own:
        def __new__(cls, x: Any) -> Any:
            return object.__new__(cls)

        def __init__(self, x: Any) -> None:
            self.x = x

    with pytest.raises(CaptureError, match="in a way of its own"):
        xjit(strict=True)(lambda x: Own(x))(np.ones(3))
