"""Two revisions of xjit against each other: the check for regressions.

Each revision is checked out into its own folder, installed into its own virtual environment and run in
its own process with its own cache; the processes take turns sample by sample. The programs and the timing
are those of the working tree for both, so that only the product differs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from perf.gate import ATTEMPTS
from perf.measuring.timing import Ratio, geometric_mean, ratio_of, rounds_within
from perf.programs import Program, table

ROOT = Path(__file__).resolve().parent.parent
# An entry whose whole interval lies below this has become slower.
ALLOWED_LOSS = 0.95


@dataclass(frozen=True, slots=True)
class Revision:
    """An installed revision: its name and the interpreter that has it."""

    name: str
    python: Path


class Unable(Exception):
    """A revision does not run a program compiled; the message says why."""


class Worker:
    """A process of one revision that takes samples on request."""

    def __init__(self, revision: Revision, suite: Path, cache: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(suite), "XJIT_CACHE_DIR": str(cache)}
        self.process = subprocess.Popen(
            [revision.python, "-m", "perf.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=suite,
            env=environment,
        )
        self.where = str(self._answer()["xjit"])

    def ask(self, **request: str) -> float:
        """Send one request and return the seconds of its answer. Raises `Unable` where there is none."""
        stream = self._stream(self.process.stdin)
        stream.write(json.dumps(request) + "\n")
        stream.flush()
        answer = self._answer()
        if "unable" in answer:
            raise Unable(str(answer["unable"]))
        return float(str(answer["seconds"]))

    def close(self) -> None:
        """End the process."""
        self._stream(self.process.stdin).close()
        self._stream(self.process.stdout).close()
        self.process.wait()

    def _answer(self) -> dict[str, object]:
        line = self._stream(self.process.stdout).readline()
        if not line:
            raise RuntimeError(f"the worker ended with status {self.process.wait()}")
        answer: dict[str, object] = json.loads(line)
        return answer

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        if stream is None:
            raise RuntimeError("the worker has no pipe")
        return stream


def git(*arguments: str) -> str:
    """Run git in the repository and return what it prints."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.strip()


def install(name: str, source: Path, folder: Path) -> Revision:
    """Install the tree in `source` into a new environment under `folder`."""
    print(f"installing {name}", flush=True)
    venv.EnvBuilder(with_pip=True).create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(source)], check=True)
    return Revision(name, python)


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """Check `revision` out into `folder` as a worktree, and remove it afterwards."""
    git("worktree", "add", "--detach", str(folder), revision)
    try:
        yield folder
    finally:
        git("worktree", "remove", "--force", str(folder))


def compare_program(old: Worker, new: Worker, program: Program, size: str, budget: float) -> Ratio:
    """Return how many times faster the new revision runs one program."""
    workers = (old, new)
    one_round = sum(worker.ask(do="prepare", program=program.name, size=size) for worker in workers)
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds_within(budget, one_round)):
        for who in (0, 1) if turn % 2 else (1, 0):
            seconds[who].append(workers[who].ask(do="sample"))
    return ratio_of(tuple(seconds[0]), tuple(seconds[1]))


@contextmanager
def workers(old: Revision, new: Revision, base: Path) -> Iterator[tuple[Worker, Worker]]:
    """Start a process of each revision, and end both afterwards."""
    pair = Worker(old, base / "suite", base / "old-cache"), Worker(new, base / "suite", base / "new-cache")
    try:
        yield pair
    finally:
        for worker in pair:
            worker.close()


def compare_settled(first: Callable[[], Ratio], again: Callable[[], Ratio]) -> Ratio:
    """Return a ratio; one that looks like a regression only when it does so three times.

    `again` measures in new processes: where memory happens to lie can cost a process a quarter of its speed.
    """
    ratio = first()
    for _ in range(ATTEMPTS - 1):
        if ratio.high >= ALLOWED_LOSS:
            break
        ratio = again()
    return ratio


def compare_all(old: Revision, new: Revision, base: Path, sizes: Sequence[str], budget: float) -> int:
    """Compare every program; print a line for each, and return how many have become slower."""
    worse, ratios = 0, []
    with workers(old, new, base) as pair:
        print(f"old: {old.name}, {pair[0].where}\nnew: {new.name}, {pair[1].where}")
        for program, size in table():
            if size not in sizes:
                continue

            def again(program: Program = program, size: str = size) -> Ratio:
                with workers(old, new, base) as fresh:
                    return compare_program(*fresh, program, size, budget)

            try:
                ratio = compare_settled(partial(compare_program, *pair, program, size, budget), again)
            except Unable as reason:
                print(f"{program.name:30} {size:3} not compiled by both: {reason}", flush=True)
                continue
            ratios.append(ratio.median)
            slower = ratio.high < ALLOWED_LOSS
            worse += slower
            interval = f"{ratio.median:6.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
            print(f"{program.name:30} {size:3} {interval}{'  SLOWER' if slower else ''}", flush=True)
    print(f"geometric mean {geometric_mean(ratios):.3f} (above 1: the new revision is faster)")
    return worse


def compare(revision: str, against: str | None, sizes: Sequence[str], budget: float) -> int:
    """Compare `revision` (old) with `against` (new; the working tree when None); return the exit status."""
    with tempfile.TemporaryDirectory(prefix="xjit-compare-") as name:
        base = Path(name)
        shutil.copytree(ROOT / "perf", base / "suite" / "perf", ignore=shutil.ignore_patterns("__pycache__"))
        with checked_out(revision, base / "old-tree") as tree:
            old = install(revision, tree, base / "old")
        if against is None:
            new = install("working tree", ROOT, base / "new")
        else:
            with checked_out(against, base / "new-tree") as tree:
                new = install(against, tree, base / "new")
        return 1 if compare_all(old, new, base, sizes, budget) else 0


if __name__ == "__main__":
    sys.exit("run as: python -m perf compare REVISION")
