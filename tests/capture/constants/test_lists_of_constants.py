"""Lists of text and of members of enumerations, which loops make longer and read at positions of the run."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_split

LINES = [(np.random.default_rng(seed).normal(size=size),) for seed, size in enumerate((120, 400, 7))]


class Side(enum.Enum):
    """The sides of a line."""

    ABOVE = 1
    BELOW = 2


def labels(x: Any) -> Any:
    found = []
    for v in x:
        if v > 1:
            found.append("high")
        elif v < -1:
            found.append("low")
        else:
            found.append("mid")
    return found


def events(x: Any) -> Any:
    found = [(-1, "start", 0.0)]
    for i, v in enumerate(x):
        if v > 1:
            found.append((i, "up", v))
        elif v < -1:
            found.append((i, "down", v))
    return found[1:], len(found)


def chosen_labels(x: Any) -> Any:
    return [("a" if v > 1.5 else "b", v) for v in x if v > 1]


def brackets(x: Any) -> Any:
    stack: list[str] = []
    wrong = 0
    for v in x:
        if v > 0.5:
            stack.append("(")
        elif v < -0.5:
            if stack and stack[-1] == "(":
                stack.pop()
            else:
                wrong += 1
        elif v > 0:
            stack.append("[")
    return wrong, len(stack), stack


def runs(x: Any) -> Any:
    found, before, count = [], None, 0
    for v in x:
        sign = "+" if v > 0 else "-"
        if sign == before:
            count += 1
        else:
            if before is not None:
                found.append((before, count))
            before, count = sign, 1
    found.append((before, count))
    return found


def names(x: Any) -> Any:
    known, place = ["one", "two", "three"], 0
    found = []
    for v in x:
        place = (place + int(v > 0)) % 3
        found.append(known[place])
    return known[place], found[-1], found[0], len(found)


def read_again(x: Any) -> Any:
    signs = []
    for v in x:
        if v > 1 or v < 0:
            signs.append("p" if v > 0 else "n")
    return sum(1 for one in signs if one == "p"), signs[0] == signs[1]


@pytest.mark.parametrize("function", [labels, events, chosen_labels, brackets, runs, names, read_again])
def test_lists_hold_numbers_of_constants(function: Any) -> None:
    compiled = xjit.jit(function)
    for one in LINES:
        check_split(function, *one)
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize("function", [labels, brackets, runs, names, read_again])
def test_no_step_works_with_lists_of_constants(function: Any) -> None:
    check_whole(function, *LINES)


def test_lists_of_members() -> None:
    def sides(x: Any) -> Any:
        found = [Side.ABOVE]
        for v in x:
            found.append(Side.BELOW if found[-1] is Side.ABOVE and v > 0 else Side.ABOVE)
        return found[-1], len(found), found

    compiled = xjit.jit(sides, strict=True)
    for one in LINES:
        assert compiled(*one) == sides(*one)


def test_arrays_of_text_are_made_in_python() -> None:
    def told(x: Any) -> Any:
        found = []
        for v in x:
            if v > 0:
                found.append("up")
            elif v < -1:
                found.append("down")
        return np.array(found).shape, "up" in found, ",".join(found)

    for one in LINES:
        check_split(told, *one)


def test_text_and_numbers_in_one_list() -> None:
    def mixed(x: Any) -> Any:
        found: list[Any] = []
        for v in x:
            if v > 0:
                found.append("up")
            else:
                found.append(3)
        return found

    for one in LINES:
        check_split(mixed, *one)
