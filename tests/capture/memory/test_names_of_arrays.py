"""Arrays with several names in loops and branches: what a write by one of them changes, and what results share."""

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


def other_is_rebound(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        b = b * 0.5
    return a, b


def written_is_rebound(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        a = a * 0.5
    return a, b


def rebound_in_some_turns(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        if x[i] > 7:
            b = b * 0.5
    return a, b


def rebound_in_no_turn(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        if x[i] < -7:
            a = a * 0.5
    return a, b


def joined(x: Any) -> Any:
    a, b = x * 0, x * 1
    for i in range(N):
        a[i] = x[i]
        b = a
    return a, b


def joined_in_some_turns(x: Any) -> Any:
    a, b = x * 0, x * 1
    for i in range(N):
        a[i] = x[i]
        if x[i] > 7:
            b = a
    return a, b


def joined_anew(x: Any) -> Any:
    a, b = x * 0, x * 1
    for i in range(N):
        a[i] += b[i] + 1
        a = x * i
        b = a
    return a, b


def one_behind(x: Any) -> Any:
    a, b = x * 0, x * 1
    for i in range(N):
        b = a
        a = a + 1
        b[i] = 3
    return a, b


def exchanged(x: Any) -> Any:
    a, b = x * 0, x * 1
    k = a
    for i in range(N - 1):
        a[i] = x[i] + b[i - 1]
        a, b = b, a
    return a, b, k


def exchanged_in_some_turns(x: Any) -> Any:
    a, b = x * 0, x * 1
    for i in range(N):
        a[i] = x[i] + b[i - 1]
        if x[i] > 7:
            a, b = b, a
    return a, b


def view_of_a_new_one(x: Any) -> Any:
    a, b = x * 0, x[1:] * 1
    for i in range(N):
        a[i] += 1
        a = x * i
        b = a[1:]
    b[0] = 77
    return a, b


def view_beside_a_rebound_one(x: Any) -> Any:
    a = x * 0
    b = a[::-1]
    for i in range(N):
        b[i] = x[i] + a[i]
        a = a + 1
    return a, b


def in_a_tuple(x: Any) -> Any:
    a = x * 0
    s = (a, a)
    for i in range(N):
        s[0][i] = x[i]
        s = (s[0], s[1] + 1)
    return a, s


def in_a_dict(x: Any) -> Any:
    a = x * 0
    s = {"p": a, "q": a}
    for i in range(N):
        s["p"][i] = x[i]
        s = {"p": s["p"] + 1, "q": s["q"]}
    return a, s


def in_a_list(x: Any) -> Any:
    a = x * 0
    s = [a, a]
    for i in range(N):
        s[0][i] = x[i]
        s[1] = s[1] + 1
    return a, s


def inner_loop_writes(x: Any) -> Any:
    a = x * 0
    b = a
    for _ in range(50):
        for i in range(N):
            a[i] += x[i]
        a = a * 0.5
    return a, b


def ends_with_a_new_one(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        if x[i] > 100:
            a = a * 2
            break
    return a, b


def returns_one_for_two(x: Any) -> Any:
    a = x * 0
    b = a
    for i in range(N):
        a[i] = x[i]
        if x[i] > 100:
            return a, b
    return b, a * 2


def argument_is_rebound(x: Any) -> Any:
    b = x
    for i in range(N):
        x[i] = i
        x = x * 0.5
    return x, b


def argument_is_rebound_in_some_turns(x: Any) -> Any:
    b = x
    for i in range(N):
        x[i] = i
        if x[i] < 3:
            x = x + 1
    return x, b


def written_behind(x: Any) -> Any:
    a = x * 0
    b = a
    i = 0
    while x[i] < 9:
        a = a * 2
        i += 1
    a[3] = 4
    return a, b


def written_by_a_helper(x: Any) -> Any:
    def put(v: Any, i: int) -> Any:
        v[i] = x[i]
        return v + 1

    a = x * 0
    b = a
    for i in range(N):
        a = put(a, i)
    return a, b


FUNCTIONS = [
    other_is_rebound,
    written_is_rebound,
    rebound_in_some_turns,
    rebound_in_no_turn,
    joined,
    joined_in_some_turns,
    joined_anew,
    one_behind,
    exchanged,
    exchanged_in_some_turns,
    view_of_a_new_one,
    view_beside_a_rebound_one,
    in_a_tuple,
    in_a_dict,
    in_a_list,
    inner_loop_writes,
    ends_with_a_new_one,
    returns_one_for_two,
    argument_is_rebound,
    argument_is_rebound_in_some_turns,
    written_behind,
    written_by_a_helper,
]
COMPILED = [
    other_is_rebound,
    written_is_rebound,
    joined,
    joined_anew,
    one_behind,
    exchanged,
    exchanged_in_some_turns,
    view_beside_a_rebound_one,
    in_a_tuple,
    in_a_dict,
    inner_loop_writes,
    argument_is_rebound,
    written_by_a_helper,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_names_share_what_they_share_in_numpy(function: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    check_like_numpy(function, lambda: (np.arange(float(N)),), strict=False)


@pytest.mark.parametrize("function", COMPILED)
def test_loops_that_keep_names_apart_compile(function: Callable[..., Any]) -> None:
    check_like_numpy(function, lambda: (np.arange(float(N)),), strict=True)


# ---- arguments that are returned, or not, as the run tells


def halved(x: Any, y: Any, n: int, limit: float) -> Any:
    for _ in range(n):
        x = x * 0.5
    return x


def lowered(x: Any, y: Any, n: int, limit: float) -> Any:
    i = 0
    while i < 9 and x[i] > limit:
        x = x - 1
        i += 1
    return x, y


def one_of_two(x: Any, y: Any, n: int, limit: float) -> Any:
    z = x if x[0] > limit else y
    return z, x


def early(x: Any, y: Any, n: int, limit: float) -> Any:
    if x[0] > limit:
        return x, y
    return y, -x


def adapted(x: Any, y: Any, n: int, limit: float) -> Any:
    t, z = 0.0, x
    while t < n:
        if np.abs(z).max() > limit:
            z = z * 0.5
        t += 1.5
    return z, t


def turn_behind(x: Any, y: Any, n: int, limit: float) -> Any:
    before = y
    for i in range(n):
        if x[i] > limit:
            before = x
            x = x + 1
    return before, x


def found(x: Any, y: Any, n: int, limit: float) -> Any:
    for i in range(N):
        if y[i] > limit:
            return x
    return y


def written_first(x: Any, y: Any, n: int, limit: float) -> Any:
    x[0] = 3
    return (x if y[5] > limit else x * 2), x


@pytest.mark.parametrize("function", [halved, lowered, one_of_two, early, adapted, turn_behind, found, written_first])
def test_arguments_are_returned_as_they_are_where_the_run_takes_them(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for start, n, limit in ((0.0, 5, -1.0), (0.0, 0, -1.0), (5.0, 3, 100.0), (9.0, 4, 2.0), (5.0, 2, 1000.0)):

        def make(start: float = start, n: int = n, limit: float = limit) -> tuple[Any, ...]:
            return np.arange(float(N)) + start, np.arange(float(N)) * 2, n, limit

        check_calls_like_numpy(compiled, make)


def windows(x: Any, limit: float) -> Any:
    return x[1:] if x[0] > limit else x[:-1]


def window_of_one(x: Any, limit: float) -> Any:
    z = x if x[0] > limit else x * 2
    return z[1:]


def two_locals(x: Any, limit: float) -> Any:
    a = x * 2
    b = a
    if x[0] > limit:
        a = a * 2
    return a, b


@pytest.mark.parametrize("function", [windows, window_of_one, two_locals])
@pytest.mark.parametrize("limit", [-1.0, 1.0])
def test_results_that_may_share_memory_are_left_to_numpy(function: Any, limit: float, monkeypatch: Any) -> None:
    with pytest.raises(CaptureError, match="may be one with another"):
        xjit.jit(function, strict=True)(np.arange(4.0), limit)
    monkeypatch.setenv("XJIT_STRICT", "0")
    check_like_numpy(function, lambda: (np.arange(4.0), limit), strict=False)


def test_gaps_of_arguments_are_seen_in_arms_and_turns() -> None:
    def arm(x: Any, chosen: Any) -> int:
        if chosen[0] < 0:
            return 3
        np.ascontiguousarray(x)[0] = 7.0
        return 2

    def turn(x: Any, chosen: Any) -> int:
        count = 0
        while x[0] < 5.0 and count < chosen[1]:
            x.reshape(-1)[0] += 1.0
            np.ascontiguousarray(x)[0] = 7.0
            count += 1
        return count

    for function in (arm, turn):
        for step in (1, 2):
            outcomes = []
            for called in (xjit.jit(function, strict=True), function):
                x = np.arange(10.0)[::step]
                outcomes.append((called(x, np.array([1.0, 3.0])), x.tolist()))
            assert outcomes[0] == outcomes[1], (function.__name__, step)
