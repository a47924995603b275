"""Timing several candidates that take turns, and what can be concluded from the samples.

One round gives every candidate one sample: a rest until no thread of the process computes any more, since the
pools of some keep their threads spinning for tens of milliseconds after a call, at the cost of whoever is next; an
untimed call, which brings its data, its threads and the caches into the state of steady use whoever ran before
(calls of a tenth of a second and more go without); and then some timed calls, whose results are dropped at once.
The order rotates from round to round. The rest and the untimed call are the same for all.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Call = Callable[[], object]

SAMPLE_SECONDS = 0.002
SECONDS_WORTH_WARMING = 0.1
LEAST_ROUNDS = 9
MOST_ROUNDS = 61
# Rounds that take longer than so many seconds may be fewer: long samples scatter less, and somebody waits.
FEWER_ROUNDS = {1.0: 5, 0.3: 7}
# A rest ends with a step in which the process used this share of a processor or less: no thread spins any more.
REST_STEP_SECONDS = 0.001
REST_SHARE = 0.1
LONGEST_REST_SECONDS = 0.25
RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds per call of each candidate; entry i of every list is from round i."""

    seconds: Mapping[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        """Return the median of one candidate."""
        return statistics.median(self.seconds[name])

    def minimum(self, name: str) -> float:
        """Return the fastest sample of one candidate."""
        return min(self.seconds[name])

    def ratio(self, reference: str, candidate: str) -> Ratio:
        """Return how many times faster than `reference` the `candidate` is, with its interval."""
        return ratio_of(self.seconds[reference], self.seconds[candidate])


@dataclass(frozen=True, slots=True)
class Ratio:
    """Reference time over candidate time: by medians, with a bootstrap interval, and by minima."""

    median: float
    low: float
    high: float
    minimum: float


def ratio_of(reference: tuple[float, ...], candidate: tuple[float, ...]) -> Ratio:
    """Return the ratio of two candidates timed in the same rounds.

    The interval resamples rounds, not single samples: a slow moment of the machine meets both candidates.
    """
    above, below = np.array(reference), np.array(candidate)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(above), (RESAMPLES, len(above)))
    ratios = np.median(above[picks], axis=1) / np.median(below[picks], axis=1)
    low, high = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Ratio(
        float(np.median(above) / np.median(below)), float(low), float(high), float(above.min() / below.min())
    )


def timed(call: Call, calls: int) -> float:
    """Return the seconds of one call, as the mean over `calls` calls in a row."""
    clock = time.perf_counter
    turns = range(calls)
    begin = clock()
    for _ in turns:
        call()
    return (clock() - begin) / calls


def rest() -> None:
    """Sleep until the threads of this process do, those of all thread pools; a quarter of a second at most."""
    end = time.perf_counter() + LONGEST_REST_SECONDS
    while time.perf_counter() < end:
        began, used = time.perf_counter(), time.process_time()
        time.sleep(REST_STEP_SECONDS)
        if time.process_time() - used <= REST_SHARE * (time.perf_counter() - began):
            return


@dataclass(frozen=True, slots=True)
class Plan:
    """Sampling of one candidate: `calls` in a row, after a rest, and an untimed one where `warm`."""

    call: Call
    calls: int
    warm: bool
    seconds: float

    def sample(self) -> float:
        """Return the seconds of one call."""
        rest()
        if self.warm:
            self.call()
        return timed(self.call, self.calls)


def plan(call: Call) -> Plan:
    """Return how to sample a call so that a sample is long enough for the clock."""
    rest()
    call()
    once = timed(call, 1)
    if once < SAMPLE_SECONDS:
        once = timed(call, max(1, int(SAMPLE_SECONDS / 10 / max(once, 1e-7))))
    calls = max(1, round(SAMPLE_SECONDS / once))
    warm = once < SECONDS_WORTH_WARMING
    return Plan(call, calls, warm, (calls + warm) * once)


def rounds_within(budget: float, one_round: float) -> int:
    """Return how many rounds to run in about `budget` seconds."""
    least = next((rounds for seconds, rounds in FEWER_ROUNDS.items() if one_round > seconds), LEAST_ROUNDS)
    return int(min(MOST_ROUNDS, max(least, budget / max(one_round, 1e-6))))


def interleave(candidates: Mapping[str, Call], budget: float = 3.0) -> Samples:
    """Time all candidates in turns for about `budget` seconds; no garbage collection meanwhile."""
    plans = {name: plan(call) for name, call in candidates.items()}
    names = list(plans)
    rounds = rounds_within(budget, _seconds_of_round(plans))
    seconds: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            shift = turn % len(names)
            for name in names[shift:] + names[:shift]:
                seconds[name].append(plans[name].sample())
    finally:
        if enabled:
            gc.enable()
    return Samples({name: tuple(values) for name, values in seconds.items()})


def _seconds_of_round(plans: Mapping[str, Plan]) -> float:
    """Return the seconds of one round, with the rests, which depend on who is next to whom."""
    begin = time.perf_counter()
    for part in plans.values():
        part.sample()
    return time.perf_counter() - begin


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean; NaN of nothing."""
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def bound(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Call:
    """Return a call of `function` on `arguments` that adds as little as a closure can."""
    if len(arguments) == 1:
        (x,) = arguments
        return lambda: function(x)
    if len(arguments) == 2:
        x, y = arguments
        return lambda: function(x, y)
    if len(arguments) == 3:
        x, y, z = arguments
        return lambda: function(x, y, z)
    return lambda: function(*arguments)
