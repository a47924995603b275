"""rng_uniform and rng_normal: numbers of the process's stream, computed of its bits element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.errors import DTypeError
from xjit.ops.define import rules
from xjit.ops.define.core import Shape, as_operand, as_shape, aval_of
from xjit.ops.elements.bits import shift_right_logical
from xjit.ops.elements.compare import ge, ne
from xjit.ops.elements.convert import bitcast_convert_type, convert_element_type
from xjit.ops.elements.elementwise import add, and_, cos, log, max, mul, rem, sin, sqrt, sub
from xjit.ops.elements.float_bits import nextafter
from xjit.ops.elements.select import select
from xjit.ops.random import stream
from xjit.ops.random.random_bits import around, beside, philox_bits, philox_blocks, split_dimension, without_last
from xjit.ops.whole_arrays.shape import broadcast_in_dim, reshape
from xjit.ops.whole_arrays.shape import slice as slice_of
from xjit.types import BOOL, DTYPES, FLOAT32, FLOAT64, NAMES, DType, dtype_class

__all__ = ["rng_normal", "rng_uniform"]

_UNIFORM = "pred u32 s32 u64 s64 f16 bf16 f32 f64"
_NORMAL = "f16 bf16 f32 f64"
_SMALLEST = 1e-7


def rng_uniform(a: Any, b: Any, shape: Any) -> Any:
    """Numbers drawn uniformly from ``a`` up to, but without, ``b``: scalars of the type of the shape.

    Element types: pred, u32, s32, u64, s64, f16, bf16, f32, f64; of pred, ``a`` is false and ``b`` true. Each draw
    goes on in the process's stream where the one before, in program order, ended. Raises DTypeError, ShapeError for
    other than scalars, and ArgumentError unless a < b when it runs.

    >>> stream.rng_seed(42)
    >>> rng_uniform(-5, 5, "s32[4]")
    array([-2, -4,  2,  2], dtype=int32)
    """
    described, (low, high) = _arguments("rng_uniform", ("a", "b"), (a, b), shape, _UNIFORM)
    bits = _drawn_bits("rng_uniform", low, high, described)
    if described.dtype == BOOL:
        return ne(and_(bits, np.uint32(1)), np.uint32(0))
    return _INTEGERS_OR_FLOATS[dtype_class(described.dtype)](bits, low, high, described.dtype)


def rng_normal(mu: Any, sigma: Any, shape: Any) -> Any:
    """Normally distributed numbers of this mean and standard deviation: scalars of the type of the shape.

    Element types: f16, bf16, f32, f64. Each draw goes on in the process's stream where the one before, in program
    order, ended. Raises DTypeError, ShapeError for other than scalars, and ArgumentError unless sigma >= 0 when it
    runs.

    >>> stream.rng_seed(42)
    >>> print(rng_normal(np.float32(0), np.float32(1), "f32[4]").round(3))
    [ 0.194 -0.97   1.924 -1.236]
    """
    described, (mean, deviation) = _arguments("rng_normal", ("mu", "sigma"), (mu, sigma), shape, _NORMAL)
    along = split_dimension(described.dims)
    outer, size, inner = around(described.dims, along)
    half = -(-size // 2)
    wide = _wide(described.dtype)
    bits = _drawn_bits("rng_normal", mean, deviation, Shape((outer * half, 2, inner), wide))
    unit = _unit(bits, wide)
    first, second = (reshape(_row(unit, place), (outer * half, inner)) for place in (0, 1))
    radius = sqrt(mul(log(max(first, _scalar(_SMALLEST, wide))), _scalar(-2.0, wide)))
    angle = mul(second, _scalar(2.0 * math.pi, wide))
    scale, shift = convert_element_type(deviation, wide), convert_element_type(mean, wide)
    pair = [add(mul(mul(wave(angle), radius), scale), shift) for wave in (sin, cos)]
    result = beside([convert_element_type(one, described.dtype) for one in pair], 1)
    return without_last(result, (outer, 2 * half, inner), size, described.dims)


def _arguments(
    name: str, arguments: tuple[str, str], values: tuple[Any, Any], shape: Any, classes: str
) -> tuple[Shape, tuple[Any, Any]]:
    described = as_shape(shape, name)
    if NAMES[described.dtype] not in classes.split():
        rule = f"the element type must be one of: {rules.words(classes)}"
        raise DTypeError(f"ops.{name}: shape: {rule}; got {described}")
    rules.check_at_least(name, "shape", described.dims, 0)
    first, second = (
        as_operand(value, name, argument, described.dtype) for value, argument in zip(values, arguments, strict=True)
    )
    for argument, operand in zip(arguments, (first, second), strict=True):
        if aval_of(operand).dtype != described.dtype:
            got = rules.got((aval_of(operand),))
            raise DTypeError(
                f"ops.{name}: {argument}: the element type of the shape is required; got {got} and {described}"
            )
    for argument, operand in zip(arguments, (first, second), strict=True):
        rules.check_rank(name, argument, aval_of(operand), 0)
    return described, (first, second)


def _drawn_bits(name: str, first: Any, second: Any, shape: Shape) -> Any:
    """Bits of the process's stream: 64 for each element of 64 bits, else 32."""
    bits = Shape(shape.dims, DTYPES["u64" if shape.dtype.itemsize == 8 else "u32"])
    state = stream.next_blocks(first, second, philox_blocks(bits), name)
    return philox_bits(state, bits)[1]


def _integers(bits: Any, low: Any, high: Any, dtype: DType) -> Any:
    """The remainder of the bits by the width of the interval, added in two halves."""
    unsigned = aval_of(bits).dtype
    start, end = (bitcast_convert_type(bound, unsigned) if dtype != unsigned else bound for bound in (low, high))
    offset = rem(bits, sub(end, start))
    half = shift_right_logical(offset, unsigned.type(1))
    result = add(add(half, start), sub(offset, half))
    return bitcast_convert_type(result, dtype) if dtype != unsigned else result


def _floats(bits: Any, low: Any, high: Any, dtype: DType) -> Any:
    """A number in [0, 1) stretched over the interval; rounding to its end gives the largest number below it."""
    wide = _wide(dtype)
    start, end = convert_element_type(low, wide), convert_element_type(high, wide)
    drawn = convert_element_type(add(mul(_unit(bits, wide), sub(end, start)), start), dtype)
    below = nextafter(high, np.array(-np.inf).astype(dtype))
    dims = aval_of(bits).shape
    return select(ge(drawn, high), broadcast_in_dim(below, dims, ()), drawn)


_INTEGERS_OR_FLOATS: dict[str, Callable[[Any, Any, Any, DType], Any]] = {"I": _integers, "F": _floats}


def _unit(bits: Any, dtype: DType) -> Any:
    """Numbers in [0, 1) of the highest bits, as many as a fraction has."""
    width, kept = (64, 52) if dtype == FLOAT64 else (32, 23)
    high = shift_right_logical(bits, aval_of(bits).dtype.type(width - kept))
    return mul(convert_element_type(high, dtype), _scalar(2.0**-kept, dtype))


def _wide(dtype: DType) -> DType:
    return FLOAT64 if dtype == FLOAT64 else FLOAT32


def _scalar(value: float, dtype: DType) -> Any:
    return np.array(value, dtype)


def _row(operand: Any, place: int) -> Any:
    rows, _, columns = aval_of(operand).shape
    return slice_of(operand, (0, place, 0), (rows, place + 1, columns))
