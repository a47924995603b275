"""Arrays whose sizes only the run knows behave as arrays of these sizes, which outside a trace they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ops
from xjit.errors import ArgumentError, DTypeError, ShapeError

F, S = np.float32, np.int32
BOUND = 6
SIZES = (0, 1, 3, BOUND)

COLUMN = np.array([[3, -1, 7], [2, 2, -5], [9, 0, 1], [4, 8, -2], [np.inf, np.nan, 6], [-np.inf, 5, 5]], F)
NUMBERS = np.array([[3, -1, 7], [2, 2, -5], [9, 0, 1], [4, 8, -2], [6, 6, 6], [1, 5, 5]], S)
VALUES = np.array([3, -1, 7, 2, 2.5, -5])


def size(x: Any, n: Any, axis: int = 0) -> Any:
    return ops.set_dimension_size(x, n, axis)


def extreme_and_place(m: Any, am: Any, x: Any, i: Any) -> Any:
    return ops.select(ops.ge(x, m), x, m), ops.select(ops.ge(x, m), i, am)


def loop_over_state(x: Any, n: Any) -> Any:
    """Carries an array of a dynamic size that each turn changes."""

    def body(state: Any) -> Any:
        k, held = state
        return ops.add(k, S(1)), ops.add(held, ops.reduce(held, F(0), ops.max, (0,)))

    return ops.while_loop(lambda state: ops.lt(state[0], S(2)), body, (S(0), size(x, n)))


def loop_that_makes_it_dynamic(x: Any, n: Any) -> Any:
    return ops.while_loop(
        lambda state: ops.lt(state[0], S(1)),
        lambda state: (ops.add(state[0], S(1)), size(ops.neg(state[1]), n)),
        (S(0), x),
    )


def loop_that_closes_over_it(x: Any, n: Any) -> Any:
    held = size(x, n)
    return ops.while_loop(
        lambda k: ops.lt(k, F(100)), lambda k: ops.add(ops.add(k, F(40)), ops.reduce(held, F(0), ops.add, (0,))), F(0)
    )


def branches(x: Any, n: Any) -> Any:
    held = size(x, n)
    return ops.conditional(ops.lt(n, S(2)), held, ops.neg, held, lambda one: ops.add(one, F(1)))


VECTORS: dict[str, Callable[[Any, Any], Any]] = {
    "size": lambda x, n: ops.get_dimension_size(size(x, n), 0),
    "size as number": lambda x, n: ops.add(ops.get_dimension_size(size(x, n), 0), S(1)),
    "negative": lambda x, n: ops.neg(size(x, n)),
    "sum of two": lambda x, n: ops.add(size(x, n), ops.exp(size(x, n))),
    "with a scalar": lambda x, n: ops.mul(size(x, n), F(2)),
    "stretched": lambda x, n: ops.add(size(x, n), ops.slice(x, (1,), (2,))),
    "clamped": lambda x, n: ops.clamp(F(0), size(x, n), F(5)),
    "selected": lambda x, n: ops.select(ops.gt(size(x, n), F(2)), size(x, n), ops.neg(size(x, n))),
    "converted": lambda x, n: ops.convert_element_type(ops.is_nan(size(x, n)), S),
    "reversed": lambda x, n: ops.rev(size(x, n), (0,)),
    "reversed twice": lambda x, n: ops.rev(ops.rev(size(x, n), (0,)), (0,)),
    "in a new dimension": lambda x, n: ops.broadcast(size(x, n), (2,)),
    "sum": lambda x, n: ops.reduce(size(x, n), F(0), ops.add, (0,)),
    "sum from 7": lambda x, n: ops.reduce(size(x, n), F(7), ops.add, (0,)),
    "product": lambda x, n: ops.reduce(size(x, n), F(1), ops.mul, (0,)),
    "least": lambda x, n: ops.reduce(size(x, n), F(np.inf), ops.min, (0,)),
    "largest": lambda x, n: ops.reduce(size(x, n), F(-np.inf), ops.max, (0,)),
    "fold": lambda x, n: ops.reduce(size(x, n), F(1), lambda a, v: a * F(0.5) + v, (0,)),
    "fold of two": lambda x, n: ops.reduce(
        (size(x, n), size(ops.iota("s32[6]", 0), n)), (F(-np.inf), S(-1)), extreme_and_place, (0,)
    ),
    "all": lambda x, n: ops.reduce(ops.gt(size(x, n), F(0)), np.True_, ops.and_, (0,)),
    "running sum": lambda x, n: ops.cumsum(size(x, n), 0),
    "running sum from behind": lambda x, n: ops.cumsum(size(x, n), 0, reverse=True),
    "dot": lambda x, n: ops.dot(size(x, n), size(x, n)),
    "sorted": lambda x, n: ops.sort(size(x, n)),
    "sorted down": lambda x, n: ops.sort(size(x, n), ops.gt),
    "sorted by a comparator": lambda x, n: ops.sort(size(x, n), lambda a, b: ops.lt(ops.abs(a), ops.abs(b) * F(1))),
    "sorted together": lambda x, n: ops.sort(
        (size(x, n), size(ops.iota("s32[6]", 0), n)), lambda a, b, *_: ops.lt(a, b)
    ),
    "behind a value": lambda x, n: ops.concatenate((F([7]), size(x, n)), 0),
    "in front of a value": lambda x, n: ops.concatenate((size(x, n), F([7])), 0),
    "twice": lambda x, n: ops.concatenate((size(x, n), F([7, 8]), size(x, n)), 0),
    "with a border": lambda x, n: ops.pad(size(x, n), F(9), ((1, 2, 0),)),
    "with holes": lambda x, n: ops.pad(size(x, n), F(9), ((2, 1, 1),)),
    "set again": lambda x, n: size(ops.neg(size(x, n)), ops.min(n, S(2))),
    "loop over a state": loop_over_state,
    "loop that makes it dynamic": loop_that_makes_it_dynamic,
    "loop that closes over it": loop_that_closes_over_it,
    "branches": branches,
    "behind a barrier": lambda x, n: ops.optimization_barrier(size(x, n)),
    "nested results": lambda x, n: ({"a": size(x, n)}, [ops.neg(size(x, n)), x]),
}

ROW_OF_EACH = {"collapsed_slice_dims": (0,), "start_index_map": (0,), "index_vector_dim": 1}


def rows_at(x: Any, places: Any) -> Any:
    """A row of a matrix for each position."""
    return ops.gather(x, places, offset_dims=(1,), slice_sizes=(1, 3), **ROW_OF_EACH)


MATRICES: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda x, n: ops.neg(size(x, n)),
    "turned": lambda x, n: ops.transpose(size(x, n), (1, 0)),
    "sums of columns": lambda x, n: ops.reduce(size(x, n), F(0), ops.add, (0,)),
    "sums of rows": lambda x, n: ops.reduce(size(x, n), F(0), ops.add, (1,)),
    "sum": lambda x, n: ops.reduce(size(x, n), F(0), ops.add, (0, 1)),
    "both dimensions": lambda x, n: ops.reduce(size(size(x, n), ops.min(n, S(2)), 1), F(0), ops.add, (0, 1)),
    "both dimensions kept": lambda x, n: ops.mul(size(size(x, n), ops.min(n, S(2)), 1), F(2)),
    "reversed": lambda x, n: ops.rev(size(x, n), (0, 1)),
    "with a row": lambda x, n: ops.add(size(x, n), F([1, 2, 3]), broadcast_dimensions=(1,)),
    "with a column": lambda x, n: ops.add(size(x, n), size(ops.iota("f32[6]", 0), n), broadcast_dimensions=(0,)),
    "running sums": lambda x, n: ops.cumsum(size(x, n), 0),
    "running sums of rows": lambda x, n: ops.cumsum(size(x, n), 1),
    "sorted columns": lambda x, n: ops.sort(size(x, n), None, 0),
    "sorted rows": lambda x, n: ops.sort(size(x, n), None, 1),
    "beside each other": lambda x, n: ops.concatenate((size(x, n), ops.neg(size(x, n))), 1),
    "matrix by matrix": lambda x, n: ops.dot(size(x, n), F([[1, 2], [3, 4], [5, 6]])),
    "Gram matrix": lambda x, n: ops.dot(ops.transpose(size(x, n), (1, 0)), size(x, n)),
    "batch of products": lambda x, n: ops.dot_general(size(x, n), size(x, n), (((1,), (1,)), ((0,), (0,)))),
    "with a border": lambda x, n: ops.pad(size(x, n), F(9), ((1, 1, 0), (0, 1, 0))),
    "cut off": lambda x, n: ops.pad(size(x, n), F(9), ((0, 0, 0), (-1, 0, 0))),
    "rows at places": lambda x, n: rows_at(x, size(S([5, 0, 9, 1, -1, 2]), n)),
    "rows of rows at places": lambda x, n: rows_at(size(x, ops.max(n, S(1))), size(S([5, 0, 9, 1, -1, 2]), n)),
    "window of rows": lambda x, n: ops.dynamic_slice(size(x, ops.max(n, S(2))), (n, S(1)), (2, 2)),
    "window of columns": lambda x, n: ops.dynamic_slice(
        ops.transpose(size(x, ops.max(n, S(2))), (1, 0)), (S(1), n), (2, 1)
    ),
    "row that is written": lambda x, n: ops.dynamic_update_slice(
        size(x, ops.max(n, S(1))), F([[7, 8, 9]]), (n, S(0))
    ),
    "largest two": lambda x, n: ops.top_k(size(x, n), 2),
}


def assert_same(got: Any, want: Any) -> None:
    """Asserts that both are equal, in structure, shapes and types."""
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_same(one, other)
    elif isinstance(want, dict):
        assert got.keys() == want.keys()
        for key, value in want.items():
            assert_same(got[key], value)
    else:
        assert np.shape(got) == np.shape(want)
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-5)


def check(function: Callable[[Any, Any], Any], x: Any, sizes: tuple[int, ...] = SIZES) -> None:
    """Compares compiled and called functions with what they make of arrays that are cut."""
    compiled = xjit.xjit(function, strict=True)
    for n in sizes:
        with np.errstate(all="ignore"):
            want = function(x, S(n))
        assert_same(compiled(x, S(n)), want)
        if not isinstance(want, tuple | list | dict):
            assert_same(ops.call(function, x, S(n)), want)
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    check(VECTORS[name], COLUMN[:, 0])


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str) -> None:
    check(MATRICES[name], COLUMN)


@pytest.mark.parametrize("which", [np.argmax, np.argmin])
@pytest.mark.parametrize("x", [COLUMN, NUMBERS, NUMBERS > 1], ids=["f32", "s32", "pred"])
@pytest.mark.parametrize("axis", [0, 1])
def test_place_of_an_extreme(which: Any, x: Any, axis: int) -> None:
    function = xjit.xjit(lambda a, n: which(size(a, n), axis), strict=True)
    for n in (1, 3, BOUND):
        assert_same(function(x, S(n)), which(x[:n], axis))


WHOLE: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "column": (lambda x, n: ops.reshape(size(x, n), (BOUND, 1, 3)), lambda x: x[:, None]),
    "flat": (lambda x, n: ops.reshape(size(x, n), (BOUND * 3,)), lambda x: x.reshape(-1)),
    "slice": (lambda x, n: ops.slice(size(x, n), (0, 1), (BOUND, 3)), lambda x: x[:, 1:]),
    "turned": (lambda x, n: ops.reshape(size(x, n), (3, BOUND), dimensions=(1, 0)), lambda x: x.T),
}


@pytest.mark.parametrize("name", WHOLE)
def test_dimensions_that_stay_whole(name: str) -> None:
    """Sizes that a call states are bounds, of a dimension that is handed on as it is."""
    function, expected = WHOLE[name]
    compiled = xjit.xjit(function, strict=True)
    for n in SIZES:
        assert_same(compiled(COLUMN, S(n)), expected(COLUMN[:n]))


def test_sums_do_not_see_infinities_behind_the_size() -> None:
    function = xjit.xjit(lambda x, n: ops.dot(size(x, n), size(x, n)), strict=True)
    assert function(np.array([1, 2, np.inf, np.nan], F), S(2)) == 5


def test_sizes_out_of_bounds_are_clamped_in_the_run() -> None:
    function = xjit.xjit(lambda x, n: ops.neg(size(x, n)), strict=True)
    assert function(F([1, 2]), S(-3)).shape == (0,)
    assert function(F([1, 2]), S(7)).shape == (2,)


def test_size_that_is_raised_again() -> None:
    function = xjit.xjit(lambda x, n, m: size(size(x, n), m), strict=True)
    got = function(F([1, 2, 3, 4]), S(2), S(3))
    assert got.shape == (3,)
    np.testing.assert_array_equal(got[:2], [1, 2])
    with pytest.raises(ArgumentError, match=r"0 up to the dimension's 2 is required; got 3"):
        size(size(F([1, 2, 3, 4]), S(2)), S(3))


def test_size_of_the_bound_is_a_plain_array() -> None:
    function = xjit.xjit(lambda x, n: ops.add(size(size(x, n), S(4)), F([1, 2, 3, 4])), strict=True)
    got = function(F([1, 2, 3, 4]), S(2))
    np.testing.assert_array_equal(got[:2], [2, 4])
    assert got.shape == (4,)


PAIRS: dict[str, Callable[..., Any]] = {
    "elements": ops.add,
    "products": ops.dot,
    "sorts": lambda a, b: ops.sort((a, b)),
    "folds": lambda a, b: ops.reduce((a, b), (F(0), F(0)), lambda p, q, x, y: (p + x, q + y), (0,)),
    "rows beside each other": lambda a, b: ops.concatenate((ops.reshape(a, (4, 1)), ops.reshape(b, (4, 1))), 1),
}


@pytest.mark.parametrize("name", PAIRS)
def test_sizes_that_do_not_match(name: str) -> None:
    x = F([1, 2, 3, 4])
    both = xjit.xjit(lambda x, n, m: PAIRS[name](size(x, n), size(x, m)), strict=True)
    both(x, S(3), S(3))
    with pytest.raises(ShapeError, match="equal dynamic sizes"):
        both(x, S(3), S(4))
    one = xjit.xjit(lambda x, n: PAIRS[name](size(x, n), x), strict=True)
    one(x, S(4))
    with pytest.raises(ShapeError):
        one(x, S(3))


def test_slice_beyond_the_size() -> None:
    function = xjit.xjit(lambda x, n: ops.slice(size(x, n), (1,), (3,)), strict=True)
    np.testing.assert_array_equal(function(F([1, 2, 3, 4]), S(3)), [2, 3])
    with pytest.raises(ShapeError, match="a size of 3 or more is required"):
        function(F([1, 2, 3, 4]), S(2))


def test_functions_of_numpy() -> None:
    def function(x: Any, n: Any) -> Any:
        p = size(x, n)
        return np.sin(p) * 2.0 + 1.0, p.sum(), np.sqrt(np.abs(p))[::-1], np.where(p > 2, p, 0), p[None] + x[:1, None]

    def expected(x: Any) -> Any:
        return (
            np.sin(x) * 2.0 + 1.0,
            x.sum(),
            np.sqrt(np.abs(x))[::-1],
            np.where(x > 2, x, 0),
            x[None] + VALUES[:1, None],
        )

    compiled = xjit.xjit(function, strict=True)
    for n in SIZES:
        assert_same(compiled(VALUES, S(n)), expected(VALUES[:n]))


def test_means_count_what_is_there() -> None:
    def function(x: Any, n: Any) -> Any:
        p = size(x, n)
        return p.mean(axis=0), np.std(p, axis=(0, 1)), np.mean(p, axis=1, keepdims=True), np.var(p, axis=0, ddof=1)

    def expected(x: Any) -> Any:
        return x.mean(axis=0), np.std(x, axis=(0, 1)), np.mean(x, axis=1, keepdims=True), np.var(x, axis=0, ddof=1)

    compiled, x = xjit.xjit(function, strict=True), NUMBERS.astype(F)
    for n in (2, 3, BOUND):
        assert_same(compiled(x, S(n)), expected(x[:n]))
    with pytest.raises(ShapeError, match=r"numpy\.cov: operands: arrays of static sizes"):
        xjit.xjit(lambda x, n: np.cov(size(x, n, 1)), strict=True)(x, S(2))


def test_window_beyond_the_size() -> None:
    function = xjit.xjit(lambda x, n: ops.dynamic_slice(size(x, n), (S(0),), (2,)), strict=True)
    np.testing.assert_array_equal(function(F([1, 2, 3]), S(2)), [1, 2])
    with pytest.raises(ShapeError, match="a size of dimension 0 of at least 2, the window's, is required"):
        function(F([1, 2, 3]), S(1))


def test_what_cannot_be_dynamic_says_so() -> None:
    function = xjit.xjit(lambda x, n: ops.fft(size(x, n), "fft", (4,)), strict=True)
    with pytest.raises(ShapeError, match="arrays of static sizes are required"):
        function(np.zeros(4, np.complex64), S(3))
    function = xjit.xjit(lambda x, n: xjit.scan(lambda c, a: (c + a, c), F(0), size(x, n)), strict=True)
    with pytest.raises(ShapeError, match="arrays of static sizes are required"):
        function(np.zeros(4, F), S(3))
    function = xjit.xjit(lambda x, n: xjit.cond(n > 2, lambda a: a + 1, lambda a: a, size(x, n)), strict=True)
    with pytest.raises(ShapeError, match="has a dynamic size, which nothing carries"):
        function(np.zeros(4, F), S(3))
    function = xjit.xjit(lambda x, n: ops.reshape(size(x, n, 1), (6,)), strict=True)
    with pytest.raises(ShapeError, match="arrays of static sizes are required"):
        function(np.zeros((2, 3), F), S(2))


def test_mistakes_of_the_call() -> None:
    x = np.zeros((2, 3), F)
    with pytest.raises(DTypeError, match="size: the element type must be s32"):
        ops.set_dimension_size(x, np.int64(1), 0)
    with pytest.raises(DTypeError):
        ops.set_dimension_size([1, 2], S(1), 0)
    with pytest.raises(ArgumentError, match="dimension of rank 2"):
        ops.set_dimension_size(x, S(1), 2)
    with pytest.raises(ShapeError, match="size: rank 0"):
        ops.set_dimension_size(x, S([1]), 0)
    for wrong in (-1, 4):
        with pytest.raises(ArgumentError, match=f"got {wrong}"):
            ops.set_dimension_size(x, S(wrong), 1)
        with pytest.raises(ArgumentError, match=f"got {wrong}"):
            xjit.xjit(lambda x, n=wrong: ops.set_dimension_size(x, S(n), 1), strict=True)(x)
    with pytest.raises(ArgumentError, match="dimension of rank 2"):
        ops.get_dimension_size(x, -1)
