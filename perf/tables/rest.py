"""Calls that follow a rest, as in notebooks and servers: how much longer than in steady use they take.

One round of a candidate: calls for a while, of which the last give the steady time, a rest, and ten timed calls. The
candidates take turns. A round counts only when other processes left the machine alone meanwhile, where the system
tells: a call on all cores that finds one of them taken says nothing about rests.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perf.measuring.measure import verified_calls
from perf.measuring.peers import JAX, XJIT, Runner
from perf.measuring.timing import Call, timed
from perf.programs import BY_NAME, Program

REST_SECONDS = 0.12
WARM_SECONDS = 0.03
STEADY_CALLS = 20
CALLS = 10
# A round is quiet when others used at most this share of one processor.
OTHERS_SHARE = 0.05
PROCESSOR_TIMES = Path("/proc/stat")


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of a call in steady use and of each call after the rest, and the share of a processor others used."""

    steady: float
    calls: tuple[float, ...]
    others: float


@dataclass(frozen=True, slots=True)
class RestTimes:
    """The rounds of one candidate that count, and how many there were."""

    name: str
    rounds: tuple[Round, ...]
    tried: int

    @property
    def steady(self) -> float:
        """The median of the steady seconds."""
        return statistics.median(one.steady for one in self.rounds)

    def over_steady(self, first: int, last: int) -> tuple[float, float]:
        """Median and upper quartile, over rounds, of the median of some calls (from 1) over the steady time."""
        found = [statistics.median(one.calls[first - 1 : last]) / self.steady for one in self.rounds]
        return float(np.median(found)), float(np.quantile(found, 0.75))


def rest_text(budget: float = 60.0) -> str:
    """Measure one program and return its table."""
    return rest_table(measure_rest(BY_NAME["GELU + bias f32"], "L", budget))


def measure_rest(program: Program, size: str, budget: float) -> list[RestTimes]:
    """Measure xjit, on all cores and on one, and JAX where it is installed, for about `budget` seconds."""
    import xjit

    runners: Sequence[Runner] = [runner for runner in (XJIT, JAX) if runner.installed]
    calls = dict(verified_calls(program, size, runners).calls)
    everywhere = calls[XJIT.name]

    def alone() -> object:
        with xjit.threads(1):
            return everywhere()

    calls[f"{XJIT.name}, one thread"] = alone
    return interleaved_rounds(calls, budget)


def interleaved_rounds(calls: Mapping[str, Call], budget: float) -> list[RestTimes]:
    """Run rounds in turns until the time is over, at least one of each."""
    rounds: dict[str, list[Round]] = {name: [] for name in calls}
    end = time.perf_counter() + budget
    while True:
        for name, call in calls.items():
            rounds[name].append(one_round(call))
        if time.perf_counter() >= end:
            return [RestTimes(name, quiet(found), len(found)) for name, found in rounds.items()]


def quiet(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Return the rounds in which others did little; if there are none, the quietest tenth."""
    chosen = [one for one in rounds if one.others <= OTHERS_SHARE]
    return tuple(chosen or sorted(rounds, key=lambda one: one.others)[: max(1, len(rounds) // 10)])


def one_round(call: Call) -> Round:
    """Use a call for a while, rest, and time the next calls."""
    used, own, began = processor_seconds(), time.process_time(), time.perf_counter()
    while time.perf_counter() < began + WARM_SECONDS:
        call()
    steady = min(timed(call, 1) for _ in range(STEADY_CALLS))
    time.sleep(REST_SECONDS)
    calls = tuple(timed(call, 1) for _ in range(CALLS))
    others = processor_seconds() - used - (time.process_time() - own)
    return Round(steady, calls, max(0.0, others) / (time.perf_counter() - began))


def processor_seconds() -> float:
    """Return the seconds that all processors have computed; 0 where the system does not tell."""
    try:
        words = PROCESSOR_TIMES.read_text().splitlines()[0].split()
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, hard, soft, stolen = map(int, words[1:9])
    return (user + nice + system + hard + soft + stolen) / os.sysconf("SC_CLK_TCK")


def rest_table(found: Sequence[RestTimes]) -> str:
    """Return the table of what a rest costs."""
    lines = [
        "| | steady, ms | first call over it | upper quartile | calls 3 to 10 over it | upper quartile | rounds |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        (first, first_high), (later, later_high) = one.over_steady(1, 1), one.over_steady(3, CALLS)
        ratios = " | ".join(f"{value:.2f}" for value in (first, first_high, later, later_high))
        lines.append(f"| {one.name} | {one.steady * 1e3:.2f} | {ratios} | {len(one.rounds)} of {one.tried} |")
    return "\n".join(lines)
