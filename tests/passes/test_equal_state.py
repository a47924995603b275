"""Loops carry one of the numbers that are equal in every turn: lengths of arrays that one mask shortens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit


def orbits(point: Any, steps: int) -> Any:
    """Numbers of steps; points that have left are taken out of the arrays."""
    counts = np.full(point.size, steps)
    index = np.arange(point.size)
    z = np.zeros_like(point)
    for n in range(steps):
        z = z * z + point
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[index[~inside]] = n
        z, point, index = z[inside], point[inside], index[inside]
        if len(z) == 0:
            break
    return counts


def halves(x: Any, y: Any) -> Any:
    """Two arrays that one condition on the first of them shortens, and how many are left."""
    while len(x) > 3:
        kept = x > x.mean()
        x, y = x[kept] - y[kept], y[kept]
    return x, y, len(y)


def crossed(x: Any, y: Any) -> Any:
    """Arrays that change places."""
    for _ in range(40):
        kept = x > -1.0
        x, y = y[kept], x[kept] * 0.5
    return x + y


def apart(x: Any, y: Any) -> Any:
    """Arrays that are shortened by two masks, which happen to choose as many."""
    x, y = x * 1.0, y * 1.0
    for _ in range(30):
        x, y = x[x > -1.0], y[y > -1.0]
    return len(x), len(y), x.sum() + y.sum()


def one_behind(x: Any, least: int) -> Any:
    """Arrays of which one is shortened a turn later."""
    x, y = x * 1.0, x * 2.0
    while len(y) > least:
        x, y = x[x > x.mean()], x
    return len(x), len(y), y.sum()


def numbers(count: int) -> Any:
    return np.random.default_rng(8).standard_normal(count)


def plane(count: int) -> Any:
    return numbers(count) + 1j * numbers(2 * count)[count:]


EQUAL = (
    (orbits, (plane(60), 20), 0),
    (halves, (numbers(200), numbers(300)[100:] * 0.01), 0),
    (crossed, (numbers(70), numbers(140)[70:]), 0),
    (apart, (numbers(60), numbers(60)), 1),
    (one_behind, (numbers(60), 5), 1),
)


def label(value: Any) -> str | None:
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize(("function", "arguments", "more"), EQUAL, ids=label)
def test_values(function: Callable[..., Any], arguments: tuple[Any, ...], more: int) -> None:
    found, wanted = xjit(function, strict=True)(*arguments), function(*arguments)
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(("function", "arguments", "more"), EQUAL, ids=label)
def test_one_length_is_carried_where_all_are_equal(
    function: Callable[..., Any], arguments: tuple[Any, ...], more: int
) -> None:
    texts = {one.name: one.text for one in xjit(function, strict=True).stages(*arguments).reports}
    text = next(filter(None, (texts[name] for name in ("loops", "simplify", "trace"))))
    (before,) = (line for line in texts["trace"].splitlines() if "while_loop" in line)
    (after,) = (line for line in text.splitlines() if "while_loop" in line)
    counts = [int(line.partition("{n=")[2].partition(",")[0].partition("}")[0]) for line in (before, after)]
    assert (counts[1] == counts[0]) == bool(more), text


def test_what_equal_lengths_imply_is_not_looked_at() -> None:
    texts = {one.name: one.text for one in xjit(orbits, strict=True).stages(plane(60), 20).reports}
    assert "could not be broadcast" in texts["trace"] and "boolean index" in texts["trace"]
    assert "could not be broadcast" not in texts["loops"] and "boolean index" not in texts["loops"]
    assert "look_up" in texts["trace"] and "look_up" not in texts["loops"]


def test_lengths_that_differ_raise_numpys_error() -> None:
    def uneven(x: Any, y: Any) -> Any:
        for _ in range(30):
            x, y = x[x > 0.0], y[y > 0.5]
            x = x + y
        return x

    x, y = numbers(60), numbers(60)
    with pytest.raises(ValueError, match="broadcast"):
        uneven(x, y)
    with pytest.raises(ValueError, match="broadcast"):
        xjit(uneven)(x, y)


def test_no_element_is_left() -> None:
    def emptied(x: Any) -> Any:
        y = x * 2.0
        for n in range(50):
            kept = x > 0.1 * n - 1.0
            x, y = x[kept], y[kept] + x[kept]
        return x, y

    for x in (np.full(7, -3.0), numbers(7), np.ones(1)):
        for one, other in zip(xjit(emptied, strict=True)(x), emptied(x), strict=True):
            np.testing.assert_array_equal(one, other)
