"""Obstacles behind one that cannot be split: all of a function are told, each once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient
from xjit.errors import CaptureError

LINE = np.arange(5.0)


def behind_an_assignment(x: Any) -> Any:
    y = np.frompyfunc(abs, 1, 1)(x)  # frompyfunc
    print(x.sum())  # print()
    return y


def in_loops_and_branches(x: Any) -> Any:
    first = {x[0]: 1}  # a hash
    for k in range(3):
        print(k)  # print()
        second = {x[k]: first}  # a hash
    if x.sum() > 3:
        second = np.frompyfunc(abs, 1, 1)(x)  # frompyfunc
        input("more")  # input()
    return second


def helper(x: Any) -> Any:
    found = np.frompyfunc(abs, 1, 1)(x)  # frompyfunc
    print(x)  # print()
    return found


def in_helpers(x: Any) -> Any:
    y, z = helper(x), helper(x + 1)
    print(y, z)  # print()
    return {x[1]: y}  # a hash


def what_follows_is_left_out(x: Any) -> Any:
    y = np.frompyfunc(abs, 1, 1)(x)  # frompyfunc
    z = y + 1
    total = 0.0
    for value in z:
        total += value
    if z[0] > total:
        print("large")  # print()
    return x, {x[0]: total}  # a hash


def headers(x: Any) -> Any:
    for value in np.frompyfunc(abs, 1, 1)(x):  # frompyfunc
        print(value)  # print()
    while {x[0]: 1}:  # a hash
        input("again")  # input()
    return x


FUNCTIONS: list[Callable[[Any], Any]] = [
    behind_an_assignment,
    in_loops_and_branches,
    in_helpers,
    what_follows_is_left_out,
    headers,
]


def expected(*functions: Callable[[Any], Any]) -> dict[int, str]:
    """The words of the obstacle in each line that has one."""
    found = dict[int, str]()
    for one in functions:
        code = one.__code__
        with open(code.co_filename) as file:
            lines = file.read().splitlines()
        for _, _, number in code.co_lines():
            words = lines[number - 1].partition("  # ")[2] if number else ""
            found |= {number: words} if words and number is not None else {}
    return found


def told(lines: list[str]) -> dict[int, str]:
    """The line of each text about an obstacle."""
    found = [(re.search(r"py:(\d+)\)", line), line) for line in lines]
    return {int(one[1]): line for one, line in found if one}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_explanations_name_all(function: Any) -> None:
    wanted = expected(function, *([helper] if function is in_helpers else []))
    with lenient():
        found = told(list(xjit.jit(function).explain(LINE).reasons))
    assert found.keys() == wanted.keys()
    assert all(words in found[line] for line, words in wanted.items())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_strict_names_all(function: Any) -> None:
    wanted = expected(function, *([helper] if function is in_helpers else []))
    with pytest.raises(CaptureError) as caught:
        xjit.jit(strict=True)(function)(LINE)
    also = [line for line in str(caught.value).splitlines() if line.startswith("  also ")]
    rest = re.search(r"and (\d+) more", str(caught.value))
    assert 1 + len(also) + (int(rest[1]) if rest else 0) == len(wanted)


def test_the_function_itself_stays_as_it_is() -> None:
    """Lines that are left out for the sake of errors are so in no program."""
    compiled = xjit.jit(behind_an_assignment)
    with lenient():
        compiled.explain(LINE)
        with pytest.warns(xjit.errors.FallbackWarning, match="runs through NumPy"):
            found = compiled(LINE)
        np.testing.assert_array_equal(found, behind_an_assignment(LINE))
