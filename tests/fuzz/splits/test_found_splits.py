"""Programs with calls in Python, lengths of data or objects that failed once do what NumPy does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.splits.found_splits import ARGUMENTS, FOUND
from tests.fuzz.text_program import TextProgram
from tests.fuzz.text_runs import tried

CALLS = ((1, 0), (0, 0), (1, 1), (0, 2))


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: Any) -> None:
    """Refused programs run as NumPy, uncompiled kernels as Python, and all calls are the program's."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_TRIALS", "0")


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    assert tried(TextProgram(ARGUMENTS + FOUND[name], CALLS, watched=True)) is None
