"""Callbacks that a traced function makes and hands to a library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import xjit
from tests.capture.splits.split_calls import check_same, check_split, split

T = np.linspace(0.0, 4.0, 30)
Y = 2.0 * np.exp(-0.7 * T)
SCALE = 1.0


def fitted(t: Any, y: Any, guess: Any) -> Any:
    weight, limits = y.max(), (0.5, 3.0)

    def error(p: Any, power: Any = t[0] + 2.0) -> Any:
        return (np.abs(SCALE * p[0] * np.exp(-p[1] * t) - y) ** power).sum() / (weight * limits[0])

    found = optimize.minimize(error, guess, method="Nelder-Mead", options={"maxiter": 30})
    return found.x, found.nfev


def solved(start: Any, rate: Any, times: Any) -> Any:
    """Return what a solver makes of a function with control flow, in a function with control flow of the run."""

    def limit(state: Any) -> Any:
        return np.minimum(state, 5.0)

    def slope(t: Any, state: Any) -> Any:
        total = 0.0
        for one in state:
            if one > 0.0:
                total += one
        return -rate * limit(state) + 0.01 * total

    count = 0
    while start[0] > 1.0:
        start = start * 0.5
        count += 1
    found = integrate.solve_ivp(slope, (times[0], times[-1]), start, t_eval=times)
    return found.y.sum(axis=0), count


def rooted(x: Any, factors: Any) -> Any:
    total = 0.0
    for k in range(len(factors)):
        factor = factors[k] + total
        total += optimize.brentq(lambda z: z**3 - factor, 0.0, 9.0)  # noqa: B023
    return total * x


def test_callbacks_read_values_of_the_run() -> None:
    check_split(fitted, T, Y, np.array([1.0, 1.0]))
    check_split(solved, np.array([3.0, 1.0]), 0.3, T)
    check_split(rooted, T, np.array([1.0, 2.0, 3.0]))


def test_other_calls_read_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = xjit.jit(fitted)
    with split():
        for factor in (1.0, 2.0, 0.5):
            monkeypatch.setitem(globals(), "SCALE", factor)
            given = T, factor * Y, np.array([1.0, factor])
            check_same(compiled(*given), fitted(*given))
        assert compiled.stats().fallbacks == 0


def counting(x: Any) -> Any:
    count = 0

    def value(z: Any) -> Any:
        nonlocal count
        count += 1
        return z**2 - x[0]

    return optimize.brentq(value, 0.0, 9.0), count


def listing(x: Any) -> Any:
    seen: list[float] = []

    def value(z: Any) -> Any:
        seen.append(z)
        return z**2 - x[0]

    return optimize.brentq(value, 0.0, 9.0), len(seen)


def writing(x: Any) -> Any:
    scratch = np.zeros(1)

    def value(z: Any) -> Any:
        scratch[0] += 1.0
        return z**2 - x[0]

    return optimize.brentq(value, 0.0, 9.0), scratch


def keeping(x: Any) -> Any:
    rate = x[0]
    solver = integrate.RK45(lambda t, y: -rate * y, 0.0, np.ones(1), 1.0)
    rate = x[1]
    solver.step()
    return solver.y


@pytest.mark.parametrize("function", [counting, listing, writing, keeping])
def test_callbacks_that_change_something_are_numpys(function: Any) -> None:
    compiled, x = xjit.jit(function), np.array([2.0, 3.0])
    with split():
        for _ in range(2):
            check_same(compiled(x), function(x))
        assert compiled.stats().fallbacks > 0
