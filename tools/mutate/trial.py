"""Runs of tests in a copy of the tree: one to see what enters what, then one for each fault."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutate.layers import Layer
from tools.mutate.mutants import Mutant
from tools.mutate.reach import Chooser, Line, Reach, Recorder, reach_of

COPIED = ("xjit", "tests", "tools", "perf", "examples", "docs", "pyproject.toml", "README.md", "tasks.py")
# What a run may take: so many times what its tests took before, and this long besides.
PATIENCE = 10.0
START = 60.0
CAUGHT, SURVIVED, TIME = "caught", "survived", "time"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one fault. `by` names the test that failed first."""

    mutant: Mutant
    verdict: str
    by: str
    tests: int
    seconds: float


class Yard:
    """A copy of a tree in which faults are tried.

    `state` keeps what is known of tests without a fault, and the kernels that they compile.
    """

    def __init__(self, tree: Path, folder: Path, state: Path, copied: Sequence[str] = COPIED) -> None:
        self.root, self.state, self.warm = folder / "tree", state, state / "warm"
        self.cache, self.log = folder / "cache", folder / "log"
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root.mkdir(parents=True)
        for name in copied:
            source = tree / name
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, self.root / name)
        # Compiled files are compared by content: a fault may have the size and the time of what it replaces.
        compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
        subprocess.run(compiling, cwd=self.root, check=True)

    def record(self, files: Sequence[str]) -> Reach:
        """Record what the tests of some files enter when nothing is wrong; of every text of a file it is found
        once.
        """
        lines: list[Line] = []
        for file in files:
            answer = self.state / f"{Path(file).stem}-{self._digest(file)}.json"
            if not answer.exists():
                self._run([file], self.warm, functools.partial(self._recorders, answer), None)
            if not answer.exists():
                raise RuntimeError(self.log.read_text(encoding="utf-8", errors="replace"))
            lines += json.loads(answer.read_text(encoding="utf-8"))
        return reach_of(lines)

    def _recorders(self, answer: Path) -> list[Any]:
        return [Recorder(self.root, answer)]

    def _digest(self, file: str) -> str:
        """Names the text of a test file and of the code under test."""
        state = hashlib.sha256((self.root / file).read_bytes())
        for path in sorted((self.root / "xjit").rglob("*.py")):
            state.update(path.read_bytes())
        return state.hexdigest()[:16]

    def attempt(self, mutant: Mutant, layer: Layer, reach: Reach, budget: float) -> Outcome:
        """Puts a fault in, runs tests until one fails, and takes it out."""
        began = time.monotonic()
        path = self.root / mutant.path
        plain = path.read_bytes()
        order = layer.test_files(self.root)
        names = reach.tests_for(mutant.path, mutant.within, order, budget)
        limit = START + PATIENCE * sum(reach.seconds[name] for name in names)
        shutil.rmtree(self.cache, ignore_errors=True)
        if self.warm.exists() and not layer.cold:
            shutil.copytree(self.warm, self.cache)
        files = dict.fromkeys(name.split("::")[0] for name in names)
        try:
            path.write_bytes(mutant.applied(plain))
            code = self._run(["-x", *files], self.cache, lambda: [Chooser(names)], limit)
        finally:
            path.write_bytes(plain)
        verdict = {None: TIME, 0: SURVIVED, 5: SURVIVED}.get(code, CAUGHT)
        by = self._failed() if verdict == CAUGHT else ""
        return Outcome(mutant, verdict, by, len(names), round(time.monotonic() - began, 1))

    def _failed(self) -> str:
        """The first test that failed, or how else the run ended."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return named[0].split(" - ")[0].split(" ", 1)[1] if named else (lines[-1] if lines else "no word")

    def _run(
        self, words: Sequence[str], cache: Path, plugins: Callable[[], list[Any]], limit: float | None
    ) -> int | None:
        """Runs pytest in a child; its exit status, or None if it took too long.

        The child is a fork, which has everything imported but the code under test.
        """
        child = os.fork()
        if child == 0:
            _become(self.root, self.log)
            options = ["-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "--no-header", f"--rootdir={self.root}"]
            _test([*options, *_cache_option(self.root, cache), *words], plugins())
        return _wait(child, limit)


def _cache_option(root: Path, cache: Path) -> list[str]:
    conftest = root / "tests" / "conftest.py"
    known = conftest.exists() and "--xjit-cache-dir" in conftest.read_text(encoding="utf-8")
    return [f"--xjit-cache-dir={cache}"] if known else []


def _become(root: Path, log: Path) -> None:
    """Turns a fork into a process of its own group that works in the copy and writes to a file."""
    os.setsid()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.chdir(root)
    sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in ("", os.getcwd()))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("xjit", "tools", "tests")]:
        del sys.modules[name]
    for name in [name for name in os.environ if name.startswith("XJIT_")]:
        del os.environ[name]
    os.environ["PYTHONPATH"] = str(root)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True


def _test(words: list[str], plugins: list[Any]) -> None:
    """Runs pytest and ends the process, whatever happens."""
    import pytest

    code = 70
    try:
        code = int(pytest.main(words, plugins=plugins))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, limit: float | None) -> int | None:
    """The exit status of a child; None if it was killed, with all its children, for being slow."""
    end = None if limit is None else time.monotonic() + limit
    while True:
        pid, status = os.waitpid(child, 0 if end is None else os.WNOHANG)
        if pid:
            _kill_group(child)  # what the tests may have left
            return os.waitstatus_to_exitcode(status)
        if end is not None and time.monotonic() > end:
            _kill_group(child)
            os.waitpid(child, 0)
            return None
        time.sleep(0.05)


def _kill_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
