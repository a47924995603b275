"""Trials of programs that may be slower than NumPy, split ones above all.

Calls go to the program and to NumPy in turn, until it is known which one is quicker. Each call is done once, by one
of them. What is quicker takes all further calls that the program would serve: arrays of another size are another
program's, with a trial of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from xjit.runtime.miss import MISS

Function = Callable[..., Any]

MOST_ROUNDS = 4
"""Calls of each side that a trial has at most."""

CLEAR = 1.5
"""The ratio of two times from which on one round is enough, if the calls are long: these are not repeated in vain."""

LONG = 0.01
"""The seconds that such a call takes."""

BEARABLE = 1.03
"""The ratio to NumPy's time that the program's may have: times of equal calls differ by as much."""


class Trials:
    """The entry of such a program.

    ``words`` says what came out.
    """

    def __init__(self, program: Function, function: Function, names: Sequence[str], serves: Function) -> None:
        """``names`` are those of the last arguments, which are given by name. ``serves`` answers MISS where the
        program would.
        """
        self._program = program
        self._plain = _where(serves, _by_name(function, tuple(names)) if names else function)
        self._chosen: Function = self._compared
        self._times: tuple[list[float], list[float]] = ([], [])
        self.words = "not decided yet"

    @property
    def program(self) -> Function:
        """The entry that is compared with NumPy."""
        return self._program

    def __call__(self, *args: Any) -> Any:
        return self._chosen(*args)

    def _compared(self, *args: Any) -> Any:
        ours, others = self._times
        plain = len(others) < len(ours)
        start = time.perf_counter()
        result = (self._plain if plain else self._program)(*args)
        if result is not MISS:
            (others if plain else ours).append(time.perf_counter() - start)
            if plain:
                self._decide(min(ours), min(others))
        return result

    def _decide(self, ours: float, other: float) -> None:
        rounds = len(self._times[1])
        is_clear = max(ours, other) > max(LONG, CLEAR * min(ours, other))
        if rounds < MOST_ROUNDS and not is_clear:
            return
        quicker = ours <= BEARABLE * other
        self._chosen = self._program if quicker else self._plain
        verdict = "the program runs" if quicker else "NumPy runs"
        self.words = f"{verdict}: {1e6 * ours:.4g} µs compiled, {1e6 * other:.4g} µs as NumPy"


def _where(serves: Function, plain: Function) -> Function:
    def called(*args: Any) -> Any:
        return MISS if serves(*args) is MISS else plain(*args)

    return called


def _by_name(function: Function, names: tuple[str, ...]) -> Function:
    count = len(names)

    def called(*values: Any) -> Any:
        return function(*values[:-count], **dict(zip(names, values[-count:], strict=True)))

    return called
