"""NumPy's one-dimensional Fourier transforms, as they are; those over several axes are one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.ir.opdef import OpDef, Params
from xjit.ops.define.library_op import Infer, Types, library, run_quietly, sample, type_of_result
from xjit.types import ArrayType


def _length(name: str, n: int) -> int:
    """Return the number of elements of a transform of n points."""
    return n // 2 + 1 if name == "rfft" else n


def _infer(function: Callable[..., Any]) -> Infer:
    def infer(types: Types, params: Params) -> ArrayType:
        (type,), axis = types, params["axis"]
        small = _small(function, type, axis, params["norm"], min(params["n"], 2))
        last = _length(function.__name__, params["n"])
        return ArrayType(small.dtype, (*type.shape[:axis], last, *type.shape[axis + 1 :]), small.order)

    return infer


@functools.lru_cache(maxsize=1024)
def _small(function: Callable[..., Any], type: ArrayType, axis: int, norm: Any, n: int) -> ArrayType:
    sizes = tuple(2 if k == axis else min(size, 2) for k, size in enumerate(type.shape))
    return type_of_result(run_quietly(function, sample(type, sizes), n=n, axis=axis, norm=norm))


def _record(name: str, doc: str) -> OpDef:
    function = getattr(np.fft, name)
    return library(name, function, _infer(function), doc, fresh=True)


FFT = _record("fft", "The discrete Fourier transform along an axis.")
IFFT = _record("ifft", "The inverse Fourier transform along an axis.")
RFFT = _record("rfft", "The first half of the Fourier transform of real numbers along an axis.")
IRFFT = _record("irfft", "The real inverse of half a Fourier transform along an axis.")
