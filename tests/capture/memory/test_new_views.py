"""Views that loops and branches make of what a name shows: objects of their own, in memory that turns write to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.memory.seen_memory import check_calls_like_numpy, check_like_numpy
from xjit.errors import CaptureError

N = 300
"""So many turns are no longer traced one by one."""


def viewed_in_turns(y: Any, n: int, limit: float) -> Any:
    for _ in range(n):
        y = y[:]
    return y


def viewed_for_long(y: Any, n: int, limit: float) -> Any:
    z = y
    for _ in range(N):
        y[0] += 1
        y = y[:]
    return y, z


def viewed_until(y: Any, n: int, limit: float) -> Any:
    a = b = y
    while y[0] < limit:
        y[0] += 1
        a = b = y[:]
    return a, b, y


def viewed_in_lists(y: Any, n: int, limit: float) -> Any:
    found = [y, 1.0]
    while y[0] < limit:
        y[0] += 1
        found = [y[:], found[1] * 2]
    return found


def viewed_in_an_arm(y: Any, n: int, limit: float) -> Any:
    if y[0] < limit:
        y = y[:]
    return y


def viewed_in_both(y: Any, n: int, limit: float) -> Any:
    z = y[:] if y[0] < limit else y.reshape(-1)
    return z, y


def own_viewed(y: Any, n: int, limit: float) -> Any:
    z = w = y * 2
    for _ in range(N):
        z = z[:]
    return z, w


VIEWED = [
    viewed_in_turns,
    viewed_for_long,
    viewed_until,
    viewed_in_lists,
    viewed_in_an_arm,
    viewed_in_both,
    own_viewed,
]


@pytest.mark.parametrize("function", VIEWED)
def test_views_of_the_same_elements_are_objects_of_their_own(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for n, limit in ((0, -1.0), (1, 2.0), (N, 5.0)):

        def make(n: int = n, limit: float = limit) -> tuple[Any, ...]:
            return np.arange(4.0), n, limit

        check_calls_like_numpy(compiled, make)


def own_in_an_arm(x: Any, limit: float) -> Any:
    z = w = x * 2
    if x[0] > limit:
        z = z[:]
    return z, w


def own_in_turns(x: Any, limit: float) -> Any:
    z = w = x * 2
    while x[0] < limit:
        x[0] += 1
        z = z[:]
    return z, w


def in_arms_of_arms(x: Any, limit: float) -> Any:
    y = x
    if x[0] < limit:
        if x[1] < 10.0:
            y = y[:]
        x[1] = 2.0
    return y, x[1]


def in_arms_of_turns(x: Any, limit: float) -> Any:
    y = x
    for _ in range(N):
        if x[0] < limit:
            y = y[:]
    return y, x[1]


@pytest.mark.parametrize("function", [own_in_an_arm, own_in_turns, in_arms_of_arms, in_arms_of_turns])
@pytest.mark.parametrize("limit", [-1.0, 1.0])
def test_views_that_may_be_another_result_are_left_to_numpy(function: Any, limit: float, monkeypatch: Any) -> None:
    with pytest.raises(CaptureError, match="may be another result"):
        xjit.jit(function, strict=True)(np.arange(4.0), limit)
    monkeypatch.setenv("XJIT_STRICT", "0")
    check_like_numpy(function, lambda: (np.arange(4.0), limit), strict=False)


def turned_and_written(x: Any, n: int) -> Any:
    for _ in range(2):
        for _ in range(n):
            x = x[::-1]
            x[0] += 2
    return x


def turned_and_filled(x: Any, n: int) -> Any:
    for _ in range(2):
        for _ in range(n):
            x = x[::-1]
            np.putmask(x, x > 1, x[1])
    return x


def turned_in_arms(x: Any, n: int) -> Any:
    for _ in range(N):
        if n > 2:
            for _ in range(n):
                x = x[::-1]
                x[0] += 2
    return x


@pytest.mark.parametrize("function", [turned_and_written, turned_and_filled, turned_in_arms])
@pytest.mark.parametrize("n", [1, 8])
def test_inner_loops_write_into_the_memory_of_what_outer_ones_carry(function: Any, n: int, monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    check_like_numpy(function, lambda: (np.arange(8.0), n), strict=False)


def of_a_copy(x: Any) -> Any:
    flat = x.reshape(-1)
    return np.transpose(flat), flat, flat[::-1]


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda x: x[::-1, ::-1], np.ascontiguousarray])
def test_results_that_show_a_reshaped_copy_share_it(layout: Callable[[Any], Any]) -> None:
    check_like_numpy(of_a_copy, lambda: (layout(np.arange(12.0).reshape(3, 4)),), strict=True)


def shaped(x: Any) -> Any:
    y = x.copy()
    turned, whole = y.T, y.view()
    y.shape = 2, -1
    y[0] += 1.0
    turned[0] = 5.0
    return y, turned, whole.sum(axis=0)


def shaped_view(x: Any) -> Any:
    row = x[1:3]
    row.shape = 8
    row[::3] = -1.0
    return x.sum(), row


def shaped_to_a_line(x: Any) -> Any:
    y = np.zeros((3, 4)) + x[0]
    y.shape = -1
    y[5] = 2.0
    return y, y.reshape(4, 3)[1]


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("function", [shaped, shaped_view, shaped_to_a_line])
def test_an_array_gets_another_shape(function: Callable[[Any], Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for _ in range(2):
        own, others = np.arange(16.0).reshape(4, 4), np.arange(16.0).reshape(4, 4)
        for found, wanted in zip(compiled(own), function(others), strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(own, others)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_results_of_another_shape_share_memory() -> None:
    y, turned, _ = xjit.jit(shaped, strict=True)(np.arange(16.0).reshape(4, 4))
    assert np.shares_memory(y, turned) and y.shape == (2, 8)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_a_shape_that_memory_does_not_allow_is_refused_as_by_numpy() -> None:
    def shaped_across(x: Any) -> Any:
        y = x.T
        y.shape = 16
        return y

    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        xjit.jit(shaped_across, strict=True)(np.arange(16.0).reshape(4, 4))


def shaped_in_a_branch(x: Any) -> Any:
    y = x.copy()
    if x[0, 0] > 0:
        y.shape = 16
    return y


def shaped_in_turns(x: Any) -> Any:
    y = x.copy()
    for k in range(int(x[0, 1])):
        y.shape = (16,) if k % 2 else (2, 8)
    return y


def shaped_argument(x: Any) -> Any:
    x.shape = 16
    return x + 1


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("function", [shaped_in_a_branch, shaped_in_turns, shaped_argument])
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_shapes_that_cannot_be_followed_are_numpys(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for first in (1.0, -1.0, 1.0):
        own, others = np.arange(16.0).reshape(4, 4), np.arange(16.0).reshape(4, 4)
        own[0, 0] = others[0, 0] = first
        np.testing.assert_array_equal(compiled(own), function(others))
        assert own.shape == others.shape
