"""Text printed behind a write to an argument: it is printed in order, and an error leaves the write."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

SEEN: list[tuple[str, list[float]]] = []
ARRAY = np.zeros(3)
TEXT = io.StringIO()


class Watching:
    """Takes text, and looks at the array that the function writes to."""

    def write(self, text: str) -> None:
        SEEN.append((text, ARRAY.tolist()))


class Full:
    """Takes no text."""

    def write(self, text: str) -> None:
        raise OSError("full")


WATCHING, FULL = Watching(), Full()


def in_line(x: Any) -> None:
    x[0] = 1
    print("A", file=WATCHING)
    x[1] = 2
    print("B", file=WATCHING)
    x[2] = x[0] + x[1]


def in_short_loop(x: Any) -> None:
    for i in range(3):
        x[i] = i + 1
        print("A", i, file=WATCHING)


def to_output(x: Any) -> None:
    x[0] = 1
    print("A")  # noqa: T201
    x[1] = 2


def failing(x: Any) -> None:
    x[0] = 1
    print("A", file=FULL)
    x[1] = 2


def failing_in_loop(x: Any) -> None:
    for i in range(200):
        x[i % 3] += 1
        if i == 150:
            print("A", i, file=FULL)


def outcome(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the text and what was seen with it, the array afterwards, and the error."""
    SEEN.clear()
    ARRAY[:] = 0
    error = None
    try:
        function(ARRAY)
    except OSError as raised:
        error = str(raised)
    return list(SEEN), ARRAY.tolist(), error


@pytest.mark.parametrize("function", [in_line, in_short_loop, to_output, failing, failing_in_loop])
def test_objects_that_take_text_see_what_is_written(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    if function is to_output:
        monkeypatch.setattr("sys.stdout", WATCHING)
    expected, compiled = outcome(function), xjit.xjit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
        for _ in range(2):
            assert outcome(compiled) == expected


def test_text_for_a_file_of_the_library_is_printed_by_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def function(x: Any) -> None:
        x[0] = 1
        print("A", file=TEXT)
        x[1] = 2

    compiled, x = xjit.xjit(function), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
        compiled(x)
    assert x.tolist() == [1, 2, 0]
    assert TEXT.getvalue() == "A\n"
    assert compiled.stats().fallbacks == 0
