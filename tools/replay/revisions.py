"""Trees of the project by name of a revision: checked out, recorded with their own tools, asked for machine code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder with the project in it; the interpreter that runs this serves all of them."""

    folder: Path
    cache: Path

    def run(self, words: Sequence[str], given: str | None = None) -> str:
        """Run a module of the tree and return what it prints."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "XJIT_CACHE_DIR": str(self.cache)}
        command = [sys.executable, "-P", "-m", *words]
        run = subprocess.run(
            command, cwd=self.folder, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True
        )
        return run.stdout

    def record(self, file: Path) -> None:
        """Record the programs of the tree."""
        self.run(["tools.replay", "record", str(file)])

    def objects(self, texts: Sequence[str]) -> Mapping[str, str]:
        """Return digests of the machine code of texts."""
        if not texts:
            return {}
        found: dict[str, str] = json.loads(self.run(["tools.replay.objects"], json.dumps(texts)))
        return found


@contextmanager
def tree(revision: str | None) -> Iterator[Tree]:
    """Check a revision out for a while; None is the working tree."""
    with tempfile.TemporaryDirectory(prefix="xjit-replay-") as name:
        cache = Path(name) / "cache"
        cache.mkdir(mode=0o700)
        if revision is None:
            yield Tree(ROOT, cache)
            return
        folder = Path(name) / "tree"
        _git("worktree", "add", "--detach", str(folder), revision)
        try:
            yield Tree(folder, cache)
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
