"""Further elementwise functions: exponentials and logarithms to other bases and near 1, powers, classes of floats."""

from __future__ import annotations

import numpy as np

from xjit.ir.scalar_expr import Expr, lit, prim, select
from xjit.ops.define import references
from xjit.ops.define.formulas import complex_quotient
from xjit.ops.define.op_tables import binary, boolean, function, primitive, unary
from xjit.ops.define.references import by_class
from xjit.types import DType, bits, is_signed

_INT32: DType = np.dtype(np.int32)

# ---- exponentials and logarithms


expm1 = function(
    "expm1", "FC", np.expm1, "np.float64([1e-20, -np.inf]) -> [ 1.e-20 -1.e+00]", "exp(x) - 1, exact near 0."
)
log1p = function("log1p", "FC", np.log1p, "np.float64([1e-20, -1]) -> [1.e-20   -inf]", "log(1 + x), exact near 0.")
exp2 = function("exp2", "FC", np.exp2, "np.float32([3, -1]) -> [8.  0.5]", "2 to the power x.", in_xla=False)
log2 = function("log2", "FC", np.log2, "np.float32([8, 0.5]) -> [ 3. -1.]", "Logarithm to base 2.", in_xla=False)
log10 = function(
    "log10", "FC", np.log10, "np.float64([1000, 0.1]) -> [ 3. -1.]", "Logarithm to base 10.", in_xla=False
)

# ---- powers


def _integer_power(x: Expr, y: Expr) -> Expr:
    """Repeated squaring. Exponent bits beyond the width change nothing: odd bases have come back to 1 by then.

    Negative exponents give 1 for base 1, the sign for base -1, else 0.
    """
    result: Expr = lit(1, x.dtype)
    square = x
    for place in range(bits(x.dtype) - 1 if is_signed(x.dtype) else bits(x.dtype)):
        bit = prim("lshr", y, place) & 1
        result = result * select(bit.equals(0), 1, square)
        square = square * square
    if not is_signed(x.dtype):
        return result
    odd = (y & 1).differs(0)
    turned = select(x.equals(1), 1, select(x.equals(-1), select(odd, x, 1), 0))
    return select(y < 0, turned, result)


pow = binary(
    "pow",
    "Pow",
    "IFC",
    by_class(I=references.integer_power, FC=np.power),
    {"I": _integer_power, "FC": primitive("pow")},
    example="np.int32([2, 3]), np.int32([10, -1]) -> [1024    0]",
    doc="Power; C99's for floats, exp(rhs*log(lhs)) for complex numbers, integers wrap.",
)

# ---- products and classes of floats

square = unary(
    "square",
    "Square",
    "IFC",
    np.square,
    {"IFC": lambda x: x * x},
    example="np.int32([3, -2]) -> [9 4]",
    doc="The product with itself.",
)
reciprocal = unary(
    "reciprocal",
    "Reciprocal",
    "FC",
    lambda x: 1 / x,
    {"F": lambda x: 1 / x, "C": lambda z: complex_quotient(lit(1, z.dtype), z)},
    example="np.float32([4, 0]) -> [0.25  inf]",
    doc="1/x.",
)
is_nan = unary(
    "is_nan",
    "IsNan",
    "F",
    np.isnan,
    {"F": lambda x: x.differs(x)},
    result=boolean,
    example="np.float32([1, np.inf, np.nan]) -> [False False  True]",
    doc="Whether it is NaN.",
)
is_inf = unary(
    "is_inf",
    "IsInf",
    "F",
    np.isinf,
    {"F": lambda x: x.equals(x) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, np.nan]) -> [False  True False]",
    doc="Whether it is infinite.",
)
is_pos_inf = unary(
    "is_pos_inf",
    "IsPosInf",
    "F",
    np.isposinf,
    {"F": lambda x: (x > 0) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, -np.inf]) -> [False  True False]",
    doc="Whether it is +inf.",
)
is_neg_inf = unary(
    "is_neg_inf",
    "IsNegInf",
    "F",
    np.isneginf,
    {"F": lambda x: (x < 0) & (x - x).differs(0)},
    result=boolean,
    example="np.float32([1, np.inf, -np.inf]) -> [False False  True]",
    doc="Whether it is -inf.",
)
is_neg_zero = unary(
    "is_neg_zero",
    "IsNegZero",
    "F",
    lambda x: (x == 0) & np.signbit(x),
    {"F": lambda x: x.equals(0) & (prim("copysign", lit(1, x.dtype), x) < 0)},
    result=boolean,
    example="np.float32([0, -0.0]) -> [False  True]",
    doc="Whether it is -0.",
)
