"""Random ordinary programs that carry a state do what NumPy does; short ones that failed once do it, too.

The programs are the same in every run. Fresh ones: ``python -m tests.fuzz --ordinary``.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.fuzz.states.found_states import ARGUMENTS, FOUND
from tests.fuzz.states.state_patterns import ABSENT, COUNTS, HISTORIES, MEMBERS, RANGES, WORK
from tests.fuzz.states.state_texts import ordinary_text
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import tried

PROGRAMS, PORTION = 200, 50
WORDS = ("is None", " not in ", " in range(", ".pop()", "[-1]", ".get(", "np.arange(", "np.linspace(", "set()")


@pytest.fixture(autouse=True)
def falling_back(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    for seed in range(first, first + PORTION):
        program = ordinary_text(random.Random(seed))
        failure = tried(program)
        assert failure is None, f"seed {seed}: {failure}\n{program}"


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    assert tried(TextProgram(ARGUMENTS + FOUND[name], ((0, 0), (0, 1), (1, 2), (1, 3)))) is None


def test_all_patterns_are_tried() -> None:
    texts = "\n".join(ordinary_text(random.Random(seed)).text for seed in range(200))
    assert not [word for word in WORDS if word not in texts]
    patterns = [text for family in (ABSENT, COUNTS, HISTORIES, MEMBERS, RANGES, WORK) for text in family]
    assert len(set(patterns)) == len(patterns)


def test_seeds_make_programs() -> None:
    for seed in range(5):
        assert ordinary_text(random.Random(seed)) == ordinary_text(random.Random(seed))
