"""Columns and rows at positions whose number only the run knows, systems of these, and searches of lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

TURNS = 6


def columns(A, mask):
    chosen = np.flatnonzero(mask)
    return A[:, chosen], A[2:, chosen], A[..., chosen].sum(axis=0), A[3, chosen], A[chosen, 1], A[::-2, chosen]


def rows_of_three_axes(A, mask):
    B, chosen = A.reshape(4, 10, -1), np.flatnonzero(mask[:10])
    return B[:, chosen, :], B[1, chosen], B[:, chosen, 2], B[1:3, chosen, ::2], B[:, chosen, -1].sum()


def of_limited(A, mask):
    some = A[A[:, 0] > 0.0]
    chosen = np.flatnonzero(mask)
    return some[:, chosen], some[:, [2, 0]], some[1, chosen]


def grids(A, mask):
    chosen = np.flatnonzero(mask)
    part = A[np.ix_(chosen, chosen)]
    return part, A[np.ix_(chosen, np.array([3, 1]))], A[np.ix_(mask, mask)], np.linalg.norm(part)


def systems(A, mask):
    chosen = np.flatnonzero(mask)
    part = A[:, chosen]
    gram, right = part.T @ part, part.T @ A[:, 0]
    return (
        np.linalg.solve(gram, right),
        np.linalg.solve(gram, part.T),
        np.linalg.inv(gram),
        np.linalg.det(gram),
        np.linalg.cholesky(gram),
        np.linalg.eigvalsh(gram),
    )


def least_squares(A, mask):
    chosen = np.flatnonzero(mask)
    found = np.linalg.lstsq(A[:, chosen], A[:, 0] + 1.0, rcond=None)
    wide, *_ = np.linalg.lstsq(A[:5, chosen], A[:5, 0], rcond=None)
    values, residuals, rank, singular = np.linalg.lstsq(A[:, np.append(chosen, chosen[:1])], A[:, 1], rcond=None)
    return (*found, wide, values, residuals, rank, singular)


def pursuit(A, y, tolerance):
    residual, chosen = y.copy(), []
    for _ in range(A.shape[1]):
        best = int(np.argmax(np.abs(A.T @ residual)))
        if best in chosen:
            break
        chosen.append(best)
        part = A[:, chosen]
        c, *_ = np.linalg.lstsq(part, y, rcond=None)
        residual = y - part @ c
        if np.linalg.norm(residual) < tolerance:
            break
    x = np.zeros(A.shape[1])
    x[chosen] = c
    return x, chosen, np.linalg.norm(residual)


def distinct(x):
    seen, pairs = [], []
    for number, value in enumerate(x):
        if value not in seen:
            seen.append(value)
        if (number % 3, value) in pairs:
            continue
        pairs.append((number % 3, value))
    return seen, pairs, 2.0 in seen


def some_or_none(x):
    chosen = x[x > 0.5] if x[0] > 0.0 else np.zeros(3)
    longer = np.flatnonzero(x > 0.0)
    for number in range(TURNS):
        if x[number] > 0.0:
            longer = np.concatenate([longer, longer[:3]])
    return chosen, chosen.sum(), longer


def or_of_other_size(x):
    return (x[x > 0.5] if x[0] > 0.0 else np.arange(300.0)) * 2.0


def _matrix(seed: int, rows: int = 40, wide: int = 12) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=(rows, wide))


def _mask(seed: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed + 50).random(count) < 0.4


def _dictionary() -> tuple[Any, ...]:
    A = _matrix(1, 30, 60)
    A /= np.linalg.norm(A, axis=0)
    return A, A[:, [3, 20, 41]] @ np.array([1.0, -2.0, 0.5]), 1e-9


CASES: dict[str, tuple[Any, list[Any]]] = {
    "columns": (columns, [lambda k=k: (_matrix(k), _mask(k, 12)) for k in range(3)]),
    "rows_of_three_axes": (rows_of_three_axes, [lambda k=k: (_matrix(k), _mask(k, 12)) for k in range(3)]),
    "of_limited": (of_limited, [lambda k=k: (_matrix(k), _mask(k, 12)) for k in range(3)]),
    "grids": (grids, [lambda k=k: (_matrix(k, 12), _mask(k, 12)) for k in range(3)]),
    "systems": (systems, [lambda k=k: (_matrix(k), _mask(k, 12)) for k in range(3)]),
    "least_squares": (least_squares, [lambda k=k: (_matrix(k), _mask(k, 12)) for k in range(3)]),
    "pursuit": (pursuit, [_dictionary]),
    "distinct": (distinct, [lambda k=k: (np.random.default_rng(k).integers(0, 9, 60) * 0.5,) for k in range(2)]),
    "some_or_none": (some_or_none, [lambda k=k: (np.random.default_rng(k).normal(size=100),) for k in range(4)]),
    "or_of_other_size": (or_of_other_size, [lambda k=k: (_matrix(k).ravel()[:100],) for k in range(4)]),
}


def _check(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            _check(one, other)
        return
    if isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if wanted.size > 1 and 1 not in wanted.shape:
            assert found.flags.c_contiguous == wanted.flags.c_contiguous
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_results_are_as_of_numpy(name: str, recwarn: pytest.WarningsRecorder) -> None:
    function, makers = CASES[name]
    compiled = xjit.xjit(function)
    for make in makers:
        _check(compiled(*make()), function(*make()))
    assert not [one for one in recwarn if issubclass(one.category, xjit.errors.FallbackWarning)]


def test_positions_outside_and_singular_systems_raise_as_in_numpy() -> None:
    def outside(A, mask):
        return A[:, np.flatnonzero(mask) + 5]

    def singular(A, mask):
        part = A[:, np.flatnonzero(mask)]
        return np.linalg.solve(np.zeros_like(part.T @ part), part.T @ A[:, 0])

    for function, kind in ((outside, IndexError), (singular, np.linalg.LinAlgError)):
        compiled = xjit.xjit(function)
        with pytest.raises(kind):
            function(_matrix(0), np.ones(12, bool))
        with pytest.raises(kind):
            compiled(_matrix(0), np.ones(12, bool))


def test_a_longer_list_of_positions_gets_room() -> None:
    def doubled(A, limit):
        chosen = []
        total = 0.0
        while total < limit:
            chosen.append(len(chosen) % A.shape[1])
            total = A[:, chosen].sum()
        return chosen, A[:, chosen].sum(axis=1)

    compiled, A = xjit.xjit(doubled), np.full((2, 3), 0.25)
    for limit in (3.0, 200.0, 250.0):
        _check(compiled(A, limit), doubled(A, limit))


def test_bounds_beyond_memory_run_as_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def products(x):
        found = np.flatnonzero(x > 3.0)
        return np.outer(found, found)

    x = np.random.default_rng(0).normal(size=60_000)
    monkeypatch.setenv("XJIT_STRICT", "0")
    with pytest.warns(xjit.errors.FallbackWarning):
        found = xjit.xjit(products)(x)
    _check(found, products(x))
