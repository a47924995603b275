"""Random programs that Python has a part in do what NumPy does: text, calls outside, draws, lengths of data, objects.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --splits``.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.fuzz.comparing import Difference, judge
from tests.fuzz.splits.split_texts import split_text
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import tried
from tests.fuzz.watching import same_text

PROGRAMS, PORTION = 300, 20
# Known differences, each with its cause.
KNOWN = {
    1: "an error is raised by the statement before that which raises it in Python",
    228: "an error is raised by the statement behind that which raises it in Python",
    255: "the trace is long",
}


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python, and all calls are the program's."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_TRIALS", "0")


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    for seed in range(first, first + PORTION):
        if seed in KNOWN:
            continue
        program = split_text(random.Random(seed))
        failure = tried(program)
        assert failure is None, f"seed {seed}: {failure}\n{program}"


PROGRAM = """
class Body:
    def __init__(self):
        self.count = 0

O = Body()

def arguments(k, r):
    return values(3 + r, "float64", (5,)), [1, 2]

def f(x, rows):
    print(x[0], "seen")
    O.count += 1
    rows.append(np.random.rand())
    if x[1] > 99:
        raise ValueError
    return x + 1
"""


def _draws(x: Any, rows: Any) -> None:
    np.random.rand()


def _prints(x: Any, rows: Any) -> None:
    print("more")  # noqa: T201


def _writes(x: Any, rows: Any) -> None:
    rows.append(3)


@pytest.mark.parametrize(
    ("more", "told"), [(_draws, "random numbers"), (_prints, "printed text"), (_writes, "argument or global")]
)
def test_what_a_compiler_does_beside_the_result_is_seen(more: Any, told: str) -> None:
    program = TextProgram(PROGRAM, watched=True)
    judge(program, lambda function: function)

    def wrong(function: Any) -> Any:
        def called(*args: Any) -> Any:
            result = function(*args)
            more(*args)
            return result

        return called

    with pytest.raises((Difference, ValueError), match=f"{told}|argument"):
        judge(program, wrong)


def test_attributes_that_are_lost_are_seen() -> None:
    def lost(function: Any) -> Any:
        def called(*args: Any) -> Any:
            result = function(*args)
            function.__globals__["O"].count = 0
            return result

        return called

    with pytest.raises(Difference, match="argument or global"):
        judge(TextProgram(PROGRAM, watched=True), lost)


def test_another_line_of_an_error_is_seen() -> None:
    text = PROGRAM.replace("> 99", "< 99")

    def elsewhere(function: Any) -> Any:
        wrong = TextProgram(text.replace("        raise", "        pass\n        raise"), watched=True).module()
        wrong.__dict__["O"] = function.__globals__["O"]
        return wrong.f

    with pytest.raises(Difference, match="line of the error"):
        judge(TextProgram(text, watched=True), elsewhere)


def test_last_digits_of_printed_sums_are_free() -> None:
    assert same_text("sum 1.234 of 3", "sum 1.235 of 3", noisy=True)
    assert not same_text("sum 1.234 of 3", "sum 1.235 of 3", noisy=False)
    assert not same_text("sum 1.3 of 3", "sum 1.5 of 3", noisy=True)
    assert not same_text("sum 1.3", "max 1.3", noisy=True)
