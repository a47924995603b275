"""Functions that raise errors of their own where values tell them to, with calls that do and calls that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = tuple[Any, ...]
CASES: list[tuple[Callable[..., Any], tuple[Call, ...]]] = []


def case(*calls: Call) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function with its calls; each argument that is a function makes one."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, calls))
        return function

    return enter


def fine() -> Any:
    """Positive numbers."""
    return np.arange(1.0, 400.0)


def bad() -> Any:
    """The same with a negative one."""
    x = fine()
    x[7] = -3.0
    return x


def zeros() -> Any:
    """Somewhere to write."""
    return np.zeros(399)


@case((fine,), (bad,))
def guarded(x: Any) -> Any:
    if np.any(x < 0):
        raise ValueError("negative numbers")
    return np.sqrt(x)


@case((fine,), (bad,))
def asserted(x: Any) -> Any:
    assert np.all(x >= 0), f"the least is {x.min()}"
    return np.sqrt(x)


@case((fine,), (bad,))
def asserted_without_words(x: Any) -> Any:
    assert x.min() >= 0
    return np.sqrt(x)


@case((fine,), (bad,))
def raised_in_the_other_arm(x: Any) -> Any:
    if x.min() >= 0:
        y = np.sqrt(x)
    else:
        raise RuntimeError("negative") from ValueError("inner")
    return y


@case((fine,), (bad,))
def raised_at_the_end(x: Any) -> Any:
    if x.min() >= 0:
        return np.sqrt(x)
    raise RuntimeError("negative")


@case((fine, 0.0), (bad, 0.0), (bad, 200.0), (fine, 200.0), (bad, 500.0))
def nested(x: Any, by: float) -> Any:
    y = x + by
    if y.min() < 0:
        raise ValueError("low")
    elif y.max() > 500:
        if y.max() > 800:
            raise KeyError("high") from None
        z = y * 2
    else:
        z = y * 3
    return z


@case((fine, 3.0), (fine, -3.0))
def numbers(x: Any, scale: float) -> Any:
    if scale <= 0:
        raise ValueError(f"scale must be positive, not {scale}")
    return x / scale


def finite(x: Any, name: str) -> Any:
    if not np.all(np.isfinite(x)):
        raise ValueError(name + " is not finite")
    return x


@case((fine, 2.0), (fine, np.nan))
def checked_by_a_helper(x: Any, scale: float) -> Any:
    return finite(x * scale, "x").sum()


def fail(words: str) -> Any:
    raise TypeError(words)


@case((fine,), (bad,))
def raised_by_a_helper(x: Any) -> Any:
    if x.min() < 0:
        fail("negative")
    return x + 1


@case((fine,), (bad,))
def raised_in_an_expression(x: Any) -> Any:
    return fail("negative") if x.min() < 0 else x * 2


@case((fine,), (bad,))
def shapes_that_do_not_fit(x: Any) -> Any:
    y = x * 2
    if x.min() < 0:
        y = x[:3] + x[:4]
    return y


@case((fine,), (bad,))
def caught(x: Any) -> Any:
    try:
        if x.min() < 0:
            raise ValueError("negative")
        y = x + 1
    except ValueError:
        y = np.zeros(3)
    return y


@case((fine,), (bad,))
def with_an_end(x: Any) -> Any:
    found = []
    try:
        found.append(x * 2)
        if found[0].min() < 0:
            found.append(3)
            raise ValueError(found[1])
    finally:
        found.append(x * 3)
    return found


@case((fine,), (bad,))
def nothing_returned(x: Any) -> None:
    if x.min() < 0:
        raise ValueError


@case((fine,), (bad,))
def argument_returned(x: Any) -> Any:
    if x.min() < 0:
        raise ValueError("negative")
    return x, x[3:]


@case((fine, zeros), (bad, zeros))
def stored_ahead(x: Any, out: Any) -> None:
    out[:] = x * 2
    if out.min() < 0:
        raise ValueError("negative")
    out += 1


@case((fine, zeros), (bad, zeros))
def window_stored_ahead(x: Any, out: Any) -> Any:
    out[3:20] = x[3:20] * 2
    x[5:100] = x[5:100] + out[10]
    if x.min() < 0:
        raise ValueError("negative")
    out += 1
    return out.sum()


@case((fine, zeros), (bad, zeros))
def in_a_loop(x: Any, out: Any) -> None:
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"negative at {i}")
        out[i] = np.sqrt(x[i])


@case((fine, zeros), (bad, zeros))
def in_nested_loops(x: Any, out: Any) -> None:
    for i in range(10):
        for j in range(30):
            value = x[i * 30 + j]
            if value < 0:
                raise ValueError((i, j))
            elif value > 200:
                out[i] += value
            else:
                assert value != 77.5
                out[j] -= value


@case((fine, zeros), (bad, zeros))
def arrays_in_a_loop(x: Any, out: Any) -> Any:
    for step in range(100):
        out[1:-1] = 0.5 * (out[2:] + x[:-2])
        if np.any(out < -1):
            raise FloatingPointError(f"diverged at {step}")
    return out


@case((fine, 1e-3), (bad, 1e-3), (fine, -1.0), (fine, 1e-300))
def until_it_converges(x: Any, tolerance: float) -> Any:
    if tolerance <= 0:
        raise ValueError("tolerance")
    error, steps = x.max(), 0
    while error > tolerance:
        error = error / 2
        steps += 1
        if steps > 300:
            raise RuntimeError("no convergence")
        if x[steps] < 0:
            raise ArithmeticError(f"negative at {steps}")
    return steps, error


@case((fine, 5), (fine, -1))
def loop_that_would_not_end(x: Any, n: int) -> Any:
    if n < 0:
        raise ValueError("n")
    total = 0.0
    while n != 0:
        n -= 1
        total += x[n]
    return total


@case((fine, 2), (bad, 2))
def else_of_a_loop(x: Any, k: int) -> Any:
    for i in range(len(x)):
        if x[i] < 0:
            break
    else:
        return x * k
    raise ValueError("found one")


@case((lambda: np.eye(3) + 1, lambda: np.ones(3)), (lambda: np.zeros((3, 3)), lambda: np.ones(3)))
def ahead_of_a_library(a: Any, b: Any) -> Any:
    if np.abs(a).max() == 0:
        raise ValueError("singular")
    return np.linalg.solve(a, b)


@case((fine, lambda: np.arange(3)), (fine, lambda: np.array([1, 900])))
def ahead_of_an_index(x: Any, rows: Any) -> Any:
    if np.any(rows >= len(x)):
        raise ValueError("rows")
    return x[rows]
