"""Which tests enter which functions, and how long each takes: what to run for a fault is read from this."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

Place = tuple[str, int]  # path from the root, first line of a function
Line = dict[str, Any]  # "test": its name, "seconds", "places": the functions that it enters


class Recorder:
    """Plugin of pytest: notes the functions below `root` that every test enters, in all threads of Python."""

    def __init__(self, root: Path, answer: Path) -> None:
        self.root, self.answer = f"{root}/", answer
        self._entered: set[CodeType] = set()
        self._lines: list[Line] = []

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            self._entered.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Runs a test with every call noted."""
        self._entered = set()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Writes down what has become of a test; one that fails says nothing of faults."""
        if report.when == "call" and report.passed:
            places = {(code.co_filename, code.co_firstlineno) for code in list(self._entered)}
            own = sorted((path[len(self.root) :], line) for path, line in places if path.startswith(self.root))
            self._lines.append({"test": report.nodeid, "seconds": report.duration, "places": own})

    def pytest_sessionfinish(self) -> None:
        """Leaves everything in a file."""
        self.answer.write_text(json.dumps(self._lines), encoding="utf-8")


class Chooser:
    """Plugin of pytest: runs the named tests only, in their order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._rank = {name: rank for rank, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out what was not asked for."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank), key=lambda one: self._rank[one.nodeid]
        )


@dataclass(frozen=True)
class Reach:
    """Findings of a run of tests: the seconds of each, who enters a function, who enters a file."""

    seconds: dict[str, float] = field(default_factory=dict)
    functions: dict[Place, list[str]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    def tests_for(self, path: str, line: int, order: Sequence[str], budget: float) -> list[str]:
        """The tests to run for a fault in the function at a line, for `budget` seconds at most.

        Those that enter the function come first, then those that enter its file, then the rest.
        """
        chosen: dict[str, float] = {}
        groups = (self.functions.get((path, line), ()), self.files.get(path, ()), self.seconds)
        for group in groups:
            for name in self._in_turns([one for one in group if one not in chosen], order):
                if sum(chosen.values()) + self.seconds[name] <= budget or not chosen:
                    chosen[name] = self.seconds[name]
            if len(chosen) > 1 and group is not groups[0]:
                break
        return list(chosen)

    def _in_turns(self, names: Sequence[str], order: Sequence[str]) -> list[str]:
        """One test of each file in turn, quick ones first."""
        rank = {path: number for number, path in enumerate(order)}
        by_file: dict[str, list[str]] = {}
        for name in sorted(names, key=lambda one: self.seconds[one]):
            by_file.setdefault(name.split("::")[0], []).append(name)
        turns = [
            (turn, rank[path], name)
            for path, found in by_file.items()
            if path in rank
            for turn, name in enumerate(found)
        ]
        return [name for _, _, name in sorted(turns)]


def reach_of(lines: Iterable[Line]) -> Reach:
    """The reach that a recorder has written down."""
    found = Reach()
    for line in lines:
        name = line["test"]
        found.seconds[name] = line["seconds"]
        for path, first in line["places"]:
            found.functions.setdefault((path, first), []).append(name)
        for path in sorted({path for path, _ in line["places"]}):
            found.files.setdefault(path, []).append(name)
    return found
