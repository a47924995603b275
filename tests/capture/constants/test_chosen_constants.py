"""Text and members of enumerations that loops and branches choose: compared, returned, and carried."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_split, split

LINES = [(np.random.default_rng(seed).normal(size=200),) for seed in range(4)]
SHORT = [(np.random.default_rng(seed).normal(size=6),) for seed in range(4)]


class Phase(enum.Enum):
    """The phases of a machine."""

    IDLE = "idle"
    UP = "up"
    DOWN = "down"

    @property
    def parts(self) -> int:
        """The length of the name."""
        return len(self.name)


class Valve:
    """A valve whose state is text."""

    def __init__(self) -> None:
        self.state = "closed"
        self.level = 0.0

    def step(self, value: float) -> None:
        """Open or close the valve."""
        if self.state == "closed" and value > 1:
            self.state = "open"
        elif self.state == "open" and value < -1:
            self.state = "closed"
        self.level += 1.0 if self.state == "open" else -0.5


STEPS = {"left": -1.0, "right": 1.0, "stay": 0.0}


def left_early(x: Any) -> Any:
    status = "running"
    for i in range(len(x)):
        if x[i] < -1.5:
            status = "low"
            break
        x[i] = abs(x[i])
    return x, status


def machine(x: Any) -> Any:
    state, ups, downs = "idle", 0, 0
    for v in x:
        if state == "idle":
            if v > 1:
                state, ups = "up", ups + 1
            elif v < -1:
                state, downs = "down", downs + 1
        elif state == "up":
            if v < 0:
                state = "idle"
        elif v > 0:
            state = "idle"
    return ups, downs, state


def members(x: Any) -> Any:
    phase, count = Phase.IDLE, 0
    for v in x:
        if phase is Phase.IDLE and v > 0.5:
            phase = Phase.UP
        elif phase is not Phase.IDLE and v < 0:
            phase = Phase.DOWN if phase == Phase.UP else Phase.IDLE
            count += 1
        elif phase in (Phase.DOWN, Phase.UP):
            phase = Phase.IDLE
    return count, phase == Phase.UP, phase != Phase.DOWN, phase is Phase.IDLE


def in_a_dict(x: Any) -> Any:
    found = {"status": "limit", "turns": 0}
    for k in range(len(x)):
        found["turns"] = k
        if x[k] > 1.5:
            found["status"] = "found"
            break
    return found


def by_keys(x: Any) -> Any:
    counts, way, place = {"left": 0, "right": 0, "stay": 0}, "stay", 0.0
    for v in x:
        way = "right" if v > 1 else "left" if v < -1 else way
        counts[way] += 1
        place += STEPS[way]
    return counts, place


def own_keys(x: Any) -> Any:
    steps = {"left": -1, "right": 1}
    way, place = "left", 0
    for v in x:
        if v > 0.5:
            way = "right"
        elif v < -0.5:
            way = "left"
        place += steps[way]
    return place


def absent_key(x: Any) -> Any:
    way, place = "left", 0.0
    for v in x:
        way = "up" if v > 2 else way
        place += STEPS[way]
    return place


def tuples(x: Any) -> Any:
    best = ("none", 0.0)
    for v in x:
        if abs(v) > abs(best[1]):
            best = ("above" if v > 0 else "below", v)
    return best


def perhaps_none(x: Any) -> Any:
    found = None
    for v in x:
        if v > 2:
            found = "peak"
            break
        if v < -2:
            found = "dip"
            break
    if found is None:
        return "nothing"
    return found


def of_first_turn(x: Any) -> Any:
    name = "none"
    for v in x:
        name = "last" if v > 0 else "other"
    return name


def always(x: Any) -> Any:
    name, total = "before", 0.0
    for v in x:
        total += v
        name = "behind"
    return name, total


def empty_text(x: Any) -> Any:
    message = ""
    for v in x:
        if v > 2:
            message = "large"
    return (1, message) if message else (2, message)


def exchanged(x: Any) -> Any:
    one, other = "x", "y"
    for v in x:
        if v > 0:
            one, other = other, one
    return one, other, one == other, one != "x", one == 3, isinstance(one, str), one is None


def other_members(x: Any) -> Any:
    name = "a"
    for v in x:
        if name in {"a", "b"}:
            name = "c" if v > 0 else "b"
        elif name not in ["b", "d"] and v < 0:
            name = "d"
        elif name == "d":
            name = "a"
    return name


@pytest.mark.parametrize(
    "function",
    [
        left_early,
        machine,
        members,
        in_a_dict,
        by_keys,
        own_keys,
        tuples,
        perhaps_none,
        of_first_turn,
        always,
        empty_text,
        exchanged,
        other_members,
    ],
)
def test_constants_are_numbers_of_the_run(function: Any) -> None:
    check_whole(function, *LINES, *SHORT)


def test_no_turn_leaves_the_text_before() -> None:
    check_whole(always, *LINES, (np.zeros(0),))
    check_whole(of_first_turn, *LINES, (np.zeros(0),))


def test_members_are_returned() -> None:
    def last(x: Any) -> Any:
        phase = Phase.IDLE
        for v in x:
            phase = Phase.UP if v > 1 else Phase.DOWN if v < -1 else phase
        return phase

    compiled = xjit.jit(last, strict=True)
    assert [compiled(*one) for one in LINES] == [last(*one) for one in LINES]


def test_attributes_of_members() -> None:
    def last(x: Any) -> Any:
        phase = Phase.IDLE
        for v in x:
            phase = Phase.UP if v > 1 else Phase.DOWN if v < -1 else phase
        return phase.parts, phase.value, phase.name

    for one in LINES:
        check_split(last, *one)


def test_absent_keys_raise() -> None:
    compiled = xjit.jit(absent_key, strict=True)
    assert compiled(np.zeros(50)) == -50.0
    with pytest.raises(KeyError, match="up"):
        compiled(np.linspace(0, 3, 50))


def test_attributes() -> None:
    def run(valve: Any, x: Any) -> Any:
        for v in x:
            valve.step(v)
        return valve.state

    compiled = xjit.jit(run, strict=True)
    for (x,) in LINES:
        own, theirs = Valve(), Valve()
        assert compiled(own, x) == run(theirs, x)
        assert vars(own) == vars(theirs)


def test_one_trace_serves_all_ways() -> None:
    compiled = check_whole(machine, *LINES)
    assert compiled.stats().traces == 1


def test_text_is_formatted_in_python() -> None:
    def told(x: Any) -> Any:
        name = "none"
        for v in x:
            if v > 1:
                name = "large"
        print(f"{name}: {len(x)}")  # noqa: T201
        return name.upper(), name + "!", len(name), x * 2

    for x in LINES:
        check_split(told, *x)


def test_modes_of_functions() -> None:
    def padded(x: Any) -> Any:
        mode = "edge"
        for v in x:
            if v > 1:
                mode = "reflect"
        return np.pad(x, 2, mode=mode)

    compiled = xjit.jit(padded)
    with split():
        for (x,) in SHORT:
            np.testing.assert_array_equal(compiled(x), padded(x))
        assert compiled.stats().fallbacks == 0


def test_text_or_number_is_numpys() -> None:
    def either(x: Any) -> Any:
        found: Any = "none"
        for v in x:
            if v > 2:
                found = 3
        return found

    compiled = xjit.jit(either)
    with split():
        assert [compiled(*one) for one in LINES] == [either(*one) for one in LINES]
