"""Cases of elementwise unary operations, clamp, select and map."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import scipy.special

from tests.helpers.case_values import (
    COMPLEX,
    EIGHT_BIT,
    FLOATS,
    INTEGERS,
    WIDE,
    every,
    exactly,
    inf,
    integer_edges,
    integers,
    many,
    nan,
    through_single,
    width,
    wrapped,
)
from tests.helpers.harness import Case, array
from xjit import ops


def _half_away(x: Any) -> Any:
    size = np.abs(x)
    down = np.floor(size)
    return np.copysign(np.where(size - down >= 0.5, down + 1, down), x)


def _half_even(x: Any) -> Any:
    size = np.abs(x)
    down = np.floor(size)
    up = (size - down > 0.5) | ((size - down == 0.5) & (down % 2 == 1))
    return np.copysign(np.where(up, down + 1, down), x)


def _in_double(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(np.asarray(x, np.float64))


def _error_complement(x: Any) -> Any:
    """With 100 bits, since SciPy's is several units off where the result is small."""
    with gmpy2.context(precision=100):
        return np.array([float(gmpy2.erfc(gmpy2.mpfr(float(one)))) for one in np.asarray(x, np.float64)])


# Rules that float64 computes exactly: every bit has to agree.
EXACT: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: np.where(np.signbit(x), -x, x),
    "neg": lambda x: -x,
    "ceil": lambda x: np.copysign(-np.floor(-x), x),
    "floor": np.floor,
    "sign": lambda x: np.where(x > 0, 1.0, np.where(x < 0, -1.0, x)),
    "round": _half_away,
    "round_nearest_even": _half_even,
    "real": lambda x: x,
    "imag": lambda x: np.zeros_like(x),
    "conj": lambda x: x,
    "sqrt": np.sqrt,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
}
# Rules in a wider type; the distance that the specification permits.
NEAR: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "expm1": np.expm1,
    "log1p": np.log1p,
    "exp2": np.exp2,
    "log2": np.log2,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "log10": np.log10,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "erf": _in_double(scipy.special.erf),
    "erf_inv": _in_double(scipy.special.erfinv),
    "logit": _in_double(scipy.special.logit),
    "softplus": lambda x: np.logaddexp(x, x.dtype.type(0)),
}
CLASSES: dict[str, Callable[[Any], Any]] = {
    "is_finite": lambda x: np.abs(x) < inf,
    "is_nan": lambda x: x != x,
    "is_inf": lambda x: np.abs(x) == inf,
    "is_pos_inf": lambda x: x == inf,
    "is_neg_inf": lambda x: x == -inf,
    "is_neg_zero": lambda x: (x == 0) & np.signbit(x),
}


# NaN of either sign, quiet and signalling, with payloads at both ends.
NOT_NUMBERS = {
    "f32": np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32),
    "f64": np.array([0x7FF8 << 48, 0xFFF8 << 48, (0x7FF0 << 48) + 1, (1 << 63) - 1, (1 << 64) - 1], np.uint64),
}


def _operand(dtype: str) -> Any:
    return many(dtype)


def _points(dtype: str) -> Any:
    """Edges, and numbers where the functions do something; huge arguments of sin are another test's."""
    if dtype in EIGHT_BIT:
        return every(dtype)
    special = [0.0, -0.0, inf, -inf, nan, 1.0, -1.0]
    spread = np.concatenate([np.linspace(-20, 20, 161), np.geomspace(1e-7, 300, 60), -np.geomspace(1e-7, 300, 60)])
    plain = array(dtype, [*special, *spread, 700.0, 709.5, 710.2, -745.0, 88.5, 89.2, -100.0])
    return plain if dtype not in NOT_NUMBERS else np.concatenate([plain, NOT_NUMBERS[dtype].view(plain.dtype)])


def _float_cases() -> list[Case]:
    found = []
    for dtype in FLOATS:
        x = _operand(dtype)
        for name, rule in EXACT.items():
            found.append(Case(name, getattr(ops, name), (x,), exactly(dtype, rule, x)))
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64)
        for name, rule in CLASSES.items():
            found.append(Case(name, getattr(ops, name), (x,), rule(wide)))
        x = _points(dtype)
        for name, rule in NEAR.items():
            expected = through_single(dtype, rule, x)
            found.append(Case(name, getattr(ops, name), (x,), expected, 4 if dtype in WIDE else 1))
    return found


def _part_cases() -> list[Case]:
    """Neighbours, spacing, mantissa and exponent, worked out by hand."""
    found = []
    for dtype, digits, least in (("f32", 23, -149), ("f64", 52, -1074), ("f16", 10, -24), ("bf16", 7, -133)):
        tiny, unit = 2.0**least, 2.0**-digits
        x = array(dtype, [0.0, 0.0, -0.0, 1.0, 1.0, -tiny, tiny, inf, 1.0, nan, -1.0, 2.0, 0.0, -0.0])
        y = array(dtype, [1.0, -1.0, 1.0, 2.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, nan, 1.0, -0.0, 0.0])
        with np.errstate(all="ignore"):
            largest = float(np.finfo(x.dtype).max) if dtype != "bf16" else (2 - 2.0**-7) * 2.0**127
        after = [tiny, -tiny, tiny, 1 + unit, 1 - unit / 2, -0.0, 0.0, largest, 1.0, nan, nan, 2 - unit]
        # Of two zeros NumPy's loop of float16 returned the first until 2.5.
        first = dtype == "f16" and np.lib.NumpyVersion(np.__version__) < "2.5.0"
        after += [0.0, -0.0] if first else [-0.0, 0.0]
        found.append(Case("nextafter", ops.nextafter, (x, y), array(dtype, after)))
        x = array(dtype, [0.0, 1.0, -8.0, tiny, -inf, nan, 0.75])
        distance = array(dtype, [tiny, unit, 4 * unit if dtype == "f16" else -8 * unit, tiny, nan, nan, unit / 2])
        mantissa = array(dtype, [0.0, 0.5, -0.5, 0.5, -inf, nan, 0.75])
        exponent = array("s32", [0, 1, 4, least + 1, 0, 0, 0])
        found.append(Case("spacing", ops.spacing, (x,), distance))
        found.append(Case("frexp_mantissa", ops.frexp_mantissa, (x,), mantissa))
        found.append(Case("frexp_exponent", ops.frexp_exponent, (x,), exponent))
        for whole in ("s32", "s64"):
            n = array(whole, [5, 3, -3, 2, 1, -1, least - 2])
            scaled = array(dtype, [0.0, 8.0, -1.0, 4 * tiny, -inf, nan, 0.0])
            found.append(Case("ldexp", ops.ldexp, (x, n), scaled))
    found.append(Case("ldexp", ops.ldexp, (array("f32", [1]), array("f32", [1])), ops.DTypeError))
    return found


def _error_cases() -> list[Case]:
    """Cases of errors where SciPy, which eager calls are, is not too far off itself."""
    found = []
    for dtype in ("f32", "f64", "f16", "bf16"):
        x = array(dtype, [*np.linspace(-6, 2, 33), inf, -inf, nan])
        expected = array(dtype, _error_complement(x.astype(np.float64)))
        found.append(Case("erfc", ops.erfc, (x,), expected, 8 if dtype == "f64" else 1))
    return found


def _gamma_cases() -> list[Case]:
    """Positive numbers, where the zeros of the functions are simple, and poles."""
    poles = [0.0, -0.0, -1.0, -2.0, -7.0, inf, -inf, nan]
    points = [0.125, 0.5, 1.0, 1.25, 1.4375, 2.0, 2.5, 3.0, 4.0, 7.25, 30.0, 100.0]
    found = []
    for dtype in ("f32", "f64", "f16", "bf16"):
        x = array(dtype, [*poles, *points])
        finite = scipy.special.gammaln(np.asarray(points)), scipy.special.digamma(np.asarray(points))
        at_poles = [inf, inf, inf, inf, inf, inf, inf, nan], [nan, nan, nan, nan, nan, inf, nan, nan]
        for name, near, far in zip(("lgamma", "digamma"), finite, at_poles, strict=True):
            found.append(Case(name, getattr(ops, name), (x,), array(dtype, [*far, *near]), 4))
    return found


def _subnormal_cases() -> list[Case]:
    found = []
    for dtype, small, tiny in (("f32", 2.0**-149, 2.0**-126), ("f64", 5e-324, 2.0**-1022)):
        x = array(dtype, [small, 3 * small, tiny, tiny * 0.75, -small])
        for name in ("cbrt", "log2", "log1p", "expm1", "sinh", "asinh", "tanh", "sin"):
            found.append(Case(name, getattr(ops, name), (x,), through_single(dtype, NEAR[name], x), 2, "subnormal"))
        least = -149.0 if dtype == "f32" else -1074.0
        points = array(dtype, [least, least + 0.5, least - 2, -least / 2, 10, -10, 0])
        found.append(Case("exp2", ops.exp2, (points,), through_single(dtype, np.exp2, points), 1, "subnormal"))
    whole = array("f64", [2.0**k for k in range(-1074, 1024)])
    found.append(Case("log2", ops.log2, (whole,), array("f64", range(-1074, 1024)), label="exact"))
    return found


def _integer_cases() -> list[Case]:
    rules: dict[str, Callable[[str, int], int]] = {
        "abs": lambda dtype, x: abs(x),
        "neg": lambda dtype, x: -x,
        "sign": lambda dtype, x: (x > 0) - (x < 0),
        "not_": lambda dtype, x: ~x,
        "square": lambda dtype, x: x * x,
        "population_count": lambda dtype, x: bin(x & ((1 << width(dtype)) - 1)).count("1"),
        "clz": lambda dtype, x: width(dtype) - (x & ((1 << width(dtype)) - 1)).bit_length(),
    }
    found = []
    for dtype in INTEGERS:
        values = integer_edges(dtype)
        for name, rule in rules.items():
            expected = integers(dtype, [wrapped(rule(dtype, x), dtype) for x in values])
            found.append(Case(name, getattr(ops, name), (integers(dtype, values),), expected))
    found.append(Case("not_", ops.not_, (array("pred", [1, 0]),), array("pred", [0, 1])))
    return found


def _complex_cases() -> list[Case]:
    z = [3 + 4j, -5 + 12j, 1e-3 + 1e3j, 0j, -2 + 0j, 1j, -1j, 0.5 - 0.25j]
    found = []
    for dtype in COMPLEX:
        x = array(dtype, z)
        part = "f32" if dtype == "c64" else "f64"
        modulus = [5, 13, math.hypot(1e-3, 1e3), 0, 2, 1, 1, math.hypot(0.5, 0.25)]
        unit = [0 if v == 0 else v / abs(v) for v in z]
        found += [
            Case("abs", ops.abs, (x,), array(part, modulus), 1),
            Case("real", ops.real, (x,), array(part, [v.real for v in z])),
            Case("imag", ops.imag, (x,), array(part, [v.imag for v in z])),
            Case("conj", ops.conj, (x,), array(dtype, [complex(v.real, -v.imag) for v in z])),
            Case("neg", ops.neg, (x,), array(dtype, [complex(-v.real, -v.imag) for v in z])),
            Case("sign", ops.sign, (x,), array(dtype, unit), 4),
            Case("square", ops.square, (x,), array(dtype, [v * v for v in z]), 4),
        ]
        nonzero = array(dtype, [v for v in z if v != 0])
        found.append(Case("reciprocal", ops.reciprocal, (nonzero,), array(dtype, [1 / v for v in z if v != 0]), 4))
        found += _complex_functions(dtype)
    strange = np.array(
        [complex(inf, nan), complex(nan, -inf), complex(nan, 1), complex(1e300, 1e300), 4e-320 + 3e-320j]
    )
    found.append(
        Case("abs", ops.abs, (strange,), np.array([inf, inf, nan, 1e300 * math.sqrt(2), 5e-320]), 1, "edges")
    )
    huge = np.array([1e308 + 1e308j, complex(0, -5e-324), complex(nan, 0)])
    half = math.sqrt(0.5)
    found.append(Case("sign", ops.sign, (huge,), np.array([half + half * 1j, -1j, complex(nan, nan)]), 4, "edges"))
    return found


def _complex_functions(dtype: str) -> list[Case]:
    """Against Python's cmath, which is no part of NumPy."""
    import cmath

    z = [0.5 + 0.25j, -1 + 2j, 1j, -0.75 - 0.5j, 2 + 0.1j]
    rules: dict[str, Callable[[complex], complex]] = {
        "exp": cmath.exp,
        "log": cmath.log,
        "sin": cmath.sin,
        "cos": cmath.cos,
        "tan": cmath.tan,
        "sqrt": cmath.sqrt,
        "tanh": cmath.tanh,
        "sinh": cmath.sinh,
        "cosh": cmath.cosh,
        "asinh": cmath.asinh,
        "acosh": cmath.acosh,
        "atanh": cmath.atanh,
        "rsqrt": lambda v: 1 / cmath.sqrt(v),
        "logistic": lambda v: 1 / (1 + cmath.exp(-v)),
        "expm1": lambda v: cmath.exp(v) - 1,
        "log1p": lambda v: cmath.log(1 + v),
        "exp2": lambda v: 2**v,
        "log2": lambda v: cmath.log(v) / math.log(2),
        "log10": cmath.log10,
        "asin": cmath.asin,
        "acos": cmath.acos,
        "atan": lambda v: complex(0, inf) if v == 1j else cmath.atan(v),
    }
    found = [
        Case(name, getattr(ops, name), (array(dtype, z),), array(dtype, [rule(v) for v in z]), 8)
        for name, rule in rules.items()
    ]
    # Beside branch cuts, and where parts are infinite.
    edges = {
        "sqrt": ([complex(-4, -0.0), complex(1, -inf)], [complex(0, -2), complex(inf, -inf)]),
        "log": ([complex(-1, -0.0), complex(-inf, 0)], [complex(0, -math.pi), complex(inf, math.pi)]),
        "exp": ([complex(inf, -0.0), complex(-inf, 2)], [complex(inf, -0.0), complex(-0.0, 0)]),
        "asin": ([complex(2, -0.0)], [complex(math.pi / 2, -math.acosh(2))]),
        "acos": ([complex(2, -0.0)], [complex(0, math.acosh(2))]),
        "atan": ([complex(-0.0, 2)], [complex(-math.pi / 2, math.atanh(0.5))]),
        "tanh": ([complex(-inf, 2)], [complex(-1, -0.0)]),
        "rsqrt": ([complex(4, 0)], [complex(0.5, -0.0)]),
        "logistic": ([complex(inf, -1)], [complex(1, -0.0)]),
    }
    for name, (given, expected) in edges.items():
        found.append(Case(name, getattr(ops, name), (array(dtype, given),), array(dtype, expected), 2, "edges"))
    return found


def _literal_cases() -> list[Case]:
    found = [
        Case(
            "round",
            ops.round,
            (array("f32", [-2.5, -0.5, -0.4, 0.49999997, 2.5]),),
            array("f32", [-3, -1, -0.0, 0, 3]),
        ),
        Case(
            "cbrt",
            ops.cbrt,
            (array("f64", [-8, 27, -0.0, inf, -inf, nan]),),
            array("f64", [-2, 3, -0.0, inf, -inf, nan]),
            1,
        ),
        Case("rsqrt", ops.rsqrt, (array("f32", [4, 0.0, -0.0, -1, inf]),), array("f32", [0.5, inf, -inf, nan, 0])),
        Case(
            "logistic",
            ops.logistic,
            (array("f32", [-inf, 0, inf, -95.0]),),
            array("f32", [0, 0.5, 1, math.exp(-95)]),
            2,
        ),
        Case(
            "log1p",
            ops.log1p,
            (array("f64", [-1, -2, -0.0, inf, 1e-20]),),
            array("f64", [-inf, nan, -0.0, inf, 1e-20]),
        ),
        Case("expm1", ops.expm1, (array("f64", [-inf, inf, -0.0, 1e-20]),), array("f64", [-1, inf, -0.0, 1e-20])),
    ]
    refused = {
        "exp": "s32",
        "sqrt": "pred",
        "abs": "pred",
        "neg": "pred",
        "sign": "pred",
        "ceil": "c64",
        "floor": "s8",
        "round": "u8",
        "round_nearest_even": "c128",
        "real": "s32",
        "imag": "pred",
        "is_finite": "c64",
        "not_": "f32",
        "population_count": "pred",
        "clz": "f32",
        "cbrt": "c64",
        "is_nan": "s32",
        "sin": "s64",
    }
    return found + [
        Case(name, getattr(ops, name), (array(dtype, [1]),), ops.DTypeError, label="class")
        for name, dtype in refused.items()
    ]


CASES = [
    *_float_cases(),
    *_gamma_cases(),
    *_error_cases(),
    *_part_cases(),
    *_subnormal_cases(),
    *_integer_cases(),
    *_complex_cases(),
    *_literal_cases(),
]
