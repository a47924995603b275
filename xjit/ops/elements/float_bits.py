"""Floats taken apart and put together: neighbours, spacing, scaling by powers of two, mantissa and exponent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.scalar_expr import Arg, Expr, Prim, bitcast, lit, prim, select
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, register
from xjit.ops.define.formulas import bit_type, is_finite
from xjit.ops.define.op_tables import binary, function, unary
from xjit.ops.define.references import Array
from xjit.types import FLOAT32, INT64, NARROW_FLOATS, ArrayType, DType

__all__ = ["ldexp"]

_INT32: DType = np.dtype(np.int32)
# Which of two zeros float16 stays at: NumPy's loop returned the first until 2.5, since then the second as all others.
_STAYS_AT_FIRST = not np.signbit(np.nextafter(np.float16(0.0), np.float16(-0.0)))


def _has_negative_zero(dtype: DType) -> bool:
    return not dtype.name.endswith("fnuz")


def _ordered(x: Expr) -> tuple[Expr, Expr]:
    """Integers in the order of the numbers, zero for both zeros; and the lowest integer of that type."""
    pattern = bitcast(x, bit_type(x.dtype, signed=True))
    lowest = lit(np.iinfo(pattern.dtype).min, pattern.dtype)
    return select(pattern >= 0, pattern, lowest - pattern), lowest


def _next(x: Expr, y: Expr) -> Expr:
    """One step in the order of the numbers; a step from below to zero gives the negative one."""
    if x.dtype not in NARROW_FLOATS:
        return prim("nextafter", x, y)
    place, lowest = _ordered(x)
    step = select(y > x, lit(1, place.dtype), lit(-1, place.dtype))
    after = place + step
    pattern = select(after >= 0, after, lowest - after)
    if _has_negative_zero(x.dtype):
        pattern = select(after.equals(0) & (place < 0), lowest, pattern)
    unmoved = x if x.dtype == np.float16 and _STAYS_AT_FIRST else y
    moved = select(x.equals(y), unmoved, bitcast(pattern, x.dtype))
    return select(x.differs(x), x, select(y.differs(y), y, moved))


def _spacing(x: Expr) -> Expr:
    if x.dtype not in NARROW_FLOATS:
        return prim("spacing", x)
    highest = lit(np.array(np.inf).astype(x.dtype), x.dtype)
    if x.dtype == np.float16:  # NumPy's loop looks upwards from negative numbers too
        return select(is_finite(x), _next(x, highest) - x, math.nan)
    size = prim("abs", x)
    return prim("copysign", _next(size, highest) - size, x)


nextafter = binary(
    "nextafter",
    "NextAfter",
    "F",
    np.nextafter,
    {"F": _next},
    narrow=True,
    example="np.float64([2, 1]), np.float64([9, 1]) -> [2. 1.]",
    doc="The next number from lhs on towards rhs; rhs where they are equal (F16: NumPy's choice), NaN where one is.",
)
spacing = unary(
    "spacing",
    None,
    "F",
    np.spacing,
    {"F": _spacing},
    narrow=True,
    example="np.float32([1, -8]) -> [ 1.1920929e-07 -9.5367432e-07]",
    doc="The distance to the next number away from zero, with the operand's sign; F16: to the next one above.",
)
frexp_mantissa = function(
    "frexp_mantissa",
    "F",
    lambda x: np.frexp(x)[0],
    "np.float32([8, -0.75]) -> [ 0.5  -0.75]",
    "What is left of a number after its power of two, in [1/2, 1); zeros, infinities and NaN stay.",
    in_xla=False,
)
frexp_exponent = unary(
    "frexp_exponent",
    None,
    "F",
    lambda x: np.frexp(x)[1],
    {"F": lambda x: Prim("frexp_exponent", (x,), _INT32)},
    result=lambda dtype: _INT32,
    example="np.float32([8, -0.75]) -> [4 0]",
    doc="The power of two that frexp_mantissa leaves out, as s32; zero for zeros, infinities and NaN.",
)


def _infer_ldexp(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    rules.check_class("ldexp", "operand", types[0], "F")
    rules.check_class("ldexp", "exponent", types[1], "s32 s64")
    rules.check_same_dims("ldexp", ("operand", "exponent"), types)
    return rules.elementwise_type(types, types[0].dtype)


def _ldexp_element(types: tuple[ArrayType, ...], params: Params, out: ArrayType) -> Expr:
    name = "ldexp_long" if types[1].dtype == INT64 else "ldexp"
    return Prim(name, (Arg(0, types[0].dtype), Arg(1, types[1].dtype)), types[0].dtype)


def _scaled(x: Array, n: Array) -> Array:
    wide = x.astype(FLOAT32) if x.dtype in NARROW_FLOATS else x
    return np.asarray(np.ldexp(wide, n)).astype(x.dtype)


LDEXP = register(
    OpDef(
        name="ldexp",
        kind=Kind.ELEMENTWISE,
        infer=_infer_ldexp,
        reference=_scaled,
        element=_ldexp_element,
        doc="The operand times a power of two, rounded once.",
    )
)


def ldexp(operand: Any, exponent: Any) -> Any:
    """``operand * 2**exponent``, rounded once. Floats, and s32 or s64 exponents, of equal dimensions.

    Raises DTypeError, ShapeError.

    >>> ldexp(np.float32([1.5, 1]), np.int32([2, -149]))
    array([6.e+00, 1.e-45], dtype=float32)
    """
    array, power = as_operand(operand, "ldexp", "operand"), as_operand(exponent, "ldexp", "exponent")
    return apply(LDEXP, array, power)
