"""log-gamma and digamma of kernels: literal values, zeros, poles, reflection, thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import (
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

gmpy2 = pytest.importorskip("gmpy2")

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")
OPERATIONS = ("lgamma", "digamma")
ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
ROOT = 1.4616321449683622
# In units of the largest of one, the result, and the value on the other side.
REFLECTED_ERROR = {"lgamma": 1.6, "digamma": 3.5}
POSITIVE_ERROR = 2.6

# (function, arguments, true value rounded once), computed with 70 digits.
TRUE_VALUES = (
    ("lgamma", (5e-324,), 744.4400719213812),
    ("lgamma", (1e-300,), 690.7755278982137),
    ("lgamma", (1e-10,), 23.025850929882736),
    ("lgamma", (0.1,), 2.252712651734206),
    ("lgamma", (0.4999999999999999,), 0.5723649429247003),
    ("lgamma", (0.5,), 0.5723649429247001),
    ("lgamma", (0.75,), 0.20328095143129538),
    ("lgamma", (0.9999999999999999,), 6.408381213480008e-17),
    ("lgamma", (1.0000000000000002,), -1.2816762426960008e-16),
    ("lgamma", (1.1,), -0.049872441259839764),
    ("lgamma", (1.2499999999999998,), -0.09827183642181311),
    ("lgamma", (1.25,), -0.09827183642181316),
    ("lgamma", (1.4616321449683622,), -0.12148629053584961),
    ("lgamma", (1.4616321449683625,), -0.12148629053584961),
    ("lgamma", (1.5,), -0.12078223763524522),
    ("lgamma", (1.9999999999999998,), -9.387698065543117e-17),
    ("lgamma", (2.0000000000000004,), 1.8775396131086244e-16),
    ("lgamma", (2.4999999999999996,), 0.28468287047291885),
    ("lgamma", (2.5,), 0.2846828704729192),
    ("lgamma", (3.0,), 0.6931471805599453),
    ("lgamma", (3.4999999999999996,), 1.2009736023470738),
    ("lgamma", (3.5,), 1.2009736023470743),
    ("lgamma", (3.9999999999999996,), 1.7917594692280545),
    ("lgamma", (4.0,), 1.791759469228055),
    ("lgamma", (4.499999999999999,), 2.453736570842441),
    ("lgamma", (4.5,), 2.4537365708424423),
    ("lgamma", (10.0,), 12.801827480081469),
    ("lgamma", (171.5,), 709.1431630309282),
    ("lgamma", (10000000000.0,), 220258509288.81058),
    ("lgamma", (1e100,), 2.2925850929940456e102),
    ("lgamma", (2.5e305,), 1.7555118602376452e308),
    ("lgamma", (-0.3,), 1.4648400508576025),
    ("lgamma", (-1e-300,), 690.7755278982137),
    ("digamma", (1e-300,), -9.999999999999999e299),
    ("digamma", (1e-10,), -10000000000.577215),
    ("digamma", (0.1,), -10.423754940411076),
    ("digamma", (0.4999999999999999,), -1.963510026021424),
    ("digamma", (0.5,), -1.9635100260214235),
    ("digamma", (0.75,), -1.0858608797864722),
    ("digamma", (0.9999999999999999,), -0.5772156649015331),
    ("digamma", (1.0000000000000002,), -0.5772156649015325),
    ("digamma", (1.1,), -0.42375494041107664),
    ("digamma", (1.2499999999999998,), -0.22745353337626567),
    ("digamma", (1.25,), -0.22745353337626542),
    ("digamma", (1.4616321449683622,), -9.241265521729427e-17),
    ("digamma", (1.4616321449683625,), 1.2245374622004068e-16),
    ("digamma", (1.5,), 0.03648997397857652),
    ("digamma", (1.9999999999999998,), 0.422784335098467),
    ("digamma", (2.0000000000000004,), 0.4227843350984674),
    ("digamma", (2.4999999999999996,), 0.703156640645243),
    ("digamma", (2.5,), 0.7031566406452432),
    ("digamma", (3.0,), 0.9227843350984671),
    ("digamma", (3.4999999999999996,), 1.103156640645243),
    ("digamma", (3.5,), 1.103156640645243),
    ("digamma", (3.9999999999999996,), 1.2561176684318003),
    ("digamma", (4.0,), 1.2561176684318005),
    ("digamma", (4.499999999999999,), 1.3888709263595287),
    ("digamma", (4.5,), 1.388870926359529),
    ("digamma", (10.0,), 2.251752589066721),
    ("digamma", (171.5,), 5.141664981433999),
    ("digamma", (10000000000.0,), 23.025850929890456),
    ("digamma", (1e100,), 230.25850929940458),
    ("digamma", (2.5e305,), 703.2047440950581),
    ("digamma", (-0.3,), 2.113309779635399),
    ("digamma", (-1e-300,), 9.999999999999999e299),
    ("digamma", (1.7e308,), 709.7268368932282),
)

# The same where reflection cancels: right to some units of the largest of the terms.
REFLECTED_VALUES = (
    ("lgamma", (-0.75,), 1.5757045971498584),
    ("digamma", (-0.75,), -2.894120200042932),
    ("lgamma", (-1.5,), 0.860047015376481),
    ("digamma", (-1.5,), 0.7031566406452432),
    ("lgamma", (-2.0000000000000004,), 34.657359027997266),
    ("digamma", (-2.0000000000000004,), 2251799813685249.0),
    ("lgamma", (-2.005,), 4.600592454534298),
    ("lgamma", (-3.3,), -0.8243558050174264),
    ("digamma", (-3.3,), 3.620353460592126),
    ("lgamma", (-4.010043501281711,), 1.4078037459471344),
    ("lgamma", (-10.5,), -15.147270590717842),
    ("digamma", (-10.5,), 2.3982391295357814),
    ("lgamma", (-100.25,), -363.4009232278215),
    ("digamma", (-100.25,), 7.754238959208646),
    ("lgamma", (-1234567.75,), -16081771.713672543),
    ("digamma", (-1234567.75,), 10.88463921819012),
    ("lgamma", (-4503599627370495.5,), -1.5782258434492883e17),
    ("digamma", (-4503599627370495.5,), 36.04365338911715),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    *(("lgamma", (x,), INF) for x in (0.0, -0.0, INF, -INF, -1.0, -2.0, -16777215.0, -1e30)),
    *(("lgamma", (x,), 0.0) for x in (1.0, 2.0)),
    *((name, (NAN,), NAN) for name in OPERATIONS),
    ("digamma", (0.0,), -INF),
    ("digamma", (-0.0,), INF),
    ("digamma", (INF,), INF),
    *(("digamma", (x,), NAN) for x in (-INF, -1.0, -2.0, -16777215.0, -1e30)),
)

# (function, argument, result): the last argument before a change, and the first after it.
THRESHOLDS = (
    ("lgamma_f64", 2.5599833278516383e305, 1.7976931348623157e308),
    ("lgamma_f64", 2.5599833278516387e305, INF),
    ("lgamma_f64", 1.7976931348623157e308, INF),
    ("lgamma_f32", 4.085003e36, 3.4028233508339778e38),
    ("lgamma_f32", 4.0850034e36, INF),
    ("digamma_f64", 1.7976931348623157e308, 709.782712893384),
    ("digamma_f64", 5e-324, -INF),
    ("digamma_f64", 1e-308, -1e308),
)


def truth(operation: str, x: Array, digits: int = 200) -> list[object]:
    """Values of MPFR, 200 bits long."""
    function = gmpy2.digamma if operation == "digamma" else lambda value: gmpy2.lgamma(value)[0]
    with gmpy2.context(precision=digits):
        return [function(gmpy2.mpfr(value)) for value in x.tolist()]


def errors(operation: str, x: Array, result: Array) -> Array:
    """Errors in units of the last place: of the value, or where x is negative of the largest of the terms."""
    found = []
    bits = np.finfo(result.dtype).nmant + 1
    with gmpy2.context(precision=200):
        for value, got, true in zip(x.tolist(), result.tolist(), truth(operation, x), strict=True):
            scale = abs(true)
            if value < 0:
                mirrored = np.array([abs(value) + (operation == "digamma")])
                scale = max(scale, gmpy2.mpfr(1), abs(truth(operation, mirrored)[0]))
            unit = gmpy2.exp2(gmpy2.get_exp(scale) - bits)
            found.append(float(abs(got - true) / unit))
    return np.array(found)


def hard_arguments(rng: np.random.Generator, count: int) -> Array:
    """Around the zeros, where the method changes, of every size."""
    steps = rng.choice([-1.0, 1.0], count) * np.exp2(rng.uniform(-51, -2, count))
    edges = rng.choice([0.5, 1.25, 1.5, 2.5, 3.5, 4.0, 4.5], count) + rng.normal(size=count) * 1e-3
    sizes = [np.exp2(rng.uniform(-1000, 1000, count)), rng.uniform(0, 10, count), rng.uniform(0, 200, count)]
    return np.concatenate([1.0 + steps, 2.0 + steps, ROOT + steps, edges, *sizes])


@pytest.mark.parametrize(("operation", "given", "true"), TRUE_VALUES)
def test_literal_values(operation: str, given: tuple[float], true: float) -> None:
    check_literal_value(f"{operation}_f64", given, true)


@pytest.mark.parametrize(("operation", "given", "true"), REFLECTED_VALUES)
def test_literal_values_of_negative_numbers(operation: str, given: tuple[float], true: float) -> None:
    x = np.array(given)
    assert errors(operation, x, apply(f"{operation}_f64", x))[0] <= REFLECTED_ERROR[operation]
    assert errors(operation, x, np.array([true]))[0] <= 0.5


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("operation", "given", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, given: tuple[float], expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", given, expected)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: float, expected: float) -> None:
    check_threshold(name, (given,), expected)


@pytest.mark.parametrize("processor", [None, SSE2] if ON_X86 else [None], ids=["host", "SSE2"][: 1 + ON_X86])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_positive_numbers_are_within_the_stated_error(
    operation: str, processor: llvm_pipeline.Target | None, rng: np.random.Generator
) -> None:
    x = hard_arguments(rng, 600)
    error = errors(operation, x, apply(f"{operation}_f64", x, processor=processor))
    worst = int(np.argmax(error))
    assert error[worst] <= POSITIVE_ERROR, (error[worst], x[worst])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_negative_numbers_are_within_some_units_of_the_largest_term(operation: str, rng: np.random.Generator) -> None:
    whole = -rng.integers(0, 200, 800).astype(np.float64)
    x = np.concatenate([-rng.uniform(0, 20, 800), -np.exp2(rng.uniform(-300, 48, 800)), whole])
    x[1_600:] += rng.uniform(-1, 1, 800) * np.exp2(rng.uniform(-40, -2, 800))
    x = x[(x < 0) & (x != np.rint(x))]
    error = errors(operation, x, apply(f"{operation}_f64", x))
    worst = int(np.argmax(error))
    assert error[worst] <= REFLECTED_ERROR[operation], (error[worst], x[worst])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_single_precision_is_rounded_once(operation: str, rng: np.random.Generator) -> None:
    with np.errstate(over="ignore"):
        x = hard_arguments(rng, 20_000).astype(np.float32)
    true = apply(f"{operation}_f64", x.astype(np.float64))
    result = apply(f"{operation}_f32", x)
    assert same_class(result, true).all()
    assert units(result, true).max() <= 0.5


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_quick_variant_serves_all_positive_numbers(operation: str, kind: str, rng: np.random.Generator) -> None:
    with np.errstate(over="ignore"):
        x = hard_arguments(rng, 2_000).astype(KINDS[kind].dtype)
    x = np.concatenate([x, -x, np.array([0.0, -0.0, INF, NAN], x.dtype)])
    near = ~compiled(f"{operation}_{kind}_is_far")(x)
    assert near[np.isnan(x) | (x >= 0)].all() and not near[x < -0.5].any()
    everywhere, quick = apply(f"{operation}_{kind}", x[near]), apply(f"{operation}_{kind}_near", x[near])
    assert np.array_equal(everywhere, quick, equal_nan=True)
