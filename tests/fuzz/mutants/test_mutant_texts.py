"""Random changes of ordinary programs do what NumPy does with them.

The programs are the same in every run, as long as those of ``perf/ordinary`` are. Fresh ones:
``python -m tests.fuzz --mutants``.
"""

from __future__ import annotations

import ast
import random

import pytest

from perf.ordinary.table import PROGRAMS as ORDINARY
from tests.fuzz.mutants.mutant_texts import mutant_text, originals
from tests.fuzz.mutants.mutations import mutated
from tests.fuzz.steadiness import is_defined, is_steady
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import check_seeds

PROGRAMS, PORTION = 80, 20


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_programs(first: int) -> None:
    check_seeds(mutant_text, range(first, first + PORTION), whole=PORTION // 2)


def test_most_ordinary_programs_have_a_text_of_their_own() -> None:
    assert len(originals()) > 0.8 * len(ORDINARY)


def test_most_programs_are_changed() -> None:
    for number, original in enumerate(originals()):
        before = ast.unparse(original.function)
        texts = {ast.unparse(mutated(original.function, random.Random(100 * number + seed))) for seed in range(9)}
        assert ast.unparse(original.function) == before
        assert len(texts - {before}) > 5, original.function.name


@pytest.mark.parametrize(("result", "steady"), [("x.sum()", True), ("(x / 3 * 3 - x).sum() * 1e15", False)])
def test_results_that_are_rounding_are_seen(result: str, steady: bool) -> None:
    text = f"def arguments(k, r):\n    return 0.1 * np.arange(99) + r,\n\ndef f(x):\n    return {result}\n"
    assert is_steady(TextProgram(text, watched=True, changed=True)) == steady


@pytest.mark.parametrize("line", ["x[1] -= 1.5", "x[:] = y", "x = y.astype('u1')", "np.copyto(x, y, 'unsafe')"])
def test_floats_that_integers_do_not_hold_are_seen(line: str) -> None:
    head = "def arguments(k, r):\n    return np.zeros(3, np.uint8) + r, np.arange(3.0) - 1\n\ndef f(x, y):\n"
    assert not is_defined(TextProgram(f"{head}    {line}\n    return x\n"))
    assert is_defined(TextProgram(f"{head}    y = y + 1\n    {line.replace('-=', '+=')}\n    return x\n"))
