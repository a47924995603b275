"""Functions that a compiled function defines: their control flow is captured like its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def called_in_a_loop(x: Any) -> Any:
    def size(v: Any) -> Any:
        if v > 0:
            return v
        return -v

    total = 0.0
    for i in range(len(x)):
        total += size(x[i])
    return total


def made_in_a_loop(x: Any) -> Any:
    functions = []
    for k in range(3):

        def scaled(v: Any, k: int = k) -> Any:
            if v > k:
                return v * k
            return v

        functions.append(scaled)
    return [one(x[3]) for one in functions]


def with_variables_of_functions_around(x: Any) -> Any:
    count = 0

    def outer(v: Any) -> Any:
        def inner(w: Any) -> Any:
            nonlocal count
            if w > 1:
                count += 1
                return w * 2
            return w

        return inner(v) + inner(v + 1)

    return outer(x[1]), count


def assigning_in_a_loop(x: Any) -> Any:
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        if v > 0:
            total = total + v

    for i in range(len(x)):
        add(x[i])
    return total


def that_calls_itself(x: Any) -> Any:
    def grown(v: Any, turns: int) -> Any:
        if turns == 0:
            return v
        if v > 10:
            return v
        return grown(v * 3, turns - 1)

    return grown(x[1], 5)


def that_writes(x: Any) -> Any:
    sums = np.zeros(3)

    def add(k: int, v: Any) -> None:
        if v > 0:
            sums[k] += v

    for k in range(3):
        add(k, x[k])
    return sums


def that_takes_a_lambda(x: Any) -> Any:
    def root(function: Callable[[Any], Any], v: Any) -> Any:
        turns = 0
        while abs(function(v)) > 1e-9 and turns < 50:
            v = v - function(v) / (2 * v)
            turns += 1
        return v, turns

    return root(lambda v: v * v - x[2] if v > 0 else v, 3.0)


def with_defaults(x: Any) -> Any:
    def clipped(v: Any, low: float = 0.0, *, high: float = 2.0) -> Any:
        if v < low:
            return low
        if v > high:
            return high
        return v

    return clipped(x[3]) + clipped(x[0] - 1) + clipped(x[1], high=0.5)


def that_raises(x: Any) -> Any:
    def checked(v: Any) -> Any:
        if v > 100:
            raise ValueError(f"larger than {100}")
        return v

    return checked(x[2]) + checked(x[1])


FUNCTIONS = (
    called_in_a_loop,
    made_in_a_loop,
    with_variables_of_functions_around,
    assigning_in_a_loop,
    that_calls_itself,
    that_writes,
    that_takes_a_lambda,
    with_defaults,
    that_raises,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_control_flow_of_inner_functions_is_captured(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for x in (np.arange(4.0), np.array([3.0, -1.0, 0.5, 2.0]), np.linspace(-1.0, 1.0, 200)):
        assert repr(compiled(x)) == repr(function(x))


def test_errors_of_inner_functions_are_their_own() -> None:
    compiled = xjit.jit(that_raises, strict=True)
    compiled(np.arange(4.0))
    with pytest.raises(ValueError, match="larger than 100") as raised:
        compiled(np.array([0.0, 200.0, 1.0]))
    assert raised.traceback[-1].name == "checked"


def test_two_lambdas_on_a_line_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def function(x: Any) -> Any:
        one, other = (lambda v: v if v > 0 else 0.0), (lambda v: v if v > 1 else 1.0)
        return one(x[0]) + other(x[1])

    compiled = xjit.jit(function)
    x = np.arange(3.0)
    with pytest.warns(UserWarning, match="not known while tracing"):
        assert compiled(x) == function(x)


def counted_in_a_loop(x: Any) -> Any:
    count = 0

    def seen(v: Any) -> Any:
        nonlocal count
        count += 1
        return v + count

    y = x.copy()
    for i in range(len(x)):
        y[i] = seen(x[i])
    return count, y


def counted_in_a_loop_of_another_function(x: Any) -> Any:
    count = 0

    def seen(v: Any) -> Any:
        nonlocal count
        count += 1
        return v

    def twice(v: Any) -> Any:
        return seen(v) + seen(v)

    y = x.copy()
    _each(y, [twice])
    return count, y


def _each(y: Any, functions: list[Callable[[Any], Any]]) -> None:
    for i in range(len(y)):
        y[i] = functions[0](y[i])


def counted_in_expressions(x: Any) -> Any:
    count = 0

    def seen(v: Any) -> Any:
        nonlocal count
        count += 1
        return v > 1

    y = x[1] if x[0] > 0 and seen(x[2]) else 0.0
    z = x[1] if x[0] <= 0 or seen(x[1]) else 0.0
    return count, y, z


def counted_by_vectorize(x: Any) -> Any:
    count = 0

    def seen(v: float) -> float:
        nonlocal count
        count += 1
        return v * count

    return np.vectorize(seen)(x), count


ASSIGNING = (
    counted_in_a_loop,
    counted_in_a_loop_of_another_function,
    counted_in_expressions,
    counted_by_vectorize,
)


@pytest.mark.parametrize("function", ASSIGNING, ids=lambda one: one.__name__)
def test_what_calls_assign_is_carried(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for x in (np.arange(4.0), np.array([3.0, -1.0, 2.5, 2.0]), np.linspace(-1.0, 1.0, 200)):
        assert repr(compiled(x)) == repr(function(x))


def counted_until_one_is_found(x: Any) -> Any:
    count = 0

    def seen(v: Any) -> Any:
        nonlocal count
        count += 1
        return v > 1

    return any(seen(v) for v in x), count


def counted_in_a_body(x: Any) -> Any:
    count = 0

    def body(i: Any, total: Any) -> Any:
        nonlocal count
        count += 1
        return total + x[i]

    return xjit.fori_loop(0, 100, body, 0.0), count


@pytest.mark.parametrize("function", [counted_until_one_is_found, counted_in_a_body], ids=lambda one: one.__name__)
def test_calls_that_only_the_run_counts_are_left_to_numpy(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x = np.linspace(-1.0, 2.0, 100)
    compiled = xjit.jit(function)
    with pytest.warns(UserWarning, match="runs through NumPy"):
        assert compiled(x) == function(x)
