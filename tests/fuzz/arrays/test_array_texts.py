"""Random programs of NumPy's functions do what NumPy does.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --arrays``.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from tests.fuzz.arrays.array_lines import THEMES
from tests.fuzz.arrays.array_texts import array_text
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, tried

PROGRAMS, PORTION = 80, 20
WORDS = (
    *("try:", "finally:", "while ", "else:", "break", "continue", "except ZeroDivisionError:", "laid_out(", "print("),
    *("np.select(", "np.einsum(", "accumulate(", "np.gradient(", "np.digitize(", "np.bincount(", ".at(", "out=x"),
    *("where=m", "initial=", "keepdims=True", "divmod(p", "<< ", "w[...] =", "e.sum()", "z[...]", "a[[0, 1, 0]"),
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
        program = array_text(random.Random(seed))
        failure = tried(program, tally)
        assert failure is None, f"seed {seed}: {failure}\n{program}"
    assert tally.whole >= PORTION // 5  # the others are tried in steps, or beside NumPy


def test_each_statement_runs() -> None:
    """Statements of no program would be dead text: each runs behind the first lines of one of some programs."""
    programs = [array_text(random.Random(seed)).text.split("    w, v, out, txt")[0] for seed in range(12)]
    lines = sorted({line for theme in THEMES for line in theme.strip().split("\n")})
    assert not [line for line in lines if not any(_runs(text, line) for text in programs)]


def _runs(head: str, line: str) -> bool:
    holes = {"row": "1", "number": "0.5", "few": "2", "axis": "0", "part": "1:", "positions": "[0, 1, 0]"}
    filled = re.sub(r"<(\w+)>", lambda found: holes[found[1]], line).split("; ")
    first = '    w, v, out, txt = x[:4].reshape(2, 2).copy(), a[0], [], ""\n'
    module = TextProgram(head + first + "\n".join(f"    {one}" for one in filled)).module()
    try:
        with np.errstate(all="ignore"):
            module.f(*module.arguments(0, 0))
    except (ValueError, TypeError, IndexError):
        return False
    return True


def test_most_statements_are_tried() -> None:
    whole = "\n".join(array_text(random.Random(seed)).text.split("def shifted(")[1] for seed in range(400))
    assert not [word for word in WORDS if word not in whole]


def test_seeds_make_programs() -> None:
    for seed in range(5):
        assert array_text(random.Random(seed)) == array_text(random.Random(seed))
