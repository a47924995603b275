"""Comprehensions and generators whose conditions only the run tells, beside Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome
from tests.capture.splits.split_calls import check_split, split
from xjit import CaptureError

rng = np.random.default_rng(0)
LINES = {
    "some": rng.standard_normal(100),
    "none": -np.ones(100),
    "all": np.ones(100),
    "short": rng.standard_normal(5),
    "integers": rng.integers(-9, 9, 100),
    "narrow": rng.standard_normal(100).astype(np.float32),
    "not a number": np.where(rng.random(100) < 0.3, np.nan, rng.standard_normal(100)),
    "empty": np.zeros(0),
}


def elements(x: Any) -> Any:
    return [v for v in x if v > 0]


def doubled(x: Any) -> Any:
    found = [v * 2 for v in x if v > 0]
    return len(found), found


def places(x: Any) -> Any:
    return [i for i in range(len(x)) if x[i] > 0.5]


def pairs(x: Any) -> Any:
    return [(i, v, "name") for i, v in enumerate(x) if v > 0 if v < 1]


def python_numbers(x: Any) -> Any:
    return [float(v) for v in x if v > 0], [v > 0.2 for v in x if v > 0], [1 for v in x if v > 0]


def of_two(x: Any) -> Any:
    return [a - b for a, b in zip(x, x[::-1], strict=True) if a > b]


def a_set(x: Any) -> Any:
    return {int(v) for v in x if v > 0}


def a_dict(x: Any) -> Any:
    return {i: float(v) for i, v in enumerate(x) if v > 0}


def used(x: Any) -> Any:
    found = [float(v) for v in x if v > 0]
    total = 0.0
    for v in found:
        total += v
    y = x * total
    return y, len(found), bool(found)


def changed(x: Any) -> Any:
    found = [float(v) for v in x if v > 0]
    before = len(found)
    found.append(7.0)
    other = found
    other.insert(0, 9.0)
    return before, len(found), np.array(found), found, found[0], found[-1]


def changed_in_a_branch(x: Any) -> Any:
    found = [float(v) for v in x if v > 0]
    if x.sum() > 0:
        found.append(1.0)
    return len(found), found


def same_list(x: Any) -> Any:
    one = [float(v) for v in x if v > 0]
    two = [float(v) for v in x if v > 0]
    both = one
    both.append(1.0)
    return one, both, two


def sums(x: Any) -> Any:
    return sum(v for v in x if v > 0), sum(1 for v in x if v > 0), sum([v for v in x if v > 0])


def truths(x: Any) -> Any:
    return any(v > 2 for v in x), all(v > -5 for v in x if v < 3), any(v > 9 for v in x if v > 0)


def ordered(x: Any) -> Any:
    return sorted(v for v in x if v > 0), tuple(v for v in x if v > 0), frozenset(int(v) for v in x if v > 0)


def walrus(x: Any) -> Any:
    return [y for v in x if (y := v * 2) > 0]


def of_a_branch(x: Any) -> Any:
    return [v if v < 1 else -v for v in x if v > 0]


def of_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        total += sum(v * k for v in x if v > k)
    return total


def inner(x: Any) -> Any:
    def f(v: Any) -> Any:
        return np.sqrt(v) if v > 0.5 else v

    return [f(v) for v in x if v > 0]


def printed(x: Any) -> Any:
    found = [v for v in x if v > 0]
    print(found)  # noqa: T201
    return len(found), x * 2


FUNCTIONS: list[Callable[..., Any]] = [
    elements,
    doubled,
    places,
    pairs,
    python_numbers,
    of_two,
    a_set,
    a_dict,
    used,
    changed,
    changed_in_a_branch,
    same_list,
    sums,
    truths,
    ordered,
    walrus,
    of_a_branch,
    of_a_loop,
    inner,
    printed,
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_comprehensions_are_as_pythons(function: Callable[..., Any], line: str) -> None:
    compiled = xjit.jit(function)
    x = LINES[line]
    with split():
        for _ in range(2):
            identical(compiled(x.copy()), function(x.copy()))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_they_are_compiled(function: Callable[..., Any]) -> None:
    check_split(function, LINES["some"])


ROWS = rng.standard_normal((20, 6))
ROWS[::3] = 0.0


def of_rows(y: Any) -> Any:
    return [row.sum() for row in y if row.any()], [float(row[0]) for row in y if (row > 0).all()]


def rows_as_array(y: Any) -> Any:
    return np.array([row * 2 for row in y if row.any()]), len([row for row in y if row.any()])


def rows_in_list(y: Any) -> Any:
    found = [row * 2 for row in y if row.any()]
    return found, len(found)


def through_numpy(y: Any) -> Any:
    x = y[:, 0]
    found = [float(v) for v in x if v > 0]
    return np.mean(found), np.array(found, dtype=np.float32), np.sin(found), x.sum() * np.array(found), max(found)


def through_functions(y: Any) -> Any:
    def clipped(line: Any) -> Any:
        return [v for v in line if abs(v) < 1]

    def depth(n: int, line: Any) -> Any:
        return sum(clipped(line)) if n == 0 else depth(n - 1, line * 0.9)

    return depth(3, y[1]), np.array(clipped(y[2])).sum()


@pytest.mark.parametrize("function", [of_rows, rows_as_array, rows_in_list, through_numpy, through_functions])
def test_rows(function: Callable[..., Any]) -> None:
    compiled = check_split(function, ROWS)
    with split():
        identical(compiled(ROWS), function(ROWS))


def test_rows_of_a_list_are_apart() -> None:
    found = xjit.jit(rows_in_list)(ROWS)[0]
    found[0][:] = 5.0
    np.testing.assert_array_equal(found[1], rows_in_list(ROWS)[0][1])


def test_views_in_a_list_are_those_of_the_caller() -> None:
    def views(y: Any) -> Any:
        return [row for row in y if row.any()]

    with split():
        y = ROWS.copy()
        xjit.jit(views)(y)[0][:] = 3.0
    assert (y[1] == 3.0).all()


def test_two_names_are_one_list() -> None:
    with split():
        one, both, two = xjit.jit(same_list)(LINES["some"])
    assert one is both
    assert one is not two


class Filter:
    """Has a property, and a method that counts its calls."""

    def __init__(self, least: float) -> None:
        self.least, self.calls = least, 0

    @property
    def twice(self) -> float:
        return 2 * self.least

    def passes(self, v: Any) -> Any:
        self.calls += 1
        return v > self.twice

    def chosen(self, x: Any) -> Any:
        return [v for v in x if self.passes(v)], sum(v for v in x if v > self.twice)


def test_methods_with_state() -> None:
    one, other = Filter(0.2), Filter(0.2)
    compiled = xjit.jit(Filter.chosen)
    with split():
        for _ in range(3):
            identical(compiled(one, LINES["some"]), other.chosen(LINES["some"]))
            assert one.calls == other.calls


def seen(x: Any) -> Any:
    known: Any = []
    found = [v for v in x if v > 0 and not known.append(1)]
    return len(known), len(found)


def counted(x: Any) -> Any:
    count = 0

    def positive(v: Any) -> Any:
        nonlocal count
        count += 1
        return v > 0

    return sum(v for v in x if positive(v)), count


def goes_on(x: Any) -> Any:
    def numbers() -> Any:
        yield 1.0
        print("between")  # noqa: T201
        yield from x[:3]

    return [v for v in numbers() if v > 0.5]


def changes_what_it_goes_through(x: Any) -> Any:
    found = [float(v) for v in x if v > 0]
    steps = 0
    for _ in found:
        steps += 1
        if steps < 5:
            found.append(1.0)
    return steps, found


def half_consumed(x: Any) -> Any:
    numbers = (v for v in x if v > 0)
    return next(numbers), sum(numbers)


@pytest.mark.parametrize("function", [seen, counted, goes_on, changes_what_it_goes_through, half_consumed])
@pytest.mark.parametrize("line", LINES)
def test_states_are_as_pythons(function: Callable[..., Any], line: str) -> None:
    x = LINES[line]
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            identical(outcome(compiled, x), outcome(function, x))


def first_and_largest(x: Any) -> Any:
    found = [float(v) for v in x if v > 0]
    return found[0], max(v for v in x if v > 0), min(float(v) for v in x if v > 0)


def divides(x: Any) -> Any:
    return [1.0 / (float(v) - 1.0) for v in x if v > 0]


def array_of_none(x: Any) -> Any:
    return np.array([i for i, v in enumerate(x) if v > 0])


def raises_in_the_middle(x: Any) -> Any:
    def checked(v: Any) -> Any:
        if v > 2:
            raise ValueError("too large")
        return v

    x[0] = 7.0
    return [checked(v) for v in x[1:] if v > 0]


@pytest.mark.parametrize("function", [first_and_largest, divides, array_of_none, raises_in_the_middle])
@pytest.mark.parametrize("line", [one for one in LINES if one != "empty"])
def test_errors_are_as_pythons(function: Callable[..., Any], line: str) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            own, theirs = LINES[line].copy(), LINES[line].copy()
            identical(outcome(compiled, own), outcome(function, theirs))
            np.testing.assert_array_equal(own, theirs)


def few_behind_a_write(x: Any) -> Any:
    x[0] = 5.0
    few = [3.0, x[1], -2.0]
    return [v * 2 for v in few if v > x[2]]


@pytest.mark.parametrize("limit", [0.0, 10.0, -5.0])
def test_few_elements_are_filtered_behind_a_write_to_an_argument(limit: float) -> None:
    x, y = np.array([1.0, 2.0, limit]), np.array([1.0, 2.0, limit])
    with split():
        identical(xjit.xjit(few_behind_a_write)(x), few_behind_a_write(y))
    np.testing.assert_array_equal(x, y)


def filtered_in_one_arm(x: Any) -> Any:
    found: list[Any] = []
    if x[0] > 0:
        found = [i for i, v in enumerate(x) if v > 0]
    return found


def test_a_list_that_only_one_arm_filters_is_refused_in_words() -> None:
    with pytest.raises(CaptureError, match="found is"):
        xjit.xjit(filtered_in_one_arm, strict=True)(LINES[next(iter(LINES))])
