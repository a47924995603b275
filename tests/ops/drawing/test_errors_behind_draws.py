"""Errors behind draws of compiled code: generators and arrays are left as NumPy leaves them."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import split

BIT_GENERATORS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


def of_each_turn(rng: Any, x: Any, n: int) -> None:
    for i in range(n):
        x[i] += rng.normal()


def of_two_arrays(rng: Any, x: Any, n: int) -> None:
    y = np.zeros(9)
    for i in range(n):
        y[i] = rng.random()
        x[i] = y[i] + rng.integers(0, n)


def behind_text(rng: Any, x: Any, n: int) -> None:
    print("begin", n)  # noqa: T201
    for i in range(n):
        x[i] = rng.random()


def ahead_of_text(rng: Any, x: Any, n: int) -> float:
    t = rng.random(5)
    s = t[n]
    print("sum", n)  # noqa: T201
    return s + rng.random()


FUNCTIONS = (of_each_turn, of_two_arrays, behind_text, ahead_of_text)


@pytest.fixture(autouse=True)
def not_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")


def outcome(function: Any, rng: Any, n: int) -> tuple[Any, ...]:
    """All that a call leaves: its result or error, its text, the array and the next number of the generator."""
    x, text, result = np.arange(4.0), io.StringIO(), None
    with contextlib.redirect_stdout(text):
        try:
            result = function(rng, x, n)
        except IndexError:
            result = "an IndexError"
    return result, text.getvalue(), x.tolist(), rng.random()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_and_generators_are_as_numpy_leaves_them(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for n in (3, 7, 4, 6, 2):
            rng = np.random.default_rng(n)
            assert outcome(compiled, copy.deepcopy(rng), n) == outcome(function, rng, n)


@pytest.mark.parametrize("kind", BIT_GENERATORS)
def test_every_bit_generator_goes_back(kind: Any) -> None:
    compiled = xjit.jit(of_each_turn)
    with split():
        for n in (3, 700):
            rng = np.random.Generator(kind(n))
            rng.random(3 * n)
            assert outcome(compiled, copy.deepcopy(rng), n) == outcome(of_each_turn, rng, n)


def test_the_stream_of_numpys_module_goes_back() -> None:
    def function(x: Any, n: int) -> None:
        for i in range(n):
            x[i] += np.random.rand()

    compiled, found = xjit.jit(function), list[Any]()
    with split():
        for call in (compiled, function):
            np.random.seed(7)
            x = np.zeros(4)
            for n in (3, 6, 5):
                with contextlib.suppress(IndexError):
                    call(x, n)
            found.append((x.tolist(), np.random.rand()))
    assert found[0] == found[1]
