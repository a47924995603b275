"""Cases of Fourier transforms, expected by the sum of their definition."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops

PARTS = {"c64": "f32", "c128": "f64"}
WHOLE = {part: whole for whole, part in PARTS.items()}


def transformed(values: Any, axis: int, sign: int) -> Any:
    """Each line along an axis by the definition, an inverse (sign 1) divided by its length."""
    moved = np.moveaxis(values.astype(np.complex128), axis, -1)
    n = moved.shape[-1]
    result = np.zeros_like(moved)
    for k in range(n):
        for t in range(n):
            result[..., k] += moved[..., t] * cmath.exp(sign * 2j * cmath.pi * ((k * t) % n) / n)
    return np.moveaxis(result / n if sign > 0 else result, -1, axis)


def _over(values: Any, count: int, sign: int) -> Any:
    for axis in range(values.ndim - count, values.ndim):
        values = transformed(values, axis, sign)
    return values


def completed(values: Any, n: int) -> Any:
    """A half spectrum with its conjugate other half; the ends are taken for real."""
    half = values.copy()
    half[..., 0] = half[..., 0].real
    if n % 2 == 0:
        half[..., -1] = half[..., -1].real
    mirrored = np.conj(half[..., [n - k for k in range(n // 2 + 1, n)]])
    return np.concatenate([half, mirrored], -1)


def _values(dtype: str, shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(5)
    values = rng.normal(size=shape) + 3
    return array(dtype, values + 1j * rng.normal(size=shape) if dtype[0] == "c" else values)


SHAPES = [
    ((4,), 1),
    ((1,), 1),
    ((7,), 1),
    ((2, 6), 1),
    ((3, 4), 2),
    ((2, 3, 5), 2),
    ((2, 3, 4), 3),
    ((2, 2, 3, 2), 3),
]


def _complex_cases() -> list[Case]:
    found = []
    for dtype in PARTS:
        for shape, count in SHAPES:
            x = _values(dtype, shape)
            for kind, sign in (("FFT", -1), ("IFFT", 1)):
                expected = array(dtype, _over(x, count, sign))
                found.append(
                    Case("fft", lambda a, k=kind, n=shape[-count:]: ops.fft(a, k, n), (x,), expected, 256, kind)
                )
    return found


def _real_cases() -> list[Case]:
    found = []
    for part, whole in WHOLE.items():
        for shape, count in SHAPES:
            n = shape[-1]
            x = _values(part, shape)
            full = _over(x, count, -1)
            half = array(whole, full[..., : n // 2 + 1])
            found.append(Case("fft", lambda a, m=shape[-count:]: ops.fft(a, "RFFT", m), (x,), half, 256, "RFFT"))
            y = array(whole, half + np.where(np.arange(n // 2 + 1) == 0, 2j, 0) if count == 1 else half)
            back = completed(y.astype(np.complex128), n) if count == 1 else full
            expected = array(part, _over(back, count, 1).real)
            found.append(
                Case("fft", lambda a, m=shape[-count:]: ops.fft(a, "irfft", m), (y,), expected, 4096, "IRFFT")
            )
    return found


def _empty_cases() -> list[Case]:
    def of(kind: str, *lengths: int) -> Any:
        return lambda a: ops.fft(a, kind, lengths)

    return [
        Case("fft", of("FFT", 0), (array("c64", []),), array("c64", [])),
        Case("fft", of("RFFT", 0), (array("f32", []),), array("c64", [])),
        Case("fft", of("IRFFT", 0), (array("c128", []),), array("f64", [])),
        Case("fft", of("RFFT", 3), (np.zeros((0, 3), np.float32),), np.zeros((0, 2), np.complex64)),
        Case("fft", of("RFFT", 0, 3), (np.zeros((2, 0, 3), np.float32),), np.zeros((2, 0, 2), np.complex64)),
    ]


def _error_cases() -> list[Case]:
    x, z = np.zeros((2, 4), np.float32), np.zeros((2, 3), np.complex64)

    def of(kind: Any, *lengths: int) -> Any:
        return lambda a: ops.fft(a, kind, lengths)

    rows: list[tuple[Any, Any, Any]] = [
        (of("FFT", 4), x, ops.DTypeError),
        (of("RFFT", 3), z, ops.DTypeError),
        (of("RFFT", 4), x.astype(np.float16), ops.DTypeError),
        (of("DCT", 4), x, ops.ArgumentError),
        (of(None, 4), x, ops.ArgumentError),
        (of("RFFT"), x, ops.ArgumentError),
        (of("RFFT", 1, 2, 2, 4), x, ops.ArgumentError),
        (of("RFFT", -4), x, ops.ArgumentError),
        (of("RFFT", 1, 2, 4), x, ops.ShapeError),
        (of("RFFT", 5), x, ops.ShapeError),
        (of("IRFFT", 6), z, ops.ShapeError),
        (of("FFT", 2), z, ops.ShapeError),
    ]
    return [Case("fft", function, (operand,), error) for function, operand, error in rows]


CASES = [*_complex_cases(), *_real_cases(), *_empty_cases(), *_error_cases()]
