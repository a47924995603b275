"""Programs that failed once do what NumPy does; what is refused is so for a reason, and no compiler fails."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.found_programs import ARGUMENTS, COMPILED, REFUSED
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import Tally, tried


@pytest.fixture(autouse=True)
def falling_back(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    tally = Tally()
    assert tried(TextProgram(ARGUMENTS + COMPILED[name]), tally) is None
    assert tally.whole == 1 or tally.raised, dict(tally.refusals)
    assert not tally.refusals


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    tally = Tally()
    assert tried(TextProgram(ARGUMENTS + REFUSED[name]), tally) is None
    assert tally.refusals
