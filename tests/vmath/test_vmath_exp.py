"""Hyperbolic sine and cosine and the logistic function of kernels: literal values, thresholds, where a form ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import (
    SLACK,
    Array,
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

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 80 digits.
TRUE_VALUES = (
    ("sinh", (1e-310,), 1e-310),
    ("sinh", (1e-08,), 1e-08),
    ("sinh", (3e-05,), 3.0000000004500002e-05),
    ("sinh", (0.1,), 0.10016675001984403),
    ("sinh", (-0.35,), -0.3571897294372719),
    ("sinh", (0.4811,), 0.49987497890851984),
    ("sinh", (0.4813,), 0.5000985845241521),
    ("sinh", (0.5,), 0.5210953054937474),
    ("sinh", (1.0,), 1.1752011936438014),
    ("sinh", (-1.1,), -1.335647470124177),
    ("sinh", (2.5,), 6.0502044810397875),
    ("sinh", (10.0,), 11013.232874703393),
    ("sinh", (-23.5,), -8033232360.311239),
    ("sinh", (100.0,), 1.3440585709080678e43),
    ("sinh", (700.25,), 6.511498683495892e303),
    ("sinh", (710.4758600739439,), 1.7976931348621744e308),
    ("cosh", (1e-08,), 1.0),
    ("cosh", (3e-05,), 1.00000000045),
    ("cosh", (0.1,), 1.0050041680558035),
    ("cosh", (-0.3465,), 1.0606341565588169),
    ("cosh", (0.3466,), 1.0606695093957736),
    ("cosh", (0.5,), 1.1276259652063807),
    ("cosh", (1.0,), 1.5430806348152437),
    ("cosh", (-1.04,), 1.5913358481551698),
    ("cosh", (2.5,), 6.132289479663686),
    ("cosh", (10.0,), 11013.232920103323),
    ("cosh", (-23.5,), 8033232360.311239),
    ("cosh", (36.7,), 4340877100267690.0),
    ("cosh", (100.0,), 1.3440585709080678e43),
    ("cosh", (700.25,), 6.511498683495892e303),
    ("cosh", (710.4758600739439,), 1.7976931348621744e308),
    ("logistic", (1e-310,), 0.5),
    ("logistic", (1e-08,), 0.5000000025),
    ("logistic", (0.1,), 0.52497918747894),
    ("logistic", (-0.35,), 0.4133824210826699),
    ("logistic", (0.5,), 0.6224593312018546),
    ("logistic", (-1.0,), 0.2689414213699951),
    ("logistic", (2.5,), 0.9241418199787564),
    ("logistic", (-5.542755126953125,), 0.0039004505608002385),
    ("logistic", (-18.2,), 1.2469252630268726e-08),
    ("logistic", (36.7,), 0.9999999999999999),
    ("logistic", (-36.7,), 1.1518409493076095e-16),
    ("logistic", (37.5,), 1.0),
    ("logistic", (-100.0,), 3.720075976020836e-44),
    ("logistic", (-700.25,), 7.678723813110872e-305),
    ("logistic", (-708.5,), 2.006132305331306e-308),
    ("logistic", (-720.5,), 1.2326102893e-313),
    ("logistic", (-745.1,), 5e-324),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("sinh", (NAN,), NAN),
    ("sinh", (INF,), INF),
    ("sinh", (-INF,), -INF),
    ("sinh", (0.0,), 0.0),
    ("sinh", (-0.0,), -0.0),
    ("sinh", (800.0,), INF),
    ("sinh", (-3e38,), -INF),
    ("cosh", (NAN,), NAN),
    ("cosh", (INF,), INF),
    ("cosh", (-INF,), INF),
    ("cosh", (0.0,), 1.0),
    ("cosh", (-0.0,), 1.0),
    ("cosh", (-800.0,), INF),
    ("cosh", (3e38,), INF),
    ("logistic", (NAN,), NAN),
    ("logistic", (INF,), 1.0),
    ("logistic", (-INF,), 0.0),
    ("logistic", (0.0,), 0.5),
    ("logistic", (-0.0,), 0.5),
    ("logistic", (3e38,), 1.0),
    ("logistic", (-3e38,), 0.0),
)

# (function, arguments, result): the last argument before a change, and the first after it.
THRESHOLDS = (
    ("sinh_f32", ("0x1.65a9f80000000p+6",), "0x1.ffffd80000000p+127"),
    ("sinh_f32", ("0x1.65a9fa0000000p+6",), "inf"),
    ("sinh_f64", ("0x1.633ce8fb9f87dp+9",), "0x1.ffffffffffd3bp+1023"),
    ("sinh_f64", ("0x1.633ce8fb9f87ep+9",), "inf"),
    ("cosh_f32", ("0x1.65a9f80000000p+6",), "0x1.ffffd80000000p+127"),
    ("cosh_f32", ("0x1.65a9fa0000000p+6",), "inf"),
    ("cosh_f64", ("0x1.633ce8fb9f87dp+9",), "0x1.ffffffffffd3bp+1023"),
    ("cosh_f64", ("0x1.633ce8fb9f87ep+9",), "inf"),
    ("sinh_f32", ("0x1.0000000000000p-149",), "0x1.0000000000000p-149"),
    ("sinh_f32", ("-0x1.0000000000000p-126",), "-0x1.0000000000000p-126"),
    ("sinh_f32", ("-0x1.65a9f80000000p+6",), "-0x1.ffffd80000000p+127"),
    ("sinh_f32", ("0x1.0000000000000p-13",), "0x1.0000000000000p-13"),
    ("sinh_f64", ("0x0.0000000000001p-1022",), "0x0.0000000000001p-1022"),
    ("sinh_f64", ("-0x1.0000000000000p-1022",), "-0x1.0000000000000p-1022"),
    ("sinh_f64", ("0x1.0000000000000p-28",), "0x1.0000000000000p-28"),
    ("logistic_f32", ("-0x1.9fe3680000000p+6",), "0x1.0000000000000p-149"),
    ("logistic_f32", ("-0x1.9fe36a0000000p+6",), "0x0.0p+0"),
    ("logistic_f64", ("-0x1.74910d52d3051p+9",), "0x0.0000000000001p-1022"),
    ("logistic_f64", ("-0x1.74910d52d3052p+9",), "0x0.0p+0"),
    ("logistic_f32", ("-0x1.0000000000000p-149",), "0x1.0000000000000p-1"),
    ("logistic_f32", ("-0x1.5d58a00000000p+6",), "0x1.ffff980000000p-127"),
    ("logistic_f32", ("-0x1.6200000000000p+6",), "0x1.3fe7100000000p-128"),
    ("logistic_f64", ("0x0.0000000000001p-1022",), "0x1.0000000000000p-1"),
    ("logistic_f64", ("-0x1.6232bdd7abcd2p+9",), "0x1.000000000007cp-1022"),
    ("logistic_f64", ("-0x1.62c0000000000p+9",), "0x0.54e90c99fb878p-1022"),
    ("logistic_f32", ("0x1.1542440000000p+4",), "0x1.fffffe0000000p-1"),
    ("logistic_f32", ("0x1.1542460000000p+4",), "0x1.0000000000000p+0"),
    ("logistic_f64", ("0x1.2b708872320e1p+5",), "0x1.fffffffffffffp-1"),
    ("logistic_f64", ("0x1.2b708872320e2p+5",), "0x1.0000000000000p+0"),
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
def test_sine_is_odd_and_cosine_even_in_every_bit(kind: str, rng: np.random.Generator) -> None:
    (x,) = arguments(f"sinh_{kind}", rng, 5_000)
    assert apply(f"sinh_{kind}", x).tobytes() == (-apply(f"sinh_{kind}", -x)).tobytes()
    assert apply(f"cosh_{kind}", x).tobytes() == apply(f"cosh_{kind}", -x).tobytes()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_results_do_not_cross_their_bounds(kind: str, rng: np.random.Generator) -> None:
    (x,) = arguments(f"cosh_{kind}", rng, 20_000)
    logistic = apply(f"logistic_{kind}", x)
    assert (apply(f"cosh_{kind}", x) >= 1.0).all()
    assert ((logistic >= 0.0) & (logistic <= 1.0)).all()
    assert ((logistic >= 0.5) == (x >= 0.0))[np.abs(x) > 1e-6].all()


def hard_arguments(kind: str, rng: np.random.Generator) -> Array:
    """Around multiples of log(2) / 2, where the power of two changes, and near overflow and underflow."""
    dtype = KINDS[kind].dtype
    halves = np.arange(-2200, 2200) * (np.log(2.0) / 2)
    spread = 1.0 + rng.normal(size=(40, 1)) * 2.0 ** rng.uniform(-40, -3, (40, 1))
    few = np.array([0.4812, 0.5493, 0.6269, 87.3, 88.7, 89.4, 103.9, 708.4, 709.8, 710.4, 744.4])
    return np.concatenate([(halves * spread).ravel(), (few * spread).ravel(), (-few * spread).ravel()]).astype(dtype)


@pytest.mark.parametrize(
    "name", [f"{op}_{kind}" for op in ("exp", "expm1", "sinh", "cosh", "tanh", "logistic") for kind in KIND_NAMES]
)
def test_results_are_as_stated_where_a_form_ends(name: str, rng: np.random.Generator) -> None:
    kind = name[-3:]
    x = hard_arguments(kind, rng)
    result, true = apply(name, x), truth(name, x)
    assert same_class(result, true).all(), x[~same_class(result, true)][:5]
    error = units(result, true)
    worst = int(np.argmax(error))
    assert error[worst] <= VECTOR_FUNCTIONS[name].error + (kind == "f64") * SLACK, f"{error[worst]} at {x[worst]!r}"
