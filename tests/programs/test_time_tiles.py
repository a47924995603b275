"""Turns of loops in tiles of rows: the bits of turns over all rows, whatever rows need of each other."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on, uncompiled
from xjit.machine import Machine

Function = Callable[..., Any]

SMALL = replace(
    PROCESSOR,
    parallel_work=1.0,
    blocked_work=float("inf"),
    time_tiled_bytes=1,
    time_tile_bytes=1 << 20,
    most_turns=5,
    least_time_tiles=3,
    band_work=1.0,
)
MACHINES: dict[str, Machine] = {
    "small": SMALL,
    "few turns": replace(SMALL, most_turns=2, least_time_tiles=4),
    "one tile": replace(SMALL, least_time_tiles=1, most_pieces=1),
    "wide bands": replace(SMALL, band_work=1e3, most_pieces=4),
}


def two_buffers(old: Any, new: Any, steps: int) -> Any:
    for _ in range(steps):
        new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        old, new = new, old
    return old


def one_array(u: Any, steps: int) -> None:
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def two_sweeps(a: Any, b: Any, steps: int) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def far_rows(a: Any, b: Any, steps: int) -> None:
    """Rows of which those behind are needed further than those ahead."""
    for _ in range(steps):
        b[3:-1] = 0.5 * (a[3:-1] + a[:-4])
        a[:-2] += 0.125 * b[2:]


def line(a: Any, b: Any, steps: int) -> None:
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def cube(a: Any, b: Any, steps: int) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = 0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
        a[1:-1, 1:-1, 1:-1] = 0.5 * (b[1:-1, 2:, 1:-1] + b[1:-1, :-2, 1:-1]) + b[1:-1, 1:-1, 2:]


def waves(ex: Any, ey: Any, hz: Any, source: Any, steps: int) -> None:
    """Several fields, a row of numbers that turns pick, and a counter that rows read."""
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def reaction(u_all: Any, v_all: Any, steps: int) -> None:
    """Views that are updated, one after the other, of what both were before."""
    for _ in range(steps):
        u, v = u_all[1:-1, 1:-1], v_all[1:-1, 1:-1]
        around_u = u_all[:-2, 1:-1] + u_all[1:-1, :-2] - 4 * u + u_all[1:-1, 2:] + u_all[2:, 1:-1]
        around_v = v_all[:-2, 1:-1] + v_all[1:-1, :-2] - 4 * v + v_all[1:-1, 2:] + v_all[2:, 1:-1]
        both = u * v * v
        u += 0.16 * around_u - both + 0.06 * (1 - u)
        v += 0.08 * around_v + both - 0.122 * v


def padded(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u = np.pad(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]), 1)
    return u


def copied(u: Any, steps: int) -> Any:
    for _ in range(steps):
        w = u.copy()
        w[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = w
    return u


def three_times(past: Any, now: Any, speed: Any, steps: int) -> Any:
    """Leapfrog: three arrays change places, and coefficients are read."""
    later = now.copy()
    for _ in range(steps):
        later[1:-1] = 2 * now[1:-1] - past[1:-1] + speed[1:-1] * (now[2:] - 2 * now[1:-1] + now[:-2])
        past, now, later = now, later, past
    return now


def counted(u: Any, steps: int) -> Any:
    """A number that changes from turn to turn is an operand of rows."""
    for t in range(steps):
        u[1:-1] = u[1:-1] + 0.01 * t * (u[2:] - u[:-2])
    return u


def random(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(7).random(shape).astype(dtype)


PROGRAMS: dict[str, tuple[Function, Callable[[], list[Any]]]] = {
    "two buffers": (two_buffers, lambda: [random(70, 23), random(70, 23) + 1]),
    "two narrow buffers": (
        two_buffers,
        lambda: [random(101, 40, dtype=np.float32), random(101, 40, dtype=np.float32)],
    ),
    "one array": (one_array, lambda: [random(77, 19)]),
    "two sweeps": (two_sweeps, lambda: [random(103, 17), random(103, 17)]),
    "far rows": (far_rows, lambda: [random(150, 12), random(150, 12)]),
    "line": (line, lambda: [random(1001), random(1001)]),
    "cube": (cube, lambda: [random(110, 7, 9), random(110, 7, 9)]),
    "waves": (waves, lambda: [random(80, 21), random(80, 21), random(80, 21), random(40)]),
    "reaction": (reaction, lambda: [random(151, 20), random(151, 20)]),
    "padded": (padded, lambda: [random(73, 21)]),
    "copied": (copied, lambda: [random(73, 21)]),
    "three times": (three_times, lambda: [random(150, 11), random(150, 11), random(150, 11)]),
    "counted": (counted, lambda: [random(90, 11)]),
}


def same(function: Function, arguments: Callable[[], list[Any]], steps: int, machine: Machine) -> str:
    """Compares what a function returns and writes with NumPy; what there is to say of its plan."""
    compiled, ours, theirs = xjit.jit(function, target=on(machine)), arguments(), arguments()
    with xjit.threads(2):
        found = compiled(*ours, steps)
    expected = function(*theirs, steps)
    assert [one.tobytes() for one in ours] == [one.tobytes() for one in theirs]
    assert (found is None) == (expected is None)
    assert found is None or np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    return str(compiled.explain(*ours, steps))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_give_the_bits_of_whole_turns(name: str, machine: str) -> None:
    told = same(*PROGRAMS[name], 31, MACHINES[machine])
    assert "turns at a time" in told


@pytest.mark.parametrize("steps", [12, 13, 14, 20])
@pytest.mark.parametrize("name", ["two buffers", "reaction", "three times", "waves"])
def test_turns_that_are_left_over_are_done(name: str, steps: int) -> None:
    assert "turns at a time" in same(*PROGRAMS[name], steps, SMALL)


def test_a_number_of_turns_that_only_the_run_knows() -> None:
    function = xjit.jit(one_array, target=on(SMALL))
    for steps in (30, 31, 0, 1, 2, 5, 29):
        ours, theirs = random(77, 19), random(77, 19)
        function(ours, steps)
        one_array(theirs, steps)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("rows", [3, 4, 5, 9, 20])
def test_few_rows_are_done_turn_by_turn(rows: int) -> None:
    same(two_buffers, lambda: [random(rows, 30), random(rows, 30)], 17, SMALL)


@pytest.mark.parametrize("name", ["one array", "waves", "padded"])
def test_uncompiled_kernels_do_the_same(name: str) -> None:
    with uncompiled():
        same(*PROGRAMS[name], 12, SMALL)


def around(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) - 2 * u)
    return u


def measured(u: Any, steps: int) -> Any:
    """The turns end by what rows make."""
    change = 1.0
    while change > 1e-3 * steps:
        before = u.copy()
        u[1:-1] = 0.5 * (before[:-2] + before[2:])
        change = np.abs(u - before).max()
    return u


def looked_up(u: Any, where: Any, steps: int) -> Any:
    for _ in range(steps):
        u = 0.5 * (u + u[where])
    return u


def scaled(u: Any, steps: int) -> None:
    """All rows make numbers that all rows need."""
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:]) + u.sum(axis=0)


REFUSED: dict[str, tuple[Function, Callable[[], list[Any]], str]] = {
    "rows around": (around, lambda: [random(80, 30)], "do not stay in the cache|further in each turn"),
    "an end by rows": (measured, lambda: [random(80, 30)], "rows"),
    "rows from data": (looked_up, lambda: [random(80, 30), np.arange(80)[::-1].copy()], "rows|condition"),
    "sums of columns": (scaled, lambda: [random(80, 30)], "rows"),
    "large": (one_array, lambda: [random(80, 30)], "stay in the cache from turn to turn"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_done_in_tiles_says_why(name: str) -> None:
    function, arguments, reason = REFUSED[name]
    machine = replace(SMALL, time_tiled_bytes=38_401) if name == "large" else SMALL
    told = same(function, arguments, 20, machine)
    assert "turns at a time" not in told
    (line,) = [one for one in told.splitlines() if "goes through all rows" in one]
    assert re.search(reason, line)


@pytest.mark.parametrize("function", [one_array, two_sweeps])
@pytest.mark.parametrize("tiled", [True, False])
def test_a_signal_ends_turns_and_arguments_hold_a_whole_state(function: Function, tiled: bool) -> None:
    def ring(number: int, frame: Any) -> None:
        raise TimeoutError

    machine = SMALL if tiled else replace(SMALL, time_tiled_bytes=1 << 60)
    compiled = xjit.jit(function, target=on(machine))
    ours, again = ([random(400, 300) for _ in range(1 + (function is two_sweeps))] for _ in range(2))
    for steps in range(3):
        compiled(*again, steps)
    again = [random(400, 300) for _ in ours]
    assert ("turns at a time" in str(compiled.explain(*ours, 10**9))) == tiled
    handler = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError):
            compiled(*ours, 10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    for _ in range(100_000):
        if all(one.tobytes() == other.tobytes() for one, other in zip(ours, again, strict=True)):
            break
        compiled(*again, 1)
    else:
        pytest.fail("the arguments hold no state behind a whole turn")


@pytest.mark.parametrize("tiled", [True, False])
def test_two_arguments_are_changed_where_they_are(tiled: bool) -> None:
    machine = SMALL if tiled else replace(SMALL, time_tiled_bytes=1 << 60)
    compiled = xjit.jit(two_sweeps, target=on(machine))
    for steps in (4, 5, 7):
        ours, theirs = [random(200, 40), random(200, 40)], [random(200, 40), random(200, 40)]
        compiled(*ours, steps)
        two_sweeps(*theirs, steps)
        assert [one.tobytes() for one in ours] == [one.tobytes() for one in theirs]
    assert compiled.explain(*ours, 9).temporary_bytes < 1024


def to_and_fro(x: Any) -> None:
    y = x.copy()
    for _ in range(20):
        y[1:-1] = 0.5 * (x[:-2] + x[2:])
        x, y = y, x


def back_in_a_turn(x: Any, steps: Any) -> Any:
    y = np.empty_like(x)
    y[...] = x
    for _ in range(steps):
        y[1:-1] = 0.5 * (x[:-2] + x[2:])
        x[1:-1] = 0.5 * (y[:-2] + y[2:])
    return x


@pytest.mark.parametrize(("function", "steps"), [(to_and_fro, ()), (back_in_a_turn, (30,))])
def test_an_argument_and_a_buffer_are_two_buffers(function: Function, steps: tuple[int, ...]) -> None:
    compiled = xjit.jit(function, target=on(SMALL))
    for _ in range(3):
        ours, theirs = random(200, 40), random(200, 40)
        found, expected = compiled(ours, *steps), function(theirs, *steps)
        assert (found is ours) == (expected is theirs)
        assert ours.tobytes() == theirs.tobytes()
    told = compiled.explain(random(200, 40), *steps)
    assert "turns at a time" in str(told)
    assert told.temporary_bytes < random(200, 40).nbytes + 1024, str(told)


def test_small_arrays_are_not_looked_at() -> None:
    machine = replace(PROCESSOR, parallel_work=1.0)
    assert "goes through all rows" not in same(one_array, lambda: [random(80, 30)], 20, machine)
