"""Items that generators choose, and arrays that they shuffle: NumPy's own stream, errors and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

MAKERS = {"new": np.random.default_rng, "old": np.random.RandomState}


def state_of(rng: Any) -> str:
    return repr(rng.get_state() if isinstance(rng, np.random.RandomState) else rng.bit_generator.state)


def means(rng: Any, x: Any) -> Any:
    out = np.empty(100)
    for k in range(100):
        out[k] = rng.choice(x, len(x)).mean()
    return out, [rng.choice(x, size=4, replace=True).max() for _ in range(80)]


def of_kinds(rng: Any, x: Any) -> Any:
    few = np.arange(6, dtype=np.int16)
    signs = rng.choice([-1, 1]), rng.choice((0.5, 2.5)), rng.choice(few, (2, 3)), rng.choice(few)
    return *signs, rng.choice(7), rng.choice(7, ()), rng.choice(7, 3)


def of_no_dimensions(rng: Any, x: Any) -> Any:
    return rng.choice(np.arange(6), ()), rng.choice(x, (), p=x / x.sum())


def by_weights(rng: Any, x: Any) -> Any:
    weights, counts = x / x.sum(), np.zeros(len(x), int)
    for _ in range(300):
        counts[rng.choice(len(x), p=weights)] += 1
    return counts, rng.choice(x, 4, p=weights), rng.choice(3, p=[0.25, 0.5, 0.25]), rng.choice(x, p=weights)


def of_the_run(rng: Any, x: Any) -> Any:
    places, count = np.flatnonzero(x > 0.4), int(x.sum())
    total = 0
    for _ in range(30):
        total += rng.choice(places)
    return total, rng.choice(count), rng.choice(count, 5)


def shuffled(rng: Any, x: Any) -> Any:
    order, half, rows = np.arange(len(x)), x[::2], x[:40].reshape(10, 4) * 1.0
    for k in range(5):
        rng.shuffle(order)
        x[k] += order[0]
    rng.shuffle(half)
    rng.shuffle(rows)
    rng.shuffle(rows[3])
    return order, half.copy(), rows


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("function", [means, of_kinds, of_no_dimensions, by_weights, of_the_run, shuffled])
def test_the_stream_is_numpys(function: Any, name: str) -> None:
    compiled = xjit.jit(function)
    for seed in range(3):
        own, theirs = MAKERS[name](seed), MAKERS[name](seed)
        x = np.random.default_rng(seed).random(50)
        y = x.copy()
        with split():
            check_same(compiled(theirs, y), function(own, x))
        np.testing.assert_array_equal(y, x)
        assert state_of(theirs) == state_of(own)
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize("function", [means, of_kinds, by_weights, of_the_run])
def test_choices_are_no_steps_in_python(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    compiled(np.random.default_rng(1), np.random.default_rng(2).random(50))


def test_rows_are_chosen() -> None:
    def rows(rng: Any, x: Any) -> Any:
        return rng.choice(x), rng.choice(x, 3), rng.choice(x, (2, 2), axis=0)

    compiled, x = xjit.jit(rows, strict=True), np.arange(12.0).reshape(4, 3)
    for seed in range(3):
        check_same(compiled(np.random.default_rng(seed), x), rows(np.random.default_rng(seed), x))


WRONG = [
    (lambda rng, p: rng.choice(3, p=p), np.array([0.5, 0.5, 0.5])),
    (lambda rng, p: rng.choice(3, p=p), np.array([1.5, -0.25, -0.25])),
    (lambda rng, p: rng.choice(3, 2, p=p), np.array([0.5, np.nan, 0.5])),
    (lambda rng, p: rng.choice(4, p=p), np.array([0.5, 0.25, 0.25])),
    (lambda rng, p: rng.choice(int(p.sum()), p=p), np.array([0.5, 0.25, 0.25])),
    (lambda rng, p: rng.choice(int(p.sum())), np.array([0.5, 0.25])),
    (lambda rng, p: rng.choice(np.flatnonzero(p > 1)), np.array([0.5, 0.25])),
    (lambda rng, p: rng.choice(5, 9, replace=False), np.array([0.5])),
]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("place", range(len(WRONG)))
def test_errors_are_numpys(place: int, name: str) -> None:
    choose, p = WRONG[place]

    def function(rng: Any, p: Any) -> Any:
        seen = rng.normal()
        return seen, choose(rng, p)

    compiled = xjit.jit(function)
    for _ in range(2):
        own, theirs = MAKERS[name](4), MAKERS[name](4)
        with pytest.raises(ValueError) as wanted:
            function(own, p)
        with split(), pytest.raises(ValueError) as found:
            compiled(theirs, p)
        assert str(found.value).splitlines()[0] == str(wanted.value)


def drawn_in_comprehensions(rng: Any, x: Any) -> Any:
    few = [v + rng.random() for v in x if rng.random() < v]
    return [x[rng.integers(0, 50, 50)].mean() for _ in range(100)], few, sum(rng.random() < 0.3 for _ in range(200))


def test_comprehensions_that_draw_are_loops() -> None:
    compiled = xjit.jit(drawn_in_comprehensions, strict=True)
    for seed in range(3):
        own, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        x = np.random.default_rng(9).random(50)
        check_same(compiled(theirs, x), drawn_in_comprehensions(own, x))
        assert state_of(theirs) == state_of(own)
    assert len(compiled.graph(np.random.default_rng(1), x).splitlines()) < 200
