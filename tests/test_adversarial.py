"""Programs written to break the promise: same arrays in, same answers out, never a crash, never a stale trace."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from xjit import xjit

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
    fast = xjit(function, strict=True)
    for _ in range(2):
        with pytest.raises(wanted.type) as got:
            fast(*arguments)
        assert len(str(got.value).splitlines()) <= 12


def test_a_call_that_works_after_one_that_failed() -> None:
    fast = xjit(divide)
    np.testing.assert_array_equal(fast(X, 1.0, 2.0), X * 0.5)
    with pytest.raises(ZeroDivisionError):
        fast(X, 1.0, 0.0)
    np.testing.assert_array_equal(fast(X, 1.0, 4.0), X * 0.25)
