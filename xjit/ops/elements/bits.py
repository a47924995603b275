"""Operations on bit patterns of integers, and on the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.scalar_expr import Expr, bitcast, prim, select
from xjit.ops.define.formulas import bit_type
from xjit.ops.define.op_tables import binary, function, primitive, unary
from xjit.ops.define.references import Array, paired
from xjit.ops.elements.elementwise import population_count
from xjit.types import COMPLEX64, COMPLEX128, FLOAT32, DType, bits

__all__ = ["popcnt"]

popcnt = population_count

# ---- shifts; the amount is read as unsigned, and may be any number


def _shifted(name: str, x: Expr, amount: Expr) -> Expr:
    """A logical shift: zero when nothing of the number is left."""
    width = bits(x.dtype)
    raw = bit_type(x.dtype)
    count = bitcast(amount, raw)
    inside = count < width
    shifted = prim(name, bitcast(x, raw), select(inside, count, 0))
    return bitcast(select(inside, shifted, 0), x.dtype)


def _shifted_arithmetic(x: Expr, amount: Expr) -> Expr:
    """Copies of the top bit move in; shifting by all bits but one fills the number with it."""
    width, raw, signed = bits(x.dtype), bit_type(x.dtype), bit_type(x.dtype, signed=True)
    count = bitcast(amount, raw)
    held = select(count < width, count, width - 1)
    return bitcast(prim("ashr", bitcast(x, signed), bitcast(held, signed)), x.dtype)


def _reference(function: Any, *, signed: bool) -> Any:
    def shift(x: Array, amount: Array) -> Array:
        width = bits(x.dtype)
        count = amount.view(bit_type(amount.dtype)).astype(np.uint64)
        value = x.view(bit_type(x.dtype, signed=signed))
        result = function(value, np.minimum(count, width - 1).astype(value.dtype))
        return np.asarray(np.where((count < width) | signed, result, 0).astype(value.dtype)).view(x.dtype)

    return shift


shift_left = binary(
    "shift_left",
    "ShiftLeft",
    "I",
    _reference(np.left_shift, signed=False),
    {"I": lambda x, amount: _shifted("shl", x, amount)},
    example="np.int32([1, 1]), np.int32([3, 32]) -> [8 0]",
    doc="Shifts toward the top bit; an amount of the width or more gives 0.",
)
shift_right_logical = binary(
    "shift_right_logical",
    "ShiftRightLogical",
    "I",
    _reference(np.right_shift, signed=False),
    {"I": lambda x, amount: _shifted("lshr", x, amount)},
    example="np.int32([-8, -8]), np.int32([1, 32]) -> [2147483644          0]",
    doc="Shifts zeros in from the top; an amount of the width or more gives 0.",
)
shift_right_arithmetic = binary(
    "shift_right_arithmetic",
    "ShiftRightArithmetic",
    "I",
    _reference(np.right_shift, signed=True),
    {"I": _shifted_arithmetic},
    example="np.int32([-8, -8]), np.int32([1, 32]) -> [-4 -1]",
    doc="Shifts copies of the top bit in; an amount of the width or more leaves nothing but them.",
)


def _leading_zeros(x: Array) -> Array:
    rest, count = x.view(bit_type(x.dtype)).copy(), np.full(x.shape, bits(x.dtype), x.dtype)
    for _ in range(bits(x.dtype)):
        count = count - (rest != 0).astype(x.dtype)
        rest = rest >> rest.dtype.type(1)
    return count


clz = function("clz", "I", _leading_zeros, "np.int32([0, 1, -1]) -> [32 31  0]", "The number of leading zero bits.")

# ---- complex numbers


def _pair_type(dtype: DType) -> DType:
    return COMPLEX64 if dtype == FLOAT32 else COMPLEX128


complex = binary(
    "complex",
    "Complex",
    "f32 f64",
    paired,
    {"F": primitive("complex")},
    result=_pair_type,
    example="np.float32([1]), np.float32([-2]) -> [1.-2.j]",
    doc="A complex number from its real and imaginary part, of F32 or F64.",
)
conj = unary(
    "conj",
    "Conj",
    "FC",
    np.conj,
    {"F": lambda x: x, "C": lambda z: prim("complex", prim("real", z), -prim("imag", z))},
    example="np.complex64([1 + 2j]) -> [1.-2.j]",
    doc="The complex conjugate; floats stay.",
)
