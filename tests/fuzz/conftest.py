"""The settings under which random programs are tried."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let refused programs run as NumPy, and kernels as Python; all calls are the program's."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_TRIALS", "0")
