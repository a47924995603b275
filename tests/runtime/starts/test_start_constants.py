"""Programs with results and arguments of calls that are known before they run, in a second process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.second_process import run
from xjit.runtime import record_text

KNOWN = """
import sys
import numpy as np
from xjit import xjit


@xjit
def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return prime, prime.sum(), prime[7], np.float32(prime.mean()), np.complex64(1j * n), -0.0 * prime.sum()


for _ in range(2):
    found, wanted = sieve(100), sieve.__wrapped__(100)
    np.testing.assert_array_equal(found[0], wanted[0])
    for one, other in zip(found[1:], wanted[1:], strict=True):
        assert type(one) is type(other) and np.asarray(one).tobytes() == np.asarray(other).tobytes()
print("traced" if "xjit.api.dispatcher" in sys.modules else "started", 0)
"""


def test_scalars_that_are_known_are_kept(tmp_path: Path) -> None:
    for how in ("traced", "started"):
        assert run(tmp_path, tmp_path / "cache", text=KNOWN)[0] == how


@pytest.mark.parametrize("code", ["?", "b", "H", "i", "l", "L", "e", "f", "d", "F", "D"])
def test_scalars_are_records(code: str) -> None:
    value = np.dtype(code).type(1)
    found = record_text.read(record_text.written(("t", value), {}), {}, {})[1]
    assert type(found) is type(value) and found.tobytes() == value.tobytes()


def test_signs_and_payloads_stay() -> None:
    for bits in (0x8000000000000000, 0x7FF8000000000123, 0xFFF0000000000001):
        value = np.uint64(bits).view(np.float64)
        assert record_text.read(record_text.written(value, {}), {}, {}).tobytes() == value.tobytes()


@pytest.mark.parametrize("text", [b'["n", "<i4", "00"]', b'["n", "|O", "0000000000000000"]', b'["n", "<M8", "00"]'])
def test_text_that_is_no_scalar(text: bytes) -> None:
    with pytest.raises(record_text.UnknownValueError):
        record_text.read(text, {}, {})


def test_dates_are_kept_nowhere() -> None:
    with pytest.raises(record_text.UnknownValueError):
        record_text.written(np.datetime64("2020-01-01"), {})


CALLS = """
import sys
import numpy as np
import warnings
from scipy import signal
from xjit import xjit
from xjit.errors import FallbackWarning

warnings.simplefilter("ignore", FallbackWarning)


@xjit
def beats(ecg, rate):
    b, a = signal.butter(2, [5.0, 15.0], btype="band", fs=rate)
    filtered = signal.filtfilt(b, a, ecg)
    energy = np.gradient(filtered) ** 2 + a[0]
    peaks, _ = signal.find_peaks(energy, height=0.3 * energy.max(), distance=rate // 3)
    return peaks / rate, np.diff(peaks).sum()


ecg = np.sin(np.arange(2000.0) / 7.0) ** 3
first = None
for _ in range(3):
    found, wanted = beats(ecg, 200), beats.__wrapped__(ecg, 200)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    first = first or ("traced" if "xjit.api.dispatcher" in sys.modules else "started")
print(first, 0)
"""


def test_arrays_that_calls_are_given_are_kept(tmp_path: Path) -> None:
    """The program after a first call that was not as it was taken for comes first."""
    pytest.importorskip("scipy")
    for how in ("traced", "started"):
        assert run(tmp_path, tmp_path / "cache", text=CALLS, XJIT_TRIALS="0", XJIT_STRICT="0")[0] == how
