"""A plugin of pytest that records what every test has compiled: ``-p tools.replay.plugin --replay-folder FOLDER``.

Each process writes a file of lines of its own into the folder.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tools.replay.recorder import recording
from tools.replay.records import Record, to_line


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the folder."""
    parser.addoption("--replay-folder", type=Path, default=None, help="record what is compiled into this folder")


def pytest_configure(config: pytest.Config) -> None:
    """Listen to the compiler until the tests end."""
    folder = config.getoption("--replay-folder")
    if folder is None:
        return
    lines = (folder / f"{os.getpid()}.lines").open("w", encoding="utf-8")
    seen: set[str] = set()

    def tell(record: Record) -> None:
        # Tests set thresholds of their own: the same graph may become something else in another test.
        record = replace(record, key=f"{record.key} {record.program}")
        if record.key not in seen:
            seen.add(record.key)
            lines.write(f"{to_line(record)}\n")
            lines.flush()

    stack = ExitStack()
    stack.enter_context(lines)
    stack.enter_context(recording(tell, _running))
    config.add_cleanup(stack.close)


def _running() -> str:
    # Files of tests have names of their own: a test that moves to another folder is still the same.
    file, colons, test = os.environ.get("PYTEST_CURRENT_TEST", "tests").partition(" (")[0].partition("::")
    return f"{file.rpartition('/')[2]}{colons}{test}"
