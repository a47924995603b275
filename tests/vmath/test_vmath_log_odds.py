"""Logit and softplus of kernels: literal values, ends of domains, symmetry, arguments where a formula changes."""

from __future__ import annotations

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
    truth,
)
from tests.helpers.vector_loops import same_class, units
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("logit", (5e-324,), -744.4400719213812),
    ("logit", (2.2250738585072014e-308,), -708.3964185322641),
    ("logit", (1e-300,), -690.7755278982137),
    ("logit", (1e-17,), -39.14394658089878),
    ("logit", (1e-05,), -11.512915464920228),
    ("logit", (0.1,), -2.197224577336219),
    ("logit", (0.25,), -1.0986122886681098),
    ("logit", (0.4,), -0.4054651081081643),
    ("logit", (0.41421356,), -0.34657360006025767),
    ("logit", (0.49,), -0.0400053346136992),
    ("logit", (0.4999999999999999,), -4.440892098500626e-16),
    ("logit", (0.5000000000000001,), 4.440892098500626e-16),
    ("logit", (0.501,), 0.004000005333346137),
    ("logit", (0.59,), 0.36396537720141153),
    ("logit", (0.75,), 1.0986122886681098),
    ("logit", (0.9,), 2.1972245773362196),
    ("logit", (0.9999,), 9.21024036697596),
    ("logit", (0.9999999999999999,), 36.7368005696771),
    ("softplus", (-745.1,), 5e-324),
    ("softplus", (-708.5,), 2.006132305331306e-308),
    ("softplus", (-100.0,), 3.720075976020836e-44),
    ("softplus", (-37.5,), 5.175555005801868e-17),
    ("softplus", (-10.0,), 4.539889921686465e-05),
    ("softplus", (-2.0,), 0.1269280110429725),
    ("softplus", (-1.0,), 0.3132616875182228),
    ("softplus", (-0.88137,), 0.34657464089500495),
    ("softplus", (-0.5,), 0.4740769841801067),
    ("softplus", (-1e-10,), 0.6931471805099453),
    ("softplus", (1e-10,), 0.6931471806099453),
    ("softplus", (0.25,), 0.8259394198788436),
    ("softplus", (0.88138,), 1.2279517119657433),
    ("softplus", (1.0,), 1.3132616875182228),
    ("softplus", (3.0,), 3.048587351573742),
    ("softplus", (20.0,), 20.000000002061153),
    ("softplus", (36.0,), 36.0),
    ("softplus", (40.0,), 40.0),
    ("softplus", (1e300,), 1e300),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("logit", (NAN,), NAN),
    ("logit", (INF,), NAN),
    ("logit", (-INF,), NAN),
    ("logit", (0.0,), -INF),
    ("logit", (-0.0,), -INF),
    ("logit", (1.0,), INF),
    ("logit", (0.5,), 0.0),
    ("logit", (1.0000001192092896,), NAN),
    ("logit", (-1e-45,), NAN),
    ("logit", (-0.5,), NAN),
    ("logit", (2.0,), NAN),
    ("logit", (-3e38,), NAN),
    ("logit", (3e38,), NAN),
    ("softplus", (NAN,), NAN),
    ("softplus", (INF,), INF),
    ("softplus", (-INF,), 0.0),
    ("softplus", (-800.0,), 0.0),
    ("softplus", (-3e38,), 0.0),
    ("softplus", (800.0,), 800.0),
    ("softplus", (1e30,), 1e30),
)

# (function, arguments, result): the smallest, the largest, and those next to the ends of a domain.
THRESHOLDS = (
    ("logit_f32", ("0x1p-149",), "-0x1.9d1dap+6"),
    ("logit_f32", ("0x1.fffffep-1",), "0x1.0a2b24p+4"),
    ("logit_f32", ("0x1.fffffep-2",), "-0x1p-23"),
    ("logit_f32", ("0x1.000002p-1",), "0x1p-22"),
    ("logit_f64", ("0x1p-1074",), "-0x1.74385446d71c3p+9"),
    ("logit_f64", ("0x1.fffffffffffffp-1",), "0x1.25e4f7b2737fap+5"),
    ("logit_f64", ("0x1.0000000000001p-1",), "0x1p-51"),
    ("logit_f64", ("0x1.fffffffffffffp-2",), "-0x1p-52"),
    ("softplus_f32", ("-0x1.9fe368p+6",), "0x1p-149"),
    ("softplus_f32", ("-0x1.9fe36ap+6",), "0x0p+0"),
    ("softplus_f32", ("0x1.fffffep+127",), "0x1.fffffep+127"),
    ("softplus_f64", ("-0x1.74910d52d3051p+9",), "0x0.0000000000001p-1022"),
    ("softplus_f64", ("-0x1.74910d52d3052p+9",), "0x0p+0"),
    ("softplus_f64", ("-0x1.62e42fefa39efp+9",), "0x0.400000000001bp-1022"),
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


def hard_arguments(operation: str, kind: str, rng: np.random.Generator) -> Array:
    """Arguments where the power of two that is split off changes, or a formula, or where the result vanishes."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    spread = 1.0 + rng.normal(size=(300, 1)) * 2.0 ** rng.uniform(-40, -3, (300, 1))
    if operation == "softplus":
        changes = math.log(2.0) * np.array([-1.0, 1.0, 1e-3, -1e-3, 2.0, -2.0, 50.0])
        ends = rng.uniform(limits.minexp - limits.nmant, limits.minexp + 10, 50_000) * math.log(2.0)
        return np.concatenate([(changes * spread).ravel(), rng.uniform(-2, 2, 50_000), ends]).astype(dtype)
    quotients = math.sqrt(0.5) * 2.0 ** np.arange(-100.0, 1.0)
    changes = (quotients / (1.0 + quotients) * spread).ravel()
    small = 2.0 ** rng.uniform(limits.minexp - limits.nmant, -1, 20_000)
    middle = 0.5 + rng.normal(size=20_000) * 2.0 ** rng.uniform(-52, -4, 20_000)
    low = np.concatenate([changes, small, middle])
    return np.concatenate([low, 1.0 - low]).astype(dtype)


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("operation", ["logit", "softplus"])
def test_results_are_as_stated_where_a_form_ends(operation: str, kind: str, rng: np.random.Generator) -> None:
    name = f"{operation}_{kind}"
    x = hard_arguments(operation, kind, rng)
    result, true = apply(name, x), truth(name, x)
    assert same_class(result, true).all(), x[~same_class(result, true)][:5]
    error = units(result, true)
    worst = int(np.argmax(error))
    assert error[worst] <= VECTOR_FUNCTIONS[name].error + (kind == "f64") * SLACK, f"{error[worst]} at {x[worst]!r}"


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_logit_changes_its_sign_where_the_argument_is_reflected(kind: str, rng: np.random.Generator) -> None:
    high = rng.uniform(0.5, 1.0, 20_000).astype(KINDS[kind].dtype)
    assert np.array_equal(apply(f"logit_{kind}", high), -apply(f"logit_{kind}", 1 - high))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_softplus_grows_and_is_positive(kind: str) -> None:
    dtype = KINDS[kind].dtype
    result = apply(f"softplus_{kind}", np.linspace(-80.0, 80.0, 20_001).astype(dtype))
    assert (np.diff(result) >= 0.0).all() and result[0] > 0.0 and result[-1] == 80.0
