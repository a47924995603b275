"""Python bools that only the run will tell, and what Python's operators make of them: integers, floats, bools."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import assert_same, captured, run
from xjit.errors import CaptureError

LINE = np.arange(3.0)
PAIRS = [(LINE, LINE.copy()), (LINE, LINE + 1.0)]


def answers(x: Any, y: Any) -> tuple[Any, Any]:
    """The first depends on the elements, the second is always true: neither is known while tracing."""
    return np.array_equal(x, y), np.allclose(x, x)


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
@pytest.mark.parametrize(
    "combine",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.and_,
        operator.or_,
        operator.xor,
        operator.eq,
        operator.le,
        lambda p, q: (~p, -p, +p, abs(p), ~-p),
        lambda p, q: (p & 6, p | 6, 6 ^ p, p & True, (p + q) & p, ~p | q),
        lambda p, q: (p + 1, 2 - p, True + p, p * 7, sum([p, q, p]), (p + q) * (p - q - 3)),
        lambda p, q: (p + 0.5, 1.5 - p, p * 2.5, (p + q) / 4, p / -3, p == 1.0, p > 0.5),
        lambda p, q: ((p - 9) // 4, (p - 9) % 4, (p - 9) % -4, (p + q - 1) // 3, 5 - p - q),
        lambda p, q: (1 << p, 3 ** (p + q), (-2) ** p, p**q),
        lambda p, q: (p**3, (p - q - q) ** 2, p << 5, (p + q) >> 1, (p - 8) >> 2, p**0),
        lambda p, q: (p < 2, p + q != 1, p <= 1, p == -1),
        lambda p, q: p * 2**62 + q * (2**62 - 1),
    ],
)
@pytest.mark.parametrize("arrays", PAIRS, ids=["equal", "unequal"])
def test_operators_are_pythons(combine: Any, arrays: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        return combine(*answers(x, y))

    assert_same(run(*captured(function, *arrays)), function(*arrays))
    for pair in PAIRS:  # one trace is right for both
        assert_same(run(captured(function, *arrays)[0], list(pair)), function(*pair))


@pytest.mark.parametrize("dtype", [np.bool_, np.int64, np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("arrays", PAIRS, ids=["equal", "unequal"])
def test_arrays_take_them_as_pythons_numbers(dtype: Any, arrays: Any) -> None:
    values = np.array([0, 1, 1], dtype)

    def function(x: Any, y: Any, v: Any) -> Any:
        p, q = answers(x, y)
        return v * p, v + (p + q), (p - 2 * q) * v, np.add(p, q), np.where(p, v, -1.0), np.sqrt(p + q)

    assert_same(run(*captured(function, *arrays, values)), function(*arrays, values))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("arrays", PAIRS, ids=["equal", "unequal"])
def test_arrays_of_narrow_integers_take_them_where_they_fit(dtype: Any, arrays: Any) -> None:
    values = np.array([0, 1, 100], dtype)

    def function(x: Any, y: Any, v: Any) -> Any:
        p, q = answers(x, y)
        return v ^ (p + q), (p * 1000 & 1) + v, (p << 20 & 127) | v[2]

    assert_same(run(*captured(function, *arrays, values)), function(*arrays, values))


def test_numbers_among_the_arguments_join_in() -> None:
    def function(x: Any, y: Any, n: Any, s: Any) -> Any:
        p, q = answers(x, y)
        return p + n, n - q, s * p, n * (p + q)

    for arrays in PAIRS:
        assert_same(run(*captured(function, *arrays, 3, 2.5)), function(*arrays, 3, 2.5))


@pytest.mark.parametrize(
    "combine",
    [
        lambda p, q: p + 2**64,
        lambda p, q: p == 2**70,
        lambda p, q: (p + q) ** 64,
    ],
)
def test_what_64_bits_might_not_hold_is_refused(combine: Any) -> None:
    with pytest.raises(CaptureError):
        captured(lambda x, y: combine(*answers(x, y)), *PAIRS[0])


@pytest.mark.parametrize(
    "combine",
    [
        lambda p, q: p * 2**62 * 4,
        lambda p, q: (p * 2**60) / 3,
        lambda p, q: p * 2**60 + 0.5,
        lambda p, q: p / (q + 1),
        lambda p, q: divmod(p, q - 2),
    ],
)
def test_python_does_calls_in_which_64_bits_do_not_hold_them(combine: Any) -> None:
    function = xjit.jit(lambda x, y: combine(*answers(x, y)), strict=True)
    for pair in PAIRS:
        assert_same(function(*pair), combine(*answers(*pair)))
    assert function.stats().traces == 1


def test_compiled_functions_return_pythons_numbers() -> None:
    function = xjit.jit(lambda x, y: (np.array_equal(x, y) + np.array_equal(x, x), ~np.array_equal(x, y)))
    assert_same(function(*PAIRS[0]), (2, -2))
    assert_same(function(*PAIRS[1]), (1, -1))
    assert_same(xjit.jit(lambda x: np.allclose(x, x) + 1)(LINE), 2)
    assert function.stats().traces == 1


def product_of_turns(lower: Any, upper: Any) -> Any:
    """The last product of two counters with 2**61."""
    nothing = np.zeros((), np.int64)
    return xjit.fori_loop(
        lower, upper, lambda i, s: xjit.fori_loop(lower, upper, lambda j, t: np.add(i * j * 2**61, t * 0), s), nothing
    )


def test_counters_are_within_the_ends_of_their_loops() -> None:
    function = xjit.jit(lambda x: product_of_turns(0, x.shape[0]), strict=True)
    assert function(LINE[:2]) == 2**61
    with pytest.raises(CaptureError, match="may leave 64 bits"):
        function(LINE)


def test_counters_between_numbers_among_the_arguments_wrap() -> None:
    function = xjit.jit(lambda n: product_of_turns(0, n), strict=True)
    assert function(2) == 2**61
    assert function(3) == -(2**63)
    assert function.stats().traces == 1


def test_numbers_that_fit_join_narrow_integers() -> None:
    bytes_ = np.arange(10, dtype=np.uint8)

    def function(x: Any, y: Any, v: Any) -> Any:
        p, q = answers(x, y)
        return v + (p + q), (p * 200) ^ v, (-(p + q) & 1) + v[3]

    for arrays in PAIRS:
        assert_same(run(*captured(function, *arrays, bytes_)), function(*arrays, bytes_))
