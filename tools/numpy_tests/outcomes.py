"""Outcomes of every test of a run, in a file: a run may crash, and is then started again behind that test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

PASSED, FAILED, SKIPPED, CRASHED = "passed", "failed", "skipped", "crashed"
# Restarts behind a test that ended the process.
ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one test: a word, and the last line of the error, with the whole report."""

    word: str
    message: str = ""
    report: str = ""


class TooSlow(BaseException):
    """A test took longer than it may."""


class Notes:
    """Plugin of pytest: writes a line when a test begins and when it ends; leaves out what has one already."""

    def __init__(self, file: Path, limit: float) -> None:
        self._file, self._limit = file, limit
        self._done = set(read(file)) if file.exists() else set()

    def _write(self, **line: Any) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out the tests that an earlier attempt has judged."""
        items[:] = [item for item in items if item.nodeid not in self._done]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Runs a test for as long as it may take."""
        with _alarm(self._limit):
            return (yield)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Notes that a test begins: nothing more will be known of it if the process ends."""
        self._write(test=nodeid, word=CRASHED)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes how a test has ended; one that fails at the end has failed."""
        if report.when == "call" or not report.passed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash is not None else str(report.longrepr or "")
            self._write(
                test=report.nodeid, word=report.outcome, message=message[:2000], report=str(report.longrepr)[-6000:]
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes a file that cannot be imported as a test that fails."""
        if report.failed:
            text = str(report.longrepr)
            self._write(test=report.nodeid, word=FAILED, message=text[-500:], report=text)


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"the test took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read(file: Path) -> dict[str, Outcome]:
    """The last word on every test; a test that fails in two places keeps the first message."""
    found: dict[str, Outcome] = {}
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        name = line.pop("test")
        if name not in found or found[name].word != FAILED:
            found[name] = Outcome(**line)
    return found


def run(command: Sequence[str], file: Path, folder: Path, environment: Mapping[str, str], limit: float) -> None:
    """Runs a command that takes notes in `file`, again behind every test that ends the process or hangs in it."""
    for _ in range(ATTEMPTS):
        before = len(read(file)) if file.exists() else 0
        with (folder / "log").open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, *command],
                cwd=folder,
                env={**os.environ, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code = _wait(child, file, limit)
        if code in (0, 1, 5):  # all have passed, some have failed, none are left
            return
        if not file.exists() or len(read(file)) == before:
            raise RuntimeError((folder / "log").read_text(encoding="utf-8", errors="replace")[-3000:])


def _wait(child: subprocess.Popen[bytes], file: Path, limit: float) -> int | None:
    """The exit status; None if nothing was written for a while, which is what a hanging call looks like."""
    size, since = -1, time.monotonic()
    while child.poll() is None:
        now = file.stat().st_size if file.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > 2 * limit:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return None
        time.sleep(0.1)
    return child.returncode
