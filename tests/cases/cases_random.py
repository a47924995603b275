"""Cases of random bits and of draws. The bits are those of the published algorithms, word after word in Python."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops
from xjit.types import DTYPES

WORD, LONG = 2**32, 2**64


def threefry_block(counter: int, key: int) -> tuple[int, int]:
    """Two words of a block of Threefry-2x32."""
    keys = [key % WORD, key // WORD]
    keys.append(keys[0] ^ keys[1] ^ 0x1BD11BDA)
    x, y = (counter % WORD + keys[0]) % WORD, (counter // WORD + keys[1]) % WORD
    for group in range(5):
        for count in (17, 29, 16, 24) if group % 2 else (13, 15, 26, 6):
            x = (x + y) % WORD
            y = ((y << count | y >> (32 - count)) % WORD) ^ x
        x, y = (x + keys[(group + 1) % 3]) % WORD, (y + keys[(group + 2) % 3] + group + 1) % WORD
    return x, y


def philox_block(counter: int, key: int) -> list[int]:
    """Four words of a block of Philox-4x32."""
    words = [counter >> 32 * place & WORD - 1 for place in range(4)]
    first, second = key % WORD, key // WORD
    for _ in range(10):
        p, q = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [q // WORD ^ words[1] ^ first, q % WORD, p // WORD ^ words[3] ^ second, p % WORD]
        first, second = (first + 0x9E3779B9) % WORD, (second + 0xBB67AE85) % WORD
    return words


def threefry(state: list[int], dims: tuple[int, ...], width: int) -> tuple[list[int], Any]:
    """The new state and the bits."""
    key, counter = state
    result = np.zeros(dims, np.uint64)
    if width == 64:
        for number, place in enumerate(np.ndindex(*dims)):
            low, high = threefry_block((counter + number) % LONG, key)
            result[place] = low | high << 32
        return [key, (counter + result.size) % LONG], result
    if not dims:
        result[()] = threefry_block(counter, key)[0]
        return [key, (counter + 1) % LONG], result
    even = [axis for axis, size in enumerate(dims) if size % 2 == 0]
    along = even[0] if even else dims.index(max(dims))
    half = tuple(-(-size // 2) if axis == along else size for axis, size in enumerate(dims))
    for number, block in enumerate(np.ndindex(*half)):
        for which, word in enumerate(threefry_block((counter + number) % LONG, key)):
            place = tuple(2 * at + which if axis == along else at for axis, at in enumerate(block))
            if place[along] < dims[along]:
                result[place] = word
    return [key, (counter + math.prod(half)) % LONG], result


def philox(state: list[int], dims: tuple[int, ...], width: int) -> tuple[list[int], Any]:
    """The new state and the bits."""
    key, counter = state[0], state[1] + LONG * (state[2] if len(state) == 3 else state[0])
    each = 2 if width == 64 else 1
    blocks = -(-math.prod(dims) * each // 4)
    words = list(itertools.chain(*(philox_block((counter + n) % LONG**2, key) for n in range(blocks))))
    if each == 2:
        words = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    after = (counter + blocks) % LONG**2
    new = [key, after % LONG, after // LONG][: len(state)]
    return new, np.array(words[: math.prod(dims)], np.uint64).reshape(dims)


def _as(bits: Any, dtype: str) -> Any:
    width = DTYPES[dtype].itemsize * 8
    return (bits & np.uint64(2**width - 1)).astype(f"u{width // 8}").view(DTYPES[dtype])


def _bits_case(algorithm: str, state: list[int], dtype: str, dims: tuple[int, ...], label: str = "") -> Case:
    found = threefry if "FRY" in algorithm else philox
    new, bits = found(state, dims, DTYPES[dtype].itemsize * 8)
    shape = f"{dtype}[{','.join(map(str, dims))}]"
    expected = np.array(new, np.uint64), _as(bits, dtype)
    return Case(
        "rng_bit_generator",
        lambda state: ops.rng_bit_generator(algorithm, state, shape),
        (np.array(state, np.uint64),),
        expected,
        label=f"{algorithm}.{shape}{label}",
    )


DIMS = ((), (0,), (1,), (2,), (5,), (8,), (3, 2), (2, 3), (3, 5), (5, 3), (3, 0), (2, 3, 4), (3, 3, 3), (3, 1, 4))
LAST = LONG - 1


def _bit_cases() -> list[Case]:
    found = []
    for algorithm, state in (("RNG_THREE_FRY", [1, 2]), ("RNG_PHILOX", [1, 2, 3]), ("rng_default", [LAST, 7])):
        found += [_bits_case(algorithm, state, "u32", dims) for dims in DIMS]
        found += [_bits_case(algorithm, state, "u64", dims) for dims in ((), (0,), (3,), (2, 3), (5, 1))]
        found += [_bits_case(algorithm, state, dtype, (3, 3)) for dtype in DTYPES if dtype[0] in "su"]
    found += [
        _bits_case("RNG_PHILOX", [7, LAST, 5], "u32", (9,), "carry"),
        _bits_case("RNG_PHILOX", [7, LAST, LAST], "u64", (5,), "carry"),
        _bits_case("RNG_PHILOX", [7, LAST], "u32", (9,), "carry"),
        _bits_case("RNG_THREE_FRY", [7, LAST], "u32", (9,), "wrap"),
        _bits_case("RNG_THREE_FRY", [2**63, 2**33 - 2], "u64", (5,), "high word"),
    ]
    u64 = array("u64", [1, 2])
    published = [
        ("RNG_THREE_FRY", [0, 0], "u32[2]", [0x6B200159, 0x99BA4EFE], [0, 1]),
        ("RNG_PHILOX", [0, 0, 0], "u32[4]", [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], [0, 1, 0]),
    ]
    for algorithm, start, shape, bits, new in published:
        call = _call(algorithm, shape)
        expected = array("u64", new), array("u32", bits)
        found.append(Case("rng_bit_generator", call, (array("u64", start),), expected, label=f"published.{shape}"))
    mistakes = [
        ("RNG_XORSHIFT", "u32[2]", u64, ops.ArgumentError),
        ("RNG_PHILOX", "f32[2]", u64, ops.DTypeError),
        ("RNG_PHILOX", "u32[2]", array("s64", [1, 2]), ops.DTypeError),
        ("RNG_PHILOX", "u32[2]", array("u64", [1]), ops.ShapeError),
        ("RNG_THREE_FRY", "u32[2]", array("u64", [1, 2, 3]), ops.ShapeError),
    ]
    found += [Case("rng_bit_generator", _call(name, shape), (s,), error) for name, shape, s, error in mistakes]
    return found


def _call(algorithm: str, shape: str) -> Any:
    return lambda state: ops.rng_bit_generator(algorithm, state, shape)


# ---- draws


def _uniform(a: Any, b: Any, dims: tuple[int, ...], key: int) -> Any:
    """The numbers that rng_uniform draws right after the seed."""
    dtype = np.asarray(a).dtype
    width = 64 if dtype.itemsize == 8 else 32
    words = philox([key, 0, 0], dims, width)[1]
    if dtype == np.bool_:
        return words % 2 == 1
    if dtype.kind in "iu":
        values = [_integer(int(word), int(a), int(b), width) for word in words.reshape(-1)]
        return np.array(values, f"u{width // 8}").view(dtype).reshape(dims)
    wide: Any = np.float64 if width == 64 else np.float32
    kept = 52 if width == 64 else 23
    unit = (words >> np.uint64(width - kept)).astype(wide) * wide(2.0**-kept)
    drawn = (unit * (wide(b) - wide(a)) + wide(a)).astype(dtype)
    return np.where(drawn >= b, _below(b), drawn)


def _integer(word: int, a: int, b: int, width: int) -> int:
    rest = word % ((b - a) % 2**width)
    return (a + (rest >> 1) + (rest - (rest >> 1))) % 2**width


def _below(b: Any) -> Any:
    """The largest number below a positive one."""
    bits = np.asarray(b).view(f"u{np.asarray(b).dtype.itemsize}")
    return (bits - bits.dtype.type(1)).view(np.asarray(b).dtype)


def _normal(mu: Any, sigma: Any, dims: tuple[int, ...], key: int) -> Any:
    """The numbers that rng_normal draws right after the seed, by float64."""
    dtype = np.asarray(mu).dtype
    even = [axis for axis, size in enumerate(dims) if size % 2 == 0]
    along = (even[0] if even else dims.index(max(dims))) if dims else 0
    sizes = dims or (1,)
    wider = tuple(2 * -(-size // 2) if axis == along else size for axis, size in enumerate(sizes))
    width = 64 if dtype.itemsize == 8 else 32
    kept = 52 if width == 64 else 23
    words = philox([key, 0, 0], wider, width)[1]
    unit = (words >> np.uint64(width - kept)).astype(np.float64) * 2.0**-kept
    pairs = np.moveaxis(unit, along, 0)
    radius = np.sqrt(-2.0 * np.log(np.maximum(pairs[::2], float(np.float32(1e-7)) if width == 32 else 1e-7)))
    result = np.empty_like(pairs)
    result[::2], result[1::2] = (wave(2.0 * np.pi * pairs[1::2]) * radius for wave in (np.sin, np.cos))
    cut = np.moveaxis(result[: sizes[along]], 0, along).reshape(dims)
    return (float(mu) + float(sigma) * cut).astype(dtype)


def _seeded(draw: Any, key: int) -> Any:
    """The draw right after a seed, in one function."""

    def function(*bounds: Any) -> Any:
        ops.rng_seed(key)
        return draw(*bounds)

    return function


def _draw_cases() -> list[Case]:
    found = []
    bounds = {"s32": (-5, 5), "u32": (3, 2**32 - 1), "s64": (-(2**62), 2**62), "u64": (0, 2**63 + 5), "pred": (0, 1)}
    for dtype in ("pred", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"):
        a, b = (np.array(value, object).astype(DTYPES[dtype]) for value in bounds.get(dtype, (-1, 3)))
        for dims in ((), (0,), (7,), (2, 3, 2)):
            shape = f"{dtype}[{','.join(map(str, dims))}]"
            call = _seeded(lambda a, b, shape=shape: ops.rng_uniform(a, b, shape), 42)
            found.append(Case("next_random_blocks", call, (a, b), _uniform(a, b, dims, 42), label=f"uniform.{shape}"))
    one = array("f32", 1.0)
    near = np.nextafter(one, np.float32(2))  # every draw between them rounds to one of the two
    call = _seeded(lambda a, b: ops.rng_uniform(a, b, "f32[50]"), 3)
    found.append(Case("next_random_blocks", call, (one, near), np.full(50, one), label="uniform.neighbours"))
    for dtype, ulp in (("f32", 2), ("f64", 2), ("f16", 1), ("bf16", 1)):
        mu, sigma = array(dtype, 64), array(dtype, 2)  # no sum loses digits
        for dims in ((), (0,), (7,), (6,), (3, 2, 3), (3, 5)):
            shape = f"{dtype}[{','.join(map(str, dims))}]"
            call = _seeded(lambda mu, sigma, shape=shape: ops.rng_normal(mu, sigma, shape), 9)
            expected = _normal(mu, sigma, dims, 9)
            found.append(Case("rng_seed", call, (mu, sigma), expected, ulp=ulp, label=f"normal.{shape}"))
        call = _seeded(lambda mu, sigma, dtype=dtype: ops.rng_normal(mu, sigma, f"{dtype}[5]"), 9)
        found.append(Case("rng_seed", call, (mu, array(dtype, 0)), np.full(5, mu), label="normal.certain"))
    return found


CASES = [*_bit_cases(), *_draw_cases()]
