"""Operations that XLA lacks, with NumPy's rules: floor division and the remainders that go with it.

Integers: anything divided by zero gives 0, the least number over -1 wraps. Floats: NumPy's own algorithm, which works
on the exact remainder, so that results agree bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import OpDef, Parity
from xjit.ir.scalar_expr import Expr, prim, select
from xjit.ops.define.op_tables import binary, operator, primitive
from xjit.ops.elements.bits import shift_right_arithmetic
from xjit.ops.elements.elementwise import and_
from xjit.ops.elements.exp_log import pow
from xjit.types import dtype_class, is_signed

__all__ = ["numpy_power"]

_SHIFT: OpDef = getattr(shift_right_arithmetic, "record")  # noqa: B009
_MASK: OpDef = getattr(and_, "record")  # noqa: B009


def _safe(y: Expr) -> tuple[Expr, Expr, Expr]:
    """Return where the divisor is zero, where it is -1, and a divisor that never traps."""
    zero = y.equals(0)
    if not is_signed(y.dtype):
        return zero, zero, select(zero, 1, y)
    negative = y.equals(-1)
    return zero, negative, select(zero | negative, 1, y)


def _floor_integers(x: Expr, y: Expr) -> Expr:
    zero, negative, divisor = _safe(y)
    if not is_signed(x.dtype):
        return select(zero, 0, prim("idiv", x, divisor))
    quotient = prim("idiv", x, divisor)
    rest = x - quotient * divisor
    below = rest.differs(0) & ((rest < 0) ^ (divisor < 0))
    return select(zero, 0, select(negative, 0 - x, select(below, quotient - 1, quotient)))


def _remainder_integers(x: Expr, y: Expr) -> Expr:
    zero, negative, divisor = _safe(y)
    rest = prim("irem", x, divisor)
    if not is_signed(x.dtype):
        return select(zero, 0, rest)
    below = rest.differs(0) & ((rest < 0) ^ (divisor < 0))
    return select(zero | negative, 0, select(below, rest + divisor, rest))


def _as_shift(divisor: Any) -> tuple[OpDef, Any] | None:
    """``x // 8`` as ``x >> 3``, which rounds down, too."""
    number = _power_of_two(divisor)
    return None if number is None else (_SHIFT, divisor.dtype.type(number.bit_length() - 1))


def _as_mask(divisor: Any) -> tuple[OpDef, Any] | None:
    """``x % 8`` as ``x & 7``, which has the sign of the divisor, too."""
    number = _power_of_two(divisor)
    return None if number is None else (_MASK, divisor.dtype.type(number - 1))


def _power_of_two(divisor: Any) -> int | None:
    """The divisor if it is one of signed integers; compilers do what is unsigned."""
    signed = dtype_class(divisor.dtype) == "I" and is_signed(divisor.dtype)
    return int(divisor) if signed and divisor > 0 and int(divisor).bit_count() == 1 else None


def _fmod_integers(x: Expr, y: Expr) -> Expr:
    zero, negative, divisor = _safe(y)
    return select(zero | negative, 0, prim("irem", x, divisor))


numpy_power = pow  # NumPy's rule is C99's; integers to negative powers, an error there, follow XLA

floor_divide = binary(
    "floor_divide",
    None,
    "IF",
    np.floor_divide,
    {"I": _floor_integers, "F": primitive("floor_divide")},
    example="np.int32([7, -7, 5]), np.int32([2, 2, 0]) -> [ 3 -4  0]",
    shorter=_as_shift,
    doc="NumPy's floor division: integer x//0 is 0, floats follow the exact remainder.",
)
remainder = binary(
    "remainder",
    None,
    "IF",
    np.remainder,
    {"I": _remainder_integers, "F": primitive("remainder")},
    example="np.int32([7, -7, 5]), np.int32([2, 2, 0]) -> [1 1 0]",
    shorter=_as_mask,
    doc="NumPy's remainder, with the sign of the divisor; integer x%0 is 0.",
)
fmod = binary(
    "fmod",
    None,
    "IF",
    np.fmod,
    {"I": _fmod_integers, "F": primitive("fmod")},
    example="np.int32([7, -7, 5]), np.int32([2, 2, 0]) -> [ 1 -1  0]",
    doc="NumPy's fmod, with the sign of the dividend; integer fmod(x, 0) is 0.",
)
copysign = operator(
    "copysign",
    "F",
    np.copysign,
    "np.float32([1, -2]), np.float32([-0.0, 3]) -> [-1.  2.]",
    "The magnitude of the first operand with the sign of the second.",
    in_xla=False,
)
hypot = operator(
    "hypot",
    "F",
    np.hypot,
    "np.float32([3, np.inf]), np.float32([4, np.nan]) -> [ 5. inf]",
    "The length of the vector (lhs, rhs), without overflow in between.",
    in_xla=False,
    parity=(Parity.EVEN, Parity.EVEN),
)
