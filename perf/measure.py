"""One entry of the table: prepare a program for every runner, verify the results, time them in turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perf.peers import NUMPY, XJIT, Runner
from perf.programs import Program
from perf.timing import Call, Ratio, Samples, interleave
from perf.verify import WrongResult, check


@dataclass(frozen=True, slots=True)
class Entry:
    """What was measured of one program at one size; `left_out` says why a runner was not timed."""

    program: Program
    size: str
    samples: Samples
    left_out: Mapping[str, str] = field(default_factory=dict)

    def has(self, runner: Runner) -> bool:
        """Whether the runner took part."""
        return runner.name in self.samples.seconds

    def speedup(self, candidate: Runner, reference: Runner) -> Ratio:
        """Return how many times faster than `reference` the `candidate` is."""
        return self.samples.ratio(reference.name, candidate.name)


@dataclass(frozen=True, slots=True)
class Field:
    """Those that take part in one entry: their calls, all verified, and who was left out and why."""

    calls: Mapping[str, Call]
    left_out: Mapping[str, str]


def verified_calls(program: Program, size: str, runners: Sequence[Runner]) -> Field:
    """Return a call for every runner that can express the program and computes the same as NumPy.

    Raises `WrongResult` when xjit computes something else; a peer that does is left out.
    """
    arrays = program.arguments(size)
    expected = program.function(*arrays)
    calls: dict[str, Call] = {}
    left_out: dict[str, str] = {}
    for runner in runners:
        call = runner.prepare(program, arrays)
        if call is None:
            left_out[runner.name] = "cannot say it"
            continue
        try:
            check(program, runner.name, call(), expected, strict=runner in (NUMPY, XJIT))
        except WrongResult as problem:
            if runner is XJIT:
                raise
            left_out[runner.name] = str(problem)
            continue
        calls[runner.name] = call
    return Field(calls, left_out)


def measure(program: Program, size: str, runners: Sequence[Runner], budget: float) -> Entry:
    """Return the measured entry; `budget` is in seconds."""
    taking_part = verified_calls(program, size, runners)
    return Entry(program, size, interleave(taking_part.calls, budget), taking_part.left_out)
