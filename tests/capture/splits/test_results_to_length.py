"""Results of as many elements as only the run knows: draws of NumPy's own stream, and arrays of libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_split


def shaken(rng: Any, x: Any) -> Any:
    mask = x > 0.3
    x[mask] += rng.normal(0.0, 0.1, size=mask.sum())
    return x


def shaken_in_turns(rng: Any, x: Any) -> Any:
    for _ in range(40):
        mask = np.abs(x) > 0.2
        x[mask] -= 0.1 * rng.random(np.count_nonzero(mask))
    return x


def walkers(rng: Any, x: Any) -> Any:
    places, alive = np.zeros((len(x), 2), int), x > 0.1
    steps = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
    when = np.full(len(x), -1)
    for turn in range(60):
        count = alive.sum()
        if count == 0:
            break
        places[alive] += steps[rng.integers(0, 4, count)]
        gone = alive & (np.abs(places).max(1) >= 3)
        when[gone] = turn
        alive &= ~gone
    return places, when, alive.mean()


def rows(rng: Any, x: Any) -> Any:
    chosen = x[x > 0.5]
    return chosen[:, None] + rng.uniform(-1.0, chosen.sum(), (len(chosen), 3)), rng.poisson(2.5, size=len(chosen))


def parameters_of_the_run(rng: Any, x: Any) -> Any:
    count = int((x > 0.5).sum())
    return (
        rng.exponential(np.abs(x).max(), count),
        rng.integers(count, count + 5, size=count, endpoint=True),
        rng.random(),
    )


def of_the_old_kind(state: Any, x: Any) -> Any:
    count = (x > 0.5).sum()
    return state.uniform(0.0, 2.0, count), state.randint(0, 9, count), state.random_sample(count)


@pytest.mark.parametrize("function", [shaken, shaken_in_turns, walkers, rows, parameters_of_the_run, of_the_old_kind])
def test_the_stream_is_numpys(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    make = np.random.RandomState if function is of_the_old_kind else np.random.default_rng
    values = np.random.default_rng(3)
    for least in (0.0, 0.0, -1.0, 5.0):
        x = values.random(50) + least
        one, other = make(7), make(7)
        for left, right in zip(function(one, x.copy()), compiled(other, x.copy()), strict=True):
            np.testing.assert_allclose(right, left, rtol=1e-13, atol=1e-15)
        assert one.random() == other.random()


def test_parameters_are_looked_at_where_nothing_is_drawn() -> None:
    def negative(rng: Any, x: Any) -> Any:
        return rng.normal(0.0, x.min(), (x > 5.0).sum())

    for call in (negative, xjit.jit(negative, strict=True)):
        with pytest.raises(ValueError, match="scale < 0"):
            call(np.random.default_rng(1), np.array([-1.0, 2.0]))


SIZES = {
    "zeros": lambda x: np.zeros((x > 0.5).sum()) + 1,
    "rows": lambda x: np.ones((np.count_nonzero(x > 0.5), 2)),
    "filled": lambda x: np.full(int((x > 0.5).sum()), x[0]),
    "typed": lambda x: np.full((x > 0.5).sum(), 3),
    "positions": lambda x: (np.zeros(x.argmax(), np.int8), np.arange(x.argmin())),
    "extremes": lambda x: np.arange((x * 20).astype(np.int8).max()),
    "packed": lambda x: np.bincount(np.arange((x > 0.5).sum()) % 3, minlength=3),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_integers_of_numpys_too(name: str) -> None:
    compiled = xjit.jit(SIZES[name], strict=True)
    for seed in range(4):
        x = np.random.default_rng(seed).random(30) * (seed > 0)
        wanted, found = SIZES[name](x), compiled(x)
        pairs = zip(wanted, found, strict=True) if isinstance(wanted, tuple) else [(wanted, found)]
        for one, other in pairs:
            np.testing.assert_array_equal(other, one)
            assert other.dtype == one.dtype


# Errors behind draws: NumPy does the call, with the state that generators had before


def overflows(rng: Any, x: Any) -> Any:
    value = 3.0
    for _ in range(len(x)):
        value = value**2 + rng.random()
    return value


def divides(rng: Any, x: Any) -> Any:
    return np.array([1.0 / float(one) + rng.uniform() for one in x])


def looks_outside(rng: Any, x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        total += x[2 * k if x[k] == 0 else k]
        total += rng.normal()
    return total


def metropolis(rng: Any, x: Any) -> Any:
    place, weight, taken = 0.0, 0.0, 0
    for one in x:
        other = place + rng.normal(scale=0.5)
        found = -0.5 * other**2 + one * 1e-3
        if np.log(rng.uniform()) < found - weight:
            place, weight = other, found
            taken += 1
    return place, taken


def best_of_each(rng: Any, x: Any) -> Any:
    best, several = [], rng.random(6)
    for _ in range(len(x)):
        several = several[np.argsort(several)]
        best.append(several[0])
        several = np.concatenate([several[:3], rng.random(3)])
    return np.array(best)


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("function", [overflows, divides, looks_outside, metropolis, best_of_each])
@pytest.mark.parametrize("make", [np.random.default_rng, lambda seed: np.random.Generator(np.random.MT19937(seed))])
def test_generators_get_their_state_back(function: Any, make: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for count, zero in ((3, None), (20, 15), (20, None), (4, 3), (30, 2)):
        x = np.arange(1.0, count + 1)
        if zero is not None:
            x[zero - 1] = 0.0
        one, other = make(5), make(5)
        wanted, found = outcome(function, one, x), outcome(compiled, other, x)
        assert type(found) is type(wanted)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert one.random() == other.random()


def test_numbers_of_the_module_are_drawn_again() -> None:
    def total(x: Any, count: Any) -> Any:
        found = 0.0
        for k in range(count):
            found += np.random.rand() * x[k]
        return found

    compiled, x = xjit.jit(total, strict=True), np.arange(5.0)
    for count in (3, 9, 4):
        ends = []
        for call in (total, compiled):
            np.random.seed(3)
            ends.append((outcome(call, x, count), np.random.rand()))
        assert ends[0] == ends[1]


# What libraries return


def unwrapped(x: Any) -> Any:
    mask = x > 0.3
    out = x * 2
    out[mask] = np.unwrap(x[mask] * 9) + 1
    return out, np.unwrap(x[mask]).sum()


def priced(paths: Any) -> Any:
    value = np.maximum(0.6 - paths[-1], 0)
    for t in range(len(paths) - 2, -1, -1):
        below = paths[t] < 0.6
        if below.sum() > 3:
            curve = np.polyfit(paths[t][below], value[below], 2)
            later, now = np.polyval(curve, paths[t][below]), 0.6 - paths[t][below]
            places = np.where(below)[0]
            value[places[now > later]] = now[now > later]
    return value


def of_two_lengths(x: Any) -> Any:
    return np.polymul(x[x > 0.3], x[x < 0.7]) * 2


def shortened(x: Any) -> Any:
    found = np.trim_zeros(np.floor(x[x > 0.1] * 2))
    return found, len(found)


def of_one_shape(x: Any) -> Any:
    line = np.polyfit(x[x > 0.3], x[x > 0.3] ** 2, 1)
    return line[0] * x + line[1]


@pytest.mark.parametrize("function", [unwrapped, of_two_lengths, shortened, of_one_shape])
def test_functions_of_libraries_return_arrays_of_such_lengths(function: Any) -> None:
    for seed in range(3):
        check_split(function, np.random.default_rng(seed).random(40))


def test_what_they_return_is_stored_by_masks() -> None:
    check_split(priced, np.random.default_rng(3).random((6, 50)))


COLUMNS = {
    "ravel": lambda part: part.ravel(),
    "view": lambda part: part.view().ravel(),
    "asfortranarray": np.asfortranarray,
    "unwrap": np.unwrap,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_views_of_few_columns_are_written_to(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(y: Any) -> Any:
        a = int(y.flat[0] < 1)
        found = COLUMNS[name](y[..., a - 1 : a])
        found[1:] = 5.0
        return y.sum(), found

    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for first in (0.0, 2.0, 0.0):
        own = np.array([[first], [1.0], [2.0], [3.0]])
        theirs = own.copy()
        for one, other in zip(compiled(theirs), function(own), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(theirs, own)


def capped(rng: Any, x: Any) -> Any:
    seen = rng.binomial(9, 0.5)
    return seen, rng.binomial(5, min(x.max() * 1.0, 1)), min(float(x[0]), 1), max(1, float(x[1]))


def test_a_minimum_is_of_the_type_of_one_of_its_operands() -> None:
    for x in (np.array([0.25, 0.5]), np.array([1.5, 3.0])):
        check_split(capped, np.random.default_rng(3), x)
