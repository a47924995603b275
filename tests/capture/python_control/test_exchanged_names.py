"""Arrays that exchange their names in loops of which only the run knows when they end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.memory.seen_memory import check_calls_like_numpy
from xjit import xjit
from xjit.errors import CaptureError

RNG = np.random.default_rng(17)
LINES = [RNG.random(size) for size in (30, 31, 40_000)]
LIMITS = (0.03, 0.1, 0.2, 2.0)
MOST = 50


def settled(x: Any, limit: Any) -> Any:
    old, new = x.copy(), x.copy()
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    return old, new, turns


def settled_in_place(old: Any, new: Any, limit: Any) -> Any:
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    return turns


def left_behind(x: Any, limit: Any) -> Any:
    old, new = np.zeros_like(x), x.copy()
    turns = -1
    for k in range(MOST):
        turns = k
        new[1:-1] = 0.5 * (old[2:] + old[:-2]) + x[1:-1]
        change = np.abs(new - old).max()
        old, new = new, old
        if change < limit:
            break
    return old, turns


def left_before(x: Any, limit: Any) -> Any:
    old, new = x.copy(), x.copy()
    turns = -1
    for k in range(MOST):
        turns = k
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        if np.abs(new - old).max() < limit:
            break
        old, new = new, old
    return new, turns


def three(x: Any, limit: Any) -> Any:
    a, b, c = x.copy(), x * 0.5, x * 0.25
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        c[1:-1] = 0.5 * (a[2:] + b[:-2])
        change = np.abs(c - a).max()
        a, b, c = b, c, a
        turns += 1
    return a, b, c


def another_name(x: Any, limit: Any) -> Any:
    old, new = x.copy(), x.copy()
    first, both = old, [old, new]
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    return first * 1.0, old, both[1] * 1.0


def smooth(old: Any, new: Any, limit: Any) -> Any:
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    return old


def in_a_helper(x: Any, limit: Any) -> Any:
    old, new = x * 2.0, x * 2.0
    return smooth(old, new, limit), old * 1.0, new * 1.0


def again_and_again(x: Any, limit: Any) -> Any:
    old, new, changes = x, x, 0.0
    for k in range(300):
        old, new = x * k, x * k
        old[0] = k
        change, turns = 1.0, 0
        while change > limit and turns < MOST:
            new[1:-1] = 0.5 * (old[2:] + old[:-2])
            change = np.abs(new - old)[1:-1].max()
            old, new = new, old
            turns += 1
        changes += change
    return old, changes


def up_to(x: Any, turns: Any) -> Any:
    old, new = x.copy(), x.copy()
    for _ in range(int(turns * 100)):
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        old, new = new, old
    return old, new


def from_zeros(x: Any, limit: Any) -> Any:
    old, new = np.zeros(len(x)), np.zeros((len(x),))
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2]) + x[1:-1]
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    new[0] = 3.0
    return old, new


def kept_name(x: Any, factor: Any) -> Any:
    u = x * 1.0
    first = u
    for _ in range(400):
        u *= factor
        u = u + 1.0
    return first, u


FUNCTIONS = (
    *(settled, settled_in_place, left_behind, left_before, three, another_name, in_a_helper, again_and_again),
    *(up_to, from_zeros, kept_name),
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_names_stand_for_the_arrays_that_they_do_in_python(function: Callable[..., Any]) -> None:
    compiled = xjit(function, strict=True)
    for x in LINES[: 3 if function is settled else 2]:
        for limit in LIMITS:
            given = (x.copy(), x[::-1].copy(), limit) if function is settled_in_place else (x.copy(), limit)
            own = copy.deepcopy(given)
            found, wanted = compiled(*given), function(*own)
            for one, other in zip(_all(found, given), _all(wanted, own), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def _all(result: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*(result if isinstance(result, tuple) else (result,)), *arguments)


def returned(old: Any, new: Any, limit: Any) -> Any:
    change, turns = 1.0, 0
    while change > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        turns += 1
    return old, new, turns


def beside_an_array_of_its_own(old: Any, new: Any, limit: Any) -> Any:
    new = old.copy()
    for _ in range(MOST):
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        old, new = new, old
        if change < limit:
            break
    return old


def read_behind(old: Any, new: Any, limit: Any) -> Any:
    first, second, change = old, new, 1.0
    turns = 0
    while change > limit and turns < MOST:
        turns += 1
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old)[1:-1].max()
        old, new = new, old
    return first[3:9] * 1.0, second.max()


@pytest.mark.parametrize("function", [settled_in_place, returned, beside_an_array_of_its_own, read_behind])
def test_arguments_are_left_and_returned_as_in_numpy(function: Callable[..., Any]) -> None:
    compiled = xjit(function, strict=True)
    for x in LINES[:2]:
        for limit in LIMITS:
            check_calls_like_numpy(compiled, lambda x=x, limit=limit: (x.copy(), x[::-1].copy(), limit))


def read_by_another_name(old: Any, new: Any, limit: Any) -> Any:
    first, change = old, 1.0
    turns = 0
    while change > limit and turns < MOST:
        turns += 1
        new[1:-1] = 0.5 * (old[2:] + first[:-2])
        change = np.abs(new - old)[1:-1].max()
        old, new = new, old
    return change


def asked_by_another_name(old: Any, new: Any, limit: Any) -> Any:
    first, turns = old, 0
    while first[3] > limit and turns < MOST:
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        old, new = new, old
        turns += 1
    return turns


def written_by_another_name(old: Any, new: Any, limit: Any) -> Any:
    first, change, turns = old, 1.0, 0
    while change > limit and turns < MOST:
        first[0] = turns
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old)[1:-1].max()
        old, new = new, old
        turns += 1
    return turns


def written_behind(old: Any, new: Any, limit: Any) -> Any:
    change = 1.0
    turns = 0
    while change > limit and turns < MOST:
        turns += 1
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old)[1:-1].max()
        old, new = new, old
    old[0] = 7.0
    return change


def kept_from_a_turn(old: Any, new: Any, limit: Any) -> Any:
    last, change = old, 1.0
    turns = 0
    while change > limit and turns < MOST:
        turns += 1
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old)[1:-1].max()
        last = old
        old, new = new, old
    return last.sum() > 0


def in_another_loop(old: Any, new: Any, limit: Any) -> Any:
    for k in range(300):
        old[0], change = k, 1.0
        turns = 0
        while change > limit and turns < MOST:
            turns += 1
            new[1:-1] = 0.5 * (old[2:] + old[:-2])
            change = np.abs(new - old)[1:-1].max()
            old, new = new, old
    return change


REFUSED = (
    *(read_by_another_name, asked_by_another_name, written_by_another_name, written_behind, kept_from_a_turn),
    in_another_loop,
)


@pytest.mark.parametrize("function", REFUSED)
def test_names_that_cannot_be_followed_are_left_to_numpy(function: Callable[..., Any], monkeypatch: Any) -> None:
    with pytest.raises(CaptureError):
        xjit(function, strict=True)(LINES[0].copy(), LINES[0][::-1].copy(), 0.1)
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(function, strict=False)
    check_calls_like_numpy(compiled, lambda: (LINES[0].copy(), LINES[0][::-1].copy(), 0.1))


def test_memory_that_nobody_may_write_to_is_not_exchanged() -> None:
    def program(x: Any, limit: Any) -> Any:
        old, new, turns = np.broadcast_to(2.0, x.shape), x, 0
        while new[2] < limit:
            new[1:-1] = old[2:] + turns
            old, new = new, old
            turns += 1
        return turns

    with pytest.raises(CaptureError):
        xjit(program, strict=True)(LINES[0].copy(), 9.0)


def test_no_turn_copies_arrays_in_a_kernel() -> None:
    compiled = xjit(settled, strict=True)
    compiled(LINES[0], 0.1)
    text = str(compiled.source(LINES[0], 0.1))
    turn, _, last = text[text.index("while ") :].partition("else:")
    assert turn.count("st(") == 2, "one window in each of two turns"
    assert last.count("st(") > 4, "names are exchanged once"


def test_no_turn_copies_arrays_between_kernels() -> None:
    def program(x: Any, limit: Any) -> Any:
        old, new, change = x.copy(), x.copy(), 1.0
        while change > limit:
            new[1:-1] = 0.5 * (old[2:] + old[:-2])
            change = np.abs(new - old).max()
            old, new = new, old
        return old

    x = np.resize(LINES[0], (2000, 1000))
    compiled = xjit(program, strict=True)
    np.testing.assert_allclose(compiled(x, 0.1), program(x, 0.1), rtol=1e-12)
    lines = str(compiled.explain(x, 0.1)).splitlines()
    body = lines[lines.index("       body:") :]
    steps = [line.strip() for line in body if line.startswith("         - kernel") and "pack" in line]
    assert not steps


def test_a_turn_that_sees_an_array_by_another_name_is_refused() -> None:
    def program(x: Any, limit: Any) -> Any:
        old, new, change = x.copy(), x.copy(), 1.0
        inner = old[1:-1]
        while change > limit:
            new[1:-1] = 0.5 * (old[2:] + inner)
            change = np.abs(new - old).max()
            old, new = new, old
        return old

    with pytest.raises(CaptureError, match=r"(?s)by one name.*, in program.*fix: "):
        xjit(program, strict=True)(LINES[0], 0.1)
