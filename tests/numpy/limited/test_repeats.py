"""``np.repeat`` by numbers that only the run knows, and ``np.bincount`` of open length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole

RNG = np.random.default_rng(7)
SIZE = 40
LINE = RNG.standard_normal(SIZE)
COUNTS = [
    RNG.integers(0, 5, SIZE),
    np.zeros(SIZE, np.int64),
    np.ones(SIZE, np.int64),
    RNG.integers(0, 2, SIZE),
    np.where(np.arange(SIZE) == 7, 300, 0),
]

REPEATED = {
    "whole": lambda x, c: np.repeat(x, c),
    "as a method": lambda x, c: x.repeat(c),
    "computed": lambda x, c: np.repeat(x * 2 + 1, c // 2) - 1,
    "twice": lambda x, c: np.repeat(x, c) + np.repeat(x, c) * 2,
    "running": lambda x, c: np.cumsum(np.repeat(np.arange(len(x)), c)),
    "positions": lambda x, c: x[np.repeat(np.arange(len(x)), c)],
    "length": lambda x, c: len(np.repeat(x, c)),
    "one number": lambda x, c: np.repeat(x, c[0]),
    "of one": lambda x, c: np.repeat(x[0], c[1:2]),
    "chosen": lambda x, c: np.repeat(x[c > 0], c[c > 0]),
    "chosen by one number": lambda x, c: np.repeat(x[c > 0], c[:1]),
    "truths": lambda x, c: np.repeat(x, c > 1),
    "narrow": lambda x, c: np.repeat(x.astype(np.float32), c.astype(np.uint8)),
    "wide": lambda x, c: np.repeat(x + 1j, c),
    "rows": lambda x, c: np.repeat(x.reshape(-1, 2), c[::2], axis=0),
    "columns": lambda x, c: np.repeat(x.reshape(2, -1), c[::2], axis=1),
    "flattened": lambda x, c: np.repeat(x.reshape(2, -1), c),
    "strided": lambda x, c: np.repeat(x[::-2], c[::-2]),
    "mask": lambda x, c: (np.repeat(x, c) > 0).sum(),
}


@pytest.mark.parametrize("name", REPEATED)
def test_numbers_may_change_from_call_to_call(name: str) -> None:
    compiled = check_whole(REPEATED[name], *((LINE, counts) for counts in COUNTS))
    assert compiled.stats().traces == 1


def test_nothing_is_repeated() -> None:
    check_whole(lambda x, c: np.repeat(x, c), (LINE[:0], COUNTS[0][:0]))


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS[0] - 3,
        COUNTS[0][:7],
        COUNTS[0] * 0.5,
        COUNTS[0].astype(np.uint64),
        COUNTS[0].reshape(2, -1),
        np.full(1, -2),
    ],
    ids=["negative", "fewer", "floats", "unsigned", "rows", "one negative"],
)
def test_errors_are_of_numpys_types(counts: Any) -> None:
    def function(x: Any, c: Any) -> Any:
        return np.repeat(x, c)

    with pytest.raises((ValueError, TypeError)) as wanted:
        function(LINE, counts)
    with pytest.raises(wanted.type):
        xjit.jit(function, strict=True)(LINE, counts)


def test_numbers_of_another_length_are_numpys() -> None:
    def function(x: Any, c: Any) -> Any:
        return np.repeat(x, c[c > 2])

    compiled = xjit.jit(function, strict=True)
    one = np.where(np.arange(SIZE) == 3, 4, 0)
    for counts in (one, COUNTS[4] + 3, one):
        np.testing.assert_array_equal(compiled(LINE, counts), function(LINE, counts))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(LINE, COUNTS[0])


def test_more_than_there_is_room_for() -> None:
    def function(x: Any, c: Any) -> Any:
        return np.repeat(x, c), c.sum()

    compiled = xjit.jit(function, strict=True)
    for factor in (1, 100, 1, 90, 9000, 80, 1):
        found, wanted = compiled(LINE, COUNTS[0] * factor), function(LINE, COUNTS[0] * factor)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1]
    assert compiled.stats().traces <= 4
    with pytest.raises(MemoryError):
        compiled(LINE, np.full(SIZE, 2**44))


def test_within_turns_of_a_loop() -> None:
    def function(x: Any, c: Any) -> Any:
        total, turns = 0.0, 0
        while total < 9000.0:
            part = np.repeat(x * x, c)
            total += part[-1] + len(part) if len(part) else 1000.0
            turns += 1
        return total, turns

    compiled = xjit.jit(function, strict=True)
    for factor in (1, 100, 1, 9000, 80, 1):
        assert compiled(LINE, COUNTS[0] * factor) == function(LINE, COUNTS[0] * factor)
    assert compiled.stats().traces <= 4


PLACES = [
    RNG.integers(0, 9, SIZE),
    np.zeros(SIZE, np.int64),
    RNG.integers(0, 60, SIZE),
    np.full(SIZE, 3),
]
COUNTED = {
    "whole": lambda i, w: np.bincount(i),
    "weights": lambda i, w: np.bincount(i, weights=w),
    "length of the run": lambda i, w: np.bincount(i, minlength=i.max() + 3),
    "least length": lambda i, w: np.bincount(i, w, int(i[0])),
    "whole weights": lambda i, w: np.bincount(i, i),
    "narrow": lambda i, w: np.bincount(i.astype(np.uint8)) * 2,
    "truths": lambda i, w: np.bincount(i > 2),
    "chosen": lambda i, w: np.bincount(i[w > 0]),
    "chosen weights": lambda i, w: np.bincount(i[w > 0], weights=w[w > 0]),
    "of none": lambda i, w: np.bincount(i[w > 99.0]),
    "of none, with a length": lambda i, w: np.bincount(i[w > 99.0], minlength=4),
    "the most frequent": lambda i, w: np.bincount(i).argmax(),
    "compared": lambda i, w: np.bincount(i, w) / np.maximum(np.bincount(i), 1),
    "inverse": lambda i, w: np.bincount(np.unique(i, return_inverse=True)[1], w, len(np.unique(i))),
    "strided": lambda i, w: np.bincount(i[::2], weights=w[::-2]),
    "a length that may be short": lambda i, w: np.bincount(i[w > 0], minlength=9),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts_have_the_length_that_numbers_ask_for(name: str) -> None:
    compiled = check_whole(COUNTED[name], *((places, LINE) for places in PLACES))
    assert compiled.stats().traces <= 2


def test_errors_of_counts() -> None:
    function: Any
    cases: list[tuple[Any, Any]] = [
        (lambda i, w: np.bincount(i - 1), PLACES[0]),
        (lambda i, w: np.bincount(i[w > 0] - 1), PLACES[0]),
        (lambda i, w: np.bincount(i, minlength=i.min() - 5), PLACES[0]),
        (lambda i, w: np.bincount(i[w > 0], w), PLACES[0]),
        (lambda i, w: np.bincount(i, w[1:]), PLACES[0]),
        (lambda i, w: np.bincount(w), PLACES[0]),
        (lambda i, w: np.bincount(i, minlength=w[0]), PLACES[0]),
        (lambda i, w: np.bincount(i, minlength=-1), PLACES[0]),
        (lambda i, w: np.bincount(i, w * 1j), PLACES[0]),
    ]
    for function, places in cases:
        with pytest.raises((ValueError, TypeError)) as wanted:
            function(places, LINE)
        with pytest.raises(wanted.type):
            xjit.jit(function, strict=True)(places, LINE)


def test_counts_of_large_numbers() -> None:
    compiled = xjit.jit(lambda i: np.bincount(i), strict=True)
    for places in (PLACES[0], PLACES[0] + 50_000, PLACES[2]):
        np.testing.assert_array_equal(compiled(places), np.bincount(places))
    assert compiled.stats().traces <= 2


def test_pieces_of_folds() -> None:
    starts = np.array([0, 5, 5, 3, 30])
    exact = np.round(8 * LINE)  # whole numbers: sums have one result in every order
    for ufunc in (np.add, np.maximum, np.subtract, np.logical_or):
        check_whole(lambda x, k, u=ufunc: u.reduceat(x * 2, k), (exact, starts), (exact, starts[::-1].copy()))
    check_whole(lambda x, k: np.add.reduceat(x.reshape(4, -1), k % 4), (LINE, starts))
    check_whole(lambda x, k: np.add.reduceat(x.reshape(4, -1), [0, 2], axis=1), (LINE, starts))
    check_whole(lambda x, k: np.add.reduceat(x, k, dtype=np.float32), (exact, starts))
    for wrong in (starts + 20, starts - 1):
        with pytest.raises(IndexError):
            xjit.jit(lambda x, k: np.add.reduceat(x, k), strict=True)(LINE, wrong)


def test_weights_of_no_numbers_are_not_looked_at() -> None:
    def counted(i: Any, w: Any) -> Any:
        inverse = np.unique(i, return_inverse=True)[1]
        return np.bincount(i, w), np.bincount(i, w, minlength=3), np.bincount(inverse, i.real)

    none = np.zeros(0, np.int32), np.zeros(0)
    for one, other in zip(xjit.jit(counted, strict=True)(*none), counted(*none), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_weights_of_no_chosen_numbers_are_not_looked_at() -> None:
    lines = [(lambda i, w: np.bincount(i[w > 0], w[w > 0])), (lambda i, w: np.bincount(i[w > 0], w[w > 0], 4))]
    some, none = (PLACES[0] % 4, LINE), (PLACES[0], -np.abs(LINE))
    for function in lines:
        compiled = check_whole(function, some, none, some, none, none, some)
        assert compiled.stats().traces <= 3
