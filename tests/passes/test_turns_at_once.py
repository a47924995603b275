"""Independent turns are taken at once: with the bits of the loop, where each turn touches only what is its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

N = 400
X = np.random.default_rng(11).random(N) * 4 - 1
TABLE = np.random.default_rng(12).random((N, 3))
K = np.random.default_rng(13).integers(0, N, N)


def elements(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.sin(x[i]) * 2 + x[i]
    return out


def branches(x: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.5:
            out[i] = x[i] * 2
        elif x[i] > 0:
            out[i] -= np.exp(x[i])
    return out


def changed_in_place(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * x[i] + i
        x[i] -= 1.5
    return x


def shifted(x: Any) -> Any:
    out = np.ones(len(x) + 5)
    for i in range(2, len(x) - 3):
        out[i + 1] = x[i - 2] + x[i + 3] * 0.5
    return out


def counted(x: Any) -> Any:
    count, total, last = 0, np.int64(5), -1.0
    for i in range(len(x)):
        if x[i] > 0:
            count += 1
        total += i * i
        last = x[i] * 2
    return count, total, last


def looked_up(x: Any, k: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[k[i]] - x[i]
    return out


def columns(t: Any) -> Any:
    out = np.zeros((len(t), 2))
    for i in range(len(t)):
        out[i, 0] = t[i, 2] + t[i, 0]
        out[i, 1] = np.sqrt(t[i, 1]) * out[i, 0]
    return out


def narrow(k: Any) -> Any:
    out, total = np.zeros(len(k), np.int16), k[0]
    for i in range(len(k)):
        out[i] = (i * 3) % 100
        total += k[i]
    return out, total


def newton(x: Any) -> Any:
    out = np.empty_like(x)
    steps = 0
    for i in range(len(x)):
        y = x[i] + 2.0
        while True:
            step = (y * y - x[i] - 2.0) / (2.0 * y)
            y -= step
            steps += 1
            if abs(step) < 1e-12:
                break
        out[i] = y
    return out, steps


def halved(x: Any) -> Any:
    roots = np.empty_like(x)
    for k in range(len(x)):
        a, b = -10.0, 10.0
        for _ in range(60):
            middle = 0.5 * (a + b)
            if b - a < 1e-9:
                break
            if middle * middle * middle + middle > x[k]:
                b = middle
            else:
                a = middle
        roots[k] = middle
    return roots


def together(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        s = 0.0
        for j in range(40):
            s = s * x[i] * 0.25 + j
        out[i] = s
    return out


def walked(x: Any, k: Any) -> Any:
    out = np.zeros(len(k), np.int64)
    for i in range(len(k)):
        at, steps = i, 0
        while x[at] > 0.0 and steps < 7:
            at = k[at]
            steps += 1
        out[i] = steps
    return out


def nested(x: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        total, a = 0.0, abs(x[i])
        while a < 3.0:
            b = a
            while b < 4.0:
                b += 0.75
                total += b
            a += 0.5
        out[i] = total
    return out


def prefixes(x: Any) -> Any:
    out, total = np.empty_like(x), 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total
    return out


def neighbours(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1] * 0.5
    return x


def numbered(x: Any) -> Any:
    out, count = np.zeros(len(x), np.int64), 0
    for i in range(len(x)):
        if x[i] > 0:
            count += 1
        out[i] = count
    return out


def scattered(x: Any, k: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[k[i]] = x[i]
    return out


def twice(x: Any) -> Any:
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        out[i] = x[i]
        out[i + 1] = x[i] * 2
    return out


def summed(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i])
    return total


def remembered(x: Any) -> Any:
    out, before = np.zeros_like(x), 0.0
    for i in range(len(x)):
        out[i] = x[i] - before
        before = x[i]
    return out


# The function, its arrays, and how many loops are left.
CASES = [
    (elements, (X,), 0),
    (branches, (X,), 0),
    (changed_in_place, (X,), 0),
    (shifted, (X,), 0),
    (counted, (X,), 0),
    (looked_up, (X, K), 1),
    (columns, (TABLE,), 0),
    (narrow, (K.astype(np.int8),), 0),
    (newton, (X,), 1),
    (halved, (X,), 1),
    (together, (X,), 1),
    (walked, (X, K), 2),
    (nested, (X,), 3),
    (prefixes, (X,), 1),
    (neighbours, (X,), 1),
    (numbered, (X,), 1),
    (scattered, (X, K), 1),
    (twice, (X,), 1),
    (summed, (X,), 1),
    (remembered, (X,), 1),
]


@pytest.mark.parametrize(("function", "arrays", "loops"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_independent_turns_are_taken_at_once(
    function: Callable[..., Any], arrays: tuple[Any, ...], loops: int
) -> None:
    compiled = xjit.jit(function, strict=True)
    with np.errstate(all="ignore"):
        expected = function(*(one.copy() for one in arrays))
    found = compiled(*(one.copy() for one in arrays))
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (expected, found)), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_max_ulp(np.asarray(one, float), np.asarray(other, float), 2)
    stages = compiled.stages(*(one.copy() for one in arrays))
    text = next(text for name in ("batches", "loops", "simplify", "trace") if (text := stages[name]))
    assert text.count("= while_loop ") == loops
