"""Generator functions with conditions that only the run tells, beside Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome
from tests.capture.splits.split_calls import check_split, split
from xjit.capture.rewriting.python_runtime import PythonRuntime
from xjit.capture.rewriting.rewrite import rebuild

rng = np.random.default_rng(1)
X = rng.standard_normal(80)
LINES = {"some": X, "none": -np.ones(80), "all": np.ones(80), "short": X[:4], "empty": np.zeros(0)}


def positive(x: Any) -> Any:
    for v in x:
        if v > 0:
            yield v * 2


def backwards(x: Any, n: int) -> Any:
    while n > 0:
        n -= 1
        if x[n] > 0:
            yield n, x[n]


def several(x: Any) -> Any:
    yield 1.5
    yield from positive(x)
    for v in positive(-x):
        yield v * 1.5


def returns(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += abs(v)
        if total > 9:
            return
        yield total


def a_loop(x: Any) -> Any:
    total = 0.0
    for v in positive(x):
        total += v
    return total, x * 2


def stores(x: Any) -> Any:
    out = np.zeros(len(x))
    for k, v in backwards(x, len(x)):
        out[k] = v
    return out


def jumps(x: Any) -> Any:
    total = 0.0
    for v in positive(x):
        if v > 1:
            continue
        total += v
    return total


def used_up(x: Any) -> Any:
    return sum(positive(x)), sum(1 for _ in positive(x)), sorted(positive(x)), tuple(positive(x))


def filtered(x: Any) -> Any:
    return [v for v in several(x) if v > 1.7], sum(v for v in several(x) if v < 1)


def arrays(x: Any) -> Any:
    return np.array([v for v in positive(x)]), len(list(positive(-x)))  # noqa: C416


def early(x: Any) -> Any:
    total = 0.0
    for v in returns(x):
        total += v
    return total


def prints(x: Any) -> Any:
    def numbers() -> Any:
        for v in x[:4]:
            if v > 0:
                print("gives", float(v))  # noqa: T201
                yield v

    total = 0.0
    for v in numbers():
        total = total + v
        print("has", float(total))  # noqa: T201
    return total


class Owner:
    """Has a generator method, which changes an attribute."""

    def __init__(self) -> None:
        self.given = 0

    def large(self, x: Any) -> Any:
        for v in x:
            if v > 0.5:
                self.given += 1
                yield v

    def total(self, x: Any) -> Any:
        total = 0.0
        for v in self.large(x):
            total += v * self.given
        return total, self.given


COMPILED: list[Callable[..., Any]] = [a_loop, stores, jumps, used_up, filtered, arrays, early, prints]


@pytest.mark.parametrize("function", COMPILED, ids=lambda one: str(one.__name__))
def test_they_are_compiled(function: Callable[..., Any]) -> None:
    check_split(function, X)


def half_consumed(x: Any) -> Any:
    numbers = positive(x)
    return next(numbers), list(numbers)


def left_early(x: Any) -> Any:
    found = 0.0
    for v in positive(x):
        found = v
        if v > 1:
            break
    return found


def consumed_twice(x: Any) -> Any:
    numbers = positive(x)
    return sum(numbers), sum(numbers)


def consumed_in_a_loop(x: Any) -> Any:
    numbers = positive(x)
    counts = []
    for _ in range(3):
        counts.append(sum(1 for _ in numbers))
    return counts


def sent(x: Any) -> Any:
    def averages() -> Any:
        total = 0.0
        while True:
            given = yield total
            if given > 0:
                total += given

    one = averages()
    next(one)
    return [one.send(v) for v in x]


def catches(x: Any) -> Any:
    def careful() -> Any:
        for v in x:
            try:
                if v > 0:
                    yield v
            except ValueError:
                yield -1.0

    return sum(careful())


def fails_in_the_loop(x: Any) -> Any:
    x[:1] = 1.0
    total = 0.0
    for v in positive(x):
        if v > 3:
            raise ValueError("too large")
        total += v
        x[1:2] = total
    return total


def fails_in_the_generator(x: Any) -> Any:
    def careful() -> Any:
        for v in x:
            if v > 1:
                raise KeyError("large")
            yield v

    return sum(careful())


def recursive(x: Any) -> Any:
    def halves(line: Any) -> Any:
        if len(line) <= 1:
            yield from positive(line)
        else:
            yield from halves(line[: len(line) // 2])
            yield line.sum()
            yield from halves(line[len(line) // 2 :])

    return sum(halves(x[:8]))


def side_by_side(x: Any) -> Any:
    return sum(a * b for a, b in zip(positive(x), positive(-x), strict=False))


def lazy(x: Any) -> Any:
    y = x.copy()
    numbers = positive(y)
    y[:] = 1.0
    return sum(numbers)


def changed_parameter(x: Any) -> Any:
    return sum(v for _, v in backwards(x, len(x)) if v < 1), max(k for k, _ in backwards(x, len(x)))


def any_of(x: Any) -> Any:
    return any(v > 2 for v in positive(x)), all(positive(x))


FUNCTIONS: list[Callable[..., Any]] = [
    *COMPILED,
    half_consumed,
    left_early,
    consumed_twice,
    consumed_in_a_loop,
    sent,
    catches,
    fails_in_the_loop,
    fails_in_the_generator,
    recursive,
    side_by_side,
    lazy,
    changed_parameter,
    any_of,
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_generators_are_as_pythons(function: Callable[..., Any], line: str) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            own, theirs = LINES[line].copy(), LINES[line].copy()
            wanted, found = outcome(function, own), outcome(compiled, theirs)
            identical(found, wanted)
            np.testing.assert_array_equal(theirs, own)


def matches(x: Any) -> Any:
    for v in x:
        match int(v):
            case 0:
                yield v
            case 1 | 2 as large:
                yield large
                continue
        yield -v


@pytest.mark.parametrize("function", [positive, several, returns, matches])
def test_rewritten_generators_yield_the_same(function: Any) -> None:
    assert list(rebuild(function, PythonRuntime())(X)) == list(function(X))


def test_methods_that_yield() -> None:
    one, other = Owner(), Owner()
    compiled = xjit.jit(Owner.total)
    with split():
        for _ in range(3):
            identical(compiled(one, X), other.total(X))
            assert one.given == other.given
