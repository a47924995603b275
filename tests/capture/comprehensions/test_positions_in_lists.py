"""Entries of Python's lists at positions that only the run knows: as in Python, compiled whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

RNG = np.random.default_rng(5)
LINES = (RNG.random(60), RNG.random(60), np.zeros(3))


def element(x: Any) -> Any:
    numbers = [3, 1, 2]
    return numbers[int(x[0] * 3)], numbers[-1 - int(x[1] * 3)]


def moved(x: Any) -> Any:
    moves = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    a = b = 0
    for v in x:
        da, db = moves[int(v * 4)]
        a += da
        b += db
    return a, b


def counted(x: Any) -> Any:
    counts = [0] * 10
    for v in x:
        counts[int(v * 10)] += 1
    return counts, sum(counts)


def of_floats(x: Any) -> Any:
    sums = [0.0 for _ in range(4)]
    for v in x:
        sums[int(v * 4)] -= float(v)
    return sums


def swapped(x: Any) -> Any:
    order = list(range(6))
    for k in range(5):
        p = int(x[k % len(x)] * (5 - k)) + k
        order[k], order[p] = order[p], order[k]
    return order


def stored(x: Any) -> Any:
    last = [-1, -1, -1]
    for i, v in enumerate(x):
        last[int(v * 3)] = i
        last[-1 - int(v * 3)] -= 1
    return last


def in_a_branch(x: Any) -> Any:
    state = [1, 2, 3]
    k = int(x[0] * 3)
    if x[1] > 0.5:
        state[k] = state[(k + 1) % 3]
    return state


def known(x: Any) -> Any:
    rows = [x[:3] * 1.0, x[:3] + 1.0]
    for i in range(2):
        rows[i] += float(i)
        rows[i - 1], rows[i] = rows[i], rows[i - 1]
    return rows


def of_numpys_numbers(x: Any) -> Any:
    basis = list(range(3, 8))
    for k in range(len(x) - 3):
        basis[int(x[k] * 5)] = np.argmax(x[k : k + 3])
    out = np.zeros(9)
    for number, place in enumerate(basis):
        out[place] += number
    return basis, out, basis[int(x[1] * 5)] + 1


COMPILED = [element, moved, counted, of_floats, swapped, stored, in_a_branch, known, of_numpys_numbers]


@pytest.mark.parametrize("function", COMPILED, ids=lambda one: str(one.__name__))
def test_entries_at_positions_of_the_run(function: Callable[[Any], Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for x in (*LINES, LINES[0]):
        assert repr(compiled(x.copy())) == repr(function(x.copy()))


def beyond(x: Any) -> Any:
    counts = [0] * 4
    for v in x:
        counts[int(v * 5)] += 1
    return counts


def of_two_types(x: Any) -> Any:
    mixed = [1, 2.5, "a"]
    mixed[int(x[0] * 2)] = 7
    return mixed, mixed[int(x[1] * 3)]


def of_lists(x: Any) -> Any:
    rows = [[0] * 3 for _ in range(3)]
    rows[int(x[0] * 2)][1] += 1
    return rows


def outcome(function: Callable[[Any], Any], x: Any) -> str:
    try:
        return repr(function(x))
    except IndexError as error:
        return repr(error)


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [beyond, of_two_types, of_lists], ids=lambda one: str(one.__name__))
def test_what_python_does(function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for x in (LINES[0] * 0.7, LINES[0], LINES[1], LINES[2]):
        assert outcome(compiled, x) == outcome(function, x)
