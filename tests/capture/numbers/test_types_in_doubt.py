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
