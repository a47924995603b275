"""Quotients and remainders of integers, which vector code takes from floats, against Python's integers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.vector_loops import AVX2, AVX512, SSE2, loop
from xjit import ops
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS

WIDE = ("i32", "u32", "i64", "u64")
SHORT = ("i8", "u8", "i16", "u16")
Array = np.ndarray[Any, Any]


def truncated(x: int, y: int) -> int:
    """The quotient without its fraction."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def hard_numbers(kind: str) -> list[int]:
    """Ends of the range, neighbours of powers of two and of what floats of 24 and of 53 bits tell apart, and some."""
    info = np.iinfo(KINDS[kind].dtype)
    powers = [(1 << bit) + step for bit in range(info.bits) for step in (-1, 0, 1)]
    some = [3, 5, 7, 10, 100, 641, 1_000_003, 0x5555_5555, 0x5555_5555_5555_5555, 10**18 + 9, 6_700_417]
    found = {sign * number for number in powers + some for sign in (1, -1)} | {info.min, info.max, info.min + 1}
    return sorted(number for number in found if info.min <= number <= info.max)


def pairs(kind: str, seed: int) -> tuple[list[int], list[int]]:
    """Dividends and divisors: hard ones, multiples of divisors and their neighbours, and random ones."""
    info = np.iinfo(KINDS[kind].dtype)
    hard = hard_numbers(kind)
    found = list(itertools.product(hard, hard))
    rng = np.random.default_rng(seed)
    random = rng.integers(info.min, info.max, (2, 5000), KINDS[kind].dtype, endpoint=True)
    random >>= rng.integers(0, info.bits, (2, 5000)).astype(random.dtype)
    found += list(zip(*random.tolist(), strict=True))
    for _, y in found[-5000:]:
        quotient = int(rng.random() * (info.max // max(1, abs(y))))
        found += [(quotient * y + step, y) for step in (-1, 0, 1) if info.min < quotient * y + step <= info.max]
    usable = [(x, y) for x, y in found if y and not (x == info.min and y == -1)]
    return [x for x, _ in usable], [y for _, y in usable]


@pytest.mark.parametrize("target", [SSE2, AVX2, AVX512], ids=["sse2", "avx2", "avx512"])
@pytest.mark.parametrize("kind", WIDE)
def test_every_instruction_set_is_compiled_for(kind: str, target: Any) -> None:
    for name in ("idiv", "irem"):
        assert loop(f"{name}_{kind}(v, w)", kind, kind, arguments=2, processor=target, load=False).module.object_code


@pytest.mark.parametrize("kind", WIDE)
def test_wide_integers(kind: str) -> None:
    first, second = pairs(kind, 1)
    x, y = np.array(first, KINDS[kind].dtype), np.array(second, KINDS[kind].dtype)
    quotients = [truncated(a, b) for a, b in zip(first, second, strict=True)]
    rests = [a - q * b for a, b, q in zip(first, second, quotients, strict=True)]
    assert loop(f"idiv_{kind}(v, w)", kind, kind, arguments=2)(x, y).tolist() == quotients
    assert loop(f"irem_{kind}(v, w)", kind, kind, arguments=2)(x, y).tolist() == rests


@pytest.mark.parametrize("kind", WIDE)
def test_the_text_means_the_same_uncompiled(kind: str) -> None:
    first, second = pairs(kind, 2)
    number = KINDS[kind].dtype.type
    function = lookup(f"idiv_{kind}")
    assert function is not None
    with np.errstate(over="ignore"):
        for x, y in list(zip(first, second, strict=True))[::211]:
            assert int(function(number(x), number(y))) == truncated(x, y), (x, y)


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_all_pairs_of_bytes(kind: str) -> None:
    info = np.iinfo(KINDS[kind].dtype)
    every = np.arange(info.min, info.max + 1)
    x, y = (part.ravel() for part in np.meshgrid(every, every))
    x, y = x[y != 0], y[y != 0]
    narrow = x.astype(info.dtype), y.astype(info.dtype)
    divide = xjit.xjit(lambda a, b: (np.floor_divide(a, b), np.remainder(a, b), np.fmod(a, b), ops.div(a, b)))
    quotient, rest, short, cut = divide(*narrow)
    assert np.array_equal(quotient, (x // y).astype(info.dtype))
    assert np.array_equal(rest, x - x // y * y)
    magnitudes = np.abs(x) // np.abs(y)
    signed = np.where((x < 0) == (y < 0), magnitudes, -magnitudes)
    assert np.array_equal(short, x - signed * y)
    assert np.array_equal(cut, signed.astype(info.dtype))


@pytest.mark.parametrize("kind", ["i16", "u16"])
def test_words(kind: str) -> None:
    first, second = pairs(kind, 3)
    x, y = np.array(first, KINDS[kind].dtype), np.array(second, KINDS[kind].dtype)
    quotient, rest = xjit.xjit(lambda a, b: (a // b, a % b))(x, y)
    assert quotient.tolist() == [a // b for a, b in zip(first, second, strict=True)]
    assert rest.tolist() == [a % b for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize("kind", [*SHORT, *WIDE])
def test_constant_divisors(kind: str) -> None:
    info = np.iinfo(KINDS[kind].dtype)
    numbers = hard_numbers(kind)
    x = np.array(numbers, info.dtype)
    for divisor in {
        1,
        2,
        3,
        7,
        10,
        64,
        100,
        info.max,
        info.max // 2 + 1,
        *((-1, -3, -8, info.min) if info.min else ()),
    }:
        quotient, rest = xjit.xjit(lambda a, d=divisor: (a // d, a % d))(x)
        wrapped = [(a // divisor - info.min) % (1 << info.bits) + info.min for a in numbers]
        assert quotient.tolist() == wrapped, divisor
        assert rest.tolist() == [a % divisor for a in numbers], divisor


def test_division_by_zero_and_of_the_smallest_by_minus_one_are_as_in_numpy() -> None:
    x = np.array([5, -5, 0, np.iinfo(np.int64).min])
    divide = xjit.xjit(lambda a, b: (a // b, a % b))
    assert [one.tolist() for one in divide(x, np.zeros(4, np.int64))] == [[0] * 4, [0] * 4]
    assert divide(x, np.full(4, -1))[0].tolist() == [-5, 5, 0, np.iinfo(np.int64).min]


def test_what_is_known_of_a_constant_divisor_is_not_asked_in_the_kernel() -> None:
    text = xjit.xjit(lambda a: a // 7).source(np.arange(10, dtype=np.int32))
    assert "sdiv(x0, i32(7))" in text
    assert "i32(7) ==" not in text and text.count("select") == 1
    assert "udiv(x0, u64(8))" in xjit.xjit(lambda a: a // np.uint64(8)).source(np.arange(10, dtype=np.uint64))
    assert "idiv_i64(x0, i64(7))" in xjit.xjit(lambda a: a // 7).source(np.arange(10))
