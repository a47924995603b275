"""Programs written to break the promise: same arrays in, same answers out, never a crash, never a stale trace."""

from __future__ import annotations

import datetime
import decimal
import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

from xjit import xjit
from xjit.errors import CaptureError, FallbackWarning

X = np.array([1.0, 2.0, 4.0])


class One(NamedTuple):
    x: Any


# ------------------------------------------------------------------ containers as arguments


def test_a_container_with_one_leaf_is_not_taken_for_that_leaf() -> None:
    fast = xjit(lambda a, d: a + d.get("k", 1))
    for d in ({}, {"k": 5}, {}, {"k": 7}, {"k": X}, {}):
        np.testing.assert_array_equal(fast(X, d), X + d.get("k", 1))


@pytest.mark.parametrize("kind", [list, tuple, lambda items: One(*items)])
def test_containers_of_every_length_after_one_of_one_leaf(kind: Any) -> None:
    fast = xjit(lambda p: (p[0] + 1, len(p)))
    for value in (kind([X]), kind([5]), kind([X]), X, kind([X[:2]])):
        first, length = fast(value)
        np.testing.assert_array_equal(first, value[0] + 1)
        assert length == len(value)


def test_leaves_that_move_from_one_container_to_another() -> None:
    fast = xjit(lambda p, q: ([v + 1 for v in p], [v * 2 for v in q]))
    y = X[:1]
    for p, q in (([X, y], []), ([], [X, y]), ([X], [y]), ([y], [X]), ([y, X], []), ([X, y], [])):
        got_p, got_q = fast(p, q)
        assert [v.tolist() for v in got_p] == [(v + 1).tolist() for v in p]
        assert [v.tolist() for v in got_q] == [(v * 2).tolist() for v in q]


# ------------------------------------------------------------------ errors of the program


def divide(a: Any, x: Any, y: Any) -> Any:
    return a * (x / y)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (divide, (X, 1.0, 0.0)),
        (divide, (X,)),
        (lambda a: a + 300, (X.astype(np.uint8),)),
        (lambda a: sum(v for v in a), (np.array(2.0),)),
        (lambda a: a[3], (X,)),
        (lambda a: a.reshape(2, -1), (X,)),
    ],
)
def test_errors_of_the_program_are_the_built_in_ones_under_strict_too(function: Any, arguments: Any) -> None:
    with pytest.raises(Exception) as wanted:
        function(*arguments)
    fast = xjit(strict=True)(function)
    for _ in range(2):
        with pytest.raises(wanted.type) as got:
            fast(*arguments)
        assert len(str(got.value).splitlines()) <= 12


def test_numpy_errors_obey_errstate() -> None:
    fast = xjit(errors="numpy")(lambda a, b: (a / b, np.sqrt(-a)))
    for _ in range(2):
        with np.errstate(divide="raise", invalid="ignore"), pytest.raises(FloatingPointError, match="divide"):
            fast(X, np.zeros(3))
        with np.errstate(divide="ignore", invalid="raise"), pytest.raises(FloatingPointError, match="invalid"):
            fast(X, X)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(fast(X, np.zeros(3))[0], np.full(3, np.inf))
    with pytest.warns(RuntimeWarning, match="divide by zero"), np.errstate(invalid="ignore"):
        fast(X, np.zeros(3))


def test_a_call_that_works_after_one_that_failed() -> None:
    fast = xjit(divide)
    np.testing.assert_array_equal(fast(X, 1.0, 2.0), X * 0.5)
    with pytest.raises(ZeroDivisionError):
        fast(X, 1.0, 0.0)
    np.testing.assert_array_equal(fast(X, 1.0, 4.0), X * 0.25)


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("step", [1, 2, -1, 5])
def test_order_a_reads_backwards_only_what_is_packed_backwards(step: int) -> None:
    """Refused for arguments and views, whose gaps the trace does not know; never the wrong order."""
    y = np.arange(24.0).reshape(6, 4)
    functions: tuple[Any, ...] = (
        lambda a: (a + 1).ravel("A"),
        lambda a: (a + 1)[::step].ravel("A"),
        lambda a: a[:, ::step].reshape(-1, order="A"),
    )
    for function in functions:
        fast = xjit(function)
        for value in (y, y.T, y.T[:, ::step]):
            try:
                result = fast(value)
            except CaptureError:
                continue
            np.testing.assert_array_equal(result, function(value))


@pytest.mark.parametrize("dtype", [None, np.float32])
def test_asarray_of_a_broadcast_argument(dtype: Any) -> None:
    x = np.broadcast_to(X, (2, 3))
    result, wanted = xjit(lambda a: np.asarray(a, dtype))(x), np.asarray(x, dtype)
    np.testing.assert_array_equal(result, wanted)
    assert result.strides == wanted.strides
    assert (result is x) == (wanted is x)


@pytest.mark.parametrize("place", [np.s_[:, ::2], np.s_[::-1], np.s_[:, :2], np.s_[::5, ::3], np.s_[:]])
@pytest.mark.parametrize("backwards", [False, True])
def test_arrays_with_gaps_are_copied_where_numpy_copies_them(place: Any, backwards: bool) -> None:
    functions: tuple[Any, ...] = (
        lambda a: (a.ravel(), a.ravel("F"), a.ravel("A"), a.ravel("K"), a.flatten(), a.flatten("A")),
        lambda a: (np.ascontiguousarray(a), np.asfortranarray(a), np.asarray(a, order="C"), np.asarray(a)),
        lambda a: (a.reshape(-1), a.reshape(-1, order="A"), a.copy(order="A"), np.array(a, order="F")),
    )
    x = (np.arange(24.0).reshape(4, 6).T if backwards else np.arange(24.0).reshape(6, 4))[place]
    for function in functions:
        for got, wanted in zip(xjit(function)(x), function(x), strict=True):
            np.testing.assert_array_equal(got, wanted)
            if got.shape == x.shape and x.ndim == 2 and min(x.shape) > 1:
                assert got.strides == wanted.strides
            assert np.shares_memory(got, x) == np.shares_memory(wanted, x)


def test_keys_that_are_equal_are_told_apart() -> None:
    products = xjit(lambda d: {key: value * key for key, value in d.items()})
    numbers = np.arange(3, dtype=np.int32)
    for key in (1, True, 1.0, 0.0, -0.0):
        ((got, product),) = products({key: numbers}).items()
        assert repr(got) == repr(key)
        assert product.dtype == (numbers * key).dtype
        np.testing.assert_array_equal(np.signbit(product), np.signbit(numbers * key))
    keys = xjit(lambda d: list(d))
    for pair in ((1, 2), (True, 2), (1.0, 2)):
        assert repr(keys({pair: numbers})) == repr([pair])


def test_verification_allows_complex64_its_own_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    rng = np.random.default_rng(3)
    z = (rng.standard_normal((5, 40)) + 1j * rng.standard_normal((5, 40))).astype(np.complex64)
    np.testing.assert_allclose(
        xjit(lambda a: (a * a.conj() * a).sum(axis=1))(z), (z * z.conj() * z).sum(axis=1), 1e-5
    )


class Tagged(str):
    tag: int


def tagged(tag: int) -> Tagged:
    text = Tagged("text")
    text.tag = tag
    return text


NOON = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
LOOK_ALIKES: list[tuple[Any, tuple[Any, ...]]] = [
    (lambda x, r: x + r.stop, (range(0, 3, 2), range(0, 4, 2), range(1, 1), range(0))),
    (lambda x, d: (x, str(d)), (decimal.Decimal("1.0"), decimal.Decimal("1.00"))),
    (lambda x, t: x + t.hour, (NOON, NOON.astimezone(datetime.timezone(datetime.timedelta(hours=2))))),
    (lambda x, t: x + t.fold, (NOON, NOON.replace(fold=1))),
    (lambda x, s: [x * v for v in s], ({0.0}, {-0.0}, {1}, {1.0}, {True}, {2.0})),
    (lambda x, d: [repr(k) for k in d], ({0j: 1}, {-0j: 1}, {1.0: 1}, {np.float32(1): 1}, {1: 1})),
    (lambda x, d: [repr(k) for k in d], ({frozenset([1]): 1}, {frozenset([True]): 1}, {(1,): 1}, {(1.0,): 1})),
]


@pytest.mark.parametrize(("function", "values"), LOOK_ALIKES)
def test_values_that_are_equal_are_told_apart(function: Any, values: tuple[Any, ...]) -> None:
    by_argument, by_global = xjit(function), xjit(lambda x: function(x, CURRENT))
    for value in (*values, *values):
        globals()["CURRENT"] = value
        assert repr(by_argument(X, value)) == repr(function(X, value))
        assert repr(by_global(X)) == repr(function(X, value))


CURRENT: Any = None


def test_attributes_of_a_kind_of_text_are_not_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    fast = xjit(lambda x, text: x + text.tag)
    for tag in (1, 5, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            np.testing.assert_array_equal(fast(X, tagged(tag)), X + tag)


INNER: Any = slice(1, -1)


def test_slices_from_everywhere() -> None:
    def function(x: Any, place: Any = slice(0, 2)) -> Any:
        return x[place] + 1, x[INNER], x[np.s_[::2, None]]

    fast = xjit(function)
    for inner in (slice(1, -1), slice(0, 1), (slice(None, None, -1), None)):
        globals()["INNER"] = inner
        for arguments in ((X,), (X, slice(1, 3)), (X, slice(1, 2))):
            assert repr(fast(*arguments)) == repr(function(*arguments))


# ------------------------------------------------------------------ many calls


def test_results_stay_intact_while_others_come_and_go() -> None:
    fast = xjit(lambda a: (a + 1, (a * 2).sum(axis=0)))
    kept, views = [], []
    for number in range(12):
        total, column = fast(np.full((300, 400), float(number)))
        views.append(total[1:2])
        if number % 3:
            kept.append((number, total, column))
        del total, column
    for number, total, column in kept:
        assert (total == number + 1).all()
        assert (column == 600.0 * number).all()
    assert all((view == number + 1).all() for number, view in enumerate(views))


def test_writing_into_a_result_changes_no_later_one() -> None:
    fast = xjit(lambda x: (np.ones(3), np.array([1.0, 2.0]), np.zeros(3), np.zeros(3), x + 1, x + 1))
    first = fast(X)
    for result in first:
        result[...] = 99.0
    for result, wanted in zip(fast(X), fast.__wrapped__(X), strict=True):
        np.testing.assert_array_equal(result, wanted)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(first) for b in first[:i])


def test_a_race_for_the_first_call() -> None:
    fast = xjit(lambda a, k: a * k if k > 2 else a - k)
    barrier, wrong = threading.Barrier(6), []

    def work(number: int) -> None:
        barrier.wait()
        for _ in range(10):
            if not np.array_equal(fast(X, number), fast.__wrapped__(X, number)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_effects_happen_once_per_call_where_numpy_runs_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    calls: list[int] = []
    numbers = iter(range(10))

    def appends(x: Any) -> Any:
        calls.append(1)
        return x + len(calls)

    def draws(x: Any) -> Any:
        return x + next(numbers)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for function, first in ((xjit(appends), 1), (xjit(draws), 0)):
            for number in range(3):
                np.testing.assert_array_equal(function(X), X + first + number)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1, (x + 1)[1:]),
        lambda x: (x.copy()[1:], x.copy()),
        lambda x: ((x + 1).T, (x + 1).reshape(-1)),
        lambda x: (x + 1, x + 1),
        lambda x: (lambda y: (y, y[1:], y.T))(x * 2),
        lambda x: (x, x.T, x[1:]),
    ],
)
def test_results_share_memory_where_numpys_do(function: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    got, wanted = (x, *xjit(function)(x)), (x, *function(x))
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    shared = [[[np.shares_memory(a, b) for a in all_] for b in all_] for all_ in (got, wanted)]
    assert shared[0] == shared[1]


def test_arguments_that_are_nested_too_deeply_go_to_numpy() -> None:
    nested: Any = [X]
    for _ in range(2_000):
        nested = [nested]
    with pytest.raises(CaptureError, match="nested too deeply"):
        xjit(lambda x, y: y + 1, strict=True)(nested, X)
