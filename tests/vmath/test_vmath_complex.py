"""Functions of complex numbers in kernels: true values, special values, branch cuts, vector code."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.complex_values import POWERS, TRUE_VALUES, Pair
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, loop
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import COMPLEX_FUNCTIONS

INF, NAN = math.inf, math.nan
Array = np.ndarray[Any, Any]
Oracle = Callable[[Array], Array]

ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
WITH_GLIBC = platform.libc_ver()[0] == "glibc"
WIDE = np.finfo(np.longdouble).nmant >= 63
NAMES = sorted({name.rsplit("_", 1)[0] for name in COMPLEX_FUNCTIONS} - {"pow"})
VARIED = [name for name in NAMES if COMPLEX_FUNCTIONS[f"{name}_c128"].varied]
IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
IN_NUMPY["atanh"] = "arctanh"
WITHOUT_FMA = 4.5


def pairs(*values: Pair, dtype: Any = np.complex128) -> Array:
    """Complex numbers from their parts, zeros and NaN kept."""
    result = np.empty(len(values), dtype)
    with np.errstate(over="ignore"):
        result.real, result.imag = [value[0] for value in values], [value[1] for value in values]
    return result


def paired(real: Array, imag: Array) -> Array:
    result = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imag
    return result


def apply(name: str, *z: Array, processor: llvm_pipeline.Target | None = None) -> Array:
    function = lookup(name)
    assert function is not None
    expression = f"{name}({', '.join('vw'[: len(z)])})"
    kernel = loop(expression, function.arguments[0], function.result, arguments=len(z), processor=processor)
    return kernel(*z)


# ---- true values, in long double


def _expm1(z: Array) -> Array:
    half = np.sin(z.imag / 2)
    return paired(np.expm1(z.real) * np.cos(z.imag) - 2 * half * half, np.exp(z.real) * np.sin(z.imag))


def _log1p(z: Array) -> Array:
    square = 2 * z.real + (z.real * z.real + z.imag * z.imag)
    near = np.abs(square) < 0.5
    real = np.where(near, np.log1p(np.where(near, square, 0)) / 2, np.log(z + 1).real)
    return paired(real, np.arctan2(z.imag, 1 + z.real))


def _logistic(z: Array) -> Array:
    decay, above = np.exp(-np.abs(z.real)), 2 * np.cos(z.imag / 2) ** 2
    less = np.expm1(-np.abs(z.real))
    real = np.where(z.real >= 0, decay * above - less, decay * (above + less))
    divisor = less * less + 2 * decay * above
    return paired(real / divisor, np.sin(z.imag) * decay / divisor)


ORACLES: dict[str, Oracle] = {
    "exp2": lambda z: np.exp(z * np.log(np.longdouble(2))),
    "expm1": _expm1,
    "log1p": _log1p,
    "log2": lambda z: np.log(z) / np.log(np.longdouble(2)),
    "log10": lambda z: np.log(z) / np.log(np.longdouble(10)),
    "logistic": _logistic,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "angle": lambda z: np.arctan2(z.imag, z.real),
}


def truth(name: str, z: Array) -> Array:
    oracle = ORACLES.get(name) or getattr(np, IN_NUMPY.get(name, name))
    with np.errstate(all="ignore"):
        return np.asarray(oracle(z.astype(np.clongdouble)))


def modulus_units(result: Array, true: Array) -> Array:
    """Distance in units of the last place of the modulus; zero where that is not an ordinary number."""
    with np.errstate(all="ignore"):
        size = np.abs(true)
        ordinary = (size > 1e-300) & (size < 1e307)
        unit = np.ldexp(np.longdouble(1), np.frexp(np.where(ordinary, size, 1))[1] - 53)
        return np.where(ordinary, np.abs(result - true) / unit, 0.0).astype(float)


def arguments(rng: np.random.Generator, count: int, farthest: float = 1e3) -> Array:
    """Everyday numbers, and those near circles, axes, branch points and poles."""

    def sizes(low: float, high: float) -> Array:
        return rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(low, high, count)

    angle = rng.uniform(-np.pi, np.pi, count)
    small = sizes(-60, -1) + 1j * sizes(-60, -1)
    edge = math.log2(farthest)
    return np.concatenate(
        [
            rng.normal(size=count) * 3 + 1j * rng.normal(size=count) * 3,
            sizes(-20, edge) + 1j * sizes(-20, edge),
            (1 + sizes(-55, -3)) * np.exp(1j * angle),
            (1 + sizes(-55, -3)) * np.exp(1j * sizes(-60, 0)),
            rng.choice([1, -1, 1j, -1j], count) + small,
            rng.integers(-6, 7, count) * (np.pi / 2) * rng.choice([1, 1j], count) + small,
            rng.uniform(-700, 700, count) + 1j * rng.uniform(-20, 20, count),
            rng.uniform(-20, 20, count) + 1j * rng.uniform(-700, 700, count),
            sizes(-300, 4) + 1j * sizes(-300, 4),
        ]
    )


@pytest.mark.parametrize("name", NAMES)
def test_literal_values(name: str) -> None:
    if name == "angle":
        return  # the imaginary parts of log are its values
    given, true = (pairs(*column) for column in zip(*TRUE_VALUES[name], strict=True))
    result = apply(f"{name}_c128", given)
    ours, theirs = (result, true.real) if name == "abs" else (result.view(float), true.view(float))
    infinite = np.isinf(theirs)
    assert np.array_equal(ours[infinite], theirs[infinite])
    finite = np.where(infinite, 0.0, theirs).reshape(given.size, -1)
    unit = np.broadcast_to(np.spacing(np.hypot(finite[:, :1], finite[:, -1:] * (finite.shape[1] > 1))), finite.shape)
    error = np.abs(np.where(infinite, 0.0, ours) - finite.ravel()) / unit.ravel()
    assert error.max() <= COMPLEX_FUNCTIONS[f"{name}_c128"].error + 0.5


@pytest.mark.skipif(not WIDE, reason="long double is no wider than double here")
@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_the_stated_error_of_the_modulus(name: str, rng: np.random.Generator) -> None:
    z = arguments(rng, 4_000)
    units = modulus_units(apply(f"{name}_c128", z), truth(name, z))
    assert units.max() <= COMPLEX_FUNCTIONS[f"{name}_c128"].error, z[np.argmax(units)]


@pytest.mark.skipif(not (WIDE and ON_X86), reason="there is no such processor here")
@pytest.mark.parametrize("name", NAMES)
def test_results_are_near_without_fused_multiply_add(name: str, rng: np.random.Generator) -> None:
    function = COMPLEX_FUNCTIONS[f"{name}_c128"]
    z = arguments(rng, 400)
    units = modulus_units(apply(function.near, z, processor=SSE2), truth(name, z))
    assert units.max() <= WITHOUT_FMA, z[np.argmax(units)]


def test_moduli_of_complex64_are_near_those_of_complex128(rng: np.random.Generator) -> None:
    sizes = 2.0 ** rng.uniform(-149, 128, 20_000) * np.exp(1j * rng.uniform(-4, 4, 20_000))
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.concatenate([sizes.astype(np.complex64), pairs(*GRID, dtype=np.complex64)])
        result, true = apply("abs_c64", z), apply("abs_c128", z.astype(complex))
        finite = np.isfinite(result)
        assert np.array_equal(result[~finite], true.astype(np.float32)[~finite], equal_nan=True)
        units = np.abs(result - true)[finite] / np.spacing(true.astype(np.float32))[finite]
    assert units.max() <= COMPLEX_FUNCTIONS["abs_c64"].error


@pytest.mark.parametrize("name", [name for name in NAMES if name != "abs"])
def test_complex64_is_complex128_rounded_once(name: str, rng: np.random.Generator) -> None:
    z = np.concatenate([arguments(rng, 300).astype(np.complex64), pairs(*GRID, dtype=np.complex64)])
    with np.errstate(all="ignore"):
        expected = apply(f"{name}_c128", z.astype(np.complex128))
        expected = expected.astype(np.float32 if expected.dtype == float else np.complex64)
    assert_same_bits(apply(f"{name}_c64", z), expected)


def assert_same_bits(result: Array, expected: Array) -> None:
    """Every bit is the same, but for those of NaN."""
    assert result.dtype == expected.dtype
    first, second = (np.ascontiguousarray(x).view(x.real.dtype) for x in (result, expected))
    nans = np.isnan(second)
    assert np.array_equal(np.isnan(first), nans)
    assert np.where(nans, 0, first).tobytes() == np.where(nans, 0, second).tobytes()


# ---- special values

_EDGES = (0.0, 1.0, 0.5, 3.0, 1000.0, 1.7976931348623157e308, 2.2250738585072014e-308, INF, NAN)
GRID = [(a * s, b * t) for a in _EDGES for b in _EDGES for s in (1, -1) for t in (1, -1)]
# What NumPy computes as C99 has it; others have no such function, or lose what need not be lost.
LIKE_NUMPY = [name for name in NAMES if name not in ("exp2", "expm1", "log1p", "logistic", "rsqrt", "angle")]


@pytest.mark.skipif(not WITH_GLIBC, reason="signs that C99 leaves open are those of the GNU C library")
@pytest.mark.parametrize("name", LIKE_NUMPY)
def test_special_values_and_branch_cuts_are_those_of_numpy(name: str) -> None:
    z = pairs(*GRID)
    with np.errstate(all="ignore"):
        expected = getattr(np, IN_NUMPY.get(name, name))(z)
        size = np.abs(expected)
    result = apply(f"{name}_c128", z)
    size = np.where(np.isfinite(size), size, 0.0)
    for part in ("real", "imag"):
        ours, theirs = getattr(result, part), getattr(expected, part)
        special = np.isinf(theirs) | np.isnan(theirs) | (theirs == 0)
        assert_same_bits(ours[special].copy(), theirs[special].copy())
        with np.errstate(all="ignore"):
            near = np.abs(ours - theirs) <= 1e-12 * np.maximum(size, np.abs(theirs))
        assert near[~special].all(), z[~special][~near[~special]]


# (function, argument, result): C99 Annex G, with the signs it leaves open as NumPy has them on Linux.
SPECIAL_VALUES: tuple[tuple[str, Pair, Pair], ...] = (
    ("exp", (0.0, -0.0), (1.0, -0.0)),
    ("exp", (INF, 0.0), (INF, 0.0)),
    ("exp", (-INF, INF), (0.0, 0.0)),
    ("exp", (INF, NAN), (INF, NAN)),
    ("exp", (1.0, INF), (NAN, NAN)),
    ("exp", (NAN, -0.0), (NAN, -0.0)),
    ("exp2", (3.0, 0.0), (8.0, 0.0)),
    ("exp2", (-INF, -2.0), (0.0, -0.0)),
    ("expm1", (-0.0, 0.0), (-0.0, 0.0)),
    ("expm1", (INF, -0.0), (INF, -0.0)),
    ("expm1", (-INF, 1.0), (-1.0, 0.0)),
    ("logistic", (0.0, 0.0), (0.5, 0.0)),
    ("logistic", (INF, -1.0), (1.0, -0.0)),
    ("logistic", (-INF, NAN), (0.0, 0.0)),
    ("log", (-0.0, 0.0), (-INF, math.pi)),
    ("log", (-1.0, -0.0), (0.0, -math.pi)),
    ("log", (-INF, INF), (INF, 0.75 * math.pi)),
    ("log", (NAN, INF), (INF, NAN)),
    ("log2", (8.0, 0.0), (3.0, 0.0)),
    ("log10", (1000.0, 0.0), (3.0, 0.0)),
    ("log1p", (-1.0, 0.0), (-INF, 0.0)),
    ("log1p", (5e-324, -5e-324), (5e-324, -5e-324)),
    ("sqrt", (-0.0, -0.0), (0.0, -0.0)),
    ("sqrt", (-4.0, -0.0), (0.0, -2.0)),
    ("sqrt", (-INF, 1.0), (0.0, INF)),
    ("sqrt", (NAN, -INF), (INF, -INF)),
    ("rsqrt", (4.0, 0.0), (0.5, -0.0)),
    ("rsqrt", (-4.0, 0.0), (0.0, -0.5)),
    ("rsqrt", (0.0, 0.0), (INF, NAN)),
    ("rsqrt", (NAN, INF), (0.0, -0.0)),
    ("sinh", (0.0, INF), (0.0, NAN)),
    ("sinh", (INF, 0.0), (INF, 0.0)),
    ("cosh", (NAN, 0.0), (NAN, 0.0)),
    ("cosh", (INF, INF), (INF, NAN)),
    ("tanh", (INF, INF), (1.0, 0.0)),
    ("tanh", (-INF, 2.0), (-1.0, -0.0)),
    ("tanh", (-0.0, 1.0), (-0.0, math.tan(1.0))),
    ("tanh", (1000.0, INF), (NAN, NAN)),
    ("tan", (0.0, INF), (0.0, 1.0)),
    ("sin", (-0.0, 0.0), (-0.0, 0.0)),
    ("cos", (0.0, 0.0), (1.0, -0.0)),
    ("asin", (2.0, -0.0), (math.pi / 2, -math.acosh(2.0))),
    ("acos", (2.0, 0.0), (0.0, -math.acosh(2.0))),
    ("acos", (0.0, NAN), (math.pi / 2, NAN)),
    ("acosh", (-INF, 0.0), (INF, math.pi)),
    ("acosh", (0.5, -0.0), (0.0, -math.acos(0.5))),
    ("asinh", (NAN, 0.0), (NAN, 0.0)),
    ("asinh", (INF, NAN), (INF, NAN)),
    ("atanh", (1.0, 0.0), (INF, 0.0)),
    ("atanh", (2.0, -0.0), (math.atanh(0.5), -math.pi / 2)),
    ("atanh", (INF, NAN), (0.0, NAN)),
    ("atan", (0.0, 2.0), (math.pi / 2, math.atanh(0.5))),
    ("abs", (NAN, -INF), (INF, 0.0)),
    ("abs", (3.0, 4.0), (5.0, 0.0)),
    ("angle", (-0.0, -0.0), (-math.pi, 0.0)),
)


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize(("name", "given", "expected"), SPECIAL_VALUES)
def test_special_values(name: str, given: Pair, expected: Pair, kind: str) -> None:
    dtype = KINDS[kind].dtype
    if kind == "c64" and given[0] == 5e-324:
        given = expected = (1e-45, -1e-45)
    result = apply(f"{name}_{kind}", pairs(given, dtype=dtype))
    true = pairs(expected, dtype=dtype)
    for part in ("real", "imag") if result.dtype == dtype else ("real",):
        ours, theirs = getattr(result, part)[0], getattr(true, part)[0]
        assert (np.isnan(ours) and np.isnan(theirs)) or np.signbit(ours) == np.signbit(theirs), result
        assert np.isnan(theirs) or ours == theirs or abs(ours - theirs) <= 2 * np.spacing(abs(theirs)), result


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("abs", "angle")])
def test_conjugates_map_to_conjugates_in_every_bit(name: str, rng: np.random.Generator) -> None:
    z = np.concatenate([arguments(rng, 200), pairs(*GRID)])
    z = z[~np.isnan(z)]
    upper, lower = apply(f"{name}_c128", z), apply(f"{name}_c128", np.conj(z))
    known = ~np.isnan(upper)  # signs of zero beside NaN are open
    assert_same_bits(np.conj(lower)[known], upper[known])


@pytest.mark.parametrize("name", ["sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh"])
def test_odd_functions_are_so_in_every_bit(name: str, rng: np.random.Generator) -> None:
    z = np.concatenate([arguments(rng, 200), pairs(*GRID)])
    z = z[~np.isnan(z)]
    result = apply(f"{name}_c128", z)
    known = ~np.isnan(result)
    assert_same_bits(-apply(f"{name}_c128", -z)[known], result[known])


# ---- variants, vector code


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("name", VARIED)
def test_variants_give_the_same_bits_where_they_are_right(name: str, kind: str, rng: np.random.Generator) -> None:
    function = COMPLEX_FUNCTIONS[f"{name}_{kind}"]
    z = np.concatenate(
        [arguments(rng, 200, 2.0**30).astype(KINDS[kind].dtype), pairs(*GRID, dtype=KINDS[kind].dtype)]
    )
    far = loop(f"b1({function.is_far}(v))", kind, "b1")(z)
    assert far.any() and not far.all()
    everywhere = apply(function.name, z)
    assert_same_bits(apply(function.near, z[~far]), everywhere[~far])
    assert_same_bits(apply(function.rare, z), everywhere)
    usual = pairs((1.0, 1.0), (NAN, NAN), (-1e5, 1e5), dtype=KINDS[kind].dtype)
    assert not loop(f"b1({function.is_far}(v))", kind, "b1")(usual).any()


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("name", [*NAMES, "pow"])
def test_loops_are_vector_code_without_library_calls(name: str) -> None:
    for kind, processor, lanes in (("c128", AVX512, 8), ("c64", AVX2, 4)):
        function = lookup(COMPLEX_FUNCTIONS[f"{name}_{kind}"].near)
        assert function is not None
        count = len(function.arguments)
        expression = f"{function.name}({', '.join('vw'[:count])})"
        options: dict[str, Any] = {"arguments": count, "processor": processor, "load": False}
        module = loop(expression, kind, function.result, **options).module
        assert module.externals == () and module.llvm_ir is not None
        element = "double" if kind == "c128" else "float"
        stores = {int(found) for found in re.findall(rf"store <(\d+) x {element}>", module.llvm_ir)}
        assert stores and max(stores) >= lanes, stores
        called = set(re.findall(r"call [^@]*@([\w.]+)\(", module.llvm_ir))
        assert all(callee.startswith("llvm.") for callee in called), called


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("name", NAMES)
def test_text_means_the_same_uncompiled(name: str, kind: str, rng: np.random.Generator) -> None:
    function = lookup(f"{name}_{kind}")
    assert function is not None
    dtype = KINDS[kind].dtype
    z = np.concatenate([arguments(rng, 1).astype(dtype), pairs(*GRID[::29], dtype=dtype)])
    with np.errstate(all="ignore"):
        plain = np.array([function(value) for value in z])
    if llvm_pipeline.host().traits.fma:
        assert_same_bits(plain, apply(f"{name}_{kind}", z))


# ---- powers


def test_powers_are_near_their_true_values() -> None:
    z, w, true = (pairs(*column) for column in zip(*POWERS, strict=True))
    error = np.abs(apply("pow_c128", z, w) - true) / np.spacing(np.abs(true))
    assert error.max() <= COMPLEX_FUNCTIONS["pow_c128"].error
    with np.errstate(all="ignore"):
        z, w = z.astype(np.complex64), w.astype(np.complex64)
        wide = apply("pow_c128", z.astype(complex), w.astype(complex))
        ordinary = (np.abs(wide) < 1e38) & (np.abs(wide) > 1e-37)
        units = np.abs(apply("pow_c64", z, w) - wide)[ordinary] / np.spacing(
            np.abs(wide[ordinary]).astype(np.float32)
        )
    assert ordinary.sum() >= 5 and units.max() <= 1.0


def test_short_powers_of_gaussian_integers_are_exact(rng: np.random.Generator) -> None:
    z = rng.integers(-9, 10, 500) + 1j * rng.integers(-9, 10, 500)
    w = rng.integers(0, 8, 500)
    true = np.ones(500, complex)
    for step in range(7):
        true = np.where(w > step, true * z, true)
    for kind in ("c64", "c128"):
        dtype = KINDS[kind].dtype
        assert np.array_equal(apply(f"pow_{kind}", z.astype(dtype), w.astype(dtype)), true.astype(dtype))


SPECIAL_POWERS: tuple[tuple[Pair, Pair, Pair], ...] = (
    ((0.0, 0.0), (0.0, 0.0), (1.0, 0.0)),
    ((NAN, INF), (0.0, -0.0), (1.0, 0.0)),
    ((0.0, -0.0), (2.5, 3.0), (0.0, 0.0)),
    ((0.0, 0.0), (-1.0, 0.0), (NAN, NAN)),
    ((0.0, 0.0), (0.0, 1.0), (NAN, NAN)),
    ((3.5, -0.0), (1.0, 0.0), (3.5, -0.0)),
    ((0.0, 1.0), (2.0, 0.0), (-1.0, 0.0)),
    ((0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)),
    ((INF, 0.0), (0.5, 0.0), (INF, NAN)),
    ((-1.0, 0.0), (NAN, 0.0), (NAN, NAN)),
)


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize(("base", "exponent", "expected"), SPECIAL_POWERS)
def test_special_powers(base: Pair, exponent: Pair, expected: Pair, kind: str) -> None:
    dtype = KINDS[kind].dtype
    z, w = pairs(base, dtype=dtype), pairs(exponent, dtype=dtype)
    assert np.array_equal(apply(f"pow_{kind}", z, w), pairs(expected, dtype=dtype), equal_nan=True)
    function = lookup(f"pow_{kind}")
    assert function is not None
    with np.errstate(all="ignore"):
        assert_same_bits(np.array([function(z[0], w[0])]), apply(f"pow_{kind}", z, w))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("x", [-1.0, -0.0, 0.0, 1.0])
def test_imaginary_powers_know_the_quadrant_of_the_base(x: float, size: float) -> None:
    """The angle comes out as the logarithm of the modulus."""
    for y in (-1.0, -0.0, 0.0, 1.0):
        if x or y:
            modulus = np.abs(apply("pow_c128", pairs((x * size, y * size)), pairs((0.0, 1.0))))[0]
            assert modulus == pytest.approx(math.exp(-math.atan2(y, x)), rel=1e-14)


def test_powers_with_large_angles_are_far(rng: np.random.Generator) -> None:
    z = rng.normal(size=200) + 1j * rng.normal(size=200)
    w = rng.choice([1.0, 1e9], 200) * (1 + 1j)
    far = loop("b1(pow_c128_is_far(v, w))", "c128", "b1", arguments=2)(z, w)
    assert np.array_equal(far, np.abs(w) > 1e6)
    everywhere = apply("pow_c128", z, w)
    assert_same_bits(apply("pow_c128_near", z[~far], w[~far]), everywhere[~far])
    assert_same_bits(apply("pow_c128_rare", z, w), everywhere)
