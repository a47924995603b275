"""Roots and lengths of kernels: literal values, exact powers, very small and very large arguments."""

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
from tests.helpers.vector_loops import units
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")

# (function, arguments, true value rounded once), computed with 1400 bits.
TRUE_VALUES = (
    ("cbrt", (5e-324,), 1.7031839360032603e-108),
    ("cbrt", (1e-310,), 4.641588833612774e-104),
    ("cbrt", (2.2250738585072014e-308,), 2.812644285236262e-103),
    ("cbrt", (1e-300,), 1e-100),
    ("cbrt", (0.001,), 0.1),
    ("cbrt", (0.125,), 0.5),
    ("cbrt", (0.5,), 0.7937005259840998),
    ("cbrt", (0.9999999999999999,), 1.0),
    ("cbrt", (1.0000000000000002,), 1.0),
    ("cbrt", (2.0,), 1.2599210498948732),
    ("cbrt", (3.0,), 1.4422495703074083),
    ("cbrt", (27.0,), 3.0),
    ("cbrt", (1000000000000000.0,), 100000.0),
    ("cbrt", (1e300,), 1e100),
    ("cbrt", (1.7976931348623157e308,), 5.643803094122362e102),
    ("cbrt", (-2.0,), -1.2599210498948732),
    ("cbrt", (-8.0,), -2.0),
    ("cbrt", (-1e-09,), -0.001),
    ("rsqrt", (5e-324,), 4.4989137945431964e161),
    ("rsqrt", (1e-310,), 1.0000000000000016e155),
    ("rsqrt", (2.2250738585072014e-308,), 6.703903964971299e153),
    ("rsqrt", (1e-300,), 1e150),
    ("rsqrt", (0.001,), 31.622776601683793),
    ("rsqrt", (0.25,), 2.0),
    ("rsqrt", (0.5,), 1.4142135623730951),
    ("rsqrt", (0.9999999999999999,), 1.0),
    ("rsqrt", (1.0000000000000002,), 0.9999999999999999),
    ("rsqrt", (2.0,), 0.7071067811865476),
    ("rsqrt", (3.0,), 0.5773502691896257),
    ("rsqrt", (10.0,), 0.31622776601683794),
    ("rsqrt", (1000000000000000.0,), 3.162277660168379e-08),
    ("rsqrt", (1e300,), 1e-150),
    ("rsqrt", (1.7976931348623157e308,), 7.458340731200207e-155),
    ("hypot", (3.0, 4.0), 5.0),
    ("hypot", (1.0, 1.0), 1.4142135623730951),
    ("hypot", (1e308, 1e308), 1.4142135623730951e308),
    ("hypot", (1.7976931348623157e308, 1e290), 1.7976931348623157e308),
    ("hypot", (5e-324, 5e-324), 5e-324),
    ("hypot", (5e-324, 5e-324), 5e-324),
    ("hypot", (1e-310, 2e-310), 2.2360679774998e-310),
    ("hypot", (1e-200, 1e-200), 1.414213562373095e-200),
    ("hypot", (1e200, 1e-200), 1e200),
    ("hypot", (-5.0, 12.0), 13.0),
    ("hypot", (1.0, 1e-08), 1.0),
    ("hypot", (1e300, -1e292), 1e300),
    ("hypot", (1.5e-154, 2.5e-154), 2.9154759474226504e-154),
    ("hypot", (2e154, 1e154), 2.2360679774997897e154),
    ("hypot", (0.1, 0.2), 0.223606797749979),
)

# (function, arguments, result) in both precisions.
SPECIAL_VALUES = (
    ("cbrt", (NAN,), NAN),
    ("cbrt", (INF,), INF),
    ("cbrt", (-INF,), -INF),
    ("cbrt", (0.0,), 0.0),
    ("cbrt", (-0.0,), -0.0),
    ("cbrt", (1.0,), 1.0),
    ("cbrt", (-1.0,), -1.0),
    ("cbrt", (27.0,), 3.0),
    ("cbrt", (-0.125,), -0.5),
    ("cbrt", (2.0**-147,), 2.0**-49),
    ("cbrt", (2.0**126,), 2.0**42),
    ("rsqrt", (NAN,), NAN),
    ("rsqrt", (INF,), 0.0),
    ("rsqrt", (-INF,), NAN),
    ("rsqrt", (-1.0,), NAN),
    ("rsqrt", (-1e-45,), NAN),
    ("rsqrt", (0.0,), INF),
    ("rsqrt", (-0.0,), -INF),
    ("rsqrt", (1.0,), 1.0),
    ("rsqrt", (4.0,), 0.5),
    ("rsqrt", (2.0**-148,), 2.0**74),
    ("rsqrt", (2.0**126,), 2.0**-63),
    ("hypot", (NAN, 1.0), NAN),
    ("hypot", (1.0, NAN), NAN),
    ("hypot", (NAN, 0.0), NAN),
    ("hypot", (NAN, NAN), NAN),
    ("hypot", (INF, NAN), INF),
    ("hypot", (NAN, -INF), INF),
    ("hypot", (INF, -INF), INF),
    ("hypot", (0.0, -INF), INF),
    ("hypot", (0.0, 0.0), 0.0),
    ("hypot", (-0.0, -0.0), 0.0),
    ("hypot", (-0.0, 0.0), 0.0),
    ("hypot", (0.0, -7.0), 7.0),
    ("hypot", (3.0, 4.0), 5.0),
    ("hypot", (-5.0, 12.0), 13.0),
    ("hypot", (3e38, 3e30), 3e38),
    ("hypot", (2.0**-149, 0.0), 2.0**-149),
)

# (function, arguments, result): smallest and largest arguments and results, and the first length without end.
THRESHOLDS = (
    ("cbrt_f32", ("0x1p-149",), "0x1.428a30p-50"),
    ("cbrt_f32", ("0x1.fffffep+127",), "0x1.965feap+42"),
    ("cbrt_f64", ("0x1p-1074",), "0x1p-358"),
    ("cbrt_f64", ("0x1.fffffffffffffp+1023",), "0x1.428a2f98d728ap+341"),
    ("rsqrt_f32", ("0x1p-149",), "0x1.6a09e6p+74"),
    ("rsqrt_f32", ("0x1.fffffep+127",), "0x1p-64"),
    ("rsqrt_f64", ("0x1p-1074",), "0x1p+537"),
    ("rsqrt_f64", ("0x1.fffffffffffffp+1023",), "0x1p-512"),
    ("hypot_f32", ("0x1.fffffep+127", "0x1p+104"), "0x1.fffffep+127"),
    ("hypot_f32", ("0x1.fffffep+127", "0x1p+117"), "inf"),
    ("hypot_f32", ("0x1p-149", "0x1p-149"), "0x1p-149"),
    ("hypot_f64", ("0x1.fffffffffffffp+1023", "0x1p+970"), "0x1.fffffffffffffp+1023"),
    ("hypot_f64", ("0x1.fffffffffffffp+1023", "0x1p+999"), "inf"),
    ("hypot_f64", ("0x1p-1074", "0x1p-1074"), "0x1p-1074"),
    ("hypot_f64", ("0x1.8p-1073", "0x1p-1072"), "0x1.4p-1072"),
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


@pytest.mark.skipif(not llvm_pipeline.host().traits.fma, reason="exact with fused multiply-add")
@pytest.mark.parametrize(("kind", "largest", "scales"), [("f32", 2**8, (-47, 0, 30)), ("f64", 2**17, (-340, 0, 300))])
def test_roots_of_exact_powers_are_exact(kind: str, largest: int, scales: tuple[int, ...]) -> None:
    dtype = KINDS[kind].dtype
    for scale in scales:
        bases = np.ldexp(np.arange(-largest, largest + 1).astype(dtype), scale)
        assert apply(f"cbrt_{kind}", bases**3).tobytes() == bases.tobytes()
    powers = np.ldexp(dtype.type(1), np.arange(-60, 61))
    assert np.array_equal(apply(f"rsqrt_{kind}", powers**2), 1 / powers)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_symmetries_hold_in_every_bit(kind: str, rng: np.random.Generator) -> None:
    (x,) = arguments(f"cbrt_{kind}", rng, 5_000)
    assert np.array_equal(apply(f"cbrt_{kind}", x), -apply(f"cbrt_{kind}", -x))
    x, y = arguments(f"hypot_{kind}", rng, 5_000)
    lengths = apply(f"hypot_{kind}", x, y)
    assert np.array_equal(lengths, apply(f"hypot_{kind}", y, -x))
    assert (lengths >= np.maximum(np.abs(x), np.abs(y))).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_arguments_around_where_scaling_begins(kind: str, rng: np.random.Generator) -> None:
    dtype = KINDS[kind].dtype
    for exponent in (-90,) if kind == "f32" else (-900, -400, 500):
        x = np.ldexp(rng.uniform(0.25, 4.0, 5_000).astype(dtype), exponent)
        y = np.ldexp(rng.uniform(0.25, 4.0, 5_000).astype(dtype), exponent)
        for name, given in ((f"cbrt_{kind}", (x,)), (f"rsqrt_{kind}", (x,)), (f"hypot_{kind}", (x, y))):
            assert units(apply(name, *given), truth(name, *given)).max() <= VECTOR_FUNCTIONS[name].error


@pytest.mark.skipif(not llvm_pipeline.host().traits.fma, reason="rounded once with fused multiply-add")
def test_cube_roots_rise_with_their_arguments() -> None:
    x = np.arange(0x3F800000, 0x41000000, 7, dtype=np.uint32).view(np.float32)
    roots = apply("cbrt_f32", x)
    assert (np.diff(roots) >= 0.0).all()
    assert units(roots, truth("cbrt_f32", x)).max() <= VECTOR_FUNCTIONS["cbrt_f32"].error
