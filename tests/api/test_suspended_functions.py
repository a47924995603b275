"""Coroutines and generators: awaited and iterated as before, without a body that is begun and given up."""

from __future__ import annotations

import asyncio
import functools
import gc
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning

X = np.arange(3.0)


@pytest.fixture(autouse=True)
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it: what cannot be compiled runs through NumPy."""
    monkeypatch.setenv("XJIT_STRICT", "0")


async def total(x: Any) -> Any:
    await asyncio.sleep(0)
    return np.sin(x).sum()


async def doubled(x: Any) -> Any:
    return x * 2


def multiples(x: Any) -> Iterator[Any]:
    yield from (x * i for i in range(3))


async def later_multiples(x: Any) -> AsyncIterator[Any]:
    for i in range(3):
        await asyncio.sleep(0)
        yield x * i


class Model:
    async def predict(self, x: Any) -> Any:
        return x + 1


def awaits_a_helper(x: Any) -> Any:
    return asyncio.run(doubled(x)) + np.cos(x)


def awaits_its_own(x: Any) -> Any:
    async def inner() -> Any:
        return x * 3

    return asyncio.run(inner()) + np.cos(x)


def outcome(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The result, and the warnings; those of what was never awaited come when it is collected."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = call()
        gc.collect()
    return found, [str(one.message) for one in told]


AWAITED: dict[str, Callable[..., Any]] = {
    "function": total,
    "method": Model().predict,
    "partial": functools.partial(total),
}


@pytest.mark.parametrize("name", AWAITED)
def test_coroutines_are_awaited_as_before(name: str) -> None:
    function, compiled = AWAITED[name], xjit.jit(AWAITED[name])
    expected = asyncio.run(function(X))
    for _ in range(3):
        found, told = outcome(lambda: asyncio.run(compiled(X)))
        np.testing.assert_array_equal(found, expected)
        assert not any("never awaited" in one for one in told), told


@pytest.mark.parametrize("function", [awaits_a_helper, awaits_its_own])
def test_functions_that_run_coroutines(function: Any) -> None:
    compiled = xjit.jit(function)
    for _ in range(3):
        found, told = outcome(lambda: compiled(X))
        np.testing.assert_allclose(found, function(X), rtol=1e-14)
        assert not any("never awaited" in one for one in told), told


def test_generators_are_gone_through_as_before() -> None:
    compiled = xjit.jit(multiples)
    for _ in range(2):
        found, _ = outcome(lambda: list(compiled(X)))
        np.testing.assert_array_equal(found, list(multiples(X)))

    async def all_of(function: Any) -> list[Any]:
        return [one async for one in function(X)]

    found, told = outcome(lambda: asyncio.run(all_of(xjit.jit(later_multiples))))
    np.testing.assert_array_equal(found, asyncio.run(all_of(later_multiples)))
    assert len(told) == 1 and "asynchronous generator" in told[0]


def test_the_reason_names_the_function_and_its_line() -> None:
    with pytest.warns(FallbackWarning) as told:
        asyncio.run(xjit.jit(total)(X))
    text = str(told[0].message)
    assert "total is a coroutine function" in text
    assert f"test_suspended_functions.py:{total.__code__.co_firstlineno}, in total" in text
    assert text.splitlines()[-1].startswith("  fix: compile the functions that its body calls")
    with pytest.raises(CaptureError, match="multiples is a generator"):
        xjit.jit(strict=True)(multiples)(X)


def test_explanations_begin_nothing() -> None:
    compiled = xjit.jit(total)
    for answer in (compiled.explain, compiled.source, compiled.graph):
        found, told = outcome(functools.partial(answer, X))
        assert "total is a coroutine function" in str(found) and not told
