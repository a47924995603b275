"""Cases of batch normalisation, with expected values from sums over one feature after the other in wide floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops

Array = np.ndarray[Any, Any]

X = np.float32([[1, 10], [3, 10], [1, 30], [3, 30]])


def _lines(x: Array, axis: int) -> list[Array]:
    """The elements of every feature, wide."""
    return [np.take(x, place, axis).astype(np.float64).ravel() for place in range(x.shape[axis])]


def _trained(x: Array, scale: Array, offset: Array, epsilon: float, axis: int) -> tuple[Array, ...]:
    result, means, variances = np.empty(x.shape), [], []
    for place, line in enumerate(_lines(x, axis)):
        means.append(sum(line) / len(line))
        variances.append(sum((line - means[-1]) ** 2) / len(line))
        own = np.take(x, place, axis).astype(np.float64)
        at = tuple(place if d == axis else slice(None) for d in range(x.ndim))
        factor = float(scale[place]) / np.sqrt(variances[-1] + epsilon)
        result[at] = factor * (own - means[-1]) + float(offset[place])
    return tuple(np.array(one).astype(x.dtype) for one in (result, means, variances))


def _gradients(x: Array, scale: Array, mean: Array, variance: Array, g: Array, eps: float, axis: int) -> Any:
    result, factors, offsets = np.empty(x.shape), [], []
    for place, line in enumerate(_lines(x, axis)):
        slope, centre, v = float(scale[place]), float(mean[place]), float(variance[place]) + eps
        own = _lines(g, axis)[place]
        c, d = np.mean(own * (line - centre)) / v, np.mean(own)
        at = tuple(place if dim == axis else slice(None) for dim in range(x.ndim))
        here = np.take(g, place, axis) - d - c * (np.take(x, place, axis).astype(np.float64) - centre)
        result[at] = slope / np.sqrt(v) * here
        factors.append(np.sum(own * (line - centre)) / np.sqrt(v))
        offsets.append(np.sum(own))
    return tuple(np.array(one).astype(x.dtype) for one in (result, factors, offsets))


def _random_cases() -> list[Case]:
    found, rng = [], np.random.default_rng(3)
    shapes = [
        ((4, 3), 1),
        ((4, 3), 0),
        ((2, 3, 4, 5), 1),
        ((2, 3, 4, 5), 3),
        ((7,), 0),
        ((5, 1, 2), 1),
        ((40, 2, 9), 1),
    ]
    for number, (shape, axis) in enumerate(shapes):
        dtype = ("f32", "f64")[number % 2]
        ulp = {"f32": 200, "f64": 2000}[dtype]
        length = shape[axis]
        x, g = array(dtype, rng.normal(1, 2, shape)), array(dtype, rng.normal(size=shape))
        scale, offset, mean = (array(dtype, rng.normal(size=length)) for _ in range(3))
        variance = array(dtype, rng.uniform(0.5, 2, length))

        def train(x: Any, s: Any, o: Any, axis: int = axis) -> Any:
            return ops.batch_norm_training(x, s, o, 0.5, axis)

        def grad(x: Any, s: Any, m: Any, v: Any, g: Any, axis: int = axis) -> Any:
            return ops.batch_norm_grad(x, s, m, v, g, 0.25, axis)

        def infer(x: Any, s: Any, o: Any, m: Any, v: Any, axis: int = axis) -> Any:
            return ops.batch_norm_inference(x, s, o, m, v, 0.25, axis)

        at = tuple(slice(None) if d == axis else None for d in range(len(shape)))
        wide = [one.astype(np.float64)[at] for one in (scale, offset, mean, variance)]
        inferred = (wide[0] * (x - wide[2]) / np.sqrt(wide[3] + 0.25) + wide[1]).astype(x.dtype)
        gradients = _gradients(x, scale, mean, variance, g, 0.25, axis)
        found += [
            Case("batch_norm_training", train, (x, scale, offset), _trained(x, scale, offset, 0.5, axis), ulp),
            Case("batch_norm_inference", infer, (x, scale, offset, mean, variance), inferred, ulp),
            Case("batch_norm_grad", grad, (x, scale, mean, variance, g), gradients, 30 * ulp),
        ]
    return found


def _trained_with(x: Any, scale: Any, offset: Any, axis: int) -> Any:
    return ops.batch_norm_training(x, scale, offset, 0.0, axis)


def _exact_cases() -> list[Case]:
    found = []
    for dtype in ("f32", "f64", "f16", "bf16"):
        x, s, o, m, v = (array(dtype, one) for one in (X, [2, 1], [0, 5], [2, 20], [1, 100]))
        y = array(dtype, [[-2, 4], [2, 4], [-2, 6], [2, 6]])
        found += [
            Case("batch_norm_training", lambda *a: ops.batch_norm_training(*a, 0.0, 1), (x, s, o), (y, m, v)),
            Case("batch_norm_inference", lambda *a: ops.batch_norm_inference(*a, 0.0, 1), (x, s, o, m, v), y),
        ]
    column = np.float32([[1], [3], [1], [3]])
    vectors = np.float32([2]), np.float32([2]), np.float32([1])
    gradient = np.float32([[1], [2], [3], [6]])
    expected = np.float32([[-2], [-4], [2], [4]]), np.float32([4]), np.float32([12])
    nothing = np.zeros((0, 2), np.float32)
    unknown = np.full(2, np.nan, np.float32)
    two = np.ones(2, np.float32)
    return [
        *found,
        Case("batch_norm_grad", lambda *a: ops.batch_norm_grad(*a, 0.0, 1), (column, *vectors, gradient), expected),
        Case("batch_norm_training", lambda *a: ops.batch_norm_training(*a, 1, 1), (nothing, two, two),
             (nothing, unknown, unknown)),
        Case("batch_norm_training", lambda x, s: _trained_with(x, s, s, 1), (X, two[:1]), ops.ShapeError),
        Case("batch_norm_training", lambda x, s: _trained_with(x, s, s, 2), (X, two), ops.ArgumentError),
        Case("batch_norm_training", lambda x, s: _trained_with(x, x, s, 1), (X, two), ops.ShapeError),
    ]  # fmt: skip


CASES = [*_exact_cases(), *_random_cases()]
