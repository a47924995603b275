"""Errors behind assignments to attributes of the caller's objects, where something was printed or drawn before."""

from __future__ import annotations

import contextlib
import io
import types
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import split


def behind_text(one: Any, x: Any, n: int) -> None:
    print("begin", n)  # noqa: T201
    one.kept = x
    one.kept = x[n]


def ahead_of_text(one: Any, x: Any, n: int) -> None:
    one.kept = n
    one.other = x + 1
    print("end", n)  # noqa: T201
    one.other = x[n] + 1


def in_turns(one: Any, x: Any, n: int) -> None:
    for i in range(n):
        print("turn", i)  # noqa: T201
        one.kept = x[i] * 2


def behind_draws(one: Any, x: Any, n: int) -> None:
    one.kept = np.random.rand()
    one.other = x[n]


def of_places_known_before(one: Any, x: Any, n: int) -> None:
    print("begin", n)  # noqa: T201
    y = x[n]
    one.kept = y
    one.other = y + 1


FUNCTIONS = (behind_text, ahead_of_text, in_turns, behind_draws, of_places_known_before)


def outcome(function: Any, n: int) -> tuple[Any, ...]:
    """The error of a call, its text, the attributes of the object, and the next number of NumPy's stream."""
    one, text, error = types.SimpleNamespace(kept=-1.0), io.StringIO(), None
    np.random.seed(3)
    with contextlib.redirect_stdout(text):
        try:
            function(one, np.arange(4.0), n)
        except IndexError:
            error = "an IndexError"
    found = {name: np.asarray(value).tolist() for name, value in vars(one).items()}
    return error, text.getvalue(), found, np.random.rand()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_was_assigned_stays(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for n in (3, 6, 2, 7, 7):
            assert outcome(compiled, n) == outcome(function, n)


def test_what_fails_ahead_of_all_assignments_is_compiled() -> None:
    compiled = xjit.jit(of_places_known_before)
    with split():
        outcome(compiled, 3)
        outcome(compiled, 6)
        assert compiled.stats().fallbacks == 0
