"""Dicts and sets whose keys are text that the run chooses."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

LINES = [(np.random.default_rng(seed).normal(size=size),) for seed, size in enumerate((150, 400, 300))]


def label(v: Any) -> str:
    return "high" if v > 1 else "low" if v < -1 else "mid"


def counts(x: Any) -> Any:
    found: dict[str, int] = {}
    for v in x:
        name = "high" if v > 1 else "low" if v < -1 else "mid"
        found[name] = found.get(name, 0) + 1
    return found


def by_helpers(x: Any) -> Any:
    found: dict[str, float] = {}
    for v in x:
        name = label(v)
        if name not in found:
            found[name] = 0.0
        found[name] += v
    return len(found), "mid" in found, "none" in found, found["low"] < 0


def known_names(x: Any) -> Any:
    found: dict[str, int] = {}
    for v in x:
        if v > 0:
            found["above"] = found.get("above", 0) + 1
        else:
            found["below"] = found.get("below", 0) + 1
    return found


def members(x: Any) -> Any:
    found = set()
    for v in x:
        found.add("a" if v > 2 else "b" if v > 1 else "c")
    return len(found), "a" in found, found


def transitions(x: Any) -> Any:
    state, found = "idle", {}
    for v in x:
        following = state
        if state == "idle" and v > 1:
            following = "up"
        elif state == "up" and v < 0:
            following = "idle"
        found[(state, following)] = found.get((state, following), 0) + 1
        state = following
    return found


def most_frequent(x: Any) -> Any:
    found: dict[str, int] = {}
    for v in x:
        name = label(v)
        found[name] = found.get(name, 0) + 1
    return max(found, key=found.get), [name for name, count in found.items() if count > 60], sum(found.values())


@pytest.mark.parametrize("function", [counts, by_helpers, known_names, members, transitions, most_frequent])
def test_keys_are_numbers_of_texts(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for one in LINES:
        assert compiled(*one) == function(*one)


def test_absent_text_is_an_error_of_pythons() -> None:
    def absent(x: Any) -> Any:
        found = {}
        for v in x:
            found["high" if v > 1 else "low"] = v
        return found["none"]

    compiled = xjit.jit(absent)
    with split(), pytest.raises(KeyError, match="none"):
        compiled(*LINES[0])


def test_default_dicts_of_text() -> None:
    def sums(x: Any) -> Any:
        found: dict[str, float] = collections.defaultdict(float)
        for v in x:
            found[label(v)] += v
        return found["high"], len(found)

    compiled = xjit.jit(sums)
    with split():
        for one in LINES:
            check_same(compiled(*one), sums(*one))


def test_text_and_numbers_as_keys() -> None:
    def mixed(x: Any) -> Any:
        found: dict[Any, int] = {}
        for v in x:
            found["high" if v > 1 else "low"] = 1
            found[int(v)] = 2
        return found

    compiled = xjit.jit(mixed)
    with split():
        for one in LINES:
            assert compiled(*one) == mixed(*one)
