"""Programs with loops of unknown length in loops, each beside the same in NumPy: a call may end in either loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.lowering.control_programs import FIVE, ONE, ZERO, ControlProgram, full, plainly, turns
from xjit import ops

Array = Any
HALF = np.float64(0.5)


def halved(x: Array, least: Array) -> Any:
    """A scalar halved until it is small, and how often that was."""
    return ops.while_loop(
        lambda state: ops.gt(state[0], least),
        lambda state: (ops.mul(state[0], HALF), ops.add(state[1], ONE)),
        (x, ONE),
    )


def halved_plainly(x: Any, least: Any) -> Any:
    steps = np.int64(1)
    while x > least:
        x, steps = x * 0.5, steps + 1
    return x, steps


def one_loop(x: Array, least: Array, count: Array) -> Any:
    """Work in front of the loop and behind it reads what is carried, and what the loop leaves."""

    def body(_: Array, x: Array, total: Array) -> Any:
        begun = ops.add(ops.mul(x, x), total)
        end, steps = halved(begun, least)
        return ops.add(x, end), ops.add(total, ops.mul(begun, ops.convert_element_type(steps, "float64")))

    return turns(count, body, x, np.float64(0))


def one_loop_plainly(x: Any, least: Any, count: int) -> Any:
    def body(_: Any, x: Any, total: Any) -> Any:
        begun = x * x + total
        end, steps = halved_plainly(begun, least)
        return x + end, total + begun * float(steps)

    return plainly(count, body, x, np.float64(0))


def two_loops(x: Array, least: Array, count: Array) -> Any:
    """The second loop starts from what the first leaves, and what was in front of both is read behind both."""

    def body(_: Array, x: Array) -> Any:
        begun = ops.add(x, np.float64(7))
        middle, steps = halved(begun, least)
        again, more = halved(ops.add(ops.mul(middle, np.float64(100)), x), least)
        times = ops.convert_element_type(ops.add(steps, more), "float64")
        return (ops.add(ops.mul(again, times), ops.mul(begun, HALF)),)

    return turns(count, body, x)


def two_loops_plainly(x: Any, least: Any, count: int) -> Any:
    def body(_: Any, x: Any) -> Any:
        begun = x + 7.0
        middle, steps = halved_plainly(begun, least)
        again, more = halved_plainly(middle * 100.0 + x, least)
        return (again * float(steps + more) + begun * 0.5,)

    return plainly(count, body, x)


def arrays(x: Array, least: Array, count: Array) -> Any:
    """The inner loop changes an array that the outer one carries, and the length of the inner one is that of data."""

    def smaller(x: Array) -> Array:
        return ops.while_loop(
            lambda v: ops.gt(ops.reduce(ops.abs(v), ZERO, ops.max, (0,)), least),
            lambda v: ops.mul(v, full(HALF, v)),
            x,
        )

    def body(_: Array, x: Array, y: Array) -> Any:
        small = smaller(ops.add(x, y))
        return ops.add(small, full(np.float64(3), x)), ops.sub(x, small)

    return turns(count, body, x, x)


def arrays_plainly(x: Any, least: Any, count: int) -> Any:
    def body(_: Any, x: Any, y: Any) -> Any:
        small = x + y
        while np.abs(small).max() > least:
            small = small * 0.5
        return small + 3.0, x - small

    return plainly(count, body, x, x)


LASTING_PROGRAMS = {
    f"{name}, {turns} turns": ControlProgram(function, (first, np.float64(0.01), np.int64(turns)), expected)
    for turns in (0, 1, 6)
    for name, function, first, expected in (
        ("one lasting loop", one_loop, np.float64(1.5), one_loop_plainly),
        ("two lasting loops", two_loops, np.float64(1.5), two_loops_plainly),
        ("a lasting loop over arrays", arrays, FIVE, arrays_plainly),
    )
}
"""The programs by their names."""
