"""Calls in Python that are not what a trace takes them for: nobody sees that, also behind what happens once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, ndimage

import xjit

SMALL = np.array([1.0, 2.0, 3.0, 4.0])
CALLS = [(SMALL, [0, 1]), (-SMALL, [0, 0]), (SMALL * [-1, 1, 1, -1], [3, -1]), (SMALL, [1, 1])]
"""Arguments of calls: to the lists of one element, or of two, are positions of one, or of two."""


def behind_text(x: Any, at: Any, state: Any) -> Any:
    print("a sum of", x.sum())
    return linalg.sqrtm(np.outer(x, x) + np.diag(x)).sum()


def deleted_twice(x: Any, at: Any, state: Any) -> Any:
    state.append(len(at))
    left = np.delete(x, at)
    return np.delete(left, at[:1] * 0), left.sum()


def in_turns(x: Any, at: Any, state: Any) -> Any:
    total = 0.0
    for value in x:
        root = linalg.sqrtm(np.array([[value, 1.0], [1.0, value]]))
        total = total + abs(root).sum()
        state.append(total)
    return total


def stored_before(x: Any, at: Any, state: Any) -> Any:
    x[0] = -abs(x[0])
    for k in at:
        x[k] += 1.5
        x[2] += linalg.sqrtm(np.array([[x[k], 1.0], [1.0, x[k]]])).real.sum()
    return x.sum()


def arrays_as_entries(x: Any, at: Any, state: Any) -> Any:
    for value in x[..., None]:
        state[1] = max(state[1], value)
    return x + 1


def entries_of_dicts(x: Any, at: Any, state: Any) -> Any:
    best = {"first": 0.0}
    state.append(best)
    for value in x[..., None]:
        best["first"] = max(best["first"], value)
    return best


FUNCTIONS = [behind_text, deleted_twice, in_turns, stored_before, arrays_as_entries, entries_of_dicts]


@pytest.fixture(autouse=True)
def the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_TRIALS", "0")
    monkeypatch.setenv("XJIT_STRICT", "0")


def outcome(function: Callable[..., Any], given: Any, capsys: pytest.CaptureFixture[str]) -> Any:
    """The result, what the arguments are then, and the text."""
    args = copy.deepcopy(given)
    result = function(*args)
    return result, args, capsys.readouterr().out


def assert_equal(found: Any, expected: Any) -> None:
    """Compare results, down to the classes."""
    assert type(found) is type(expected)
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    elif isinstance(expected, dict):
        assert_equal(list(found.items()), list(expected.items()))
    elif isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nobody_sees_what_a_call_was_taken_for(function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for first in range(len(CALLS)):
        compiled = xjit.jit(function)
        for x, at in CALLS[first:] + CALLS[:first]:
            given = (x, np.array(at), [np.inf, -1])
            assert_equal(outcome(compiled, given, capsys), outcome(function, given, capsys))


def test_what_types_decide_stays_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    """The parts around calls of known types are kernels behind a print, too, in loops."""

    def smoothed(x: Any) -> Any:
        for k in range(3):
            print("turn", k)
            x = ndimage.gaussian_filter(x, 1.0) + ndimage.median_filter(x, 3) * 0.5
        return x

    compiled = xjit.jit(smoothed)
    with pytest.warns(xjit.errors.FallbackWarning, match="runs a step in Python"):
        found = compiled(SMALL)
    np.testing.assert_allclose(found, smoothed(SMALL), rtol=1e-12)
    assert "kernel over" in str(compiled.explain(SMALL))


ENTRIES: list[Any] = []


def last_entry(x: Any) -> Any:
    ENTRIES.append(x.sum())
    return ENTRIES[0] + x


@pytest.mark.filterwarnings("ignore")
def test_arrays_that_others_put_into_containers_are_seen_before_the_call() -> None:
    compiled = xjit.jit(last_entry)
    for first in (1.0, np.ones(4), 2.0, np.zeros(4), 3.0):
        ENTRIES[:] = [first]
        found = compiled(SMALL)
        assert len(ENTRIES) == 2
        ENTRIES[:] = [first]
        np.testing.assert_array_equal(found, last_entry(SMALL))
