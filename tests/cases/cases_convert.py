"""Cases of conversions by value, by bits and to fewer bits."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

from tests.helpers.case_values import (
    ALL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NARROW,
    WIDE,
    every,
    float_edges,
    inf,
    integer_edges,
    integers,
    many,
    nan,
    rounded,
    width,
    wrapped,
)
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.types import DTYPES


def _converted(operand: Any, dtype: str) -> Case:
    def function(x: Any) -> Any:
        return ops.convert_element_type(x, dtype)

    return Case("convert_element_type", function, (operand,), None, label=f"to_{dtype}")


def _expecting(case: Case, expected: Any) -> Case:
    return Case(case.op, case.function, case.arrays, expected, case.ulp, case.label)


def _single(value: int) -> float:
    """The nearest float32 of an integer, ties to even, by whole-number arithmetic."""
    return _nearest(value, 24)


def _nearest(value: int, digits: int) -> float:
    """An integer rounded to this many binary digits, ties to even."""
    size = abs(value)
    drop = max(0, size.bit_length() - digits)
    low, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << (drop - 1) if drop else 1
    up = rest > half or (rest == half and drop > 0 and low % 2 == 1)
    return math.copysign(math.ldexp(low + up, drop), value)


@np.errstate(all="ignore")
def _from_integers() -> list[Case]:
    digits = {"f32": 24, "f64": 53, "bf16": 8}
    found = []
    for dtype in INTEGERS:
        values = integer_edges(dtype)
        if width(dtype) >= 32:
            extra = [2**24 + 1, 2**25 + 2**17 + 1, 2**25 + 2**17, 2**30 + 2**22 + 1, 33554433]
            values += extra + [-v for v in extra if dtype[0] == "s"]
        if width(dtype) == 64:
            values += [2**53 + 1, 2**62 + 2**54 + 1, 2**62 + 2**54, 2**62 + 2**38 + 1, 2**60 + 2**52 + 2**20]
        operand = integers(dtype, values)
        for target in INTEGERS:
            expected = integers(target, [wrapped(value, target) for value in values])
            found.append(_expecting(_converted(operand, target), expected))
        found.append(_expecting(_converted(operand, "pred"), array("pred", [value != 0 for value in values])))
        for target, count in digits.items():
            near = array("f64", [_nearest(value, count) for value in values])
            expected = near.astype(DTYPES[target])
            found.append(_expecting(_converted(operand, target), expected))
        for target, part in (("c64", 24), ("c128", 53)):
            expected = array(target, [_nearest(value, part) for value in values])
            found.append(_expecting(_converted(operand, target), expected))
        small = [value for value in values if abs(value) < 2**53]
        for target in ("f16", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz"):
            expected = rounded(target, array("f64", small))
            found.append(_expecting(_converted(integers(dtype, small), target), expected))
    return found


def _saturated(value: float, dtype: str) -> int:
    if math.isnan(value):
        return 0
    info = np.iinfo(DTYPES[dtype])
    if math.isinf(value):
        return info.max if value > 0 else info.min
    return min(max(math.trunc(value), info.min), info.max)


def _wide_values(dtype: str) -> Any:
    plain = [0.0, -0.0, 0.1, -0.1, 0.99, 1, 3.99, -3.99, 127, 127.5, 128, -128.9, -129, 255.9, 256, -1, 300]
    large = [
        2.0**31 - 1,
        2.0**31,
        -(2.0**31),
        2.0**32,
        2.0**63,
        -(2.0**63),
        2.0**64,
        2.0**62,
        1e20,
        -1e20,
        65519.0,
        65520.0,
    ]
    return array(dtype, [*plain, *large, inf, -inf, nan])


@np.errstate(all="ignore")
def _from_floats() -> list[Case]:
    found = []
    for dtype in FLOATS:
        operand = many(dtype) if dtype in NARROW else _wide_values(dtype)
        wide = operand.astype(np.float64)
        for target in INTEGERS:
            expected = integers(target, [_saturated(value, target) for value in wide.tolist()])
            found.append(_expecting(_converted(operand, target), expected))
        found.append(_expecting(_converted(operand, "pred"), array("pred", [value != 0 for value in wide.tolist()])))
        for target in FLOATS:
            found.append(_expecting(_converted(operand, target), rounded(target, wide)))
        for target, part in (("c64", np.float32), ("c128", np.float64)):
            expected = np.zeros(operand.shape, DTYPES[target])
            expected.real = wide.astype(part)
            found.append(_expecting(_converted(operand, target), expected))
    return found


@np.errstate(all="ignore")
def _double_rounding() -> list[Case]:
    """Numbers just off the middle of two narrow ones: rounding through F32 first would lose the little rest."""
    found = []
    for dtype in NARROW:
        values = every(dtype).astype(np.float64)
        finite = np.unique(np.abs(values[np.isfinite(values)]))
        middle = ((finite[:-1] + finite[1:]) / 2)[:: 1 if len(finite) < 256 else 29]
        off = np.concatenate([middle, np.nextafter(middle, inf), np.nextafter(middle, 0)])
        operand = np.concatenate([off, -off])
        expected = rounded(dtype, operand)
        found.append(_expecting(_converted(operand, dtype), expected))
    return found


@np.errstate(all="ignore")
def _from_complex() -> list[Case]:
    z = [3.7 + 4j, 4j, -2.5 - 1j, complex(nan, 1), complex(0, nan)]
    found = []
    for dtype in COMPLEX:
        operand = array(dtype, z)
        reals = [v.real for v in z]
        found.append(_expecting(_converted(operand, "s32"), array("s32", [3, 0, -2, 0, 0])))
        found.append(_expecting(_converted(operand, "u8"), array("u8", [3, 0, 0, 0, 0])))
        found.append(_expecting(_converted(operand, "pred"), array("pred", [1, 0, 1, 1, 0])))
        found.append(_expecting(_converted(operand, "bf16"), rounded("bf16", array("f64", reals).astype(np.float32))))
        found.append(_expecting(_converted(operand, "f64"), operand.real.astype(np.float64)))
        for target in COMPLEX:
            found.append(_expecting(_converted(operand, target), array(target, operand)))
    return found


@np.errstate(all="ignore")
def _from_pred() -> list[Case]:
    operand = array("pred", [0, 1])
    return [_expecting(_converted(operand, dtype), array(dtype, [0, 1])) for dtype in ALL]


@np.errstate(all="ignore")
def _bitcast_cases() -> list[Case]:
    def to(dtype: str) -> Any:
        return lambda x: ops.bitcast_convert_type(x, dtype)

    name, found = "bitcast_convert_type", []
    for dtype in NARROW:
        operand, raw = every(dtype), "us"[0] + str(width(dtype))
        plain = np.arange(1 << width(dtype), dtype=DTYPES[raw])
        found.append(Case(name, to(raw), (operand,), plain))
        found.append(Case(name, to(dtype), (plain,), operand))
    words = [0x3F800000, 0xC0000000, 0x7FC00001, 0xFF800001, 0x00000001]
    floats = np.frombuffer(struct.pack("<5I", *words), np.float32)
    found.append(Case(name, to("u32"), (floats,), np.array(words, np.uint32)))
    found.append(Case(name, to("s32"), (floats,), np.array(words, np.uint32).astype(np.int32)))
    nibbles = np.array([[word & 0xFFFF, word >> 16] for word in words], np.uint16)
    found.append(Case("bitcast_width", to("u16"), (floats,), nibbles))
    found.append(Case("bitcast_width", to("u32"), (nibbles,), np.array(words, np.uint32)))
    found.append(Case("bitcast_width", to("s8"), (array("s32", 0x01020304),), array("s8", [4, 3, 2, 1])))
    found.append(Case("bitcast_width", to("c64"), (array("c128", [0]),), array("c64", [[0, 0]])))
    found.append(Case("bitcast_width", to("f64"), (np.zeros((3, 0), np.float32),), ops.ShapeError, label="size"))
    found.append(Case("bitcast_width", to("u32"), (array("u16", [1, 2, 3]),), ops.ShapeError, label="size"))
    found.append(Case("bitcast_width", to("u32"), (array("u16", 1),), ops.ShapeError, label="rank_0"))
    refused = (("c64", "f32"), ("f32", "c64"), ("pred", "u8"), ("u8", "pred"), ("c64", "s64"))
    found += [
        Case(name, to(target), (array(dtype, [[1]]),), ops.DTypeError, label=f"to_{target}")
        for dtype, target in refused
    ]
    found.append(Case(name, to("pred"), (array("pred", [1, 0]),), array("pred", [1, 0])))
    return found


def _precise(value: float, exponent_bits: int, mantissa_bits: int) -> float:
    """Rounding by value, in exact fractions: at least one mantissa bit, so that ties have an even neighbour."""
    if math.isnan(value) or math.isinf(value) or value == 0:
        return value
    size = Fraction(abs(value))
    exponent = math.frexp(abs(value))[1] - 1
    step = Fraction(2) ** (exponent - mantissa_bits)
    count = round(size / step)  # Python rounds ties to even
    result, bias = count * step, 2 ** (exponent_bits - 1) - 1
    if result >= Fraction(2) ** (bias + 1):
        return math.copysign(inf, value)
    if result < Fraction(2) ** (1 - bias):
        return math.copysign(0.0, value)
    return math.copysign(float(result), value)


@np.errstate(all="ignore")
def _precision_cases() -> list[Case]:
    def to(exponent_bits: int, mantissa_bits: int) -> Any:
        return lambda x: ops.reduce_precision(x, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)

    name, found = "reduce_precision", []
    spread = [
        0.0,
        -0.0,
        1,
        -1,
        1.5,
        3,
        65519,
        65520,
        1e-8,
        -1e-8,
        0.33333334,
        6.1035e-05,
        1e30,
        -1e30,
        7.3,
        inf,
        -inf,
        nan,
    ]
    for dtype in WIDE:
        operand = array(dtype, spread)
        for exponent_bits, mantissa_bits in ((5, 10), (8, 7), (5, 2), (4, 3), (2, 1), (6, 20)):
            want = [_precise(float(value), exponent_bits, mantissa_bits) for value in operand]
            label = f"e{exponent_bits}m{mantissa_bits}"
            found.append(Case(name, to(exponent_bits, mantissa_bits), (operand,), array(dtype, want), label=label))
        found.append(Case(name, to(11, 52), (operand,), operand.copy(), label="same"))
    half = many("f16")
    wide = half.astype(np.float64)
    normal = half[~((np.abs(wide) < 2.0**-14) & (wide != 0))]
    want = [_precise(float(value), 4, 3) for value in normal]
    found.append(Case(name, to(4, 3), (normal,), np.array(want).astype(np.float16), label="e4m3"))
    literal = array("f32", [0.5, 1, 1.5, 2, 2.9, 3])
    found.append(Case(name, to(2, 0), (literal,), array("f32", [0, 1, 2, 2, 2, 2]), label="no_fraction"))
    found.append(Case(name, to(1, 0), (literal,), array("f32", [0, 0, inf, inf, inf, inf]), label="one_exponent_bit"))
    narrow = array("f8e4m3fn", [448, 416, 1, 1.125, -0.0])
    found.append(Case(name, to(4, 1), (narrow,), array("f8e4m3fn", [nan, 384, 1, 1, -0.0]), label="no_infinity"))
    unsigned_zero = array("f8e4m3fnuz", [-0.0078125, 240, -1])
    found.append(Case(name, to(3, 3), (unsigned_zero,), array("f8e4m3fnuz", [0, nan, -1]), label="no_minus_zero"))
    found.append(Case(name, to(0, 3), (literal,), ops.ArgumentError, label="exponent_bits"))
    found.append(Case(name, to(3, -1), (literal,), ops.ArgumentError, label="mantissa_bits"))
    found.append(Case(name, to(3, 3), (array("s32", [1]),), ops.DTypeError, label="class"))
    return found


CASES = [
    *_from_integers(),
    *_from_floats(),
    *_double_rounding(),
    *_from_complex(),
    *_from_pred(),
    *_bitcast_cases(),
    *_precision_cases(),
    Case(
        "convert_element_type", lambda x: ops.convert_element_type(x, "f128"), (float_edges("f32"),), ops.DTypeError
    ),
]
