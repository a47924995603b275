"""Random numbers: the stream of the process, independence of threads and machine, and whether they look random."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, many_pieces, on
from xjit import ops

COUNT = 200_000
ALGORITHMS = ("RNG_THREE_FRY", "RNG_PHILOX")


def bits(algorithm: str, key: int, shape: str) -> Any:
    return ops.rng_bit_generator(algorithm, np.array([key, 0], np.uint64), shape)[1]


def compiled(function: Any) -> Any:
    return xjit.jit(function, strict=True)


# ---- the stream


def test_draws_go_on_in_program_order() -> None:
    def draws() -> Any:
        return (
            ops.rng_uniform(0.0, 1.0, "f32[5]"),
            ops.rng_normal(0.0, 1.0, "f64[3]"),
            ops.rng_uniform(0, 9, "s32[2]"),
        )

    ops.rng_seed(5)
    eager = [*draws(), *draws()]
    function = compiled(draws)
    ops.rng_seed(5)
    found = [*function(), *function()]
    for one, other in zip(found, eager, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert not np.array_equal(found[0], found[3]), "each call draws anew"


def test_draws_that_nobody_reads_are_drawn() -> None:
    @compiled
    def second() -> Any:
        ops.rng_uniform(0.0, 1.0, "f32[8]")
        return ops.rng_uniform(0.0, 1.0, "f32[8]")

    ops.rng_seed(5)
    both = ops.rng_uniform(0.0, 1.0, "f32[16]")
    ops.rng_seed(5)
    np.testing.assert_array_equal(second(), both[8:])


def test_equal_draws_are_two() -> None:
    @compiled
    def twice() -> Any:
        return ops.rng_uniform(0, 100, "s32[64]"), ops.rng_uniform(0, 100, "s32[64]")

    first, second = twice()
    assert not np.array_equal(first, second)


def test_a_seed_inside_begins_anew_at_every_call() -> None:
    @compiled
    def seeded(key: Any) -> Any:
        ops.rng_seed(key)
        return ops.rng_uniform(0.0, 1.0, "f32[8]")

    results = [seeded(np.uint64(key)) for key in (3, 4, 3)]
    np.testing.assert_array_equal(results[0], results[2])
    assert not np.array_equal(results[0], results[1])


def test_mistakes_draw_nothing() -> None:
    ops.rng_seed(1)
    for draw in (lambda: ops.rng_uniform(1.0, 1.0, "f32[4]"), lambda: ops.rng_normal(0.0, np.nan, "f32[4]")):
        for call in (draw, compiled(draw)):
            with pytest.raises(ops.ArgumentError):
                call()
    after = ops.rng_uniform(0.0, 1.0, "f32[4]")
    ops.rng_seed(1)
    np.testing.assert_array_equal(after, ops.rng_uniform(0.0, 1.0, "f32[4]"))


def test_threads_share_the_stream() -> None:
    """No block is drawn twice, and none is left out."""
    ops.rng_seed(7)
    drawn: list[Any] = []
    function = compiled(lambda: ops.rng_uniform(0, 2**62, "s64[2]"))

    def draw() -> None:
        drawn.extend(function() for _ in range(50))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ops.rng_seed(7)
    alone = [ops.rng_uniform(0, 2**62, "s64[2]") for _ in range(200)]
    assert {tuple(pair) for pair in drawn} == {tuple(pair) for pair in alone}


# ---- kernels


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("shape", ["u32[1000]", "u32[33,31]", "u64[999]", "u8[2,500]"])
def test_bits_are_the_same_in_pieces(algorithm: str, shape: str) -> None:
    expected = bits(algorithm, 3, shape)
    for target in (on(PROCESSOR), on(many_pieces(PROCESSOR))):
        function = xjit.jit(lambda: bits(algorithm, 3, shape), strict=True, target=target)
        np.testing.assert_array_equal(function(), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bits_are_one_kernel_that_reads_nothing(algorithm: str) -> None:
    key = np.array([1, 2], np.uint64)
    function = compiled(lambda state: ops.rng_bit_generator(algorithm, state, "u32[100000]")[1])
    (kernel,) = function.explain(key).kernels
    assert kernel.bytes_written == 400_000
    assert kernel.bytes_read == 16


# ---- statistics, each at a threshold that a good generator passes but once in 10⁵ seeds


def chi_square(values: Any, classes: int) -> float:
    """Deviations of a chi-square statistic from its mean, in standard deviations."""
    counts = np.bincount(values, minlength=classes)
    expected = len(values) / classes
    return float((np.square(counts - expected).sum() / expected - (classes - 1)) / np.sqrt(2.0 * (classes - 1)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", ["u8", "u16", "u32", "u64"])
def test_bytes_are_evenly_distributed(algorithm: str, dtype: str) -> None:
    drawn = bits(algorithm, 11, f"{dtype}[{COUNT}]")
    for byte in drawn.view(np.uint8).reshape(COUNT, -1).T:
        assert abs(chi_square(byte, 256)) < 5.0
    halves = np.unpackbits(drawn.view(np.uint8)).astype(np.float64)
    assert abs(halves.mean() - 0.5) < 5.0 * 0.5 / np.sqrt(halves.size)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_neighbours_and_keys_are_not_correlated(algorithm: str) -> None:
    first, second = (bits(algorithm, key, f"u32[{COUNT}]").astype(np.float64) for key in (1, 2))
    for other in (first[1:], first[2:], first[4:], second):
        correlation = np.corrcoef(first[: len(other)], other)[0, 1]
        assert abs(correlation) < 5.0 / np.sqrt(len(other))
    pairs = (first / 2.0**28).astype(int) * 16 + (np.roll(first, 1) / 2.0**28).astype(int)
    assert abs(chi_square(pairs, 256)) < 5.0


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_moments(dtype: str) -> None:
    ops.rng_seed(13)
    uniform = ops.rng_uniform(-1.0, 3.0, f"{dtype}[{COUNT}]").astype(np.float64)
    width = 2.0**-8 if dtype == "bf16" else 2.0**-11  # half a step of narrow types
    assert uniform.min() >= -1.0 and uniform.max() < 3.0
    assert abs(uniform.mean() - 1.0) < 5.0 * np.sqrt(16.0 / 12.0 / COUNT) + width
    assert abs(uniform.var() - 16.0 / 12.0) < 0.02
    normal = ops.rng_normal(2.0, 3.0, f"{dtype}[{COUNT}]").astype(np.float64)
    unit = (normal - 2.0) / 3.0
    assert abs(unit.mean()) < 5.0 / np.sqrt(COUNT) + width
    assert abs(unit.var() - 1.0) < 5.0 * np.sqrt(2.0 / COUNT) + width
    assert abs((unit**3).mean()) < 5.0 * np.sqrt(15.0 / COUNT) + 3 * width
    assert abs((unit**4).mean() - 3.0) < 5.0 * np.sqrt(96.0 / COUNT) + 12 * width
    assert abs(np.corrcoef(unit[::2], unit[1::2])[0, 1]) < 5.0 / np.sqrt(COUNT / 2)


def test_integers_are_evenly_distributed() -> None:
    ops.rng_seed(17)
    assert abs(chi_square(ops.rng_uniform(-50, 50, f"s32[{COUNT}]") + 50, 100)) < 5.0
    assert abs(chi_square(ops.rng_uniform(0, 1000, f"u64[{COUNT}]").astype(int), 1000)) < 5.0
    truths = ops.rng_uniform(False, True, f"pred[{COUNT}]")
    assert abs(truths.mean() - 0.5) < 5.0 * 0.5 / np.sqrt(COUNT)
