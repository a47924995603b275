"""Elementwise arithmetic, unary functions, clamp, select and map.

Each operation is a row: name, XLA's name, classes of element types, what NumPy computes, and one element by class.
"""

from __future__ import annotations

import numpy as np

from xjit.ir.opdef import Parity
from xjit.ir.scalar_expr import Expr, lit, prim
from xjit.ops.define import formulas, references
from xjit.ops.define.op_tables import EVEN, ODD, binary, boolean, function, operator, part, primitive, unary
from xjit.ops.define.references import by_class

__all__ = ["logical_and", "logical_not", "logical_or"]

# ---- binary arithmetic

add = binary(
    "add",
    "Add",
    "PIFC",
    np.add,
    {"P": primitive("or"), "IFC": primitive("add")},
    example="np.int8([127, 1]), np.int8([1, 2]) -> [-128    3]",
    doc="Sum; integers wrap, PRED is or.",
)
sub = operator(
    "sub", "IFC", np.subtract, "np.uint8([5, 1]), np.uint8([7, 1]) -> [254   0]", "Difference; integers wrap."
)
mul = binary(
    "mul",
    "Mul",
    "PIFC",
    np.multiply,
    {"P": primitive("and"), "IFC": primitive("mul")},
    parity=(Parity.ODD, Parity.ODD),
    example="np.float32([1.5, -2]), np.float32([2, 0.25]) -> [ 3.  -0.5]",
    doc="Product; integers wrap, PRED is and.",
)
div = binary(
    "div",
    "Div",
    "IFC",
    by_class(I=references.quotient, FC=np.divide),
    {"I": formulas.quotient, "F": primitive("div"), "C": formulas.complex_quotient},
    parity=(Parity.ODD, Parity.ODD),
    example="np.int32([7, -7, 5]), np.int32([2, 2, 0]) -> [ 3 -3 -1]",
    doc="Quotient; that of integers is truncated, x/0 has all bits set.",
)
rem = binary(
    "rem",
    "Rem",
    "IF",
    by_class(I=references.remainder, F=np.fmod),
    {"I": formulas.remainder, "F": primitive("fmod")},
    example="np.int32([7, -7, 5]), np.int32([2, 2, 0]) -> [ 1 -1  5]",
    doc="Remainder with the sign of the dividend; integer x rem 0 is x.",
)
max = binary(
    "max",
    "Max",
    "PIF",
    by_class(P=np.logical_or, I=np.maximum, F=references.maximum),
    {"P": primitive("or"), "IF": primitive("max")},
    example="np.float32([1, np.nan]), np.float32([2, 0]) -> [ 2. nan]",
    doc="The larger one; NaN if either is NaN, -0 is below +0.",
)
min = binary(
    "min",
    "Min",
    "PIF",
    by_class(P=np.logical_and, I=np.minimum, F=references.minimum),
    {"P": primitive("and"), "IF": primitive("min")},
    example="np.float32([1, np.nan]), np.float32([2, 0]) -> [ 1. nan]",
    doc="The smaller one; NaN if either is NaN, -0 is below +0.",
)
and_ = binary(
    "and_",
    "And",
    "PI",
    np.bitwise_and,
    {"PI": primitive("and")},
    example="np.int32([6]), np.int32([3]) -> [2]",
    doc="Logical or bitwise and.",
)
or_ = binary(
    "or_",
    "Or",
    "PI",
    np.bitwise_or,
    {"PI": primitive("or")},
    example="np.int32([6]), np.int32([3]) -> [7]",
    doc="Logical or bitwise or.",
)
xor = operator("xor", "PI", np.bitwise_xor, "np.int32([6]), np.int32([3]) -> [5]", "Logical or bitwise exclusive or.")
logical_and = and_
logical_or = or_

# ---- unary


def _operand(x: Expr) -> Expr:
    return x


def _zero(x: Expr) -> Expr:
    return lit(0, x.dtype)


def _absolute_integer(x: Expr) -> Expr:
    return prim("abs", x) if x.dtype.kind == "i" else x


def _negated_integer(x: Expr) -> Expr:
    return 0 - x


abs = unary(
    "abs",
    "Abs",
    "IFC",
    np.abs,
    {"I": _absolute_integer, "F": primitive("abs"), "C": primitive("abs")},
    result=part,
    parity=EVEN,
    example="np.float32([-1.5, 2]) -> [1.5 2. ]",
    doc="Absolute value; the least integer stays, a complex number gives its modulus.",
)
ceil = function("ceil", "F", np.ceil, "np.float32([-0.5, 0.5]) -> [-0.  1.]", "The least integer not below.")
floor = function("floor", "F", np.floor, "np.float32([-0.5, 0.5]) -> [-1.  0.]", "The largest integer not above.")
cos = function("cos", "FC", np.cos, "np.float32([0, np.inf]) -> [ 1. nan]", "Cosine.")
sin = function("sin", "FC", np.sin, "np.float32([0, np.inf]) -> [ 0. nan]", "Sine.")
exp = function("exp", "FC", np.exp, "np.float32([0, -np.inf]) -> [1. 0.]", "e to the power x.")
log = function("log", "FC", np.log, "np.float32([1, 0, -1]) -> [  0. -inf  nan]", "Natural logarithm.")
tanh = function("tanh", "FC", np.tanh, "np.float32([0, np.inf]) -> [0. 1.]", "Hyperbolic tangent.")
logistic = function("logistic", "FC", references.logistic, "np.float32([0, np.inf]) -> [0.5 1. ]", "1/(1+exp(-x)).")
sqrt = function(
    "sqrt",
    "FC",
    np.sqrt,
    "np.float32([4, -0.0, -1]) -> [ 2. -0. nan]",
    "Square root; NaN below zero, -0 for -0, the principal root of complex numbers.",
)
rsqrt = function(
    "rsqrt", "FC", references.reciprocal_root, "np.float32([4, 0]) -> [0.5 inf]", "1/sqrt(x); -inf for -0."
)
cbrt = function("cbrt", "F", np.cbrt, "np.float16([-8, 27]) -> [-2.  3.]", "Real cube root; odd.")
real = unary(
    "real",
    "Real",
    "FC",
    np.real,
    {"F": _operand, "C": primitive("real")},
    result=part,
    part=np.real,
    example="np.complex64([1 + 2j]) -> [1.]",
    doc="Real part.",
)
imag = unary(
    "imag",
    "Imag",
    "FC",
    references.imaginary,
    {"F": _zero, "C": primitive("imag")},
    result=part,
    part=np.imag,
    example="np.complex64([1 + 2j]) -> [2.]",
    doc="Imaginary part; zero for floats.",
)
is_finite = unary(
    "is_finite",
    "IsFinite",
    "F",
    np.isfinite,
    {"F": formulas.is_finite},
    result=boolean,
    example="np.float32([1, np.inf, np.nan]) -> [ True False False]",
    doc="Whether a float is neither infinite nor NaN.",
)
not_ = unary(
    "not_",
    "Not",
    "PI",
    np.invert,
    {"PI": primitive("not")},
    example="np.int32([2, -1]) -> [-3  0]",
    doc="Logical not or bitwise complement.",
)
logical_not = not_
population_count = unary(
    "population_count",
    "PopulationCount",
    "I",
    references.population_count,
    {"I": primitive("popcount")},
    example="np.int32([3, -1]) -> [ 2 32]",
    doc="The number of one bits.",
)
neg = unary(
    "neg",
    "Neg",
    "IFC",
    np.negative,
    {"I": _negated_integer, "FC": primitive("neg")},
    parity=ODD,
    example="np.uint8([5]) -> [251]",
    doc="Negative; integers wrap.",
)
sign = unary(
    "sign",
    "Sign",
    "IFC",
    by_class(I=np.sign, F=references.sign, C=references.complex_sign),
    {"I": formulas.integer_sign, "F": formulas.float_sign, "C": formulas.complex_sign},
    example="np.float32([-3, 0, np.nan]) -> [-1.  0. nan]",
    doc="-1, 0 or 1 with the zeros and NaN of floats kept; x/|x| of complex numbers.",
)
round = unary(
    "round",
    "Round",
    "F",
    references.round_away,
    {"F": primitive("round_away")},
    example="np.float32([-2.5, -0.4, 1.5]) -> [-3. -0.  2.]",
    doc="The nearest integer, ties away from zero.",
)
round_nearest_even = unary(
    "round_nearest_even",
    "RoundNearestEven",
    "F",
    np.rint,
    {"F": primitive("rint")},
    example="np.float32([-2.5, -0.4, 1.5]) -> [-2. -0.  2.]",
    doc="The nearest integer, ties to even.",
)
