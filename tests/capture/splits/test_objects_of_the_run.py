"""Objects that only the run makes: asked by `is`, by their class, by attributes that may be missing."""

from __future__ import annotations

import io
import operator
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

box: Any = queue.SimpleQueue()
LINE = np.arange(4.0)


def through(value: Any) -> Any:
    """The value as the run gets it back from outside."""
    box.put(value)
    return box.get()


def is_none(x: Any, value: Any) -> Any:
    found = through(value)
    if found is None:
        x = x + 1
    return x * 2


def is_not_none(x: Any, value: Any) -> Any:
    return x * 2 if through(value) is not None else x


def by_function(x: Any, value: Any) -> Any:
    found = through(value)
    return isinstance(found, int), isinstance(found, (np.ndarray, str)), callable(found), hasattr(found, "shape")


def by_class(x: Any, value: Any) -> Any:
    found = through(value)
    return type(found) is int, type(found) == int, found.__class__ is float  # noqa: E721


def by_match(x: Any, value: Any) -> Any:
    match through(value):
        case None:
            return x + 1
        case int():
            return x + 2
    return x


def with_default(x: Any, value: Any) -> Any:
    return getattr(through(value), "nothing", 3), np.isscalar(through(value)), repr(through(value))


def itself(x: Any, value: Any) -> Any:
    return operator.is_(through(value), None), x


@pytest.mark.parametrize(
    "function",
    [is_none, is_not_none, by_function, by_class, by_match, with_default, itself],
    ids=lambda one: one.__name__,
)
@pytest.mark.parametrize("value", [None, 3, "text", LINE], ids=lambda value: type(value).__name__)
def test_what_an_object_is(function: Callable[..., Any], value: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            check_same(compiled(LINE, value), function(LINE, value))
    assert box.empty()


@pytest.mark.parametrize("function", [is_none, is_not_none, by_function, with_default])
def test_what_is_split(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function)
    with split():
        compiled(LINE, 3)
    assert compiled.stats().traces == 1 and compiled.stats().fallbacks == 0


def sized(x: Any, rng: Any) -> Any:
    count = 0
    while x[count] < 2:
        count += 1
    return rng.random(count), np.round(x, count)


def test_sizes_of_the_run() -> None:
    compiled = xjit.jit(sized)
    with split():
        for line in (LINE, LINE * 2, LINE):
            check_same(compiled(line, np.random.default_rng(1)), sized(line, np.random.default_rng(1)))


def entered(x: Any) -> Any:
    with io.StringIO() as file:
        file.write("a")
    return x


def item_of(x: Any) -> Any:
    return next(through(3))


def without_attribute(x: Any) -> Any:
    found = through(queue.SimpleQueue)
    del found.nothing
    return x


@pytest.mark.parametrize("function", [entered, item_of, without_attribute])
def test_what_has_no_step_is_refused(function: Callable[..., Any]) -> None:
    with split():
        found = str(xjit.jit(function).graph(LINE))
    assert "which only the run knows, " in found and "NumPy runs the function" in found
