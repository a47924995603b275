"""Inverse hyperbolic functions of kernels: literal values, ends of domains, arguments where a reduction changes."""

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

# (function, arguments, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("asinh", (1e-310,), 1e-310),
    ("asinh", (1e-08,), 1e-08),
    ("asinh", (1e-05,), 9.999999999833334e-06),
    ("asinh", (0.1,), 0.09983407889920756),
    ("asinh", (0.35,), 0.34322155508594393),
    ("asinh", (0.5,), 0.48121182505960347),
    ("asinh", (0.75,), 0.6931471805599453),
    ("asinh", (1.0,), 0.881373587019543),
    ("asinh", (-1.5,), -1.1947632172871092),
    ("asinh", (3.0,), 1.8184464592320668),
    ("asinh", (100.0,), 5.298342365610589),
    ("asinh", (-12345.678,), -10.114208503492028),
    ("asinh", (1000000000.0,), 21.416413017506358),
    ("asinh", (1500000000.0,), 21.82187812561452),
    ("asinh", (1e154,), 355.291251501643),
    ("asinh", (-1e300,), -691.4686750787737),
    ("asinh", (1.7976931348623157e308,), 710.475860073944),
    ("acosh", (1.0000000000000002,), 2.1073424255447014e-08),
    ("acosh", (1.0000000001,), 1.4142136208675862e-05),
    ("acosh", (1.001,), 0.04471763360830685),
    ("acosh", (1.06,), 0.34470108418503925),
    ("acosh", (1.1,), 0.4435682543851154),
    ("acosh", (1.25,), 0.6931471805599453),
    ("acosh", (1.5,), 0.9624236501192069),
    ("acosh", (2.0,), 1.3169578969248168),
    ("acosh", (3.0,), 1.762747174039086),
    ("acosh", (10.0,), 2.993222846126381),
    ("acosh", (123.456,), 5.509015594729667),
    ("acosh", (1000000000.0,), 21.416413017506358),
    ("acosh", (1500000000.0,), 21.82187812561452),
    ("acosh", (1e154,), 355.291251501643),
    ("acosh", (1e300,), 691.4686750787737),
    ("acosh", (1.7976931348623157e308,), 710.475860073944),
    ("atanh", (1e-310,), 1e-310),
    ("atanh", (1e-08,), 1e-08),
    ("atanh", (1e-05,), 1.0000000000333334e-05),
    ("atanh", (0.1,), 0.10033534773107558),
    ("atanh", (0.1715728752538099,), 0.17328679513998632),
    ("atanh", (0.18,), 0.18198268860070582),
    ("atanh", (-0.25,), -0.25541281188299536),
    ("atanh", (0.35,), 0.36544375427139614),
    ("atanh", (0.4776,), 0.5198704254614045),
    ("atanh", (0.5,), 0.5493061443340549),
    ("atanh", (-0.51,), -0.5627297693521489),
    ("atanh", (0.75,), 0.9729550745276566),
    ("atanh", (0.9,), 1.4722194895832204),
    ("atanh", (0.999,), 3.8002011672501994),
    ("atanh", (0.9999999999999996,), 18.021826694558577),
    ("atanh", (-0.9999999999999998,), -18.36840028483855),
    ("atanh", (0.9999999999999999,), 18.714973875118524),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("asinh", (NAN,), NAN),
    ("asinh", (INF,), INF),
    ("asinh", (-INF,), -INF),
    ("asinh", (0.0,), 0.0),
    ("asinh", (-0.0,), -0.0),
    ("acosh", (NAN,), NAN),
    ("acosh", (INF,), INF),
    ("acosh", (-INF,), NAN),
    ("acosh", (1.0,), 0.0),
    ("acosh", (0.9999999403953552,), NAN),
    ("acosh", (0.0,), NAN),
    ("acosh", (-0.0,), NAN),
    ("acosh", (-1.0,), NAN),
    ("acosh", (-3.0,), NAN),
    ("acosh", (-1e10,), NAN),
    ("acosh", (-3e38,), NAN),
    ("atanh", (NAN,), NAN),
    ("atanh", (INF,), NAN),
    ("atanh", (-INF,), NAN),
    ("atanh", (1.0,), INF),
    ("atanh", (-1.0,), -INF),
    ("atanh", (1.0000001192092896,), NAN),
    ("atanh", (-1.0000001192092896,), NAN),
    ("atanh", (2.0,), NAN),
    ("atanh", (-3e38,), NAN),
    ("atanh", (0.0,), 0.0),
    ("atanh", (-0.0,), -0.0),
)

# (function, arguments, result): the smallest, the largest, and those next to the ends of a domain.
THRESHOLDS = (
    ("asinh_f32", ("0x1p-149",), "0x1p-149"),
    ("asinh_f32", ("-0x1.fffffep+127",), "-0x1.65a9f8p+6"),
    ("asinh_f32", ("0x1p+64",), "0x1.686fcp+5"),
    ("asinh_f64", ("0x1p-1074",), "0x0.0000000000001p-1022"),
    ("asinh_f64", ("0x1p+512",), "0x1.6395a2079b70cp+8"),
    ("asinh_f64", ("-0x1.fffffffffffffp+1023",), "-0x1.633ce8fb9f87ep+9"),
    ("acosh_f32", ("0x1.000002p+0",), "0x1p-11"),
    ("acosh_f32", ("0x1p+64",), "0x1.686fcp+5"),
    ("acosh_f32", ("0x1.fffffep+127",), "0x1.65a9f8p+6"),
    ("acosh_f64", ("0x1.0000000000001p+0",), "0x1.6a09e667f3bccp-26"),
    ("acosh_f64", ("0x1p+512",), "0x1.6395a2079b70cp+8"),
    ("acosh_f64", ("0x1.fffffffffffffp+1023",), "0x1.633ce8fb9f87ep+9"),
    ("atanh_f32", ("0x1p-149",), "0x1p-149"),
    ("atanh_f32", ("0x1.fffffep-1",), "0x1.154246p+3"),
    ("atanh_f32", ("-0x1.fffffcp-1",), "-0x1.0a2b24p+3"),
    ("atanh_f64", ("-0x1p-1074",), "-0x0.0000000000001p-1022"),
    ("atanh_f64", ("0x1.fffffffffffffp-1",), "0x1.2b708872320e2p+4"),
    ("atanh_f64", ("-0x1.ffffffffffffep-1",), "-0x1.25e4f7b2737fap+4"),
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
@pytest.mark.parametrize("operation", ["asinh", "atanh"])
def test_what_is_odd_is_so_in_every_bit(operation: str, kind: str, rng: np.random.Generator) -> None:
    (x,) = arguments(f"{operation}_{kind}", rng, 5_000)
    positive, negative = apply(f"{operation}_{kind}", np.abs(x)), apply(f"{operation}_{kind}", -np.abs(x))
    numbers = ~np.isnan(positive)
    assert positive[numbers].tobytes() == (-negative[numbers]).tobytes()
    assert np.array_equal(numbers, ~np.isnan(negative))


def hard_arguments(operation: str, kind: str, rng: np.random.Generator) -> Array:
    """Arguments where the power of two that is split off changes, or a formula, or where the result vanishes."""
    dtype = KINDS[kind].dtype
    powers = 2.0 ** np.arange(-4, 1000 if kind == "f64" else 120)
    spread = 1.0 + rng.normal(size=(200, 1)) * 2.0 ** rng.uniform(-40, -3, (200, 1))
    sums = np.concatenate([0.75 * powers, math.sqrt(0.5) * powers])
    if operation == "acosh":
        near_one = 1.0 + 2.0 ** rng.uniform(-dtype.itemsize * 8, 0, 50_000)
        return np.concatenate([(np.maximum(sums, 1.0) * spread).ravel(), near_one]).astype(dtype)
    if operation == "atanh":
        quotients = math.sqrt(0.5) * 2.0 ** np.arange(0, 55)
        ends = 1.0 - 2.0 ** rng.uniform(-53, -1, 50_000)
        changes = ((quotients - 1.0) / (quotients + 1.0) * spread).ravel()
        return np.concatenate([changes, ends, 0.5 * spread.ravel()]).astype(dtype)
    return (sums * spread).astype(dtype).ravel()


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("operation", ["asinh", "acosh", "atanh"])
def test_results_are_as_stated_where_a_form_ends(operation: str, kind: str, rng: np.random.Generator) -> None:
    name = f"{operation}_{kind}"
    x = hard_arguments(operation, kind, rng)
    result, true = apply(name, x), truth(name, x)
    assert same_class(result, true).all(), x[~same_class(result, true)][:5]
    error = units(result, true)
    worst = int(np.argmax(error))
    assert error[worst] <= VECTOR_FUNCTIONS[name].error + (kind == "f64") * SLACK, f"{error[worst]} at {x[worst]!r}"
