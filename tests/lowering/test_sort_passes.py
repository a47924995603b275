"""Sorts by comparators: runs in scratch, then merges of runs, as kernels that threads share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit import numerics, ops
from xjit.machine import processor

RUN = numerics.LONGEST_RUN
LENGTHS = (0, 1, 2, 7, 8, 9, 16, 63, 1000, RUN - 1, RUN, RUN + 1, 2 * RUN, 5 * RUN + 3)
MIXED = ("pred", "s8", "u16", "s64", "f16", "bf16", "f64", "c64", "c128")


def by_remainder(a: Any, b: Any, *_: Any) -> Any:
    """No comparison of two values that are computed alike, so that it is no key."""
    return ops.lt(ops.rem(a, np.int32(17)), ops.sub(ops.rem(b, np.int32(17)), np.int32(0)))


def expected_order(line: Any, key: Callable[[Any], Any]) -> list[int]:
    """Positions by Python's own stable sort."""
    return sorted(range(len(line)), key=lambda place: key(line[place]))


def is_one_kernel_after_another(function: Any, *arrays: Any) -> bool:
    """Return whether nothing but kernels runs."""
    return all(step.startswith("kernel") for step in function.explain(*arrays).steps)


@pytest.mark.parametrize("length", LENGTHS)
def test_order_and_stability(length: int) -> None:
    values = (np.arange(length, dtype=np.int32) * 7919) % np.int32(101)
    places = np.arange(length, dtype=np.int32)
    function = xjit.xjit(lambda x, p: ops.sort((x, p), by_remainder), strict=True)
    x, p = function(values, places)
    order = expected_order(values, lambda value: int(value) % 17)
    np.testing.assert_array_equal(p, order)
    np.testing.assert_array_equal(x, values[order])
    assert is_one_kernel_after_another(function, values, places)


@pytest.mark.parametrize("run", [run_serial, run_parallel, run_uncompiled])
def test_lines_of_any_axis(run: Callable[..., Any]) -> None:
    values = (np.arange(3 * 21 * 4, dtype=np.int32) * 7919 % 101).reshape(3, 21, 4)
    for axis, x in ((0, values), (1, values), (2, values), (1, values.transpose(2, 0, 1)), (-1, values[::-1, ::2])):
        got = run(lambda a, d=axis: ops.sort(a, by_remainder, d), (x,))
        moved = np.moveaxis(x, axis, -1)
        wanted = np.empty_like(moved)
        for place in np.ndindex(moved.shape[:-1]):
            wanted[place] = moved[place][expected_order(moved[place], lambda value: int(value) % 17)]
        np.testing.assert_array_equal(got, np.moveaxis(wanted, -1, axis))


@pytest.mark.parametrize("run", [run_parallel, run_uncompiled])
@pytest.mark.parametrize("length", [40, 65, 128])
def test_no_merge_leaves_its_runs(run: Callable[..., Any], length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "LONGEST_RUN", 16)
    values = (np.arange(2 * length, dtype=np.int32) * 7919 % 101).reshape(2, length)
    for compare in (by_remainder, scrambled):
        got = run(lambda a, c=compare: ops.sort(a, c), (values,))
        np.testing.assert_array_equal(np.sort(got), np.sort(values))
        if compare is by_remainder:
            order = np.argsort(values % 17, 1, kind="stable")
            np.testing.assert_array_equal(got, np.take_along_axis(values, order, 1))


@pytest.mark.parametrize("axis", [0, 1])
def test_long_lines_of_both_axes(axis: int) -> None:
    values = (np.arange(3 * (RUN + 77), dtype=np.int32) * 7919 % 100_003).reshape((3, -1) if axis else (-1, 3))
    got = xjit.xjit(lambda a: ops.sort(a, by_remainder, axis), strict=True)(values)
    np.testing.assert_array_equal(got, np.take_along_axis(values, np.argsort(values % 17, axis, kind="stable"), axis))


def test_operands_of_many_types_move_together() -> None:
    from tests.helpers.harness import array

    key = (np.arange(100, dtype=np.int32) * 37) % np.int32(10)
    others = [array(name, np.arange(100) % 2 if name == "pred" else np.arange(100)) for name in MIXED]
    function = xjit.xjit(lambda *all: ops.sort(all, by_remainder), strict=True)
    got = function(key, *others)
    order = expected_order(key, int)
    for one, other in zip(got, (key, *others), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other[order])


def test_result_that_nobody_reads() -> None:
    values = np.array([3, 1, 2], np.int32)
    places = np.arange(3, dtype=np.int32)
    function = xjit.xjit(lambda x, p: ops.sort((x, p), by_remainder)[1] + 1, strict=True)
    np.testing.assert_array_equal(function(values, places), [2, 3, 1])


def test_comparator_that_closes_over_values() -> None:
    def function(x: Any, center: Any) -> Any:
        return ops.sort(x, lambda a, b: ops.lt(ops.abs(a - center), ops.abs(b - center) * np.float32(1)))

    x = np.array([1, 5, 2, 9], np.float32)
    got = xjit.xjit(function, strict=True)(x, np.float32(6))
    np.testing.assert_array_equal(got, [5, 9, 2, 1])


def scrambled(a: Any, b: Any) -> Any:
    """Contradicts itself in every way."""
    return ops.ge(ops.rem(ops.add(ops.mul(a, np.int32(31)), ops.mul(b, np.int32(17))), np.int32(5)), np.int32(2))


CONTRADICTIONS: dict[str, Callable[..., Any]] = {
    "le": lambda a, b: ops.le(ops.rem(a, np.int32(9)), ops.sub(ops.rem(b, np.int32(9)), np.int32(0))),
    "always": lambda a, b: ops.eq(a, a),
    "never": lambda a, b: ops.ne(a, a),
    "scrambled": scrambled,
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
@pytest.mark.parametrize("length", [5, 100, 3 * RUN + 5, 8 * RUN])
def test_contradictions_give_one_permutation(name: str, length: int) -> None:
    values = (np.arange(length, dtype=np.int32) * 7919) % np.int32(100_003)
    function = xjit.xjit(lambda x: ops.sort(x, CONTRADICTIONS[name]), strict=True)
    with xjit.threads(1):
        alone = function(values)
    np.testing.assert_array_equal(np.sort(alone), np.sort(values))
    np.testing.assert_array_equal(function(values), alone)


@pytest.mark.parametrize("pattern", ["up", "down", "saw", "equal", "one late"])
def test_patterns(pattern: str) -> None:
    n = 3 * RUN + 100
    values = {
        "up": np.arange(n),
        "down": np.arange(n)[::-1],
        "saw": np.arange(n) % 1000,
        "equal": np.zeros(n),
        "one late": np.roll(np.arange(n), 1),
    }[pattern].astype(np.int32)
    places = np.arange(n, dtype=np.int32)
    x, p = xjit.xjit(lambda *all: ops.sort(all, lambda a, b, *_: ops.lt(a, b)), strict=True)(values, places)
    np.testing.assert_array_equal(p, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(x, values[p])


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_that_are_in_order_are_copied_beside_others(axis: int) -> None:
    n = 3 * RUN + 100
    share = -(-n // processor().most_pieces)
    lines = np.tile(np.arange(n, dtype=np.int32), (6, 1))
    lines[1] = lines[1, ::-1]
    for line, place in enumerate((1, share, 5 * share, n - 1), start=2):
        lines[line, [place - 1, place]] = lines[line, [place, place - 1]]
    values = lines if axis else np.ascontiguousarray(lines.T)
    places = np.broadcast_to(np.arange(n, dtype=np.int64).reshape((1, n) if axis else (n, 1)), values.shape).copy()
    function = xjit.xjit(lambda *all: ops.sort(all, lambda a, b, *_: ops.lt(a, b), axis), strict=True)
    x, p = function(values, places)
    order = np.argsort(values, axis, kind="stable")
    np.testing.assert_array_equal(p, order)
    np.testing.assert_array_equal(x, np.take_along_axis(values, order, axis))


@pytest.mark.parametrize("run", [run_serial, run_parallel, run_uncompiled])
def test_the_order_of_lines_is_seen_part_by_part(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "LONGEST_RUN", 16)
    for length in (33, 64, 65, 130):
        for place in (1, 2, 16, 32, length - 1):
            line = np.arange(length, dtype=np.int32) // 2
            line[place] = line[place - 1] - 1
            got = run(
                lambda a: ops.sort(a, by_remainder), (np.stack([np.arange(length, dtype=np.int32), line]) % 17,)
            )
            np.testing.assert_array_equal(got, np.sort(np.stack([np.arange(length), line]) % 17))


def test_a_pass_in_front_of_several_looks_at_the_order() -> None:
    function = xjit.xjit(lambda x: ops.sort(x, by_remainder), strict=True)
    assert len(function.explain(np.zeros(RUN, np.int32)).kernels) == 1
    first, *others = function.explain(np.zeros(2 * RUN, np.int32)).kernels
    assert (first.bytes_read, first.bytes_written, len(others)) == (8 * RUN, 0, 2)


def test_keys_order_as_numpy_does() -> None:
    x = np.array([3, np.nan, 0.0, -0.0, -np.inf, -np.nan, 1], np.float32)
    places = np.arange(7, dtype=np.int32)

    def ranks(compare: Any) -> Any:
        return xjit.xjit(lambda *all: ops.sort(all, compare and (lambda a, b, *_: compare(a, b)))[1])(x, places)

    np.testing.assert_array_equal(ranks(None), [4, 2, 3, 6, 0, 1, 5])
    np.testing.assert_array_equal(ranks(ops.lt), [4, 2, 3, 6, 0, 1, 5])
    np.testing.assert_array_equal(ranks(ops.gt), [0, 6, 2, 3, 4, 1, 5])
    np.testing.assert_array_equal(ranks(ops.lt_total_order), [5, 4, 3, 2, 6, 0, 1])


def test_stable_argsort_of_numpy_is_a_sort_of_two_operands() -> None:
    x = np.random.default_rng(3).integers(0, 50, (4, 900)).astype(np.float64)
    function = xjit.xjit(functools.partial(np.argsort, axis=1, kind="stable"), strict=True)
    np.testing.assert_array_equal(function(x), np.argsort(x, axis=1, kind="stable"))
    assert is_one_kernel_after_another(function, x)


@pytest.mark.parametrize("length", [10, 2 * RUN])
def test_sorts_inside_of_a_loop(length: int) -> None:
    def function(x: Any, p: Any) -> Any:
        def body(state: Any) -> Any:
            k, values, places = state
            values, places = ops.sort((values, places), by_remainder)
            return k + 1, ops.rem(values * np.int32(31) + k, np.int32(1009)), places

        return ops.while_loop(lambda state: ops.lt(state[0], np.int32(4)), body, (np.int32(0), x, p))

    values, places = (np.arange(length, dtype=np.int32) * 7919) % np.int32(1009), np.arange(length, dtype=np.int32)
    function = xjit.xjit(function, strict=True)
    _, got, moved = function(values, places)
    for k in range(4):
        order = np.argsort(values % 17, kind="stable")
        values, places = (values[order] * 31 + k) % 1009, places[order]
    np.testing.assert_array_equal(got, values)
    np.testing.assert_array_equal(moved, places)
    assert function.stats().fallbacks == 0


def test_views_are_sorted_where_they_lie() -> None:
    x = np.random.default_rng(4).standard_normal((40, 30))
    function = xjit.xjit(lambda a: ops.sort((a.T[2:], a.T[2:]), None, 1)[0] * 2.0, strict=True)
    np.testing.assert_array_equal(function(x), np.sort(x.T[2:], 1) * 2)
