"""Fourier transforms against NumPy, over element types, memory layouts, axes and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit

LINES = """
    xp.fft.fft(a)
    xp.fft.fft(a, 5, 0, "ortho")
    xp.fft.fft(a, 2, -2)
    xp.fft.ifft(a, axis=0, norm="forward")
    xp.fft.ifft(a, 3)
    xp.fft.irfft(a)
    xp.fft.irfft(a, 5, 0)
    xp.fft.irfft(a, norm="backward")
    xp.fft.hfft(a)
    xp.fft.hfft(a, 7, 0, "ortho")
    xp.fft.fft2(a)
    xp.fft.ifft2(a, (3, 5), (1, 0))
    xp.fft.fftn(a)
    xp.fft.fftn(a, (3, -1), (0, 1))
    xp.fft.ifftn(a, axes=(0,), norm="ortho")
    xp.fft.irfftn(a)
    xp.fft.irfftn(a, (3, 4), axes=(1, 0))
    xp.fft.irfft2(a)
    xp.fft.fftshift(a)
    xp.fft.fftshift(a, 0)
    xp.fft.ifftshift(a, (0, -1))
    xp.fft.fft(a, axis=4)
    xp.fft.fft(a, 0)
    xp.fft.fft(a, 2.5)
    xp.fft.fft(a, norm="other")
    xp.fft.hfft(a, norm="other")
    xp.fft.fftn(a, (2,), (0, 1))
    xp.fft.fftn(a, axes=(0, 5))
    xp.fft.irfftn(a, axes=())
    xp.fft.fftshift(a, 3)
"""

REAL = """
    xp.fft.rfft(a)
    xp.fft.rfft(a, 5, 0, norm="forward")
    xp.fft.rfft(a, 2)
    xp.fft.ihfft(a)
    xp.fft.ihfft(a, 6, 0)
    xp.fft.rfftn(a)
    xp.fft.rfftn(a, (5, 3), (0, 1), "ortho")
    xp.fft.rfft2(a)
    xp.fft.rfftn(a, axes=())
    xp.fft.irfft(xp.fft.rfft(a, axis=0), a.shape[0], 0)
"""


@pytest.mark.parametrize("code", "?bLefdFD")
def test_layouts(code: str) -> None:
    operands = [*layouts(array(code, 3, 4)), *layouts(array(code, 2, 3, 2))]
    check_lines(LINES, operands)
    check_lines(REAL, operands)


@pytest.mark.parametrize("code", "dF")
def test_small_arrays(code: str) -> None:
    check_lines("xp.fft.fft(a)\n xp.fft.ifft(a)", [array(code, n) for n in (1, 2, 0)] + [array(code)])
    check_lines("xp.fft.fft(a)\n xp.fft.fft(a, axis=0)\n xp.fft.fftn(a)", [array(code, 0, 3), array(code, 3, 0)])
    check_lines("xp.fft.fftn(a)", [array(code), array(code, 1)])


def test_frequencies() -> None:
    for n in (1, 2, 5, 49, 100):
        check_lines(f"xp.fft.fftfreq({n}, a)\n xp.fft.rfftfreq({n}, a)", [np.float64(0.3), np.float32(0.7)])
    check_lines("xp.fft.fftfreq(2.5, a)", [np.float64(1)])


def test_without_a_trace() -> None:
    check_eager("xp.fft.fft(a)\n xp.fft.rfft(a, 3, 0)\n xp.fft.irfftn(a)\n xp.fft.fftshift(a)", array("d", 3, 4))


@pytest.mark.parametrize("code", "fD")
def test_compiled(code: str) -> None:
    check_compiled(LINES, np.asfortranarray(array(code, 3, 4)))
    if code == "f":
        check_compiled(REAL, array(code, 4, 3))


def low_pass(signal: Any, step: float, cut: float) -> Any:
    spectrum = np.fft.rfft(signal - signal.mean())
    kept = np.abs(np.fft.rfftfreq(len(signal), step)) < cut
    return np.fft.irfft(np.where(kept, spectrum * 2, 0), len(signal)) + 1


def test_steps_between_kernels() -> None:
    function, x = xjit(low_pass), np.sin(np.linspace(0, 40, 1000)) + np.linspace(0, 1, 1000) ** 2
    np.testing.assert_allclose(function(x, 0.1, 2.0), low_pass(x, 0.1, 2.0), rtol=1e-12, atol=1e-13)
    assert function.stats().fallbacks == 0
    steps = [step for step in function.explain(x, 0.1, 2.0).steps if step.startswith("library")]
    assert [step.split()[2] for step in steps] == ["numpy_rfft", "numpy_irfft"]


def test_names_that_were_imported() -> None:
    from numpy.fft import fft2, fftshift

    def centred(image: Any) -> Any:
        return fftshift(np.log1p(np.abs(fft2(image)) ** 2))

    image = np.arange(48.0).reshape(6, 8) % 5
    np.testing.assert_allclose(xjit(centred)(image), centred(image), rtol=1e-12, atol=1e-12)
