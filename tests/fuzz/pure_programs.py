"""Runs fresh random programs against NumPy for as long as it is told, outside of the test suite.

    python -m tests.fuzz --seconds 60 --seed 1
    python -m tests.fuzz --seconds 60 --compiled
    python -m tests.fuzz --seconds 60 --compiled --large   # arrays of up to 150,000 elements
    python -m tests.fuzz --seconds 60 --calls          # single calls and indices, on any types and layouts

Prints each kind of failure with its shortest program; the exit status is 1 if there was any. The float comparison
rests on a few perturbed runs of NumPy, so a rare failure by a last bit is the judge's, not the compiler's.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled
from tests.helpers.random_calls import failure as call_failure
from tests.helpers.random_calls import random_call
from tests.helpers.random_judge import judge
from tests.helpers.random_programs import LARGE, SMALL, Program, Sizes, random_program

Run = Callable[[Callable[..., Any], Any], Any]


def failure(program: Program, run: Run) -> str | None:
    """Describe the fault of the result of a program, in one line; None if nothing is."""
    arguments = program.arguments()
    try:
        judge(program, arguments, run(program.function(), arguments))
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return None


def shortened(program: Program, run: Run) -> Program:
    """The program without the lines that the failure does not need."""
    found = True
    while found:
        found = False
        lines = program.source.splitlines(keepends=True)
        for number in range(len(lines) - 2, 0, -1):
            shorter = dataclasses.replace(program, source="".join(lines[:number] + lines[number + 1 :]))
            if runs(shorter) and failure(shorter, run) is not None:
                program, found = shorter, True
                break
    return program


def runs(program: Program) -> bool:
    """Return whether NumPy runs the program."""
    try:
        program.function()(*program.arguments())
    except Exception:
        return False
    return True


def call_failures(seed: int, stop: float) -> tuple[int, dict[str, tuple[int, Any]]]:
    """Judge random calls from a seed on: their number, and the first one of each kind of failure."""
    found: dict[str, tuple[int, Any]] = {}
    first = seed
    while time.monotonic() < stop:
        call = random_call(random.Random(seed))
        text = call_failure(call)
        if text is not None and text not in found:
            found[text] = (seed, call)
        seed += 1
    return seed - first, found


def program_failures(seed: int, stop: float, compiled: bool, sizes: Sizes) -> tuple[int, dict[str, tuple[int, Any]]]:
    """The same for random programs, each shortened."""
    runs = (run_parallel, run_serial) if compiled else (run_uncompiled, run_unrolled)
    found: dict[str, tuple[int, Any]] = {}
    first = seed
    while time.monotonic() < stop:
        program, run = random_program(random.Random(seed).choice, sizes), runs[seed % 2]
        text = failure(program, run)
        if text is not None and text not in found:
            found[text] = (seed, shortened(program, run))
        seed += 1
    return seed - first, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the first program; a fresh one when left out")
    parser.add_argument("--compiled", action="store_true", help="compile the programs instead of interpreting them")
    parser.add_argument("--large", action="store_true", help="larger arrays in the programs")
    parser.add_argument("--calls", action="store_true", help="single calls of NumPy instead of programs")
    options = parser.parse_args()
    os.environ["XJIT_STRICT"] = "1"
    warnings.simplefilter("ignore")
    seed = random.SystemRandom().randrange(2**40) if options.seed is None else options.seed
    stop = time.monotonic() + options.seconds
    if options.calls:
        count, found = call_failures(seed, stop)
    else:
        count, found = program_failures(seed, stop, options.compiled, LARGE if options.large else SMALL)
    for text, (number, program) in found.items():
        print(f"--seed {number}: {text}\n{program}\n")  # noqa: T201
    print(f"{count} from --seed {seed} on, {len(found)} kinds of failure")  # noqa: T201
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
