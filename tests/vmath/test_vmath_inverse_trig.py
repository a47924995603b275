"""Inverse trigonometric functions of kernels: literal values, the ends of their domains, signs of zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import apply, arguments, check_literal_value, check_special_value, check_threshold
from xjit.codegen.language.scalar_types import KINDS

INF, NAN = math.inf, math.nan
PI = math.pi
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("asin", (1e-310,), 1e-310),
    ("asin", (1e-08,), 1e-08),
    ("asin", (1e-05,), 1.0000000000166668e-05),
    ("asin", (0.1,), 0.1001674211615598),
    ("asin", (0.3,), 0.3046926540153975),
    ("asin", (0.5,), 0.5235987755982989),
    ("asin", (0.5000000000000001,), 0.523598775598299),
    ("asin", (0.7071067811865476,), 0.7853981633974484),
    ("asin", (0.84,), 0.9972832223717998),
    ("asin", (0.9,), 1.1197695149986342),
    ("asin", (0.999,), 1.526071239626163),
    ("asin", (0.9999999999999999,), 1.5707963118937354),
    ("asin", (1.0,), 1.5707963267948966),
    ("asin", (-0.25,), -0.25268025514207865),
    ("asin", (-0.75,), -0.848062078981481),
    ("acos", (1e-310,), 1.5707963267948966),
    ("acos", (1e-17,), 1.5707963267948966),
    ("acos", (1e-05,), 1.5707863267948965),
    ("acos", (0.1,), 1.4706289056333368),
    ("acos", (0.3,), 1.2661036727794992),
    ("acos", (0.5,), 1.0471975511965979),
    ("acos", (0.5000000000000001,), 1.0471975511965976),
    ("acos", (0.7071067811865476,), 0.7853981633974483),
    ("acos", (0.9,), 0.45102681179626236),
    ("acos", (0.999,), 0.044725087168733454),
    ("acos", (0.9999999999999999,), 1.4901161193847656e-08),
    ("acos", (-0.9999999999999999,), 3.141592638688632),
    ("acos", (-1.0,), 3.141592653589793),
    ("acos", (-0.25,), 1.8234765819369754),
    ("acos", (-0.5,), 2.0943951023931957),
    ("acos", (-0.75,), 2.4188584057763776),
    ("atan", (1e-310,), 1e-310),
    ("atan", (1e-08,), 1e-08),
    ("atan", (1e-05,), 9.999999999666668e-06),
    ("atan", (0.1,), 0.09966865249116204),
    ("atan", (0.4142135623730951,), 0.3926990816987242),
    ("atan", (0.5,), 0.4636476090008061),
    ("atan", (0.9999999999999999,), 0.7853981633974483),
    ("atan", (1.0,), 0.7853981633974483),
    ("atan", (1.0000000000000002,), 0.7853981633974484),
    ("atan", (2.0,), 1.1071487177940904),
    ("atan", (3.5,), 1.2924966677897853),
    ("atan", (100.0,), 1.5607966601082315),
    ("atan", (1e16,), 1.5707963267948966),
    ("atan", (1e300,), 1.5707963267948966),
    ("atan", (-0.75,), -0.6435011087932844),
    ("atan", (-7.0,), -1.4288992721907328),
    ("atan2", (1.0, 2.0), 0.4636476090008061),
    ("atan2", (2.0, 1.0), 1.1071487177940904),
    ("atan2", (1.0, -2.0), 2.677945044588987),
    ("atan2", (2.0, -1.0), 2.0344439357957027),
    ("atan2", (-1.0, 2.0), -0.4636476090008061),
    ("atan2", (-2.0, -1.0), -2.0344439357957027),
    ("atan2", (1e308, 1e308), 0.7853981633974483),
    ("atan2", (1e-308, -1e308), 3.141592653589793),
    ("atan2", (5e-324, 5e-324), 0.7853981633974483),
    ("atan2", (5e-324, -1.0), 3.141592653589793),
    ("atan2", (5e-324, 3.0), 0.0),
    ("atan2", (1e-320, 4.0), 2.5e-321),
    ("atan2", (1e300, 1e-300), 1.5707963267948966),
    ("atan2", (1e-300, 1e20), 1e-320),
    ("atan2", (3e-310, 2e-309), 0.1488899476094969),
    ("atan2", (1.7976931348623157e308, 1e308), 1.0631532171418951),
    ("atan2", (-0.3, 0.30000000000000004), -0.7853981633974482),
    ("atan2", (1.0, 1e17), 1e-17),
)

# (function, arguments, result) in both precisions; multiples of pi are those rounded to the type.
SPECIAL_VALUES = (
    ("asin", (NAN,), NAN),
    ("asin", (INF,), NAN),
    ("asin", (-INF,), NAN),
    ("asin", (1.0000001192092896,), NAN),
    ("asin", (-3e38,), NAN),
    ("asin", (0.0,), 0.0),
    ("asin", (-0.0,), -0.0),
    ("asin", (1.0,), PI / 2),
    ("asin", (-1.0,), -PI / 2),
    ("acos", (NAN,), NAN),
    ("acos", (INF,), NAN),
    ("acos", (-INF,), NAN),
    ("acos", (1.0000001192092896,), NAN),
    ("acos", (-1.0000001192092896,), NAN),
    ("acos", (0.0,), PI / 2),
    ("acos", (-0.0,), PI / 2),
    ("acos", (1.0,), 0.0),
    ("acos", (-1.0,), PI),
    ("atan", (NAN,), NAN),
    ("atan", (INF,), PI / 2),
    ("atan", (-INF,), -PI / 2),
    ("atan", (0.0,), 0.0),
    ("atan", (-0.0,), -0.0),
    ("atan", (1.0,), PI / 4),
    ("atan", (-1.0,), -PI / 4),
    ("atan", (3e38,), PI / 2),
    ("atan2", (0.0, 0.0), 0.0),
    ("atan2", (-0.0, 0.0), -0.0),
    ("atan2", (0.0, -0.0), PI),
    ("atan2", (-0.0, -0.0), -PI),
    ("atan2", (0.0, 1.0), 0.0),
    ("atan2", (-0.0, 1.0), -0.0),
    ("atan2", (0.0, -1.0), PI),
    ("atan2", (-0.0, -1.0), -PI),
    ("atan2", (0.0, INF), 0.0),
    ("atan2", (-0.0, -INF), -PI),
    ("atan2", (1.0, 0.0), PI / 2),
    ("atan2", (1.0, -0.0), PI / 2),
    ("atan2", (-1.0, 0.0), -PI / 2),
    ("atan2", (-1.0, -0.0), -PI / 2),
    ("atan2", (1.0, INF), 0.0),
    ("atan2", (-1.0, INF), -0.0),
    ("atan2", (1.0, -INF), PI),
    ("atan2", (-1.0, -INF), -PI),
    ("atan2", (INF, 1.0), PI / 2),
    ("atan2", (INF, -1.0), PI / 2),
    ("atan2", (-INF, 1.0), -PI / 2),
    ("atan2", (-INF, 0.0), -PI / 2),
    ("atan2", (INF, INF), PI / 4),
    ("atan2", (-INF, INF), -PI / 4),
    ("atan2", (INF, -INF), 3 * PI / 4),
    ("atan2", (-INF, -INF), -3 * PI / 4),
    ("atan2", (1.0, 1.0), PI / 4),
    ("atan2", (1.0, -1.0), 3 * PI / 4),
    ("atan2", (NAN, 0.0), NAN),
    ("atan2", (0.0, NAN), NAN),
    ("atan2", (NAN, INF), NAN),
    ("atan2", (-INF, NAN), NAN),
    ("atan2", (NAN, NAN), NAN),
)

# (function, arguments, result): smallest results, which keep every bit of a quotient, and what vanishes beside pi.
THRESHOLDS = (
    ("asin_f32", ("0x1p-149",), "0x1p-149"),
    ("asin_f64", ("0x1p-1074",), "0x1p-1074"),
    ("atan_f32", ("-0x1p-149",), "-0x1p-149"),
    ("atan_f64", ("-0x1p-1074",), "-0x1p-1074"),
    ("acos_f32", ("0x1.fffffep-1",), "0x1.6a09e6p-12"),
    ("acos_f64", ("0x1.fffffffffffffp-1",), "0x1p-26"),
    ("atan2_f32", ("0x1p-149", "0x1p+0"), "0x1p-149"),
    ("atan2_f32", ("0x1p-149", "0x1.fp+0"), "0x1p-149"),
    ("atan2_f32", ("0x1p-149", "0x1p+1"), "0x0p+0"),
    ("atan2_f32", ("-0x1p-149", "-0x1p+1"), "-0x1.921fb6p+1"),
    ("atan2_f64", ("0x1p-1074", "0x1.fp+0"), "0x1p-1074"),
    ("atan2_f64", ("0x1p-1074", "0x1p+1"), "0x0p+0"),
    ("atan2_f64", ("0x1p+1023", "0x1p-1074"), "0x1.921fb54442d18p+0"),
    ("atan2_f64", ("0x1p-1022", "0x1.8p+1"), "0x1.5555555555554p-1024"),
)


@pytest.mark.parametrize(("operation", "given", "true"), TRUE_VALUES)
def test_literal_values(operation: str, given: tuple[float, ...], true: float) -> None:
    check_literal_value(f"{operation}_f64", given, true)


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("operation", "given", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, given: tuple[float, ...], expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", given, expected)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: tuple[str, ...], expected: str) -> None:
    check_threshold(name, tuple(map(float.fromhex, given)), float.fromhex(expected))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_what_is_odd_is_so_in_every_bit(kind: str, rng: np.random.Generator) -> None:
    for operation in ("asin", "atan"):
        (x,) = arguments(f"{operation}_{kind}", rng, 5_000)
        positive, negative = apply(f"{operation}_{kind}", np.abs(x)), apply(f"{operation}_{kind}", -np.abs(x))
        assert np.array_equal(positive, -negative, equal_nan=True)
    y, x = arguments(f"atan2_{kind}", rng, 5_000)
    above, below = apply(f"atan2_{kind}", np.abs(y), x), apply(f"atan2_{kind}", -np.abs(y), x)
    assert np.array_equal(above, -below) and not np.signbit(above).any() and np.signbit(below).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_angles_stay_within_their_intervals(kind: str, rng: np.random.Generator) -> None:
    dtype = KINDS[kind].dtype
    bound = dtype.type(PI / 2)
    ends = (1.0 - np.exp2(rng.uniform(-60, -1, 50_000))).astype(dtype)
    assert apply(f"asin_{kind}", ends).max() <= bound
    angles = apply(f"acos_{kind}", np.concatenate([ends, -ends]))
    assert angles.min() >= 0.0 and angles.max() <= dtype.type(PI)
    assert apply(f"atan_{kind}", 1.0 / (1.0 - ends + 1e-30)).max() <= bound
    assert apply(f"atan2_{kind}", 1.0 - ends, -ends).max() <= dtype.type(PI)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_results_grow_across_the_meeting_of_two_forms(kind: str) -> None:
    dtype = KINDS[kind].dtype
    meetings = (("asin", 0.5, 1), ("acos", 0.5, -1), ("acos", -0.5, -1), *(("atan", a, 1) for a in (0.5, 1.0, 2.0)))
    for operation, meeting, direction in meetings:
        near = meeting * (1.0 + np.arange(-500, 501) * 16.0 * np.finfo(dtype).eps * np.sign(meeting))
        steps = np.diff(apply(f"{operation}_{kind}", near.astype(dtype)))
        assert (steps * direction >= 0.0).all()


def test_tiny_quotients_round_once(rng: np.random.Generator) -> None:
    y, x = np.exp2(rng.uniform(-1074, -1000, 20_000)), np.exp2(rng.uniform(0, 60, 20_000))
    assert np.array_equal(apply("atan2_f64", y, x), y / x)
