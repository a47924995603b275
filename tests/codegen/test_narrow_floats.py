"""Conversions of floats of 8 and 16 bits: every code, every boundary, one rounding from every source type."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xjit
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, loop
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.narrow_floats import FORMATS, NarrowFormat

ON_X86 = llvm_pipeline.host().triple.startswith("x86_64")
DTYPES: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e4m3b11fnuz": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
LARGEST = {
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "f8e5m2": 57344.0,
    "f8e4m3fn": 448.0,
    "f8e4m3b11fnuz": 30.0,
    "f8e4m3fnuz": 240.0,
    "f8e5m2fnuz": 57344.0,
}
WITH_HALVES = llvm_pipeline.Target(AVX2.triple, AVX2.cpu, "+fma,+f16c")
each_format = pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: str(form.name))


def storage(form: NarrowFormat) -> np.dtype[Any]:
    return np.dtype(f"u{form.bits // 8}")


def codes_of(form: NarrowFormat, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The codes that NumPy and ml_dtypes give for f32 values."""
    with np.errstate(all="ignore"):
        return values.astype(DTYPES[form.name]).view(storage(form))


def values_of(form: NarrowFormat, codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return codes.astype(storage(form)).view(DTYPES[form.name]).astype(np.float32)


def all_codes(form: NarrowFormat) -> np.ndarray[Any, Any]:
    return np.arange(1 << form.bits).astype(storage(form))


def finite_values(form: NarrowFormat) -> np.ndarray[Any, Any]:
    """The numbers of a format from zero up, in f64: the code of each is its place."""
    values = values_of(form, np.arange(form.largest + 1)).astype(np.float64)
    assert np.all(np.diff(values) > 0) and values[0] == 0
    return values


def boundaries(form: NarrowFormat) -> np.ndarray[Any, Any]:
    """Numbers, ties between neighbours and where overflow begins, of both signs."""
    values = finite_values(form)
    beyond = 2 * values[-1] - values[-2]
    values = np.append(values, beyond)
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2, values[-2:] * 2])
    return np.concatenate([points, -points])


def assert_same_codes(form: NarrowFormat, actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Equal codes, where one NaN is as good as another."""
    same = (actual == expected) | (np.isnan(values_of(form, actual)) & np.isnan(values_of(form, expected)))
    assert same.all(), [(hex(a), hex(e)) for a, e in zip(actual[~same][:5], expected[~same][:5], strict=True)]


def nearest_code(form: NarrowFormat, values: Sequence[float], exact: Fraction) -> int:
    """The code of a rational number by the definition: the nearest number, of two equally near ones the even code."""
    size = abs(exact)
    step = Fraction(values[-1]) - Fraction(values[-2])
    if size >= Fraction(values[-1]) + step / 2:
        tie_stays = size == Fraction(values[-1]) + step / 2 and form.largest % 2 == 0
        code = form.largest if tie_stays else form.overflow
    else:
        above = min(bisect.bisect_left(values, size), len(values) - 1)
        below = max(above - 1, 0)
        up, down = Fraction(values[above]) - size, size - Fraction(values[below])
        nearer_above = up < down or (up == down and above % 2 == 0)
        code = above if nearer_above else below
    negative = exact < 0 and not (form.family == "fnuz" and code in (0, form.nan))
    return code | (form.sign if negative else 0)


def test_formats_have_the_largest_numbers_of_the_specification() -> None:
    assert {name: float(finite_values(form)[-1]) for name, form in FORMATS.items()} == LARGEST


@each_format
def test_every_code_decodes(form: NarrowFormat) -> None:
    codes = all_codes(form)
    values = loop(f"{form.name}_to_f32(v)", form.storage, "f32")(codes)
    expected = values_of(form, codes)
    assert np.array_equal(np.isnan(values), np.isnan(expected))
    assert np.where(np.isnan(values), 0, values).tobytes() == np.where(np.isnan(expected), 0, expected).tobytes()


@each_format
def test_every_number_encodes_to_its_code(form: NarrowFormat) -> None:
    codes = all_codes(form)
    assert_same_codes(form, loop(f"f32_to_{form.name}(v)", "f32", form.storage)(values_of(form, codes)), codes)


@each_format
def test_boundaries_and_their_neighbours_round_to_even(form: NarrowFormat) -> None:
    with np.errstate(all="ignore"):
        points = boundaries(form).astype(np.float32)
    infinity = np.float32(np.inf)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4028235e38], np.float32)
    x = np.concatenate([points, np.nextafter(points, infinity), np.nextafter(points, -infinity), special])
    assert_same_codes(form, loop(f"f32_to_{form.name}(v)", "f32", form.storage)(x), codes_of(form, x))


@each_format
def test_random_bit_patterns_encode(form: NarrowFormat, rng: np.random.Generator) -> None:
    x = rng.integers(0, 1 << 32, 400_000, dtype=np.uint32).view(np.float32)
    near = (np.exp2(rng.uniform(-30, 18, 400_000)) * rng.choice([-1.0, 1.0], 400_000)).astype(np.float32)
    x = np.concatenate([x, near])
    assert_same_codes(form, loop(f"f32_to_{form.name}(v)", "f32", form.storage)(x), codes_of(form, x))


@each_format
def test_overflow_nan_and_zero_codes(form: NarrowFormat) -> None:
    encode = loop(f"f32_to_{form.name}(v)", "f32", form.storage)
    x = np.array(
        [np.inf, -np.inf, 3e38 if form.name != "bf16" else 3.4028235e38, np.nan, 0.0, -0.0, -1e-45], np.float32
    )
    codes = [int(code) for code in encode(x)]
    if form.family == "ieee":
        assert codes[:3] == [form.infinity, form.infinity | form.sign, form.infinity]
        assert codes[4:] == [0, form.sign, form.sign]
    else:
        assert all(np.isnan(values_of(form, np.array(codes[:3]))))
        assert codes[4:] == ([0, 0, 0] if form.family == "fnuz" else [0, form.sign, form.sign])
    assert np.isnan(values_of(form, np.array(codes[3:4])))[0]


@each_format
def test_f64_is_rounded_once(form: NarrowFormat, rng: np.random.Generator) -> None:
    points = boundaries(form)
    sample = rng.choice(points, 3_000)
    tiny = np.concatenate([sample, np.nextafter(sample, np.inf), np.nextafter(sample, -np.inf)])
    x = np.concatenate([tiny, rng.normal(size=500), rng.integers(0, 1 << 64, 500, dtype=np.uint64).view(np.float64)])
    x = x[np.isfinite(x)]
    codes = loop(f"f32_to_{form.name}(f64_to_f32_odd(v))", "f64", form.storage)(x)
    values = finite_values(form).tolist()
    expected = np.array([nearest_code(form, values, Fraction(float(value))) for value in x], storage(form))
    negative_zero = (expected == 0) & np.signbit(x) & (form.family != "fnuz")
    expected[negative_zero] = form.sign
    assert_same_codes(form, codes, expected)
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
    direct = loop(f"f32_to_{form.name}(v)", "f32", form.storage)(special.astype(np.float32))
    assert_same_codes(form, loop(f"f32_to_{form.name}(f64_to_f32_odd(v))", "f64", form.storage)(special), direct)


def test_rounding_twice_would_be_wrong() -> None:
    x = np.array([1.0 + 2.0**-11 + 2.0**-40, -(1.0 + 2.0**-11 + 2.0**-40)])
    once = loop("f32_to_f16(f64_to_f32_odd(v))", "f64", "u16")(x).view(np.float16)
    twice = loop("f32_to_f16(f32(v))", "f64", "u16")(x).view(np.float16)
    assert once.tolist() == [1.0 + 2.0**-10, -1.0 - 2.0**-10] == x.astype(np.float16).tolist()
    assert twice.tolist() == [1.0, -1.0]


def odd(exact: int) -> float:
    """An integer cut to 24 bits towards zero, the last of which is set if anything was cut off."""
    size = abs(exact)
    cut = max(size.bit_length() - 24, 0)
    kept = size >> cut
    kept |= kept << cut != size
    return float(kept << cut) * (-1.0 if exact < 0 else 1.0)


@pytest.mark.parametrize(("kind", "low", "high"), [("i64", -(2**63), 2**63 - 1), ("u64", 0, 2**64 - 1)])
def test_integers_round_to_odd(kind: str, low: int, high: int, rng: np.random.Generator) -> None:
    dtype = np.dtype(np.int64 if kind == "i64" else np.uint64)
    edges = [
        base + offset for base in (0, 2**24, 2**25, 2**53, 2**54, 2**62, 2**63, 2**64) for offset in range(-40, 41)
    ]
    numbers = [int(n) for n in rng.integers(low, high, 5_000, dtype=dtype, endpoint=True)]
    numbers += [n >> int(shift) for n, shift in zip(numbers, rng.integers(0, 63, 5_000), strict=True)]
    numbers += [sign * edge for edge in edges for sign in (1, -1) if low <= sign * edge <= high]
    result = loop(f"{kind}_to_f32_odd(v)", kind, "f32")(np.array(numbers, dtype))
    assert result.tolist() == [odd(number) for number in numbers]


@each_format
@pytest.mark.parametrize("kind", ["i64", "u64"])
def test_integers_are_rounded_once(form: NarrowFormat, kind: str, rng: np.random.Generator) -> None:
    dtype = np.dtype(np.int64 if kind == "i64" else np.uint64)
    points = np.abs(boundaries(form))
    whole = [int(point) for point in points if point == int(point) and point < 2.0**62][-600:]
    numbers = [n + offset for n in whole for offset in (-1, 0, 1) if n + offset >= 0]
    numbers += [int(n) for n in rng.integers(0, 2**63 - 1, 300, dtype=dtype)]
    if kind == "i64":
        numbers += [-number for number in numbers]
    codes = loop(f"f32_to_{form.name}({kind}_to_f32_odd(v))", kind, form.storage)(np.array(numbers, dtype))
    values = finite_values(form).tolist()
    expected = [nearest_code(form, values, Fraction(number)) for number in numbers]
    assert_same_codes(form, codes, np.array(expected, storage(form)))


@each_format
def test_text_means_the_same_uncompiled(form: NarrowFormat, rng: np.random.Generator) -> None:
    decode, encode = lookup(f"{form.name}_to_f32"), lookup(f"f32_to_{form.name}")
    assert decode is not None and encode is not None
    codes = rng.choice(all_codes(form), 200)
    plain = np.array([decode(code) for code in codes])
    compiled = loop(f"{form.name}_to_f32(v)", form.storage, "f32")(codes)
    # Processors make a NaN quiet that they convert.
    plain, compiled = (np.where(np.isnan(values), np.float32(np.nan), values) for values in (plain, compiled))
    assert plain.dtype == compiled.dtype and plain.tobytes() == compiled.tobytes()
    with np.errstate(all="ignore"):
        x = rng.choice(boundaries(form), 200).astype(np.float32)
        plain = np.array([encode(value) for value in x])
    compiled = loop(f"f32_to_{form.name}(v)", "f32", form.storage)(x)
    assert plain.dtype == compiled.dtype and plain.tobytes() == compiled.tobytes()


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("processor", [AVX512, AVX2, SSE2], ids=lambda processor: str(processor.cpu))
@each_format
def test_loops_are_vector_code_without_library_calls(form: NarrowFormat, processor: llvm_pipeline.Target) -> None:
    decode = loop(f"{form.name}_to_f32(v)", form.storage, "f32", processor=processor, load=False).module
    encode = loop(f"f32_to_{form.name}(v)", "f32", form.storage, processor=processor, load=False).module
    assert decode.externals == encode.externals == ()
    assert decode.llvm_ir is not None and "x i32>" in decode.llvm_ir
    assert encode.llvm_ir is not None and f"x i{form.bits}>" in encode.llvm_ir


# ---- processors that convert halves themselves


def ir_of(expression: str, source: str, target: str, processor: llvm_pipeline.Target) -> str:
    module = loop(expression, source, target, processor=processor, load=False).module
    assert module.llvm_ir is not None and module.externals == ()
    return module.llvm_ir


def assert_same_halves(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    assert_same_codes(FORMATS["f16"], actual.view(np.uint16), expected.view(np.uint16))


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
def test_halves_are_converted_by_the_processor_where_it_can() -> None:
    assert WITH_HALVES.traits.half and not AVX2.traits.half and not SSE2.traits.half
    assert re.search(r"= fpext <\d+ x half>", ir_of("f16_to_f32(v)", "u16", "f32", WITH_HALVES))
    assert re.search(r"= fptrunc <\d+ x float>", ir_of("f32_to_f16(v)", "f32", "u16", WITH_HALVES))
    for processor in (AVX2, SSE2):
        assert "half" not in ir_of("f32_to_f16(v)", "f32", "u16", processor)


@pytest.mark.skipif(not ON_X86, reason="the code generator of x86 is not there")
@pytest.mark.parametrize("word", ["floor", "ceil", "rint", "trunc", "round_away"])
def test_halves_are_not_rounded_to_integers_one_by_one(word: str) -> None:
    """Vectors have no instruction for it: they are rounded as f32."""
    ir = ir_of(f"f32_to_f16({word}(f16_to_f32(v)))", "u16", "u16", WITH_HALVES)
    name = {"round_away": "round"}.get(word, word)
    assert re.search(rf"@llvm\.{name}\.v\d+f32", ir) and not re.search(
        r"@llvm\.\w+\.v\d+f16", ir.replace("copysign", "")
    )


@pytest.mark.parametrize("word", ["floor", "ceil", "rint", "trunc"])
def test_every_half_is_rounded_to_an_integer(word: str) -> None:
    halves = all_codes(FORMATS["f16"]).view(np.float16)
    found = loop(f"f32_to_f16({word}(f16_to_f32(v)))", "u16")(halves.view(np.uint16))
    with np.errstate(invalid="ignore"):
        assert_same_halves(found, getattr(np, word)(halves))


def test_arithmetic_rounds_after_every_operation(rng: np.random.Generator) -> None:
    """Every half with some others: sums, products, quotients, and two operations in a row, bit for bit as NumPy."""
    x = np.tile(all_codes(FORMATS["f16"]).view(np.float16), 8)
    y = rng.integers(0, 1 << 16, x.size, dtype=np.uint16).view(np.float16)
    programs: dict[str, Callable[[Any, Any], Any]] = {
        "sum": lambda a, b: a + b,
        "difference": lambda a, b: a - b,
        "product": lambda a, b: a * b,
        "quotient": lambda a, b: a / b,
        "two": lambda a, b: a * b + a,
        "three": lambda a, b: np.sqrt(np.abs(a * b)) - b,
        "larger": np.maximum,
        "order": lambda a, b: np.where(a < b, a, b),
    }
    with np.errstate(all="ignore"):
        for function in programs.values():
            assert_same_halves(xjit.jit(function)(x, y), function(x, y))
