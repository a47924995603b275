"""``scipy.ndimage``: filters whose elements are means, extremes or weighted sums of windows around them.

An element i of a filter of n elements has the window from ``i - n // 2 - origin`` on. As SciPy does, sums are formed
in float64 and brought back to the type of the array along each axis; unlike its running sums, ours never take an
element away again, so that they differ by rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit import ops
from xjit.dataclass import dataclass, replace
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.arrays.padding import pad
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.promotion import cast, concrete_integer
from xjit.numpy.rules.values import as_value, numpy_errors, refuse, shape_of
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.ops.windows.window_view import window_view
from xjit.types import COMPLEX128, FLOAT64, dtype_class

MODES = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "constant": "constant",
    "grid-constant": "constant",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
"""NumPy's names of the ways to go on beyond the borders."""


def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """The mean of the window around each element along an axis.

    The result has the type of the array: means of integers lose their fraction.

    >>> uniform_filter1d(np.array([2.0, 8.0, 0.0, 4.0]), 3).tolist()
    [4.0, 3.3333333333333335, 4.0, 2.6666666666666665]
    """
    return _along(_mean, input, size, axis, output, Border("uniform_filter1d", mode, cval, origin))


def maximum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """The largest element of the window around each element along an axis.

    >>> maximum_filter1d(np.array([2.0, 8.0, 0.0, 4.0]), 2).tolist()
    [2.0, 8.0, 8.0, 4.0]
    """
    return _along(_largest, input, size, axis, output, Border("maximum_filter1d", mode, cval, origin))


def minimum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """The smallest element of the window around each element along an axis.

    >>> minimum_filter1d(np.array([2.0, 8.0, 0.0, 4.0]), 2).tolist()
    [2.0, 2.0, 0.0, 0.0]
    """
    return _along(_smallest, input, size, axis, output, Border("minimum_filter1d", mode, cval, origin))


def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The mean of the window around each element, one axis after the other.

    >>> uniform_filter(np.array([[1.0, 3.0], [5.0, 7.0]]), 2).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _over_axes(_mean, input, size, output, Border("uniform_filter", mode, cval, origin), axes)


def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The largest element of the window around each element.

    >>> maximum_filter(np.array([[1.0, 3.0], [5.0, 7.0]]), 2).tolist()
    [[1.0, 3.0], [5.0, 7.0]]
    """
    refuse("maximum_filter", footprint=footprint)
    return _over_axes(_largest, input, size, output, Border("maximum_filter", mode, cval, origin), axes)


def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The smallest element of the window around each element.

    >>> minimum_filter(np.array([[1.0, 3.0], [5.0, 7.0]]), 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    refuse("minimum_filter", footprint=footprint)
    return _over_axes(_smallest, input, size, output, Border("minimum_filter", mode, cval, origin), axes)


def correlate1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The weighted sum of the window around each element along an axis.

    >>> correlate1d(np.array([2.0, 8.0, 0.0, 4.0]), [1.0, 3.0]).tolist()
    [8.0, 26.0, 8.0, 12.0]
    """
    return _weighted(input, weights, axis, output, Border("correlate1d", mode, cval, origin))


def convolve1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The convolution along an axis: the weights in reverse order, about the same middle.

    >>> convolve1d(np.array([2.0, 8.0, 0.0, 4.0]), [1.0, 3.0]).tolist()
    [14.0, 24.0, 4.0, 16.0]
    """
    value = as_value(weights, "convolve1d", "weights")
    shift = concrete_integer(origin, "scipy.ndimage.convolve1d: origin")
    count = shape_of(value)[0] if len(shape_of(value)) == 1 else 0
    border = Border("convolve1d", mode, cval, -shift - (count % 2 == 0))
    return _weighted(input, ops.rev(value, (0,)) if count else value, axis, output, border)


# ---- filters along one axis


def _mean(value: Operand, axis: int, count: int, border: Border) -> Any:
    around = border.around(_wide(value), axis, count)
    window = _window(around, axis, count)
    zero = np.zeros((), dtype_of(around))
    total = ops.reduce_window(around, zero, ops.add, window)
    return cast(ops.div(total, zero.dtype.type(count)), dtype_of(value))


def _largest(value: Operand, axis: int, count: int, border: Border) -> Any:
    return _extreme(value, axis, count, border, "max", ops.max)


def _smallest(value: Operand, axis: int, count: int, border: Border) -> Any:
    return _extreme(value, axis, count, border, "min", ops.min)


def _extreme(value: Operand, axis: int, count: int, border: Border, name: str, operation: Any) -> Any:
    dtype = dtype_of(value)
    if dtype_class(dtype) == "C":
        raise DTypeError(f"scipy.ndimage: input: Complex type not supported; got {dtype}")
    around = border.around(value, axis, count)
    start = np.asarray(REDUCERS[name].identity(dtype), dtype)
    return ops.reduce_window(around, start, operation, _window(around, axis, count))


def _wide(value: Operand) -> Operand:
    return cast(value, COMPLEX128 if dtype_class(dtype_of(value)) == "C" else FLOAT64)


def _window(value: Operand, axis: int, count: int) -> tuple[int, ...]:
    return tuple(count if place == axis else 1 for place in range(len(shape_of(value))))


Along = Callable[[Any, int, int, "Border"], Any]
"""A filter along one axis: array, axis, number of elements of a window, border -> array."""


# ---- borders


@dataclass(frozen=True, slots=True)
class Border:
    """The elements beyond the ends of an axis, for one function: SciPy's mode, its constant, and the origin."""

    name: str
    mode: Any
    constant: Any
    origin: Any

    def around(self, value: Operand, axis: int, count: int) -> Any:
        """The array with what windows of so many elements reach beyond its ends."""
        before = count // 2 + concrete_integer(self.origin, f"scipy.ndimage.{self.name}: origin")
        if not 0 <= before < count:
            raise ArgumentError(f"scipy.ndimage.{self.name}: origin: invalid origin; got {self.origin}")
        if self.mode not in MODES:
            raise ArgumentError(f"scipy.ndimage.{self.name}: mode: boundary mode not supported; got {self.mode!r}")
        rank = len(shape_of(value))
        widths = [(before, count - 1 - before) if place == axis else (0, 0) for place in range(rank)]
        mode = MODES[self.mode]
        return pad(value, widths, mode, **({"constant_values": self.constant} if mode == "constant" else {}))


# ---- arguments


def _along(filter: Along, input: Any, size: Any, axis: Any, output: Any, border: Border) -> Any:
    value = _array(input, output, border.name)
    with numpy_errors(border.name):
        place = normalize_axis_index(axis, len(shape_of(value)))
    return filter(value, place, _size(size, border.name), border)


def _over_axes(filter: Along, input: Any, size: Any, output: Any, border: Border, axes: Any) -> Any:
    """The filter along all axes on which windows have several elements."""
    name = border.name
    value = _array(input, output, name)
    with numpy_errors(name):
        places = (
            tuple(range(len(shape_of(value)))) if axes is None else normalize_axis_tuple(axes, len(shape_of(value)))
        )
    rows = [_one_each(one, len(places), name) for one in (size, border.mode, border.origin)]
    for place, own_size, mode, origin in zip(places, *rows, strict=True):
        count = _size(own_size, name)
        if count > 1:
            value = filter(value, place, count, replace(border, mode=mode, origin=origin))
    return value


def _weighted(input: Any, weights: Any, axis: Any, output: Any, border: Border) -> Any:
    """The weighted sum of every window along an axis, in float64."""
    value, factors = _array(input, output, border.name), as_value(weights, border.name, "weights")
    if len(shape_of(factors)) != 1 or not shape_of(factors)[0]:
        raise ArgumentError(
            f"scipy.ndimage.{border.name}: weights: no filter weights given; one dimension is required"
        )
    if "C" in (dtype_class(dtype_of(value)), dtype_class(dtype_of(factors))):
        raise DTypeError(f"scipy.ndimage.{border.name}: weights: complex numbers are not supported")
    with numpy_errors(border.name):
        place = normalize_axis_index(axis, len(shape_of(value)))
    (count,), rank = shape_of(factors), len(shape_of(value))
    windows = window_view(border.around(_wide(value), place, count), (count,), axes=(place,))
    terms = ops.mul(windows, ops.broadcast(cast(factors, FLOAT64), shape_of(windows)[:-1]))
    return cast(ops.reduce(terms, np.float64(0), ops.add, (rank,)), dtype_of(value))


def _array(input: Any, output: Any, name: str) -> Operand:
    refuse(name, output=output)
    value: Operand = as_array(as_value(input, name, "input"))
    if not shape_of(value):
        raise ArgumentError(f"scipy.ndimage.{name}: input: rank 1 or more is required; got a number")
    return value


def _size(size: Any, name: str) -> int:
    count = concrete_integer(size, f"scipy.ndimage.{name}: size")
    if count < 1:
        raise ArgumentError(f"scipy.ndimage.{name}: size: incorrect filter size; got {count}")
    return count


def _one_each(value: Any, count: int, name: str) -> Sequence[Any]:
    """One value for each axis, from one for all or a sequence."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ArgumentError(
            f"scipy.ndimage.{name}: sequence argument must have length equal to input rank; got {value}"
        )
    return value
