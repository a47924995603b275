"""Times of sides that take turns, each on arguments that are as new before every call."""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perf.measuring.timing import rest
from perf.ordinary.record import Arguments

SAMPLE_SECONDS = 0.004
MOST_CALLS = 50


@dataclass(frozen=True, slots=True)
class Side:
    """A function, its arguments, and the positions of those that it changes."""

    function: Callable[..., Any]
    arguments: Arguments
    written: tuple[int, ...]


class Timer:
    """Timed calls of one side; what they change of their arguments is restored before each, outside of the time."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._kept = {place: copy.deepcopy(side.arguments[place]) for place in side.written}
        self.once()
        self.calls = int(min(MOST_CALLS, max(1.0, SAMPLE_SECONDS // self.once())))

    def once(self) -> float:
        """Return the seconds of one call."""
        function, arguments = self.side.function, self._restored()
        began = time.perf_counter()
        # The result is kept until the clock has been read: dropping it is not the function's time.
        result = function(*arguments)
        seconds = time.perf_counter() - began
        del result
        return seconds

    def _restored(self) -> Arguments:
        """Return the arguments as they were: arrays in their own memory, copies of all else."""
        arguments = list(self.side.arguments)
        for place, before in self._kept.items():
            if isinstance(before, np.ndarray):
                np.copyto(arguments[place], before)
            else:
                arguments[place] = copy.deepcopy(before)
        return tuple(arguments)

    def sample(self) -> float:
        """Return the mean of the seconds of some calls, after a rest and an untimed call where that is short."""
        rest()
        if self.calls > 1:
            self.once()
        return sum(self.once() for _ in range(self.calls)) / self.calls


def interleaved(sides: Mapping[str, Side], rounds: int) -> dict[str, list[float]]:
    """Return the samples of every side; the order rotates from round to round."""
    timers = {name: Timer(side) for name, side in sides.items()}
    names = list(timers)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            shift = turn % len(names)
            for name in names[shift:] + names[:shift]:
                seconds[name].append(timers[name].sample())
    finally:
        gc.enable()
    return seconds
