"""Remainders, quotients rounded down and parts of floats in kernels: the bits that NumPy gives."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from tests.helpers.vector_functions import Array, apply, check_special_value, compiled
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, loop
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.scalar_types import KINDS

INF, NAN = math.inf, math.nan
KIND_NAMES = ("f32", "f64")
ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
OPERATIONS = {"fmod": np.fmod, "remainder": np.remainder, "floor_divide": np.floor_divide}

# (function, x, y, result) in both precisions.
SPECIAL_VALUES = (
    *((name, x, y, NAN) for name in OPERATIONS for x, y in ((NAN, 1.0), (1.0, NAN), (0.0, 0.0), (INF, INF))),
    *((name, x, y, NAN) for name in OPERATIONS for x in (INF, -INF) for y in (1.0, -2.0, 1e38, 1e-45)),
    *((name, x, 0.0, NAN) for name in ("fmod", "remainder") for x in (1.0, -1.0, INF)),
    ("fmod", 5.5, 2.0, 1.5),
    ("fmod", -5.5, 2.0, -1.5),
    ("fmod", 6.0, -2.0, 0.0),
    ("fmod", -6.0, 2.0, -0.0),
    ("fmod", -0.0, 3.0, -0.0),
    ("fmod", 3.0, INF, 3.0),
    ("fmod", -3.0, -INF, -3.0),
    ("fmod", 3e-45, 1.5e-45, 0.0),
    ("remainder", 5.5, 2.0, 1.5),
    ("remainder", -5.5, 2.0, 0.5),
    ("remainder", 5.5, -2.0, -0.5),
    ("remainder", -6.0, 2.0, 0.0),
    ("remainder", 6.0, -2.0, -0.0),
    ("remainder", -0.0, 3.0, 0.0),
    ("remainder", 0.0, -3.0, -0.0),
    ("remainder", -1e-30, 3.0, 3.0),
    ("remainder", 3.0, INF, 3.0),
    ("remainder", -3.0, INF, INF),
    ("remainder", 3.0, -INF, -INF),
    ("floor_divide", 5.5, 2.0, 2.0),
    ("floor_divide", -5.5, 2.0, -3.0),
    ("floor_divide", 6.0, -2.0, -3.0),
    ("floor_divide", 0.0, -2.0, -0.0),
    ("floor_divide", -1e-30, 3.0, -1.0),
    ("floor_divide", 1e-30, 3.0, 0.0),
    ("floor_divide", 3.0, INF, 0.0),
    ("floor_divide", -3.0, INF, -1.0),
    ("floor_divide", 3.0, 0.0, INF),
    ("floor_divide", 3.0, -0.0, -INF),
    ("floor_divide", -3.0, 0.0, -INF),
)

# (x, y, exact remainder as an integer times the smallest number) with huge quotients, by Python's integers.
HUGE_QUOTIENTS = (
    (1.7976931348623157e308, 5e-324),
    (1.7976931348623157e308, 1.5e-323),
    (1.7976931348623157e308, 2.2250738585072014e-308),
    (1.7976931348623155e308, 3.0),
    (8.98846567431158e307, 1.0000000000000002),
    (1e300, 7e-300),
    (-1.2345678901234567e250, 9.87654321e-100),
    (9007199254740993e30, 0.1),
    (4503599627370497.5, 0.3),
    (1e22, math.pi),
)


def same_bits(result: Array, expected: Array) -> Array:
    """Test where the bits are equal, or both are NaN."""
    words = KINDS[{4: "u32", 8: "u64"}[result.itemsize]].dtype
    return (result.view(words) == expected.view(words)) | (np.isnan(result) & np.isnan(expected))


def numbers(kind: str) -> Array:
    """Numbers at which remainders change what they do."""
    limits = np.finfo(KINDS[kind].dtype)
    tiny = float(limits.smallest_subnormal)
    sizes = [
        0.0,
        INF,
        NAN,
        float(limits.max),
        float(limits.max) / 3,
        float(limits.tiny),
        tiny,
        3 * tiny,
        1.0,
        2.0,
        7.0,
    ]
    steps = [1 + float(limits.eps), 1 - float(limits.epsneg), 2.0**limits.nmant, 2.0 ** (limits.nmant + 1) - 1]
    near = [2.0 ** (limits.nmant - 2), 2.0 ** (limits.nmant - 2) + 0.5, 0.5, 1.5, 1e30]
    values = np.array([*sizes, *steps, *near], KINDS[kind].dtype)
    return np.concatenate([values, -values])


def pairs(kind: str, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Numbers of every size, quotients of every size, multiples and their neighbours, integers."""
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    x = rng.integers(0, 2 ** (8 * dtype.itemsize), count, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    y = rng.permutation(x)
    with np.errstate(all="ignore"):
        near = (x / np.exp2(rng.uniform(-3, limits.nmant + 3, count))).astype(dtype)
        multiples = (y * rng.integers(0, 2**20, count)).astype(dtype)
        below = np.nextafter(multiples, dtype.type(0))
    combined = [part.astype(dtype) for part in np.meshgrid(numbers(kind), numbers(kind))]
    whole = [rng.integers(-1000, 1000, count).astype(dtype), rng.integers(-30, 30, count).astype(dtype)]
    few = slice(count // 10)
    everyday = rng.normal(size=(2, count)).astype(dtype)
    return (
        np.concatenate([x[few], x, multiples, below, combined[0].ravel(), whole[0], everyday[0]]),
        np.concatenate([y[few], near, y, y, combined[1].ravel(), whole[1], everyday[1]]),
    )


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_variant_gives_the_bits_of_numpy(operation: str, kind: str, rng: np.random.Generator) -> None:
    x, y = pairs(kind, rng, 20_000)
    with np.errstate(all="ignore"):
        expected = OPERATIONS[operation](x, y)
    name = f"{operation}_{kind}"
    for processor in (None, SSE2) if ON_X86 else (None,):
        wrong = ~same_bits(apply(name, x, y, processor=processor), expected)
        assert not wrong.any(), (x[wrong][:4], y[wrong][:4])
        far = compiled(f"{name}_is_far", processor)(x, y)
        wrong = ~far & ~same_bits(apply(f"{name}_near", x, y, processor=processor), expected)
        assert not wrong.any(), (x[wrong][:4], y[wrong][:4])
        assert 0.02 < far.mean() < 0.5
        assert processor is SSE2 or not far[np.isnan(x) | np.isnan(y)].any()
    assert same_bits(apply(f"{name}_rare", x, y), expected).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize(("operation", "x", "y", "expected"), SPECIAL_VALUES)
def test_special_values(operation: str, x: float, y: float, expected: float, kind: str) -> None:
    check_special_value(f"{operation}_{kind}", (x, y), expected)


@pytest.mark.parametrize(("x", "y"), HUGE_QUOTIENTS)
def test_huge_quotients_leave_the_exact_remainder(x: float, y: float) -> None:
    unit = 1 << 1074
    numerator, divisor = (
        int(abs(value).as_integer_ratio()[0]) * unit // abs(value).as_integer_ratio()[1] for value in (x, y)
    )
    exact = math.copysign((numerator % divisor) / unit, x)
    assert apply("fmod_f64", np.array([x]), np.array([y]))[0] == exact


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("processor", [AVX512, AVX2, SSE2], ids=lambda processor: str(processor.cpu))
@pytest.mark.parametrize(
    "name", ["ldexp_f64(v, i32(w))", "nextafter_f64(v, w)", "spacing_f64(v)", "frexp_mantissa_f64(v)"]
)
def test_functions_of_parts_are_vector_code(name: str, processor: llvm_pipeline.Target) -> None:
    for expression, kind, element in ((name, "f64", "double"), (name.replace("_f64", "_f32"), "f32", "float")):
        count = 2 if "w" in expression else 1
        module = loop(expression, kind, arguments=count, processor=processor, load=False).module
        assert module.externals == () and module.llvm_ir is not None
        assert re.search(rf"store <\d+ x {element}>", module.llvm_ir)


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_parts_of_floats_are_those_of_numpy(kind: str, rng: np.random.Generator) -> None:
    x = np.concatenate([pairs(kind, rng, 20_000)[0], numbers(kind)])
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)
        assert same_bits(apply(f"frexp_mantissa_{kind}", x), mantissa).all()
        assert np.array_equal(compiled(f"frexp_exponent_{kind}")(x), exponent)
        assert same_bits(apply(f"spacing_{kind}", x), np.spacing(x)).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_the_next_float_is_that_of_numpy(kind: str, rng: np.random.Generator) -> None:
    x, y = pairs(kind, rng, 20_000)
    with np.errstate(all="ignore"):
        assert same_bits(apply(f"nextafter_{kind}", x, y), np.nextafter(x, y)).all()
        assert same_bits(apply(f"nextafter_{kind}", x, x), np.nextafter(x, x)).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_scaling_by_powers_of_two_rounds_once(kind: str, rng: np.random.Generator) -> None:
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    x = np.concatenate([pairs(kind, rng, 10_000)[0], numbers(kind)])
    # The C library's `frexp`, which NumPy calls where it has no vectors of its own, raises a flag for signaling NaNs.
    with np.errstate(invalid="ignore"):
        exponent = np.frexp(x)[1]
    subnormal = rng.integers(limits.minexp - limits.nmant - 3, limits.minexp + 3, x.size) - exponent
    for n in (subnormal, rng.integers(-2300, 2300, x.size), rng.integers(-300, 300, x.size)):
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, n.astype(np.int32))
        for expression in (f"ldexp_{kind}(v, i32(w))", f"ldexp_long_{kind}(v, i64(w))"):
            assert same_bits(loop(expression, kind, arguments=2)(x, n), expected).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_exponents_of_any_size_scale_to_zero_or_infinity(kind: str) -> None:
    dtype = KINDS[kind].dtype
    for value, count in itertools.product(
        (1e-30, -3.0, 0.0, -0.0, INF, NAN), (2.0**31, -(2.0**31), 2.0**63, -(2.0**63))
    ):
        x, n = np.array([value], dtype), np.array([count], dtype)
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, np.int32(math.copysign(5000, count)))
        for conversion, name in (("to_i32", "ldexp"), ("to_i64", "ldexp_long")):
            result = loop(f"{name}_{kind}(v, {conversion}(w))", kind, arguments=2)(x, n)
            assert same_bits(result, expected).all()
