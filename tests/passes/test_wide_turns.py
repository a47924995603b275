"""Turns that reduce arrays which are the same in all of them are taken at once, with the bits that one turn has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import numerics

RNG = np.random.default_rng(21)
BINS = 40
EDGES = np.linspace(0.0, 10.0, BINS + 1)
R = RNG.random((200, 300)) * 10
X = RNG.normal(size=(200, 300))


def ring_mean(x: Any, r: Any, low: Any, high: Any) -> Any:
    return x[(r >= low) & (r < high)].mean()


def ring_means(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        ring = (r >= edges[i]) & (r < edges[i + 1])
        out[i] = x[ring].mean()
    return out


def counts(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS, np.int64)
    for i in range(BINS):
        out[i] = (r > edges[i]).sum()
    return out


def distances(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        out[i] = np.abs(x - edges[i]).min() + i
    return out


def copies(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        apart = np.asfortranarray(x - edges[i])
        out[i] = apart.max()
    return out


def functions(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        out[i] = np.exp(x - edges[i]).sum()
    return out


def deviations(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        mean = (x * edges[i]).mean()
        out[i] = np.abs(x - mean).sum()
    return out


def rows(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        out[i] = (x * edges[i]).max(axis=0)[3]
    return out


def changing(x: Any, r: Any, edges: Any) -> Any:
    out = np.zeros(BINS)
    for i in range(BINS):
        out[i] = (x * edges[i]).sum()
        x = x + 1.0
    return out


def loops_left(function: Callable[..., Any], *arrays: Any) -> int:
    """The number of loops behind the stage that takes turns at once."""
    stages = xjit.jit(function, strict=True).stages(*arrays)
    text = next(text for name in ("batches", "loops", "simplify", "trace") if (text := stages[name]))
    return int(text.count("= while_loop "))


@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (ring_means, 0),
        (counts, 0),
        (distances, 0),
        (copies, 1),
        (functions, 1),
        (deviations, 1),
        (rows, 1),
        (changing, 1),
    ],
)
def test_turns_that_reduce_what_stays_the_same_are_taken_at_once(function: Callable[..., Any], loops: int) -> None:
    np.testing.assert_allclose(xjit.jit(function, strict=True)(X, R, EDGES), function(X, R, EDGES), rtol=1e-12)
    assert loops_left(function, X, R, EDGES) == loops


@pytest.mark.parametrize(
    "layout",
    [
        lambda one: one,
        np.asfortranarray,
        lambda one: one.astype(np.float32),
        lambda one: one[::2, ::3],
        lambda one: one[:20, :20],
        lambda one: one.ravel(),
    ],
    ids=["rows", "columns", "f32", "view", "small", "line"],
)
def test_each_turn_adds_in_the_order_that_it_would_have_alone(layout: Callable[[Any], Any]) -> None:
    x, r = layout(X), layout(R)
    edges = EDGES.astype(r.dtype)
    assert loops_left(ring_means, x, r, edges) == 0
    alone = xjit.jit(ring_mean, strict=True)
    expected = [alone(x, r, edges[i], edges[i + 1]) for i in range(BINS)]
    assert xjit.jit(ring_means, strict=True)(x, r, edges).tolist() == expected


@pytest.mark.parametrize("order", ["ascending", "in pieces", "odd", "f32", "integers"])
def test_what_bounds_leave_out_changes_no_bit(order: str) -> None:
    x, r = X.ravel(), np.sort(R.ravel())
    if order == "in pieces":
        r = r.reshape(100, 600)[np.random.default_rng(5).permutation(100)].ravel()
    elif order == "odd":
        r[::97], r[1::89], r[2::83] = np.nan, np.inf, -np.inf
        r[2000:4000] = np.nan
    r = r.astype({"f32": np.float32, "integers": np.int64}.get(order, np.float64))
    edges = EDGES.astype(r.dtype)
    edges[-1] = 3
    compiled = xjit.jit(ring_means, strict=True)
    with np.errstate(all="ignore"):
        found = compiled(x, r, edges)
    done = str(compiled.explain(x, r, edges))
    assert "SkipBlocks" in done and "SkipGroups" in done
    alone = xjit.jit(ring_mean, strict=True)
    with np.errstate(all="ignore"):
        expected = [alone(x, r, edges[i], edges[i + 1]) for i in range(BINS)]
    np.testing.assert_array_equal(found, expected)


def test_many_chunks_are_added_as_those_of_one_turn() -> None:
    x, r = np.random.default_rng(6).random((2, 900, 1000)) * 10
    alone = xjit.jit(ring_mean, strict=True)
    expected = [alone(x, r, EDGES[i], EDGES[i + 1]) for i in range(BINS)]
    assert xjit.jit(ring_means, strict=True)(x, r, EDGES).tolist() == expected


def test_more_elements_than_a_moment_takes_stay_a_loop() -> None:
    side = 1 + int((numerics.ELEMENTS_OF_TURNS / BINS) ** 0.5)
    large, fewer = (np.broadcast_to(1.0, (side, one)) for one in (side, side - 2))
    assert [loops_left(counts, one, one, EDGES) for one in (large, fewer)] == [1, 0]
