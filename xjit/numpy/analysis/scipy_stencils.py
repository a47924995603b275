"""``scipy.ndimage``: weighted sums of the window around each element, over all axes at once.

As SciPy does, sums are formed in float64 and brought back to the type of the array.
"""

from __future__ import annotations

from typing import Any

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.analysis.scipy_filters import Border
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.promotion import cast, concrete_integer
from xjit.numpy.rules.values import as_value, refuse, shape_of
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT64, dtype_class


def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The weighted sum of the window around each element; weights have the rank of the array.

    >>> import numpy as np
    >>> correlate(np.array([[2.0, 8.0], [0.0, 4.0]]), np.array([[1.0, 3.0]])).tolist()
    [[8.0, 26.0], [0.0, 12.0]]
    """
    value, factors = _operands(input, weights, "correlate", output=output, axes=axes)
    origins = _origins(origin, len(shape_of(value)), "correlate")
    return _summed(value, factors, [Border("correlate", mode, cval, one) for one in origins])


def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The convolution of the array: the weights in reverse order, about the same middle.

    >>> import numpy as np
    >>> convolve(np.array([[2.0, 8.0], [0.0, 4.0]]), np.array([[1.0, 3.0]])).tolist()
    [[14.0, 32.0], [4.0, 16.0]]
    """
    value, factors = _operands(input, weights, "convolve", output=output, axes=axes)
    rank = len(shape_of(value))
    pairs = zip(_origins(origin, rank, "convolve"), shape_of(factors), strict=True)
    borders = [Border("convolve", mode, cval, -one - (count % 2 == 0)) for one, count in pairs]
    return _summed(value, ops.rev(factors, tuple(range(rank))), borders)


def _operands(input: Any, weights: Any, name: str, **options: Any) -> tuple[Operand, Operand]:
    refuse(name, **options)
    value, factors = as_array(as_value(input, name, "input")), as_value(weights, name, "weights")
    if "C" in (dtype_class(dtype_of(value)), dtype_class(dtype_of(factors))):
        raise DTypeError(f"scipy.ndimage.{name}: weights: complex numbers are not supported")
    if len(shape_of(value)) != len(shape_of(factors)) or not shape_of(value) or 0 in shape_of(factors):
        rule = "filter weights array has incorrect shape"
        raise ArgumentError(f"scipy.ndimage.{name}: weights: {rule}; got {shape_of(value)} and {shape_of(factors)}")
    return value, factors


def _origins(origin: Any, rank: int, name: str) -> list[int]:
    several = origin if isinstance(origin, tuple | list) else (origin,) * rank
    if len(several) != rank:
        rule = "sequence argument must have length equal to input rank"
        raise ArgumentError(f"scipy.ndimage.{name}: origin: {rule}; got {origin}")
    return [concrete_integer(one, f"scipy.ndimage.{name}: origin") for one in several]


def _summed(value: Operand, weights: Operand, borders: list[Border]) -> Any:
    around: Any = cast(value, FLOAT64)
    for axis, (border, count) in enumerate(zip(borders, shape_of(weights), strict=True)):
        around = border.around(around, axis, count)
    image, window = (ops.reshape(one, (1, 1, *shape_of(one))) for one in (around, cast(weights, FLOAT64)))
    sums = ops.conv(image, window, (1,) * len(borders), "VALID")
    return cast(ops.reshape(sums, shape_of(value)), dtype_of(value))
