"""One entry of the table: prepare a program for every runner, verify the results, time them in turns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from perf.measuring.peers import NUMPY, XJIT, CannotSay, LeftOut, Runner, fallback_of
from perf.measuring.timing import Call, Ratio, Samples, interleave
from perf.measuring.verify import WrongResult, check
from perf.programs import Arrays, Program
from xjit.errors import FallbackWarning

CANNOT_SAY = "cannot say it"


@dataclass(frozen=True, slots=True)
class Entry:
    """Measurements of one program at one size.

    `left_out` says why a runner was not timed, `fallback` why xjit ran NumPy for all or for a step.
    """

    program: Program
    size: str
    samples: Samples
    left_out: Mapping[str, str] = field(default_factory=dict)
    fallback: str | None = None

    def has(self, runner: Runner) -> bool:
        """Return whether the runner took part."""
        return runner.name in self.samples.seconds

    def speedup(self, candidate: Runner, reference: Runner) -> Ratio:
        """Return how many times faster than `reference` the `candidate` is."""
        return self.samples.ratio(reference.name, candidate.name)


@dataclass(frozen=True, slots=True)
class Field:
    """Those that take part in one entry: their calls, all verified, and who was left out and why."""

    calls: Mapping[str, Call]
    left_out: Mapping[str, str]
    fallback: str | None = None


def verified_calls(program: Program, size: str, runners: Sequence[Runner]) -> Field:
    """Return a call for every runner that can express the program and computes the same as NumPy.

    Raises `WrongResult` when xjit computes something else; a peer that does is left out.
    """
    arrays = program.arguments(size)
    expected = program.function(*arrays)
    calls: dict[str, Call] = {}
    left_out: dict[str, str] = {}
    for runner in runners:
        if not runner.takes(size):
            continue
        try:
            calls[runner.name] = verified(runner, program, arrays, expected)
        except CannotSay:
            left_out[runner.name] = CANNOT_SAY
        except (LeftOut, WrongResult) as problem:
            if runner is XJIT:
                raise
            left_out[runner.name] = str(problem)
    return Field(calls, left_out, fallback_of(program, arrays) if XJIT in runners else None)


def verified(runner: Runner, program: Program, arrays: Arrays, expected: Any) -> Call:
    """Return the runner's call, after comparing its result with NumPy's."""
    with warnings.catch_warnings():
        if runner is XJIT:
            # What falls back is timed as it is; `fallback_of` says so.
            warnings.simplefilter("ignore", FallbackWarning)
        call = runner.prepare(program, arrays)
    check(program, runner.name, call(), expected, strict=runner in (NUMPY, XJIT))
    return call


def time_field(program: Program, size: str, part: Field, budget: float) -> Entry:
    """Return the entry of those that take part, timed in turns; `budget` is in seconds."""
    return Entry(program, size, interleave(part.calls, budget), part.left_out, part.fallback)


def measure(program: Program, size: str, runners: Sequence[Runner], budget: float) -> Entry:
    """Return the measured entry; `budget` is in seconds."""
    return time_field(program, size, verified_calls(program, size, runners), budget)
