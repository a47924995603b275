"""Measures the errors of vector functions and writes the table of them.

    python -m tools.accuracy                           # every function as its record asks: takes hours
    python -m tools.accuracy exp erf_f64 --resume      # both types of one, one type of another; goes on where it was
    python -m tools.accuracy log10 --exhaustive        # every float32
    python -m tools.accuracy tan --samples 1e6         # a quick look
    python -m tools.accuracy --record ...              # enters what was found into docs/accuracy.json
    python -m tools.accuracy --table                   # writes docs/accuracy.md from it
    python -m tools.accuracy --narrow                  # how many 16-bit results are not correctly rounded
    python -m tools.accuracy --check                   # exit status 1 if a figure is missing or stale

Needs ``gmpy2`` and ``scipy``.  A run that was stopped loses nothing: ``--resume`` goes on at the last chunk.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tools.accuracy import narrow, results, table
from tools.accuracy.measure import (
    DEFAULT_SAMPLES,
    Plan,
    arity,
    climb_everywhere,
    every_float32,
    known_strata,
    result_of,
    run,
    sampled,
)
from tools.accuracy.records import has_record, record, split
from tools.accuracy.results import Result
from xjit.codegen.vmath import VECTOR_FUNCTIONS

STATE = Path(__file__).resolve().parents[2] / ".accuracy"


@dataclass(frozen=True, slots=True)
class Request:
    """Request for one function."""

    function: str
    exhaustive: bool
    samples: int | None
    state: Path
    resume: bool


def chosen(words: Sequence[str]) -> list[str]:
    """The functions that words such as ``exp`` or ``exp_f32`` mean; all without words."""
    found = [name for name in VECTOR_FUNCTIONS if not words or name in words or split(name)[0] in words]
    unknown = set(words) - {*found, *(split(name)[0] for name in found)}
    if unknown:
        raise SystemExit(f"no vector function is called {', '.join(sorted(unknown))}")
    return found


def plan_for(request: Request) -> Plan:
    """All patterns or samples, as asked or else as the record says."""
    name = request.function
    kind = split(name)[1]
    wanted = request.exhaustive or (request.samples is None and kind in record(name).exhaustive)
    if wanted and kind == "f32" and arity(name) == 1:
        return every_float32(name)
    return sampled(name, request.samples or DEFAULT_SAMPLES[kind], more=known_strata(name))


def say(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def measure(request: Request) -> tuple[Result, str]:
    """Measures one function; the figure, and the same in words."""
    plan = plan_for(request)
    verdict = run(plan, request.state, request.resume, say)
    if plan.method == "samples":
        climb_everywhere(verdict, request.function)
    result = result_of(plan, verdict)
    bound = VECTOR_FUNCTIONS[request.function].error
    text = f"{result.function:14} {result.error:8.4f} of {bound:g} at {', '.join(result.arguments)} ({result.method})"
    wrong = [f"{count} wrong: {kind}, as at {verdict.examples[kind]}" for kind, count in verdict.mistakes.items()]
    return result, "\n    ".join([text + ("  ABOVE ITS BOUND" if result.error > bound else ""), *wrong])


def measure_all(requests: Sequence[Request], jobs: int, recorded: bool) -> bool:
    """Measures functions, several at a time; whether all are right and within their bounds."""
    good = True

    def take(found: tuple[Result, str]) -> bool:
        result, text = found
        say(text)
        if recorded:
            results.record(result)
        return not result.mistakes and result.error <= VECTOR_FUNCTIONS[result.function].error

    if jobs == 1:
        for request in requests:
            good &= take(measure(request))
        return good
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(measure, request) for request in requests]):
            good &= take(future.result())
    return good


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tools.accuracy", description=__doc__.split("\n")[0])
    top.add_argument("functions", nargs="*", help="such as exp or exp_f32; all when none is named")
    how = top.add_mutually_exclusive_group()
    how.add_argument("--exhaustive", action="store_true", help="every float32 of functions of one argument")
    how.add_argument("--samples", type=float, help="this many arguments instead of what the record asks")
    how.add_argument("--table", action="store_true", help="only write docs/accuracy.md")
    how.add_argument("--check", action="store_true", help="only compare docs/accuracy.json with the functions")
    how.add_argument("--narrow", action="store_true", help="only count 16-bit results that are not correctly rounded")
    top.add_argument("--resume", action="store_true", help="go on where an earlier run stopped")
    top.add_argument("--record", action="store_true", help="enter the figures into docs/accuracy.json")
    top.add_argument("--jobs", type=int, default=1, help="functions measured at a time, each in its process")
    top.add_argument("--state", type=Path, default=STATE, help="folder of the states of runs")
    return top


def stop(number: int, frame: object) -> None:
    """Ends the run as an interruption from the keyboard does, so that the state is kept."""
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    options = parser().parse_args(arguments)
    if options.table:
        table.write()
        return 0
    if options.narrow:
        for line in narrow.lines():
            say(line)
        return 0
    if options.check:
        problems = table.problems(results.read())
        say("\n".join(problems) or "every figure is of the present text and within its bound")
        return 1 if problems else 0
    names = chosen(options.functions)
    for name in names:
        if not has_record(name):
            say(f"{name}: no record says how to measure it")
    signal.signal(signal.SIGTERM, stop)
    samples = None if options.samples is None else int(options.samples)
    requests = [
        Request(name, options.exhaustive, samples, options.state, options.resume)
        for name in names
        if has_record(name)
    ]
    return 0 if measure_all(requests, options.jobs, options.record) else 1


if __name__ == "__main__":
    sys.exit(main())
