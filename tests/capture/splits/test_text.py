"""Text of what only the run knows: formatted strings, ``%``, ``format``, ``str``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_split, split

LINE = np.arange(8.0)


def formatted(x: Any, step: int) -> Any:
    print(f"{x.max()!r:>30}|{step:5d}|{x[:3]}|{x.min():.{step}f}|{{}}")
    return x + 1


def percent(x: Any, step: int) -> Any:
    print("%d: %.3f" % (step, x.max()), "%s%%" % x.min())
    return x + 1


def by_method(x: Any, step: int) -> Any:
    print("{} and {a:.2f}".format(x.max(), a=x.min()))
    return x + 1


def as_result(x: Any, step: int) -> Any:
    return str(x.max()) + "!", repr(step), f"{x.max()}".upper(), f"{1.5} {'a'!r}"


def in_a_loop(x: Any, step: int) -> Any:
    for i in range(200):
        if x[i % 8] > 6:
            print(f"{i}: {x[i % 8]:.2e}")
        x = x * 1.001
    return x


def of_unknown_length(x: Any, step: int) -> Any:
    places = np.flatnonzero(x > step)
    print(places, f"{places}", "%s" % x[x > 2], str(x[:step][x[:step] > 1]))
    return places


@pytest.mark.parametrize("function", [formatted, percent, by_method, as_result, in_a_loop, of_unknown_length])
def test_text_is_pythons(function: Any) -> None:
    check_split(function, LINE, 3)


def test_numbers_in_text_are_inputs() -> None:
    compiled = xjit.jit(formatted)
    with split():
        for step in (3, 4, 5, 6):
            compiled(LINE, step)
    assert compiled.stats().traces == 1


def known(x: Any) -> Any:
    names = {f"{n}-{'a' if n > 1 else 'b'}": n for n in range(3)}
    return x * names["2-a"] + len("%d%d" % (1, 2)) + len("{}".format("abc"))


def test_known_text_stays_text() -> None:
    np.testing.assert_array_equal(xjit.jit(strict=True)(known)(LINE), known(LINE))


def branches_and_text(x: Any) -> Any:
    if x.max() > 3:
        x = x * 2
    label = f"{len(x)}:{x.ndim}"
    return x, label


def test_known_text_in_rewritten_functions() -> None:
    found, label = xjit.jit(strict=True)(branches_and_text)(LINE)
    np.testing.assert_array_equal(found, LINE * 2)
    assert label == "8:1"
