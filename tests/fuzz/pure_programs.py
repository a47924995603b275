"""Programs without writes or control flow, and single calls, against NumPy: failures and their shortest programs."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from typing import Any

from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled
from tests.helpers.random_calls import failure as call_failure
from tests.helpers.random_calls import random_call
from tests.helpers.random_judge import judge
from tests.helpers.random_programs import Program, Sizes, random_program

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
