"""Batch normalisation: statistics of every feature over all other dimensions, and what is scaled by them.

All three operations are compositions: sums over the other dimensions, and elementwise operations that fuse with what
comes before and after. Narrow floats are computed in F32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ops.define import rules
from xjit.ops.define.core import as_operand, aval_of, constant, static_int
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import add, div, mul, sqrt, sub
from xjit.ops.whole_arrays.reduce import reduction
from xjit.ops.whole_arrays.shape import expanded
from xjit.types import FLOAT32, NARROW_FLOATS, ArrayType, DType

__all__ = ["batch_norm_grad", "batch_norm_inference", "batch_norm_training"]


def batch_norm_training(operand: Any, scale: Any, offset: Any, epsilon: float, feature_index: int) -> Any:
    """The operand normalised by its own statistics, and these: (output, batch_mean, batch_var).

    Mean and variance, of the population, are over all dimensions but ``feature_index``, in two passes; the output is
    ``scale * (operand - mean) / sqrt(variance + epsilon) + offset``. Element types: float; NaN for no elements.
    Raises DTypeError, ArgumentError for a bad feature_index, ShapeError for parameters of another length.

    >>> batch_norm_training(np.float32([[1], [3]]), np.float32([2]), np.float32([1]), 0.0, 1)[0].tolist()
    [[-1.0], [3.0]]
    """
    name = "batch_norm_training"
    vectors = {"scale": scale, "offset": offset}
    features, (x, factor, shift) = _checked(name, {"operand": operand}, vectors, epsilon, feature_index)
    mean = features.mean(x)
    distance = sub(x, features.spread(mean))
    variance = features.mean(mul(distance, distance))
    result = features.scaled(distance, factor, variance, shift)
    return tuple(map(features.narrow, (result, mean, variance)))


def batch_norm_inference(
    operand: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, feature_index: int
) -> Any:
    """The operand normalised by given statistics: ``scale * (operand - mean) / sqrt(variance + epsilon) + offset``.

    Element types: float. Raises DTypeError, ArgumentError for a bad feature_index, ShapeError for parameters of
    another length.

    >>> batch_norm_inference(*map(np.float32, ([[3]], [2], [1], [1], [3])), 1.0, 1).tolist()
    [[3.0]]
    """
    name = "batch_norm_inference"
    vectors = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
    features, (x, *found) = _checked(name, {"operand": operand}, vectors, epsilon, feature_index)
    factor, shift, centre, spread = found
    return features.narrow(features.scaled(sub(x, features.spread(centre)), factor, spread, shift))


def batch_norm_grad(
    operand: Any, scale: Any, mean: Any, variance: Any, grad_output: Any, epsilon: float, feature_index: int
) -> Any:
    """The gradients of batch_norm_training: (grad_operand, grad_scale, grad_offset).

    With the distance d from the mean, the variance v with epsilon and the gradient g they are
    ``scale / sqrt(v) * (g - mean(g) - d * mean(g * d) / v)``, ``sum(g * d) / sqrt(v)`` and ``sum(g)``. Element types:
    float. Raises DTypeError, ArgumentError for a bad feature_index, ShapeError.

    >>> batch_norm_grad(*map(np.float32, ([[1], [3]], [2], [2], [1], [[1], [2]])), 0.0, 1)[1].tolist()
    [1.0]
    """
    name = "batch_norm_grad"
    arrays = {"operand": operand, "grad_output": grad_output}
    vectors = {"scale": scale, "mean": mean, "variance": variance}
    features, (x, gradient, factor, centre, spread) = _checked(name, arrays, vectors, epsilon, feature_index)
    distance, deviation = sub(x, features.spread(centre)), features.deviation(spread)
    total, slope = features.sum(gradient), features.sum(mul(gradient, distance))
    level, tilt = features.share(total), div(features.share(slope), features.widened(spread))
    rest = sub(sub(gradient, features.spread(level)), mul(features.spread(tilt), distance))
    result = mul(features.spread(div(factor, deviation)), rest)
    return tuple(map(features.narrow, (result, div(slope, deviation), total)))


@dataclass(frozen=True, slots=True)
class Features:
    """The features of arrays of type ``type``, along ``axis``, computed as ``wide`` floats."""

    type: ArrayType
    axis: int
    epsilon: float
    wide: DType

    @property
    def others(self) -> tuple[int, ...]:
        """All other dimensions."""
        return tuple(axis for axis in range(self.type.rank) if axis != self.axis)

    def number(self, value: float) -> Any:
        """A number for each feature."""
        return expanded(constant(np.array(value).astype(self.type.dtype).astype(self.wide)), self.length, ())

    @property
    def length(self) -> tuple[int, ...]:
        """The number of features, as dimensions."""
        return (self.type.shape[self.axis],)

    def spread(self, vector: Any) -> Any:
        """A number for each feature, at every element."""
        return expanded(vector, self.type.shape, (self.axis,))

    def sum(self, values: Any) -> Any:
        """The sum of each feature."""
        return reduction(values, "add", self.others)

    def share(self, total: Any) -> Any:
        """The total divided by the number of elements."""
        count = math.prod(self.type.shape[axis] for axis in self.others)
        return div(total, expanded(constant(np.array(count).astype(self.wide)), self.length, ()))

    def mean(self, values: Any) -> Any:
        """The mean of each feature."""
        return self.share(self.sum(values))

    def widened(self, variance: Any) -> Any:
        """The variance with epsilon."""
        return add(variance, self.number(self.epsilon))

    def deviation(self, variance: Any) -> Any:
        """The standard deviation with epsilon in it."""
        return sqrt(self.widened(variance))

    def scaled(self, distance: Any, factor: Any, variance: Any, shift: Any) -> Any:
        """Distances from the mean in deviations, times a factor, with something added."""
        slope = div(factor, self.deviation(variance))
        return add(mul(distance, self.spread(slope)), self.spread(shift))

    def narrow(self, value: Any) -> Any:
        """The value in the type of the operand."""
        return value if self.wide == self.type.dtype else convert_element_type(value, self.type.dtype)


def _checked(
    name: str, arrays: dict[str, Any], vectors: dict[str, Any], epsilon: Any, feature_index: int
) -> tuple[Features, list[Any]]:
    """The features, and the operands as they are computed with: arrays of equal dimensions, then vectors."""
    operands = {key: as_operand(one, name, key) for key, one in (arrays | vectors).items()}
    types = {key: aval_of(one) for key, one in operands.items()}
    names, type = list(types), types["operand"]
    rules.check_class(name, "operand", type, "F")
    rules.check_same_dtype(name, names, list(types.values()))
    axis = static_int(feature_index, name, "feature_index")
    rules.check_axis(name, "feature_index", axis, type.rank)
    if isinstance(epsilon, TracedValue | np.ndarray):
        raise DTypeError(f"ops.{name}: epsilon: a static number is required; got an array")
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.floating):
        raise ArgumentError(f"ops.{name}: epsilon: a number is required; got {epsilon!r}")
    rules.check_same_dims(name, list(arrays), [types[key] for key in arrays])
    for key in vectors:
        rules.check_rank(name, key, types[key], 1)
        if types[key].dims != (type.dims[axis],):
            rule = f"one number for each position along dimension {axis} is required"
            raise ShapeError(f"ops.{name}: {key}: {rule}; got {rules.got((types[key], type))}")
    wide = FLOAT32 if type.dtype in NARROW_FLOATS else type.dtype
    found = [one if wide == type.dtype else convert_element_type(one, wide) for one in operands.values()]
    return Features(type, axis, float(epsilon), wide), found
