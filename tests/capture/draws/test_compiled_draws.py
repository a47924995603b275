"""Draws that programs do by NumPy's own routines: its streams to the bit, and its states behind them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import split
from xjit.capture.draws import compiled_draws
from xjit.errors import CaptureError
from xjit.ops.random.numpy_generators import ROUTINES
from xjit.runtime.steps.draw_steps import numpy_draws

BIT_GENERATORS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
LINE = np.linspace(0.5, 3.0, 7)


def check(function: Callable[..., Any], *arguments: Any, steps: int = 0) -> Any:
    """Check that calls give NumPy's bits and states, with so many steps in Python. Returns the compiled function."""
    compiled = xjit.jit(function)
    own, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with split():
        assert steps_of(compiled.graph(*theirs)) == steps
        for _ in range(3):
            check_same(compiled(*theirs), function(*own))
            for one, other in zip(theirs, own, strict=True):
                assert state_of(one) == state_of(other)
    assert compiled.stats().fallbacks == 0
    return compiled


def steps_of(graph: str) -> int:
    """The number of steps in Python, but for tests of conditions."""
    return sum("python_call" in line and "a test of conditions" not in line for line in graph.splitlines())


def check_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else ((found, wanted),):
        assert type(one) is type(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def state_of(value: Any) -> str:
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    return str(value.get_state()) if isinstance(value, np.random.RandomState) else ""


# ---- the streams of all methods

CALLS: dict[str, tuple[Any, ...]] = {
    "random": (),
    "standard_normal": (),
    "standard_exponential": (),
    "standard_cauchy": (),
    "uniform": (-1.5, 2.5),
    "normal": (0.5, 2.0),
    "laplace": (0.5, 2.0),
    "gumbel": (0.5, 2.0),
    "logistic": (0.5, 2.0),
    "lognormal": (0.1, 0.7),
    "exponential": (2.5,),
    "rayleigh": (2.5,),
    "pareto": (3.0,),
    "weibull": (1.5,),
    "power": (1.5,),
    "chisquare": (2.5,),
    "standard_t": (4.0,),
    "gamma": (0.7, 2.0),
    "beta": (0.7, 2.0),
    "f": (3.0, 5.0),
    "wald": (1.0, 2.0),
    "poisson": (12.5,),
    "geometric": (0.2,),
    "binomial": (40, 0.3),
    "integers": (-3, 11),
}
OLD_CALLS: dict[str, tuple[Any, ...]] = {
    "random": (),
    "random_sample": (),
    "uniform": (-1.5, 2.5),
    "binomial": (100, 0.4),
    "randint": (3, 11),
}


def test_every_method_is_tried() -> None:
    names = {f"RandomState.{name}" for name in (*OLD_CALLS, "rand")}
    assert names | CALLS.keys() == compiled_draws.METHODS.keys()
    routines = [one.routine for one in compiled_draws.METHODS.values()]
    used = {name for one in routines for name in ([one] if isinstance(one, str) else one.values())}
    assert used <= ROUTINES.keys()


def draws_of(name: str, numbers: tuple[Any, ...]) -> Callable[[Any], Any]:
    def function(rng: Any) -> Any:
        method = getattr(rng, name)
        return method(*numbers), method(*numbers, size=33), method(*numbers, size=(2, 3)), method(*numbers, size=0)

    return function


@pytest.mark.parametrize("name", CALLS)
def test_methods_draw_numpys_stream(name: str) -> None:
    compiled = xjit.jit(draws_of(name, CALLS[name]))
    for make in BIT_GENERATORS:
        own, theirs = np.random.Generator(make(5)), np.random.Generator(make(5))
        with split():
            for _ in range(2):
                check_same(compiled(theirs), draws_of(name, CALLS[name])(own))
                assert state_of(own).replace("array", "") == state_of(theirs).replace("array", "")
    assert compiled.stats().traces == 1
    assert "python_call" not in str(compiled.graph(theirs))


@pytest.mark.parametrize("name", OLD_CALLS)
def test_old_methods_draw_numpys_stream(name: str) -> None:
    check(draws_of(name, OLD_CALLS[name]), np.random.RandomState(4))


def short_numbers(rng: Any) -> Any:
    own = np.float32
    return rng.random(5, dtype=own), rng.standard_normal(dtype=own), rng.standard_exponential(3, own), rng.random()


def test_numbers_of_32_bits() -> None:
    for make in BIT_GENERATORS:
        check(short_numbers, np.random.Generator(make(1)), steps=1)  # a scalar of 32 bits is a float of Python's


BOUNDS = [
    (0, 2**32 - 1),
    (0, 2**32),
    (0, 2**32 + 1),
    (7, 8),
    (-(2**63), 2**63 - 1),
    (-5, 2**40),
    (10, None),
    (0, 3),
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_integers_within_bounds(low: int, high: int | None) -> None:
    def function(rng: Any) -> Any:
        one, several = rng.integers(low, high), rng.integers(low, high, 5)
        return one, several, rng.integers(low, high, endpoint=True), rng.random(), rng.integers(0, 9, 3)

    for make in (np.random.PCG64, np.random.MT19937):
        check(function, np.random.Generator(make(2)))


# ---- places


def around_pi(rng: Any, count: Any) -> Any:
    inside = 0
    for _ in range(count):
        x, y = rng.random(), rng.uniform(0.0, 1.0)
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside


def walk_until(rng: Any, far: Any) -> Any:
    place, turns = 0.0, 0
    while abs(place) < far:
        place += rng.normal(0.0, 0.5)
        turns += 1
    return place, turns


def draws_in_arms(rng: Any, x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 2.0:
            total += rng.exponential(x[i])
        elif rng.random() < 0.5:
            total -= rng.integers(0, 10)
    return total, rng.standard_normal()


def epidemic(rng: Any, days: Any) -> Any:
    well, ill, seen = 990, 10, []
    for _ in range(days):
        new, gone = rng.binomial(well, 1.0 - np.exp(-0.3 * ill / 1000)), rng.binomial(ill, 0.1)
        well, ill = well - new, ill + new - gone
        seen.append((well, ill))
        if ill == 0:
            break
    return np.array(seen)


def of_trials(rng: Any, x: Any) -> Any:
    shares, counts = x / (1 + x.max()), np.arange(x.size) * 7
    some = (
        rng.binomial(counts, shares),
        rng.binomial(30, shares),
        rng.binomial(counts, 0.25),
        rng.binomial(2**40, 0.5),
    )
    return *some, rng.binomial(0, 0.5), rng.binomial(9, 1.0, (2, 2))


def nested(rng: Any, x: Any) -> Any:
    out = np.zeros((3, len(x)))
    for i in range(3):
        for j in range(len(x)):
            out[i, j] = x[j] * rng.normal() + rng.gamma(x[j])
        out[i] += rng.random(len(x))
    return out


@pytest.mark.parametrize("make", BIT_GENERATORS)
@pytest.mark.parametrize(
    ("function", "argument"),
    [(around_pi, 400), (walk_until, 4.0), (epidemic, 60), (of_trials, LINE), (draws_in_arms, LINE), (nested, LINE)],
)
def test_draws_in_loops_and_branches(function: Any, argument: Any, make: Any) -> None:
    check(function, np.random.Generator(make(3)), argument)


def of_two(one: Any, other: Any) -> Any:
    total = np.zeros(4)
    for _ in range(100):
        total += one.random(4) - other.random(4) * one.normal()
    return total, other.random()


def test_two_generators() -> None:
    check(of_two, np.random.default_rng(1), np.random.Generator(np.random.MT19937(1)))


def test_one_generator_of_two_names() -> None:
    compiled = xjit.jit(of_two)
    one, other, third = (np.random.default_rng(1) for _ in range(3))
    with split():
        compiled(one, np.random.default_rng(2))
        one = np.random.default_rng(1)
        check_same(compiled(one, one), of_two(other, other))
        check_same(compiled(third, third), of_two(*2 * (np.random.default_rng(1),)))
    assert state_of(one) == state_of(other)


def beside_steps(rng: Any, x: Any) -> Any:
    first = rng.random(3)
    mixed = rng.permutation(5)
    last = rng.normal()
    chosen = rng.choice(x, 2, replace=False)
    return first, mixed, last, chosen, rng.integers(0, 100, 3)


def test_between_steps_in_python() -> None:
    check(beside_steps, np.random.default_rng(6), LINE, steps=2)


def test_between_numpys_own_draws() -> None:
    compiled = xjit.jit(around_pi)
    own, theirs = np.random.default_rng(9), np.random.default_rng(9)
    with split():
        for _ in range(3):
            assert compiled(theirs, 50) == around_pi(own, 50)
            assert own.integers(0, 5, 3).tolist() == theirs.integers(0, 5, 3).tolist()
            assert own.random(dtype=np.float32) == theirs.random(dtype=np.float32)


generator = np.random.default_rng(5)


def from_a_global(x: Any) -> Any:
    return x * generator.normal(size=x.shape)


def test_of_a_global() -> None:
    global generator
    compiled = xjit.jit(from_a_global)
    with split():
        for seed in (5, 5, 6):
            generator = np.random.default_rng(seed)
            wanted = from_a_global(LINE)
            generator = np.random.default_rng(seed)
            check_same(compiled(LINE), wanted)
    assert compiled.stats().traces == 1
    assert "python_call" not in str(compiled.graph(LINE))


class Walker:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.step = 0.5

    def walk(self, x: Any) -> Any:
        for _ in range(10):
            x = x + self.step * self.rng.standard_normal(x.size)
        return x


def walked(walker: Any, x: Any) -> Any:
    return walker.walk(x)


def test_of_an_attribute() -> None:
    compiled = xjit.jit(walked)
    own, theirs = Walker(1), Walker(1)
    with split():
        for _ in range(3):
            check_same(compiled(theirs, LINE), walked(own, LINE))
    assert "python_call" not in str(compiled.graph(theirs, LINE))


def makes_one(x: Any, seed: Any) -> Any:
    rng = np.random.default_rng(seed)
    total = x * 0.0
    for _ in range(200):
        total += rng.standard_normal(x.size) * rng.random()
    return total


def test_made_in_the_function() -> None:
    check(makes_one, LINE, 7, steps=1)


def of_the_module(x: Any) -> Any:
    np.random.seed(4)
    y = x * np.random.rand(x.size) + np.random.random()
    return y, np.random.randn(2), np.random.uniform(1.0, 2.0, 3), np.random.randint(0, 5, 4), np.random.rand()


def test_of_numpys_module() -> None:
    check(of_the_module, LINE, steps=2)


# ---- numbers that only the run knows


def by_numbers(rng: Any, x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += rng.normal(x[i], x[i] - 0.5) + rng.uniform(0.0, x[i]) + rng.poisson(x[i])
        total += rng.integers(-2, int(x[i]) + 1)
    return total


def test_numbers_of_the_run() -> None:
    check(by_numbers, np.random.default_rng(3), LINE)


def one_normal(rng: Any, x: Any) -> Any:
    return rng.normal(0.0, x[0])


def one_integer(rng: Any, x: Any) -> Any:
    return rng.integers(0, int(x[0]), 4)


def one_uniform(rng: Any, x: Any) -> Any:
    return rng.uniform(1.0, x[0])


def one_count(rng: Any, x: Any) -> Any:
    return rng.poisson(x[0])


WRONG = [
    *((one_normal, value) for value in (-1.0, -0.0)),
    *((one_integer, value) for value in (0.0, -3.0)),
    *((one_uniform, value) for value in (0.5, np.inf)),
    *((one_count, value) for value in (-1.0, np.nan, 1e19)),
]


@pytest.mark.parametrize(("function", "value"), WRONG)
def test_numbers_that_break_rules(function: Any, value: float) -> None:
    compiled, rng = xjit.jit(function), np.random.default_rng(1)
    with split():
        compiled(rng, np.array([2.0]))
        before = state_of(rng)
        with pytest.raises(Exception) as wanted:
            function(np.random.default_rng(1), np.array([value]))
        with pytest.raises(wanted.type):
            compiled(rng, np.array([value]))
    assert state_of(rng) == before


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_numbers_at_the_edge_of_rules(value: float) -> None:
    compiled, own, theirs = xjit.jit(one_normal), np.random.default_rng(1), np.random.default_rng(1)
    with split():
        compiled(theirs, np.array([2.0]))
        one_normal(own, np.array([2.0]))
        check_same(compiled(theirs, np.array([value])), one_normal(own, np.array([value])))


def with_wrong_scale(rng: Any) -> Any:
    return rng.normal(0.0, -1.0)


def test_known_numbers_that_break_rules() -> None:
    with split(), pytest.raises(ValueError, match="scale < 0"):
        xjit.jit(with_wrong_scale)(np.random.default_rng(1))


# ---- threads and other processes of NumPy


def many(rng: Any) -> Any:
    return rng.random(300_000)


def test_threads_share_a_generator() -> None:
    compiled, rng, found = xjit.jit(many), np.random.default_rng(4), list[Any]()

    def run(function: Any) -> None:
        for _ in range(10):
            found.append(function(rng))

    threads = [threading.Thread(target=run, args=(one,)) for one in (compiled, compiled, many)]
    with split():  # settings are the process's: threads that each change them put them back in another order
        compiled(np.random.default_rng(4))
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    wanted = np.random.default_rng(4).random(300_000 * 30)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.sort(wanted))


def test_numpy_without_its_routines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_draws, "library", lambda: None)
    check(beside_steps, np.random.default_rng(6), LINE, steps=5)


def test_routines_are_found() -> None:
    assert numpy_draws() is not None


def test_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    check(draws_in_arms, np.random.default_rng(3), LINE)
    check(short_numbers, np.random.default_rng(3), steps=1)


def by_arrays(rng: Any, x: Any) -> Any:
    y = np.outer(x, x)
    counts = rng.poisson(y), rng.poisson(3 + np.arange(4))
    return rng.normal(x, 2.0), rng.normal(0.0, x[::2]), rng.uniform(x, x + 1.0, x.size), rng.gamma(y, y), *counts


def test_arrays_of_numbers() -> None:
    check(by_arrays, np.random.default_rng(3), LINE)


def by_other_arrays(rng: Any, x: Any) -> Any:
    return rng.normal(x, 2.0, (3, x.size)), rng.integers(0, np.arange(1, 5)), rng.negative_binomial(5, 0.5, 3)


def test_arrays_of_other_dimensions_are_steps() -> None:
    check(by_other_arrays, np.random.default_rng(3), LINE, steps=3)


def test_strict_functions_draw() -> None:
    own, theirs = np.random.default_rng(3), np.random.default_rng(3)
    check_same(xjit.jit(walk_until, strict=True)(theirs, 3.0), walk_until(own, 3.0))
    assert state_of(own) == state_of(theirs)


def one_number(rng: Any) -> Any:
    return rng.random()


def test_numpy_is_tried_for_short_calls() -> None:
    compiled, own, theirs = xjit.jit(one_number), np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(40):
        assert compiled(theirs) == own.random()
    assert state_of(own) == state_of(theirs)


def test_strict_functions_have_no_steps() -> None:
    with pytest.raises(CaptureError, match="argument rng is used by code that is not compiled"):
        xjit.jit(beside_steps, strict=True)(np.random.default_rng(3), LINE)
