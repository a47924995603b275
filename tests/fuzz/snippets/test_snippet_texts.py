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
from tests.fuzz.text_runs import check_seeds

PROGRAMS, PORTION = 120, 20
WORDS = (
    *("try:", "finally:", "while ", "else:", "break", "continue", "def inc", "lambda", "np.where(", "np.nonzero("),
    *("enumerate(", "zip(", "reversed(", "sorted(", ".append(", ".pop(", "assert ", 'f"', "rng.", "D[", "help5(*l"),
    *(":=", "0 < s <", "del ", "is None", "isinstance(", "int(", "float(", "bool(", "divmod(", "round(", "abs("),
    *("min(", "max(", "sum(", "1j", "u8", "z[...]", "x[5:5]", "o.n", "dc.", "first, *rest", "print(", "raise "),
)


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    check_seeds(snippet_text, range(first, first + PORTION), whole=PORTION // 5)


def test_most_statements_are_tried() -> None:
    texts = [snippet_text(random.Random(seed)).text.split("def f(")[1] for seed in range(400)]
    whole = "\n".join(texts)
    assert not [word for word in WORDS if word not in whole]
    lines = [line for theme in THEMES for line in theme.strip().split("\n")]
    assert len(set(lines)) == len(lines)


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
