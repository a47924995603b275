"""Calls that write to their arguments: which ones a program serves, what failing ones leave, the start from disk."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xjit import jit
from xjit.errors import FallbackWarning

LINE = np.arange(8.0)


@pytest.fixture(autouse=True)
def not_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")


def smoothed(x: Any, y: Any) -> Any:
    x[1:-1] = y[:-2] + y[2:]
    return np.sum(x)


def indexed(x: Any, i: Any, j: Any) -> None:
    x[0] = 7.0
    x[i] = 3.0
    x[1] = 9.0
    x[j] = 1.0


def test_arrays_that_overlap_are_left_to_numpy() -> None:
    f, whole = jit(smoothed), np.arange(12.0)
    f(LINE.copy(), LINE)
    expected = whole.copy()
    result = smoothed(expected[:8], expected[4:])
    with pytest.warns(FallbackWarning, match="shares memory"):
        assert f(whole[:8], whole[4:]) == result
    np.testing.assert_array_equal(whole, expected)
    traces, fallbacks = f.stats().traces, f.stats().fallbacks
    apart = np.arange(16.0)
    assert f(apart[:8], apart[8:]) == 145.0
    assert (f.stats().traces, f.stats().fallbacks) == (traces, fallbacks)


def test_a_first_call_with_arrays_that_overlap_refuses_no_others() -> None:
    f, whole = jit(smoothed), np.arange(12.0)
    with pytest.warns(FallbackWarning, match="shares memory"):
        f(whole[:8], whole[4:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(LINE.copy(), LINE)
    assert f.stats().traces == 1


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_read_only_arrays_raise_as_under_numpy() -> None:
    f = jit(smoothed)
    f(LINE.copy(), LINE)
    kept = LINE.copy()
    kept.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(kept, LINE)
    np.testing.assert_array_equal(kept, LINE)
    f(LINE.copy(), kept)  # what is only read may be read-only
    assert f.stats().traces == 1


def test_elements_that_share_memory_are_written_in_order() -> None:
    line = np.zeros(6)
    windows = np.lib.stride_tricks.sliding_window_view(line, 3, writeable=True)

    def numbered(x: Any, y: Any) -> None:
        x[...] = y

    values = np.arange(12.0).reshape(4, 3)
    with pytest.warns(FallbackWarning, match="shares memory"):
        jit(numbered)(windows, values)
    np.testing.assert_array_equal(line, [0, 3, 6, 9, 10, 11])


SPOILT = [
    lambda a: a.astype(">f8"),
    lambda a: np.frombuffer(bytearray(b" " + a.tobytes()), np.float64, offset=1),
]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("spoil", SPOILT)
def test_arrays_that_kernels_cannot_read_are_written(spoil: Callable[[Any], Any]) -> None:
    f, (x, y) = jit(smoothed), (spoil(LINE), LINE)
    for _ in range(2):
        f(x, y)
    np.testing.assert_array_equal(x[1:-1], y[:-2] + y[2:])


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("spoil", SPOILT)
def test_arrays_beside_those_that_kernels_cannot_read_are_written_once(spoil: Callable[[Any], Any]) -> None:
    def shown(x: Any, y: Any) -> Any:
        y += 1
        return x[1:]

    f, x, y = jit(shown), spoil(LINE), LINE.copy()
    for _ in range(2):
        assert np.shares_memory(f(x, y), x)
    np.testing.assert_array_equal(y, LINE + 2)
    f(LINE.copy(), y)
    np.testing.assert_array_equal(y, LINE + 3)
    assert (f.stats().traces, f.stats().fallbacks) == (1, 2)


def test_a_failing_call_leaves_what_numpy_leaves() -> None:
    f = jit(indexed)
    x = np.zeros(6)
    f(x, np.array(2), np.array(3))
    np.testing.assert_array_equal(x, [7, 9, 3, 1, 0, 0])
    x, expected = np.zeros(6), np.zeros(6)
    with pytest.raises(IndexError) as own:
        indexed(expected, np.array(2), np.array(9))
    with pytest.raises(IndexError) as found:
        f(x, np.array(2), np.array(9))
    assert str(found.value) == str(own.value)
    np.testing.assert_array_equal(x, expected)
    assert not any("xjit" in one.filename for one in traceback.extract_tb(found.value.__traceback__)[1:])
    assert f.stats().traces == 1


def test_results_are_stored_under_numpy_as_well() -> None:
    f, x = jit(smoothed, errors="numpy"), LINE.copy()
    assert f(x, LINE) == 49.0
    np.testing.assert_array_equal(x[1:-1], LINE[:-2] + LINE[2:])


def test_verified_programs_store_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")

    def doubled(x: Any) -> None:
        x *= 2.0

    f, x = jit(doubled), LINE.copy()
    f(x)
    f(x)
    np.testing.assert_array_equal(x, LINE * 4.0)


PROGRAM = """
import sys
import numpy as np
from xjit import xjit


@xjit
def f(x, y):
    x[1:-1] = y[:-2] + y[2:]
    return x.sum()


x, y = np.arange(8.0), np.arange(8.0)
print(f(x, y), x[3], "numba" in sys.modules)
try:
    kept = np.arange(8.0)
    kept.flags.writeable = False
    f(kept, y)
except ValueError:
    print("read-only", kept[3])
"""


def test_programs_that_write_start_from_disk(tmp_path: Path) -> None:
    file = tmp_path / "written.py"
    file.write_text(PROGRAM, encoding="utf-8")
    settings = {**os.environ, "XJIT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONWARNINGS": "ignore"}
    outputs = [
        subprocess.run([sys.executable, str(file)], env=settings, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert outputs[0].splitlines() == ["49.0 6.0 True", "read-only 3.0"]
    assert outputs[1].splitlines() == ["49.0 6.0 False", "read-only 3.0"]
