"""Random programs composed of ordinary statements do what NumPy does.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --snippets``.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.fuzz.comparing import Difference, judge
from tests.fuzz.snippets.snippet_lines import THEMES
from tests.fuzz.snippets.snippet_texts import snippet_text
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, tried

PROGRAMS, PORTION = 120, 20
WORDS = (
    *("try:", "finally:", "while ", "else:", "break", "continue", "def inc", "lambda", "np.where(", "np.nonzero("),
    *("enumerate(", "zip(", "reversed(", "sorted(", ".append(", ".pop(", "assert ", 'f"', "rng.", "D[", "help5(*l"),
    *(":=", "0 < s <", "del ", "is None", "isinstance(", "int(", "float(", "bool(", "divmod(", "round(", "abs("),
    *("min(", "max(", "sum(", "1j", "u8", "z[...]", "x[5:5]", "o.n", "dc.", "first, *rest", "print(", "raise "),
)


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python, and all calls are the program's."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_TRIALS", "0")


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    tally = Tally()
    for seed in range(first, first + PORTION):
        program = snippet_text(random.Random(seed))
        failure = tried(program, tally)
        assert failure is None, f"seed {seed}: {failure}\n{program}"
    assert tally.whole >= PORTION // 5  # the others are tried in steps, or beside NumPy


def test_most_statements_are_tried() -> None:
    texts = [snippet_text(random.Random(seed)).text.split("def f(")[1] for seed in range(400)]
    whole = "\n".join(texts)
    assert not [word for word in WORDS if word not in whole]
    lines = [line for theme in THEMES for line in theme.strip().split("\n")]
    assert len(set(lines)) == len(lines)


def test_seeds_make_programs() -> None:
    for seed in range(5):
        assert snippet_text(random.Random(seed)) == snippet_text(random.Random(seed))


KEEPING = """
class K:
    total = 0

def arguments(k, r):
    return values(3 + r, "float64", (5,)),

def f(x):
    K.total += 1
    return x + 1
"""


def test_attributes_of_classes_that_are_lost_are_seen() -> None:
    def lost(function: Any) -> Any:
        def called(*args: Any) -> Any:
            result = function(*args)
            function.__globals__["K"].total = 0
            return result

        return called

    judge(TextProgram(KEEPING, watched=True), lambda function: function)
    with pytest.raises(Difference, match="argument or global"):
        judge(TextProgram(KEEPING, watched=True), lost)
