"""Random changes of ordinary programs do what NumPy does with them.

The programs are the same in every run, as long as those of ``perf/ordinary`` are. Fresh ones:
``python -m tests.fuzz --mutants``.
"""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest

from perf.ordinary.table import PROGRAMS as ORDINARY
from tests.fuzz.mutants.mutant_texts import mutant_text, originals
from tests.fuzz.mutants.mutations import mutated
from tests.fuzz.steadiness import is_steady
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, tried

PROGRAMS, PORTION = 80, 20


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
        program = mutant_text(random.Random(seed))
        failure = tried(program, tally)
        assert failure is None, f"seed {seed}: {failure}\n{program}"
    assert tally.whole >= PORTION // 2  # the others are tried in steps, or beside NumPy


def test_most_ordinary_programs_have_a_text_of_their_own() -> None:
    assert len(originals()) > 0.8 * len(ORDINARY)


def test_most_programs_are_changed() -> None:
    for number, original in enumerate(originals()):
        before = ast.unparse(original.function)
        texts = {ast.unparse(mutated(original.function, random.Random(100 * number + seed))) for seed in range(9)}
        assert ast.unparse(original.function) == before
        assert len(texts - {before}) > 5, original.function.name


def test_seeds_make_programs() -> None:
    for seed in range(5):
        assert mutant_text(random.Random(seed)) == mutant_text(random.Random(seed))


@pytest.mark.parametrize(("result", "steady"), [("x.sum()", True), ("(x / 3 * 3 - x).sum() * 1e15", False)])
def test_results_that_are_rounding_are_seen(result: str, steady: bool) -> None:
    text = f"def arguments(k, r):\n    return 0.1 * np.arange(99) + r,\n\ndef f(x):\n    return {result}\n"
    assert is_steady(TextProgram(text, watched=True, changed=True)) == steady
