"""Variables that only one arm of a branch assigns: read behind it, they are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning


def read_behind(x: Any) -> Any:
    if x.sum() > 0:
        found = 2
    return found


def assigned_first(x: Any) -> Any:
    if x.sum() > 0:
        found = 2.0
    else:
        found = 3.0
    return found


def test_reading_them_is_refused() -> None:
    with pytest.raises(CaptureError, match="found has a value only where the run decides so"):
        xjit.jit(read_behind, strict=True)(np.ones(3))
    assert xjit.jit(assigned_first, strict=True)(np.ones(3)) == 2.0


def test_calls_raise_what_python_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(read_behind)
    with pytest.warns(FallbackWarning, match="found has a value only"):
        assert compiled(np.ones(3)) == 2
    with pytest.raises(UnboundLocalError):
        compiled(-np.ones(3))
