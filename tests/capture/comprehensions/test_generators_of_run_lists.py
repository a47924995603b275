"""Functions of generators over lists, dicts and sets that only the run knows: elements and conditions count."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def _counts(x: Any) -> Any:
    found: dict[int, int] = {}
    for v in x:
        found[int(v)] = found.get(int(v), 0) + 1
    return found


def _large(x: Any) -> Any:
    return [int(v) for v in x if v > 1]


USES: dict[str, Callable[[Any], Any]] = {
    "keys that a condition chooses": lambda x: sorted(k for k, v in _counts(x).items() if v > 2),
    "keys of items": lambda x: sorted(k for k, v in _counts(x).items()),
    "pairs the other way round": lambda x: sorted((v, k) for k, v in _counts(x).items()),
    "negative keys": lambda x: sorted(-k for k in _counts(x)),
    "keys by their size": lambda x: sorted(k for k in _counts(x) if k > 2),
    "a list": lambda x: list(k for k, v in _counts(x).items() if v > 2),  # noqa: C400
    "a list of a list": lambda x: list(-v for v in _large(x) if v > 2),  # noqa: C400
    "a list in order": lambda x: sorted(-v for v in _large(x) if v > 2),
    "first numbers of pairs": lambda x: sorted(a for a, _ in [(int(v), 2.0) for v in x if v > 1] if a > 2),
    "an array": lambda x: np.array(sorted(k for k, v in _counts(x).items() if v > 1)),
    "a sum": lambda x: sum(-v for v in _large(x) if v > 2),
    "all items": lambda x: (sorted(_large(x)), sorted(_counts(x)), sum(_large(x))),
}


@pytest.mark.parametrize("use", USES)
def test_like_python(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    function = USES[use]

    def called(x: Any) -> Any:
        return function(x)

    compiled = xjit.jit(called)
    for seed in (0, 1, 0):
        x = np.random.default_rng(seed).integers(0, 6, 20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
            found, wanted = compiled(x), called(x)
        assert repr(found) == repr(wanted)
