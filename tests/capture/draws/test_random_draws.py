"""Random numbers by steps in Python: the stream of NumPy's generators, bit for bit, and arrays of known types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_split, split

LINE = np.linspace(0.0, 3.0, 40)
generator = np.random.default_rng(5)


def walks(x: Any, rng: Any) -> Any:
    for _ in range(200):
        x = x + rng.normal() * rng.integers(0, 3, size=x.shape)
    return (x,)


def samples(x: Any, rng: Any) -> Any:
    return x * rng.random(x.shape), rng.choice(x, 3), rng.permutation(5), rng.normal(x, 2.0)


def old_samples(x: Any, rng: Any) -> Any:
    return x * rng.random_sample(x.shape), rng.choice(x, 3), rng.randn(3), rng.randint(5)


def makes_one(x: Any) -> Any:
    rng = np.random.default_rng(3)
    return x * rng.standard_normal(x.size)


def of_the_module(x: Any) -> Any:
    np.random.seed(4)
    return x * np.random.randn(x.size) + np.random.rand()


@pytest.mark.parametrize(
    ("function", "make"),
    [(walks, np.random.default_rng), (samples, np.random.default_rng), (old_samples, np.random.RandomState)],
)
def test_arguments_draw_their_stream(function: Any, make: Any) -> None:
    compiled = xjit.jit(function)
    own, theirs = make(7), make(7)
    with split():
        for _ in range(3):
            for one, other in zip(compiled(LINE, theirs), function(LINE, own), strict=True):
                np.testing.assert_array_equal(one, other)
                assert type(one) is type(other)
        compiled(LINE, make(8))
        assert compiled.stats().traces == 1  # another generator is served by the same program
        assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize("function", [makes_one, of_the_module])
def test_own_and_global_state(function: Any) -> None:
    check_split(function, LINE)


def from_a_global(x: Any) -> Any:
    return x * generator.normal(size=x.shape)


def test_globals_draw_their_stream() -> None:
    compiled = xjit.jit(from_a_global)
    with split():
        for _ in range(3):
            state = generator.bit_generator.state
            wanted = from_a_global(LINE)
            generator.bit_generator.state = state
            np.testing.assert_array_equal(compiled(LINE), wanted)


def test_draws_have_types_while_tracing() -> None:
    with split():
        lines = xjit.jit(samples).graph(LINE, np.random.default_rng(1)).splitlines()
        steps = [line for line in lines if "python_call" in line]
        assert any("s64[5]" in step for step in steps)


def shuffles(x: Any, rng: Any) -> Any:
    y = x * 2
    rng.shuffle(y)
    return y


def shuffles_a_list(x: Any, rng: Any) -> Any:
    order = [0, 1, 2, 3]
    rng.shuffle(order)
    return x[order]


@pytest.mark.parametrize(("function", "fallbacks"), [(shuffles, 0), (shuffles_a_list, 2)])
def test_lists_are_not_shuffled_by_steps(function: Any, fallbacks: int) -> None:
    compiled = xjit.jit(function)
    with split():
        for seed in (1, 2):
            wanted = function(LINE, np.random.default_rng(seed))
            np.testing.assert_array_equal(compiled(LINE, np.random.default_rng(seed)), wanted)
    assert compiled.stats().fallbacks == fallbacks


def counts_by_argument(rng: Any, n: Any, bound: Any) -> Any:
    total = np.zeros(n)
    for _ in range(100):
        total += rng.uniform(0.0, 1.0, n) + rng.standard_normal((n,))
    return total, rng.integers(0, bound)


def sums_by_argument(rng: Any, n: Any, bound: Any) -> Any:
    out = np.zeros(4)
    for t in range(4):
        out[t] = rng.standard_normal(n).sum()
    return out, rng.integers(0, bound)


@pytest.mark.parametrize("function", [counts_by_argument, sums_by_argument])
def test_sizes_may_be_arguments(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for n in (5, 5, 6, 7):
            found = compiled(np.random.default_rng(2), n, 9)
            wanted = function(np.random.default_rng(2), n, 9)
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
            assert found[1] == wanted[1]


def of_integers_of_numpy(rng: Any, n: Any) -> Any:
    return rng.normal(size=n)


def of_results(rng: Any, n: Any) -> Any:
    return rng.normal(size=n // 2)


@pytest.mark.parametrize("function", [of_integers_of_numpy, of_results])
def test_sizes_may_be_integers_of_numpy(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for n in (0, 2, 2, 1, 5):
            found = compiled(np.random.default_rng(2), np.int64(n))
            wanted = function(np.random.default_rng(2), np.int64(n))
            np.testing.assert_allclose(found, wanted, rtol=1e-13, strict=True)


def evolved(rng: Any, n: Any, turns: int) -> Any:
    people = rng.uniform(-5, 5, (n, 3))
    best = np.sum(people**2, axis=1)
    for _ in range(turns):
        for i in range(n):
            a, b, c = people[rng.choice(n, 3, replace=False)]
            found = np.where(rng.random(3) < 0.9, a + 0.8 * (b - c), people[i])
            if np.sum(found**2) < best[i]:
                people[i], best[i] = found, np.sum(found**2)
    return people, best


def summed(rng: Any, n: Any, turns: int) -> Any:
    total = 0.0
    for _ in range(turns):
        total += rng.choice(n, 3, replace=False)[0]
    return total, rng.permutation(n)


@pytest.mark.parametrize("function", [evolved, summed])
def test_steps_of_turns_are_one_body(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for n in (12, 12, 13):
            found = compiled(np.random.default_rng(2), n, 40)
            wanted = function(np.random.default_rng(2), n, 40)
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, strict=True)
        assert str(compiled.explain(np.random.default_rng(2), 12, 40)).count("choice") <= 2  # one may be peeled


def test_the_state_of_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read and set in order with the draws around it."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")

    def drawn(x: Any, rng: Any) -> Any:
        first = rng.normal(size=3)
        state = rng.bit_generator.state
        second = rng.normal(size=3) * x
        rng.bit_generator.state = state
        return first, second, rng.normal(size=3) * x, state["state"]["inc"], rng.random()

    compiled = xjit.jit(drawn)
    for seed in (1, 2, 1):
        one, other = np.random.default_rng(seed), np.random.default_rng(seed)
        for _ in range(2):
            expected, found = drawn(np.arange(3.0), one), compiled(np.arange(3.0), other)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b)
            assert one.bit_generator.state == other.bit_generator.state
    assert compiled.stats().fallbacks == 0
