"""Logarithms of kernels: literal values, powers of ten, arguments where a reduction changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.vector_functions import SLACK, apply, check_literal_value, check_special_value, check_threshold
from tests.helpers.vector_loops import SSE2, same_class, units
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
on_x86 = pytest.mark.skipif(
    not llvm_pipeline.host().triple.startswith("x86_64"), reason="the code generator of x86 is not there"
)
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("log10", (5e-324,), -323.3062153431158),
    ("log10", (2.2250738585072014e-308,), -307.6526555685888),
    ("log10", (1e-05,), -5.0),
    ("log10", (0.1,), -1.0),
    ("log10", (0.5,), -0.3010299956639812),
    ("log10", (0.7071067811865475,), -0.15051499783199063),
    ("log10", (0.9999999999999999,), -4.821637332766436e-17),
    ("log10", (1.0000000000000002,), 9.64327466553287e-17),
    ("log10", (1.3,), 0.11394335230683679),
    ("log10", (1.4142135623730951,), 0.15051499783199063),
    ("log10", (2.0,), 0.3010299956639812),
    ("log10", (3.0,), 0.47712125471966244),
    ("log10", (99.0,), 1.99563519459755),
    ("log10", (1e22,), 22.0),
    ("log10", (1.7976931348623157e308,), 308.25471555991675),
    ("log1p", (0.4142135623730951,), 0.3465735902799727),
    ("log1p", (0.414213562373095,), 0.3465735902799726),
    ("log1p", (-0.2928932188134524,), -0.3465735902799726),
    ("log1p", (-0.29289321881345254,), -0.34657359027997275),
    ("log1p", (1.5,), 0.9162907318741551),
    ("log1p", (-0.9,), -2.302585092994046),
    ("log1p", (1.7976931348623157e308,), 709.782712893384),
    ("log1p", (4503599627370496.0,), 36.04365338911715),
    ("log1p", (9007199254740992.0,), 36.7368005696771),
    ("log1p", (1e17,), 39.14394658089878),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("log10", (NAN,), NAN),
    ("log10", (INF,), INF),
    ("log10", (-INF,), NAN),
    ("log10", (0.0,), -INF),
    ("log10", (-0.0,), -INF),
    ("log10", (1.0,), 0.0),
    ("log10", (-1.0,), NAN),
    ("log10", (-1e-38,), NAN),
    ("log10", (-1e-45,), NAN),
    ("log2", (-1e-45,), NAN),
    ("log1p", (-1.0000001192092896,), NAN),
    ("log1p", (-3e38,), NAN),
    ("log1p", (-1.0,), -INF),
)

# (function, arguments, result): the smallest and the largest arguments.
THRESHOLDS = (
    ("log10_f32", ("0x1p-149",), "-0x1.66d3e6p+5"),
    ("log10_f32", ("0x1.fffffep+127",), "0x1.344136p+5"),
    ("log10_f64", ("0x1p-1074",), "-0x1.434e6420f4374p+8"),
    ("log10_f64", ("0x1.fffffffffffffp+1023",), "0x1.34413509f79ffp+8"),
    ("log2_f32", ("0x1.fffffep+127",), "0x1p+7"),
    ("log1p_f64", ("-0x1.fffffffffffffp-1",), "-0x1.25e4f7b2737fap+5"),
    ("log1p_f64", ("0x1.fffffffffffffp+1023",), "0x1.62e42fefa39efp+9"),
    ("log1p_f64", ("0x1.6a09e667f3bcdp+1023",), "0x1.62b7d369a5aa8p+9"),
    ("log1p_f32", ("0x1.6a09e8p+127",), "0x1.61814cp+6"),
    ("log1p_f32", ("-0x1.fffffep-1",), "-0x1.0a2b24p+4"),
    ("log1p_f32", ("-0x1p-149",), "-0x1p-149"),
)


@pytest.mark.parametrize(("operation", "given", "true"), TRUE_VALUES)
def test_literal_values(operation: str, given: tuple[float, ...], true: float) -> None:
    check_literal_value(f"{operation}_f64", given, true)


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("operation", "given", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, given: tuple[float, ...], expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", given, expected)


@pytest.mark.parametrize("processor", [None, pytest.param(SSE2, marks=on_x86)], ids=["here", "without fma"])
@pytest.mark.parametrize("operation", ["log", "log2", "log10"])
def test_what_has_no_finite_logarithm(operation: str, processor: llvm_pipeline.Target | None) -> None:
    x = np.array([0.0, -0.0, -1.0, -1e-45, -3e38, -INF, INF, NAN, -NAN], np.float32)
    expected = np.array([-INF, -INF, NAN, NAN, NAN, NAN, INF, NAN, NAN], np.float32)
    # Twice as many as a vector holds, so that vector code runs.
    found = apply(f"{operation}_f32", np.repeat(x, 32), processor=processor)
    assert np.array_equal(found, np.repeat(expected, 32), equal_nan=True)


@pytest.mark.parametrize(("name", "given", "expected"), THRESHOLDS)
def test_thresholds(name: str, given: tuple[str, ...], expected: str) -> None:
    check_threshold(name, tuple(map(float.fromhex, given)), float.fromhex(expected))


@pytest.mark.parametrize(("kind", "count"), [("f32", 11), ("f64", 23)])
def test_powers_of_ten_are_exact(kind: str, count: int) -> None:
    powers = np.array([10.0**exponent for exponent in range(count)]).astype(KINDS[kind].dtype)
    assert np.array_equal(apply(f"log10_{kind}", powers), np.arange(count))


@pytest.mark.parametrize("operation", ["log", "log2", "log10"])
@pytest.mark.parametrize("power", [-1, 0, 1])
def test_f32_is_as_stated_for_every_fraction(operation: str, power: int) -> None:
    # Around one the parts of the sum are as large as their sum, so that errors are largest.
    low = np.float32(2.0**power * math.sqrt(0.5)).view(np.uint32)
    x = np.arange(low - 2, low + (1 << 23) + 2, 3, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        true = getattr(np, operation)(x.astype(np.float64))
    error = units(apply(f"{operation}_f32", x), true)
    worst = int(np.argmax(error))
    assert error[worst] <= VECTOR_FUNCTIONS[f"{operation}_f32"].error, f"{error[worst]} units at {x[worst]!r}"


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_log1p_is_as_stated_where_its_power_of_two_changes(kind: str, rng: np.random.Generator) -> None:
    dtype, wide = KINDS[kind].dtype, np.float64 if kind == "f32" else np.longdouble
    meetings = 2.0 ** np.arange(-20, 60) * math.sqrt(0.5) - 1.0
    x = (meetings * (1.0 + rng.normal(size=(500, meetings.size)) * 2.0**-8)).astype(dtype).ravel()
    with np.errstate(all="ignore"):
        true = np.log1p(x.astype(wide))
    result = apply(f"log1p_{kind}", x)
    assert same_class(result, true).all()
    assert units(result, true).max() <= VECTOR_FUNCTIONS[f"log1p_{kind}"].error + (wide is np.longdouble) * SLACK
