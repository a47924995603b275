"""The tangent of kernels: literal values, poles and zeros, the meeting of near and far; angles that are far."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import (
    apply,
    arguments,
    check_literal_value,
    check_special_value,
    check_threshold,
    truth,
)
from tests.helpers.vector_loops import same_class, units
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS
from xjit.codegen.vmath.angles import angle_reduction, tan

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")
BOUNDS = {
    "sin_f32": angle_reduction.NEAR_F32,
    "sin_f64": angle_reduction.NEAR_F64,
    "cos_f32": angle_reduction.NEAR_F32,
    "cos_f64": angle_reduction.NEAR_F64,
    "tan_f32": tan.NEAR_F32,
    "tan_f64": angle_reduction.NEAR_F64,
}

# (function, arguments, true value rounded once), computed with 1400 bits; some next to multiples of pi/2.
TRUE_VALUES = (
    ("tan", (1e-310,), 1e-310),
    ("tan", (1e-08,), 1e-08),
    ("tan", (0.1,), 0.10033467208545055),
    ("tan", (0.5,), 0.5463024898437905),
    ("tan", (0.7853981633974483,), 0.9999999999999999),
    ("tan", (0.7853981633974484,), 1.0000000000000002),
    ("tan", (1.0,), 1.5574077246549023),
    ("tan", (1.5,), 14.101419947171719),
    ("tan", (1.5707963267948966,), 1.633123935319537e16),
    ("tan", (1.5707963267948968,), -6218431163823738.0),
    ("tan", (3.141592653589793,), -1.2246467991473532e-16),
    ("tan", (10.0,), 0.6483608274590866),
    ("tan", (-11.0,), 225.95084645419513),
    ("tan", (355.0,), 3.0144353373184265e-05),
    ("tan", (100000.0,), -0.035771662952898776),
    ("tan", (1e22,), -1.6287782256068988),
    ("tan", (1e300,), 1.4214488238747245),
    ("tan", (1.7976931348623157e308,), -0.004962015874444895),
    ("tan", (5.319372648326541e255,), -2.133485385753704e18),
    ("tan", (1.0638745296653083e256,), 9.374331848509255e-19),
    ("tan", (6381956.970095103,), -0.010113691712174378),
    ("tan", (256999136.84982425,), 7.653463906466985e-12),
    # So near multiples of pi/2 that the distance, in fixed point, is all ones or all zeros at the top.
    ("cos", (3.748847439904001e140,), 1.0),
    ("sin", (3.748847439904001e140,), -3.310190826934368e-16),
    ("sin", (1.000079912866601e119,), 1.0),
    ("cos", (1.000079912866601e119,), 2.576032222738005e-16),
    ("tan", (1.000079912866601e119,), 3881939019136660.0),
    ("tan", (2.094332975862736e110,), -1.6567327411926096e16),
)

# (argument, result) in both precisions.
SPECIAL_VALUES = (
    (NAN, NAN),
    (INF, NAN),
    (-INF, NAN),
    (0.0, 0.0),
    (-0.0, -0.0),
)

# (function, argument, result): smallest results, and those beside the floats next to pi/2 and pi.
THRESHOLDS = (
    ("tan_f32", "0x1p-149", "0x1p-149"),
    ("tan_f64", "-0x1p-1074", "-0x1p-1074"),
    ("tan_f32", "0x1.921fb6p+0", "-0x1.5d1494p+24"),
    ("tan_f32", "0x1.921fb4p+0", "0x1.9437b4p+23"),
    ("tan_f32", "0x1.921fb6p+1", "0x1.777a5cp-24"),
    ("tan_f64", "0x1.921fb54442d18p+0", "0x1.d02967c31cdb5p+53"),
)


@pytest.mark.parametrize(("operation", "given", "true"), TRUE_VALUES)
def test_literal_values(operation: str, given: tuple[float, ...], true: float) -> None:
    check_literal_value(f"{operation}_f64", given, true)


@pytest.mark.parametrize("name", ["tan_f32", "tan_f64", "tan_f32_near", "tan_f64_near"])
@pytest.mark.parametrize(("given", "expected"), SPECIAL_VALUES)
def test_special_values(given: float, expected: float, name: str) -> None:
    check_special_value(name, (given,), expected)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: str, expected: str) -> None:
    check_threshold(name, (float.fromhex(given),), float.fromhex(expected))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_odd_in_every_bit(kind: str, rng: np.random.Generator) -> None:
    (x,) = arguments(f"tan_{kind}", rng, 5_000)
    assert np.array_equal(apply(f"tan_{kind}", np.abs(x)), -apply(f"tan_{kind}", -np.abs(x)))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_tangents_next_to_poles_and_zeros(kind: str, rng: np.random.Generator) -> None:
    name, dtype = f"tan_{kind}", KINDS[kind].dtype
    x = (rng.integers(1, 2**22, 20_000) * (math.pi / 2)).astype(dtype)
    for _ in range(3):
        result, true = apply(name, x), truth(name, x)
        assert same_class(result, true).all()
        assert units(result, true).max() <= VECTOR_FUNCTIONS[name].error
        x = np.nextafter(x, dtype.type(INF))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_tangents_around_where_the_reduction_changes(kind: str, rng: np.random.Generator) -> None:
    name, dtype = f"tan_{kind}", KINDS[kind].dtype
    for meeting in (2.0**12, 2.0**24):
        x = (meeting * (1.0 + rng.uniform(-1e-3, 1e-3, 5_000))).astype(dtype)
        assert units(apply(name, x), truth(name, x)).max() <= VECTOR_FUNCTIONS[name].error


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_angles_are_far_beyond_a_bound(name: str) -> None:
    bound = KINDS[name[-3:]].dtype.type(BOUNDS[name])
    beyond = np.nextafter(bound, bound.dtype.type(INF))
    given = np.array([0.0, bound, -bound, beyond, -beyond, INF, -INF, NAN], bound.dtype)
    far = apply(f"{name}_is_far", given)
    assert far.tolist() == [False, False, False, True, True, True, True, False]
