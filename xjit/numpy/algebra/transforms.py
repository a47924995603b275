"""numpy.fft: transforms along one axis are steps between kernels, everything else is put together of them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit.errors import ArgumentError
from xjit.ir.opdef import OpDef
from xjit.numpy.arrays import turning
from xjit.numpy.rules.static import static_integer, static_size
from xjit.numpy.rules.values import as_value, numpy_errors, refuse, shape_of
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Array, Operand, apply
from xjit.ops.for_numpy import numpy_transforms as records

_NORMS = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _transform(record: OpDef, name: str, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    """One transform: of n points, those of the axis by default."""
    value = as_value(a, f"fft.{name}")
    with numpy_errors(f"fft.{name}", ArgumentError):
        place = normalize_axis_index(operator.index(axis), len(shape_of(value)))
    size = shape_of(value)[place]
    count = static_size(n, f"fft.{name}", "n") if n is not None else 2 * (size - 1) if name == "irfft" else size
    if count < 1:
        raise ArgumentError(f"numpy.fft.{name}: Invalid number of FFT data points ({count}) specified.")
    if norm not in _NORMS:
        raise ArgumentError(
            f'numpy.fft.{name}: Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        )
    with numpy_errors(f"fft.{name}"):
        return apply(record, value, n=count, axis=place, norm=norm)


def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The discrete Fourier transform along an axis, which is cut or filled up with zeros to ``n`` points.

    Element types: numbers; float32 gives complex64, wider ones and integers complex128. ``norm`` says which direction
    is divided by ``n``. Raises AxisError, ArgumentError for no points and unknown norms.

    >>> fft(np.array([1.0, 2.0, 3.0, 4.0]))
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    refuse("fft.fft", out=out)
    return _transform(records.FFT, "fft", a, n, axis, norm)


def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``fft``."""
    refuse("fft.ifft", out=out)
    return _transform(records.IFFT, "ifft", a, n, axis, norm)


def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The first ``n//2 + 1`` elements of the ``fft`` of real numbers: the others are their conjugates.

    Raises as ``fft``, and DTypeError for complex numbers.
    """
    refuse("fft.rfft", out=out)
    return _transform(records.RFFT, "rfft", a, n, axis, norm)


def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``rfft``: ``n`` real numbers, an even number of them by default."""
    refuse("fft.irfft", out=out)
    return _transform(records.IRFFT, "irfft", a, n, axis, norm)


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The real ``fft`` of numbers that are their own conjugates turned round, of which the first half is given."""
    refuse("fft.hfft", out=out)
    return irfft(call(np.conjugate, as_value(a, "fft.hfft")), n, axis, _swapped("hfft", norm))


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``hfft``."""
    refuse("fft.ihfft", out=out)
    return call(np.conjugate, rfft(a, n, axis, _swapped("ihfft", norm)))


def _swapped(name: str, norm: Any) -> Any:
    if norm not in _NORMS:
        raise ArgumentError(
            f'numpy.fft.{name}: Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        )
    return _NORMS[norm]


# ---- over several axes


def _lengths(name: str, value: Operand, s: Any, axes: Any, inverse_real: bool = False) -> tuple[list[Any], list[int]]:
    """The number of points along each axis, -1 being all there are, and the axes."""
    shape = shape_of(value)
    if axes is None:
        count = len(shape) if s is None else len(s)
        axes = range(-count, 0)
    places = [operator.index(axis) for axis in axes]
    with numpy_errors(f"fft.{name}", ArgumentError):
        sizes = [shape[normalize_axis_index(axis, len(shape))] for axis in places]
    if s is None:
        return ([*sizes[:-1], 2 * (sizes[-1] - 1)] if inverse_real else sizes), places
    if len(s) != len(places):
        raise ArgumentError(f"numpy.fft.{name}: Shape and axes have different lengths.")
    return [size if n == -1 else n for n, size in zip(s, sizes, strict=True)], places


def _one_by_one(function: Any, name: str, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """A transform along several axes, the last one first."""
    value = as_value(a, f"fft.{name}")
    lengths, places = _lengths(name, value, s, axes)
    for n, axis in zip(reversed(lengths), reversed(places), strict=True):
        value = function(value, n, axis, norm)
    return value


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """``fft`` along several axes, all of them by default; ``s`` are the numbers of points. Raises as ``fft``."""
    refuse("fft.fftn", out=out)
    return _one_by_one(fft, "fftn", a, s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``fftn``."""
    refuse("fft.ifftn", out=out)
    return _one_by_one(ifft, "ifftn", a, s, axes, norm)


def fft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """``fftn`` along two axes, the last ones by default."""
    refuse("fft.fft2", out=out)
    return _one_by_one(fft, "fft2", a, s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``fft2``."""
    refuse("fft.ifft2", out=out)
    return _one_by_one(ifft, "ifft2", a, s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """``rfft`` along the last of several axes, then ``fft`` along the others."""
    refuse("fft.rfftn", out=out)
    value = as_value(a, "fft.rfftn")
    lengths, places = _lengths("rfftn", value, s, axes)
    if not places:
        raise IndexError("numpy.fft.rfftn: at least 1 axis must be transformed")
    value = rfft(value, lengths[-1], places[-1], norm)
    return _one_by_one(fft, "rfftn", value, lengths[:-1], places[:-1], norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``rfftn``."""
    refuse("fft.irfftn", out=out)
    value = as_value(a, "fft.irfftn")
    lengths, places = _lengths("irfftn", value, s, axes, inverse_real=True)
    if not places:
        raise IndexError("numpy.fft.irfftn: at least 1 axis must be transformed")
    for n, axis in zip(lengths[:-1], places[:-1], strict=True):
        value = ifft(value, n, axis, norm)
    return irfft(value, lengths[-1], places[-1], norm)


def rfft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """``rfftn`` along two axes, the last ones by default."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of ``rfft2``."""
    return irfftn(a, s, axes, norm, out)


# ---- frequencies


def fftshift(x: Any, axes: Any = None) -> Any:
    """Frequency zero moved to the middle of each axis. Raises AxisError."""
    return _shifted("fftshift", x, axes, lambda size: size // 2)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of ``fftshift``."""
    return _shifted("ifftshift", x, axes, lambda size: -(size // 2))


def _shifted(name: str, x: Any, axes: Any, by: Any) -> Any:
    value = as_value(x, f"fft.{name}")
    shape = shape_of(value)
    places = tuple(range(len(shape))) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    with numpy_errors(f"fft.{name}", ArgumentError):
        sizes = [shape[normalize_axis_index(axis, len(shape))] for axis in places]
    return turning.roll(value, tuple(map(by, sizes)), places)


def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """The frequencies of the ``n`` elements of an ``fft`` of samples at a distance of ``d``.

    >>> fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    count = _count(n, "fftfreq")
    return _frequencies(np.roll(np.arange(-(count // 2), count - count // 2), -(count // 2)), count, d)


def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """The frequencies of the elements of an ``rfft``."""
    count = _count(n, "rfftfreq")
    return _frequencies(np.arange(count // 2 + 1), count, d)


def _count(n: Any, name: str) -> int:
    if isinstance(n, float):
        raise ArgumentError(f"numpy.fft.{name}: n should be an integer; got {n}")
    return static_integer(n, f"fft.{name}", "n")


def _frequencies(steps: Array, count: int, d: Any) -> Any:
    """The steps divided by the length of all samples, as NumPy rounds it."""
    return call(np.multiply, steps, call(np.divide, 1.0, call(np.multiply, count, d)))
