"""Powers of kernels: literal values, C's special cases, signs, thresholds, hard exponents."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.helpers.vector_functions import (
    SLACK,
    Array,
    apply,
    check_literal_value,
    check_special_value,
    check_threshold,
    compiled,
)
from tests.helpers.vector_loops import SSE2, same_class, units
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")
ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")

# (x, y, true value rounded once), computed with 70 digits.
TRUE_VALUES = (
    (0.5, 0.5, 0.7071067811865476),
    (2.0, 0.5, 1.4142135623730951),
    (10.0, -1.0, 0.1),
    (10.0, 308.0, 1e308),
    (10.0, -323.0, 1e-323),
    (1.1, 100.0, 13780.61233982238),
    (0.9999999999999999, 1e18, 6.076124616751106e-49),
    (1.0000000000000002, 3e18, 1.98719262165461e289),
    (1.4142135623730951, 2047.3, 1.410441446511307e308),
    (0.7071067811865475, 2040.7, 6.983030264120687e-308),
    (0.7137, 2063.0, 6.351589316446514e-303),
    (3.0, -646.25, 4.57497934239699e-309),
    (-3.0, 5.0, -243.0),
    (-1.5, -7.0, -0.05852766346593507),
    (-2.5, 302.0, 1.5061999156893027e120),
    (5e-324, 0.5, 2.2227587494850775e-162),
    (5e-324, -0.25, 6.707394273891462e80),
    (1.7976931348623157e308, -0.999, 1.131199372767067e-308),
    (2.2250738585072014e-308, 1.01, 1.8655971762067e-311),
    (4.7, 0.2, 1.362760608751532),
    (7.389056098930649, 50.5, 7.307059979367988e43),
    (1e-300, 0.001, 0.5011872336272722),
    (123.456, -4.56, 2.9020464575228536e-10),
)

# (x, y, result) in both precisions: annex F of the C standard.
SPECIAL_VALUES = (
    *((x, y, 1.0) for x in (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN) for y in (0.0, -0.0)),
    *((1.0, y, 1.0) for y in (0.5, -3e38, INF, -INF, NAN)),
    *((-1.0, y, 1.0) for y in (INF, -INF, 2.0, -16777216.0, 3e38)),
    *((-1.0, y, -1.0) for y in (1.0, -3.0, 8388607.0, 16777215.0)),
    *((x, y, NAN) for x in (-1.0, -2.5, -1e-30) for y in (0.5, -0.5, 8388607.5, 1e-45, -1e-45, NAN)),
    *((x, NAN, NAN) for x in (0.0, 2.0, -2.0, INF, -INF)),
    *((NAN, y, NAN) for y in (1.0, -2.0, 0.5, INF, NAN)),
    (0.0, 3.0, 0.0),
    (-0.0, 3.0, -0.0),
    (0.0, 2.5, 0.0),
    (-0.0, 2.5, 0.0),
    (-0.0, 1e-45, 0.0),
    (0.0, -3.0, INF),
    (-0.0, -3.0, -INF),
    (0.0, -2.0, INF),
    (-0.0, -2.5, INF),
    (0.0, INF, 0.0),
    (-0.0, -INF, INF),
    (0.5, INF, 0.0),
    (-0.5, INF, 0.0),
    (0.5, -INF, INF),
    (1.5, INF, INF),
    (-1.5, -INF, 0.0),
    (INF, 1e-45, INF),
    (INF, -1e-45, 0.0),
    (INF, INF, INF),
    (INF, -INF, 0.0),
    (-INF, 3.0, -INF),
    (-INF, 2.0, INF),
    (-INF, 0.5, INF),
    (-INF, -3.0, -0.0),
    (-INF, -2.0, 0.0),
    (-INF, -0.5, 0.0),
    (-INF, INF, INF),
    (-2.0, 3.0, -8.0),
    (-2.0, -2.0, 0.25),
    (2.0, -126.0, 2.0**-126),
    (2.0, -149.0, 2.0**-149),
    (-2.0, -149.0, -(2.0**-149)),
    (4.0, 0.5, 2.0),
    (1e-45, 1.0, 1e-45),
    (-1e-45, 1.0, -1e-45),
    (-1e30, 33.0, -INF),
    (-1e-30, 33.0, -0.0),
    (-1e-30, 34.0, 0.0),
)

# (function, arguments, result): exponents around the last before a change.
THRESHOLDS = (
    ("pow_f32", ("0x1.4000000000000p+3", "0x1.3441340000000p+5"), "0x1.ffff660000000p+127"),
    ("pow_f32", ("0x1.4000000000000p+3", "0x1.3441360000000p+5"), "inf"),
    ("pow_f32", ("0x1.4000000000000p+3", "0x1.3441380000000p+5"), "inf"),
    ("pow_f32", ("0x1.4000000000000p+3", "-0x1.693c6c0000000p+5"), "0x0p+0"),
    ("pow_f32", ("0x1.4000000000000p+3", "-0x1.693c6a0000000p+5"), "0x1p-149"),
    ("pow_f32", ("0x1.4000000000000p+3", "-0x1.693c680000000p+5"), "0x1p-149"),
    ("pow_f32", ("0x1.3333340000000p-2", "-0x1.26c4580000000p+6"), "inf"),
    ("pow_f32", ("0x1.3333340000000p-2", "-0x1.26c4560000000p+6"), "inf"),
    ("pow_f32", ("0x1.3333340000000p-2", "-0x1.26c4540000000p+6"), "0x1.ffff0e0000000p+127"),
    ("pow_f32", ("0x1.3333340000000p-2", "0x1.596e120000000p+6"), "0x1p-149"),
    ("pow_f32", ("0x1.3333340000000p-2", "0x1.596e140000000p+6"), "0x1p-149"),
    ("pow_f32", ("0x1.3333340000000p-2", "0x1.596e160000000p+6"), "0x0p+0"),
    ("pow_f32", ("0x1.0000020000000p+0", "0x1.62e4300000000p+29"), "0x1.ffff560000000p+127"),
    ("pow_f32", ("0x1.0000020000000p+0", "0x1.62e4320000000p+29"), "inf"),
    ("pow_f32", ("0x1.0000020000000p+0", "0x1.62e4340000000p+29"), "inf"),
    ("pow_f32", ("0x1.0000020000000p+0", "-0x1.9fe36c0000000p+29"), "0x0p+0"),
    ("pow_f32", ("0x1.0000020000000p+0", "-0x1.9fe36a0000000p+29"), "0x0p+0"),
    ("pow_f32", ("0x1.0000020000000p+0", "-0x1.9fe3680000000p+29"), "0x1p-149"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "0x1.fffffe0000000p+7"), "0x1.fffebc0000000p+127"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "0x1.0000000000000p+8"), "0x1.ffff6c0000000p+127"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "0x1.0000020000000p+8"), "inf"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "-0x1.2c00020000000p+8"), "0x0p+0"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "-0x1.2c00000000000p+8"), "0x1p-149"),
    ("pow_f32", ("0x1.6a09e60000000p+0", "-0x1.2bfffe0000000p+8"), "0x1p-149"),
    ("pow_f64", ("0x1.4000000000000p+3", "0x1.34413509f79fep+8"), "0x1.ffffffffffba1p+1023"),
    ("pow_f64", ("0x1.4000000000000p+3", "0x1.34413509f79ffp+8"), "inf"),
    ("pow_f64", ("0x1.4000000000000p+3", "0x1.34413509f7a00p+8"), "inf"),
    ("pow_f64", ("0x1.4000000000000p+3", "-0x1.439b746e36b53p+8"), "0x0p+0"),
    ("pow_f64", ("0x1.4000000000000p+3", "-0x1.439b746e36b52p+8"), "0x1p-1074"),
    ("pow_f64", ("0x1.4000000000000p+3", "-0x1.439b746e36b51p+8"), "0x1p-1074"),
    ("pow_f64", ("0x1.3333333333333p-2", "-0x1.26c454ee8b671p+9"), "inf"),
    ("pow_f64", ("0x1.3333333333333p-2", "-0x1.26c454ee8b670p+9"), "inf"),
    ("pow_f64", ("0x1.3333333333333p-2", "-0x1.26c454ee8b66fp+9"), "0x1.ffffffffffc14p+1023"),
    ("pow_f64", ("0x1.3333333333333p-2", "0x1.35729c296cd85p+9"), "0x1p-1074"),
    ("pow_f64", ("0x1.3333333333333p-2", "0x1.35729c296cd86p+9"), "0x0p+0"),
    ("pow_f64", ("0x1.3333333333333p-2", "0x1.35729c296cd87p+9"), "0x0p+0"),
    ("pow_f64", ("0x1.0000000000001p+0", "0x1.62e42fefa39efp+61"), "0x1.ffffffffffc64p+1023"),
    ("pow_f64", ("0x1.0000000000001p+0", "0x1.62e42fefa39f0p+61"), "inf"),
    ("pow_f64", ("0x1.0000000000001p+0", "0x1.62e42fefa39f1p+61"), "inf"),
    ("pow_f64", ("0x1.0000000000001p+0", "-0x1.74910d52d3054p+61"), "0x0p+0"),
    ("pow_f64", ("0x1.0000000000001p+0", "-0x1.74910d52d3053p+61"), "0x0p+0"),
    ("pow_f64", ("0x1.0000000000001p+0", "-0x1.74910d52d3052p+61"), "0x1p-1074"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "0x1.00000222923b4p+11"), "0x1.ffffffffffc51p+1023"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "0x1.00000222923b5p+11"), "inf"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "0x1.00000222923b6p+11"), "inf"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "-0x1.0cc0023dcb03dp+11"), "0x0p+0"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "-0x1.0cc0023dcb03cp+11"), "0x0p+0"),
    ("pow_f64", ("0x1.6a09e55c0fcb5p+0", "-0x1.0cc0023dcb03bp+11"), "0x1p-1074"),
)


def hard_pairs(kind: str, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Bases of every size, near one, and near where the fraction wraps; exponents that fill the range of results."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    sizes = np.exp2(rng.uniform(limits.minexp - limits.nmant, limits.maxexp, count))
    near_one = 1.0 + rng.choice([-1.0, 1.0], count) * np.exp2(rng.uniform(-limits.nmant, -1, count))
    wraps = np.exp2(rng.integers(-3, 3, count) + rng.uniform(0.47, 0.53, count))
    x = np.concatenate([sizes, near_one, wraps, rng.uniform(0.01, 10.0, count)]).astype(dtype)
    with np.errstate(all="ignore"):
        y = rng.uniform(limits.minexp - limits.nmant - 2, limits.maxexp, x.size) / np.log2(x.astype(np.float64))
    y = np.where(np.abs(y) < limits.max, y, 1.0)
    return x, np.concatenate([y[: 3 * count], rng.uniform(-10.0, 10.0, count)]).astype(dtype)


def truth(x: Array, y: Array) -> Array:
    wide = np.float64 if x.dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        result: Array = np.power(x.astype(wide), y.astype(wide))
    return result


@pytest.mark.parametrize(("x", "y", "true"), TRUE_VALUES)
def test_literal_values(x: float, y: float, true: float) -> None:
    check_literal_value("pow_f64", (x, y), true)


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("x", "y", "expected"), SPECIAL_VALUES)
def test_special_values(x: float, y: float, expected: float, kind: str) -> None:
    check_special_value(f"pow_{kind}", (x, y), expected)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: tuple[str, str], expected: str) -> None:
    check_threshold(name, (float.fromhex(given[0]), float.fromhex(given[1])), float.fromhex(expected))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_hard_exponents_are_within_the_stated_error(kind: str, rng: np.random.Generator) -> None:
    name = f"pow_{kind}"
    x, y = hard_pairs(kind, rng, 50_000)
    true = truth(x, y)
    result = apply(name, x, y)
    slack = SLACK * 1024 if kind == "f64" else 0.0
    assert same_class(result, true).all()
    assert units(result, true).max() <= VECTOR_FUNCTIONS[name].error + slack
    if ON_X86:
        without = apply(name, x, y, processor=SSE2)
        assert same_class(without, true).all()
        assert units(without, true).max() <= 2.0 + slack


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_pairs_of_special_numbers_are_of_the_class_that_numpy_says(kind: str) -> None:
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    whole = [2.0**k + d for k in (limits.nmant, limits.nmant + 1) for d in (-1.0, -0.5, 0.0, 1.0, 2.0)]
    sizes = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF, *limits_of(limits), *whole, 2.0**40, 2.0**66, 1e19]
    values = np.array([*sizes, *(-size for size in sizes), NAN], dtype)
    x, y = (np.array(part, dtype) for part in zip(*itertools.product(values, values), strict=True))
    result = apply(f"pow_{kind}", x, y)
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    assert same_class(result, expected).all()
    assert np.array_equal(result == 0.0, expected == 0.0)
    valid = ~np.isnan(expected)
    assert np.array_equal(np.signbit(result[valid]), np.signbit(expected[valid]))


def limits_of(limits: np.finfo[np.floating]) -> tuple[float, ...]:
    """The ends of the normal and subnormal numbers, and the neighbours of one."""
    tiny = float(limits.smallest_subnormal)
    return float(limits.max), float(limits.tiny), tiny, 3 * tiny, float(1 + limits.eps), float(1 - limits.epsneg)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_variants_give_the_same_bits_on_hard_exponents(kind: str, rng: np.random.Generator) -> None:
    x, y = hard_pairs(kind, rng, 50_000)
    near = ~compiled(f"pow_{kind}_is_far")(x, y)
    assert 0.3 < near.mean() < 0.99
    assert apply(f"pow_{kind}", x, y)[near].tobytes() == apply(f"pow_{kind}_near", x, y)[near].tobytes()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_whole_powers_of_small_whole_numbers_are_exact(kind: str) -> None:
    dtype = KINDS[kind].dtype
    pairs = [(a, n) for a in range(2, 12) for n in range(1, 30) if a**n <= 2 ** np.finfo(dtype).nmant]
    x, y = (np.array(part, dtype) for part in zip(*pairs, strict=True))
    exact = np.array([a**n for a, n in pairs], dtype)
    error = units(apply(f"pow_{kind}", x, y), exact.astype(np.float64))
    assert error.max() <= 1.0
    twos = np.isin(x, (2.0, 4.0, 8.0))
    assert error[twos].max() == 0.0


# Bases and exponents, and whether powers of them are left to the full function.
FAR = (
    ((1.0, 1.0), False),
    ((3e38, 0.5), False),
    ((2.0**-126, 0.5), False),
    ((2.0**-127, 0.5), True),
    ((0.0, 1e-30), False),
    ((0.0, 2.5), False),
    ((0.0, INF), False),
    ((0.0, -2.5), True),
    ((0.0, NAN), True),
    ((-0.0, 2.0), True),
    ((-0.0, 3.0), True),
    ((-3.0, 1e-30), True),
    ((INF, 1e-30), True),
    ((INF, -INF), True),
    ((INF, 0.0), False),
    ((NAN, 0.0), False),
    ((-NAN, 2.0), False),
    ((2.0, NAN), False),
    ((2.0, 98.0), False),
    ((2.0, 1e30), True),
    ((2.0, -INF), True),
    ((1.0, INF), False),
)


@pytest.mark.parametrize(("given", "expected"), FAR)
def test_what_the_quick_power_leaves_out(given: tuple[float, float], expected: bool) -> None:
    x, y = (np.full(64, value, np.float32) for value in given)
    assert (apply("pow_f32_is_far", x, y) == expected).all()
    if not expected:
        assert np.array_equal(apply("pow_f32_near", x, y), apply("pow_f32", x, y), equal_nan=True)
