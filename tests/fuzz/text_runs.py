"""Programs as text, tried: uncompiled or compiled, what failed named by its kind, what was refused by its reason."""

from __future__ import annotations

import contextlib
import faulthandler
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import xjit
from tests.fuzz.comparing import Difference, judge
from tests.fuzz.steadiness import is_steady
from tests.fuzz.text_program import TextProgram

LONGEST = 60
"""Seconds of the processor that a program may take; one that waits may take twenty times as long."""


class Hung(BaseException):
    """A program took too long."""


@dataclass
class Tally:
    """Counts of programs, calls and refusals."""

    programs: int = 0
    calls: int = 0
    raised: int = 0
    whole: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


def reason(message: str) -> str:
    """Return the kind of a refusal: its first line without names and numbers."""
    line = message.split("\n")[0].removeprefix("f runs through NumPy: ")
    line = re.sub(r"\b[a-z]+\d*\[[^\]]*\]", "ARRAY", line)
    return re.sub(r"\b[a-zA-Z]{1,3}\d+\b|'[^']*'", "NAME", re.sub(r"(?<![\w.])-?\d+(\.\d+)?", "N", line))


def tried(program: TextProgram, tally: Tally | None = None) -> str | None:
    """Return the kind of the failure of a program, None if it does what NumPy does."""
    functions = []

    def compiled(function: Any) -> Any:
        functions.append(xjit.jit(function))
        return functions[0]

    with _limited(LONGEST):
        try:
            judged = judge(program, compiled)
        except Hung:
            return "hangs"
        except Difference as error:
            return str(error) if not program.changed or is_steady(program) else None
        except Exception as error:
            return f"judge: {type(error).__name__}: {error}\n{traceback.format_exc()}"
    inner = [one for one in judged.refusals if "compiler failed" in one]
    if inner:
        return f"internal: {inner[0]}"
    if tally is not None:
        tally.programs += 1
        tally.calls += judged.calls
        tally.raised += judged.raised
        refused = [reason(one) for one in judged.refusals]
        tally.whole += not functions[0].stats().fallbacks and not refused
        tally.refusals.update(dict.fromkeys(refused, 1))
        for text in refused:
            tally.examples.setdefault(text, str(program))
    return None


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise Hung

    faulthandler.dump_traceback_later(20 * seconds, exit=True, file=sys.__stderr__)
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faulthandler.cancel_dump_traceback_later()


def kind(failure: str) -> str:
    """Return what failures of one cause have in common."""
    head = failure.split("\n")[0]
    head = re.sub(r"f\(\*arguments\(\d, \d\)\)|after the last call, of ", "", head)
    return re.sub(r"[-\d]+", "N", head)
