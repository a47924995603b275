"""Functions that callers make anew for each call: one trace serves all of the same code that read the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit

X = np.arange(5.0)


def traces_of(function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]], calls: int = 6) -> int:
    """Compares calls with Python's own, and counts the traces."""
    compiled: Any = xjit(function)
    for number in range(calls):
        np.testing.assert_array_equal(compiled(*arguments(number)), function(*arguments(number)))
    traces: int = compiled.stats().traces
    return traces


def applied(x: Any, function: Any) -> Any:
    return function(x) + 1


def test_a_fresh_lambda_is_traced_once() -> None:
    assert traces_of(applied, lambda number: (X, lambda t: t * 2), 100) == 1


def test_defaults_are_compared() -> None:
    assert traces_of(applied, lambda number: (X, lambda t, k=2.5: t * k)) == 1
    assert traces_of(applied, lambda number: (X, lambda t, k=number % 2: t * k if k else t)) == 2


def test_arrays_in_closures_are_read_at_each_call() -> None:
    def arguments(number: int) -> tuple[Any, ...]:
        weights, shift = X * number, 3

        def scaled(t: Any) -> Any:
            return t * weights + shift

        def twice(t: Any, again: Any = True) -> Any:
            return 2 * twice(t, None) if again else scaled(t)

        return X, twice

    assert traces_of(applied, arguments) == 1


def test_numbers_in_closures_that_change_become_inputs() -> None:
    assert traces_of(applied, lambda number: (X, lambda t: t * (number + 0.5))) == 2


def test_functions_in_containers() -> None:
    def both(x: Any, functions: Any) -> Any:
        return functions["a"](x) + functions["b"][0](x)

    assert traces_of(both, lambda number: (X, {"a": lambda t: t * 2, "b": [lambda t: t / 3]})) == 1


def test_other_code_and_other_globals_are_seen() -> None:
    code = compile("f = lambda t: t * FACTOR", "<made>", "exec")

    def made(number: int) -> Any:
        namespace = {"FACTOR": 2.0 + number}
        exec(code, namespace)
        return namespace["f"]

    functions = [made(0), made(1)]
    traces_of(applied, lambda number: (X, functions[number % 2]))
    traces_of(applied, lambda number: (X, (lambda t: t - 1) if number % 2 else (lambda t: t + 1)))


def test_attributes_and_keywords_are_seen() -> None:
    def arguments(number: int) -> tuple[Any, ...]:
        def scaled(t: Any, *, by: float = 2.0 + number) -> Any:
            return t * by * getattr(scaled, "more", 1.0)

        if number % 3 == 2:
            setattr(scaled, "more", 7.0)  # noqa: B010
        return X, scaled

    traces_of(applied, arguments)


def test_functions_of_one_code_stay_apart() -> None:
    def different(x: Any, one: Any, other: Any) -> Any:
        return one(x) * 5 if one is other else one(x) + other(x)

    def made() -> Any:
        return lambda t: t + 1

    def arguments(number: int) -> tuple[Any, ...]:
        one = made()
        return X, one, one if number % 2 else made()

    traces_of(different, arguments)

    def equal(x: Any, one: Any, other: Any) -> Any:
        return one(x) * 5 if one == other else one(x) + other(x)

    traces_of(equal, arguments)


def test_code_outside_calls_the_function_of_this_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def arguments(number: int) -> tuple[Any, ...]:
        weight = number / 3
        return X, lambda t: t - weight

    def root(x: Any, function: Any) -> Any:
        from scipy.optimize import brentq

        return x * brentq(function, -1.0, 3.0)

    traces_of(root, arguments)


def test_changed_code_of_a_function_is_seen() -> None:
    compiled = xjit(applied)

    def changing(t: Any) -> Any:
        return t * 2

    np.testing.assert_array_equal(compiled(X, changing), X * 2 + 1)
    changing.__code__ = (lambda t: t * 3).__code__
    np.testing.assert_array_equal(compiled(X, changing), X * 3 + 1)
