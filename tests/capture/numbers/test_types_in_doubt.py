"""Types of what is made of numbers that are Python's behind one way of a branch, and NumPy's behind the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

USES: dict[str, Callable[[Any], Any]] = {
    "root": lambda s: np.sqrt(s),
    "root of the size": lambda s: np.sqrt(abs(s)) * 2,
    "size": lambda s: (abs(s), np.abs(s)),
    "operators": lambda s: (s * 2, s + s, -s, s**2, 1.0 - s, s // 1, s % 1, 2 / s),
    "functions": lambda s: (np.add(s, s), np.maximum(s, 0.5), np.floor(s), np.hypot(s, 1)),
    "comparisons": lambda s: (s > 1, s == s, not s > 1, (s > 1) & (s < 3)),
    "quotient and rest": lambda s: divmod(s, 1),
    "rounded": lambda s: (round(s, 2), round(s)),
    "parts": lambda s: (s.real, s.imag, s.conjugate()),
    "class": lambda s: (type(s).__name__, s.__class__.__name__, isinstance(s, np.floating), isinstance(s, float)),
    "text": lambda s: (repr(s), str(s), f"{s:.3f}"),
    "math": lambda s: (math.sqrt(s), float(s), int(s), complex(s), bool(s)),
    "extremes": lambda s: (max(s, 0.5), min(abs(s), 9)),
    "containers": lambda s: {"s": s, "t": [s, (s,)]},
}


def types(value: Any) -> Any:
    """The types of a value, and of what it holds."""
    if isinstance(value, dict):
        return {key: types(one) for key, one in value.items()}
    return [types(one) for one in value] if isinstance(value, list | tuple) else type(value)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in flat(one)] if isinstance(value, list | tuple) else [value]


def same(found: Any, wanted: Any) -> bool:
    pairs = zip(flat(found), flat(wanted), strict=True)
    return types(found) == types(wanted) and all(
        one == other if isinstance(one, str) else bool(np.isclose(one, other, rtol=1e-14)) for one, other in pairs
    )


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("use", USES)
def test_behind_a_branch(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")

    def chosen(x: Any) -> Any:
        s = float(x[0] + 0.25)
        if x[1] < 0:
            s = x[2]
        return USES[use](s)

    compiled = xjit.jit(chosen)
    for x in ([1.5, 1.0, 2.5], [1.5, -1.0, 2.5], [0.25, 1.0, 0.5], [1.5, -1.0, 0.75]):
        assert same(compiled(np.array(x)), chosen(np.array(x))), x


@pytest.mark.parametrize(
    "use", ["root", "root of the size", "operators", "functions", "comparisons", "quotient and rest"]
)
def test_behind_a_loop(use: str) -> None:
    def summed(x: Any) -> Any:
        s = 0.75
        for value in x:
            if value > 0:
                s = s + value
        return USES[use](s)

    compiled = xjit.jit(summed, strict=True)
    for x in (np.array([1.5, -1.0]), np.array([-1.0, -2.0]), np.zeros(0), np.array([2.0])):
        assert same(compiled(x), summed(x)), x


def test_steps_in_python_get_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def told(x: Any, seen: Any) -> Any:
        s = float(x[0])
        if x[1] < 0:
            s = x[2]
        seen.append(repr(s))
        return x * 2

    compiled = xjit.jit(told)
    own: list[str] = []
    others: list[str] = []
    with pytest.warns(xjit.errors.FallbackWarning):
        for second in (1.0, -1.0, 1.0):
            x = np.array([1.5, second, 2.5])
            compiled(x, own)
            told(x, others)
    assert own == others


X32 = np.arange(3, dtype=np.float32)
OF_INTEGERS: dict[str, Callable[[Any], Any]] = {
    "made": lambda s: (np.full(3, s), np.arange(s + 3), np.array([s, 1]), np.asarray([[s]]), np.atleast_1d(s)),
    "chosen": lambda s: (np.where(X32 > 0, s, 0), np.select([X32 > 0], [s], 1)),
    "joined": lambda s: (np.stack([s, s]), np.concatenate([X32, [s]]), np.append(X32, s)),
    "repeated": lambda s: (np.repeat(s, 3), np.tile(s, 3), np.broadcast_to(s, 3)),
    "reduced": lambda s: (np.sum([s, 1]), np.max([s, 1]), np.add.reduce([s, s]), np.sort([s, 1])),
    "limited": lambda s: (np.clip(X32, s, 5), X32.clip(s, 9), np.full_like(X32, s)),
    "element by element": lambda s: (np.minimum(s, 3), np.abs(s), np.square(s), np.add(s, 1), np.negative(s)),
    "with options": lambda s: (np.add(s, 1, where=True), np.add(s, 1, dtype=float)),
    "with integers": lambda s: (np.add(np.arange(3), s), np.ones(3, int).dot(s)),
}


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("use", OF_INTEGERS)
def test_functions_of_an_integer_or_a_float(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")

    def smallest(x: Any) -> Any:
        s = 0
        for v in x:
            s = min(s, v)
        return OF_INTEGERS[use](s)

    compiled = xjit.jit(smallest)
    for x in ([3.0, 4.0], [-1.0, 2.0], [5.0]):
        found, wanted = compiled(np.array(x)), smallest(np.array(x))
        assert [one.dtype for one in found] == [one.dtype for one in wanted]
        assert repr(found) == repr(wanted)
