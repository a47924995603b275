"""Every ordinary program has NumPy's outcome, results and changed arguments, compiled whole, split or not."""

from __future__ import annotations

import warnings

import pytest

from perf.ordinary.outcomes import difference, different, outcome
from perf.ordinary.record import Ordinary
from perf.ordinary.table import BY_NAME, PROGRAMS
from tests.programs.ordinary.whole import SPLIT, WHOLE
from xjit import xjit
from xjit.errors import FallbackWarning


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_outcome_is_that_of_numpy(program: Ordinary, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = program.name in WHOLE
    monkeypatch.setenv("XJIT_STRICT", "1" if whole else "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    compiled = xjit(program.function, strict=whole)
    wanted = outcome(program.function, program.arguments("S"))
    with warnings.catch_warnings():
        if not whole:
            warnings.simplefilter("ignore", FallbackWarning)
        # The second call takes another way than the first.
        for _ in range(2):
            assert difference(program, outcome(compiled, program.arguments("S")), wanted) is None
    if program.name in SPLIT:
        assert compiled.stats().fallbacks == 0


def test_lists_name_programs() -> None:
    assert len(PROGRAMS) == len(BY_NAME)
    assert set(WHOLE) <= set(BY_NAME)
    assert len(WHOLE) == len(set(WHOLE))
    assert set(SPLIT) <= set(BY_NAME) - set(WHOLE)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_written_arguments_are_declared(program: Ordinary) -> None:
    after = outcome(program.function, program.arguments("S"))
    before = program.arguments("S")
    for place, (old, new) in enumerate(zip(before, after.arguments, strict=True)):
        kept = different(new, old, 0.0, same_types=True) is None
        assert kept == (place not in program.stored), program.parameters[place]
