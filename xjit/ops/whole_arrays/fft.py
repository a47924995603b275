"""Discrete Fourier transforms. NumPy's pocketfft computes them between kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Array, apply, as_operand, register, static_ints
from xjit.ops.define.rules import got
from xjit.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, ArrayType, DType

__all__ = ["fft"]

TRANSFORMS = ("FFT", "IFFT", "RFFT", "IRFFT")
_RESULTS: dict[str, dict[DType, DType]] = {
    "FFT": {COMPLEX64: COMPLEX64, COMPLEX128: COMPLEX128},
    "IFFT": {COMPLEX64: COMPLEX64, COMPLEX128: COMPLEX128},
    "RFFT": {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128},
    "IRFFT": {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64},
}
_NUMPY: dict[str, Callable[..., Array]] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    (type,), kind, lengths = types, params["kind"], params["lengths"]
    rules.check_class("fft", "operand", type, " ".join(_names(kind)))
    if not 1 <= len(lengths) <= 3:
        raise ArgumentError(f"ops.fft: fft_length: 1 to 3 lengths are required; got {lengths}")
    rules.check_at_least("fft", "fft_length", lengths, 0)
    if type.rank < len(lengths):
        raise ShapeError(f"ops.fft: operand: rank {len(lengths)} or more is required; got {got(types)}")
    half = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
    before, after = (half if kind == "IRFFT" else lengths), (half if kind == "RFFT" else lengths)
    rest = type.rank - len(lengths)
    if type.dims[rest:] != before:
        raise ShapeError(f"ops.fft: operand: last sizes {before} are required; got {got(types)}")
    order = rules.elementwise_type(types, type.dtype).order
    return ArrayType(_RESULTS[kind][type.dtype], (*type.dims[:rest], *after), order)


def _names(kind: str) -> tuple[str, ...]:
    return ("f32", "f64") if kind == "RFFT" else ("c64", "c128")


def _fft(operand: Array, kind: str, lengths: tuple[int, ...]) -> Array:
    dtype, axes = _RESULTS[kind][operand.dtype], tuple(range(operand.ndim - len(lengths), operand.ndim))
    if 0 in (*operand.shape, *lengths):
        half = lengths[-1] // 2 + 1 if lengths[-1] else 0
        last = half if kind == "RFFT" else lengths[-1]
        return np.zeros((*operand.shape[:-1], last), dtype)
    return _NUMPY[kind](operand, lengths, axes).astype(dtype, copy=False)


FFT = register(
    OpDef(
        name="fft",
        kind=Kind.STRUCTURED,
        xla_name="Fft",
        infer=_infer,
        reference=_fft,
        fresh=True,
        doc="Discrete Fourier transforms along the last one to three dimensions.",
    )
)


def fft(operand: Any, fft_type: str, fft_length: Sequence[int]) -> Any:
    """The discrete Fourier transform along the last ``len(fft_length)`` dimensions, of these lengths in time.

    ``fft_type`` is "FFT" or "IFFT" of C64 or C128, "RFFT" of F32 or F64 (the last dimension keeps its first n//2+1
    frequencies), or "IRFFT" back from there. Inverses divide by the lengths. Raises DTypeError, ArgumentError for
    other types and numbers of lengths, ShapeError for sizes that are not the lengths.

    >>> fft(np.float32([1, 2, 3, 4]), "RFFT", (4,))
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    array = as_operand(operand, "fft", "operand")
    if not isinstance(fft_type, str) or fft_type.upper() not in TRANSFORMS:
        raise ArgumentError(f"ops.fft: fft_type: one of {', '.join(TRANSFORMS)} is required; got {fft_type!r}")
    return apply(FFT, array, kind=fft_type.upper(), lengths=static_ints(fft_length, "fft", "fft_length"))
