"""Options of methods and functions of arrays of which only the run knows the size, and some that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError


def part(x: Any) -> Any:
    return x[: int(x.argmax())]


def matrix(x: Any) -> Any:
    return x.reshape(4, 5)[:, : int(x.argmax()) % 4]


AS_NUMPY: list[Callable[..., Any]] = [
    lambda x: part(x).clip(min=0.5),
    lambda x: part(x).clip(max=0.5),
    lambda x: part(x).clip(0.2, max=0.5),
    lambda x: np.clip(part(x), min=0.2, max=0.7),
    lambda x: np.clip(part(x), 0.2, None),
    lambda x: part(x).copy(order="C"),
    lambda x: matrix(x).copy(order="F"),
    lambda x: matrix(x).T.copy("K"),
    lambda x: matrix(x).T.copy(),
    lambda x: np.copy(matrix(x).T),
    lambda x: np.copy(matrix(x), order="F"),
    lambda x: x.reshape(2, 2, 1, 5)[:, :, :, : int(x.argmax()) % 4].transpose(3, 1, 0, 2),
    lambda x: x.reshape(2, 2, 1, 5)[:, :, :, : int(x.argmax()) % 4].transpose((3, 1, -4, 2)),
    lambda x: matrix(x).transpose(),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", range(len(AS_NUMPY)))
def test_options_do_what_numpys_do(number: int, seed: int) -> None:
    function = AS_NUMPY[number]
    x = np.random.default_rng(seed).random(20)
    got, wanted = xjit.jit(function, strict=True)(x), function(x)
    assert got.strides == wanted.strides or not got.size
    np.testing.assert_array_equal(got, wanted)


REFUSED: list[Callable[..., Any]] = [
    lambda x: part(x).clip(0.5, dtype=np.float32),
    lambda x: part(x).clip(0.5, out=part(x)),
    lambda x: part(x).cumsum(out=part(x)),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_options_that_are_not_known_are_refused(number: int) -> None:
    x = np.random.default_rng(0).random(20)
    with pytest.raises(CaptureError):
        xjit.jit(REFUSED[number], strict=True)(x)


WRONG: list[Callable[..., Any]] = [
    lambda x: part(x).sum(foo=None),
    lambda x: part(x).copy(foo=1),
    lambda x: part(x).max(bar=None),
    lambda x: part(x).transpose(0, 1),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_options_that_do_not_exist_are_numpys_errors(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function, x = WRONG[number], np.random.default_rng(0).random(20)
    with pytest.raises((TypeError, ValueError)) as wanted:
        function(x)
    with pytest.raises(wanted.type):
        xjit.jit(function)(x)


def places(x: Any, number: Any) -> Any:
    return np.searchsorted(np.sort(x[x < 0.5]), number), np.interp(number, x[:2], x[x > -1][:2])


@pytest.mark.parametrize("number", [0.25, 1, np.float64(0.5), 0.75])
def test_numbers_among_the_arguments_of_what_numpy_computes(number: Any) -> None:
    compiled = xjit.jit(places, strict=True)
    for seed in (0, 1):
        x = np.random.default_rng(seed).random(20)
        for one in (number, number + 0.25):
            assert compiled(x, one) == places(x, one)
