"""The programs that are recorded without running any: those of ``perf/`` at every size, and of the golden texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import xjit
from perf.programs import table
from tools.replay.recorder import recording
from tools.replay.records import Record


def programs() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield (name, function, arguments)."""
    for program, size in table():
        yield f"perf {program.name} {size}", program.function, program.arguments(size)
    from tests.codegen import test_golden

    for name, (function, arguments) in test_golden.PROGRAMS.items():
        yield f"golden {name}", function, arguments


def records() -> list[Record]:
    """Return the records of all of them; nothing is compiled."""
    found: list[Record] = []
    name = ""
    with recording(found.append, lambda: name):
        for name, function, arguments in programs():
            try:
                xjit.jit(function).source(*arguments)
            except xjit.XjitError as error:
                # What cannot be captured has no kernels, and that is worth knowing too.
                found.append(Record(f"refused {name}", name, (type(error).__name__,), (), ()))
    return found
