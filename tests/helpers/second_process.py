"""Programs in processes of their own that share a cache: how the first call of a second process goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(folder: Path, cache: Path, *words: str, text: str, **environment: str) -> tuple[str, int]:
    """Runs the program in a process of its own; how its first call went, and how many modules it has loaded."""
    file = folder / "program.py"
    file.write_text(text)
    cache.mkdir(mode=0o700, exist_ok=True)
    settings = {"XJIT_CACHE_DIR": str(cache), "XJIT_STRICT": "1", **environment}
    command = [sys.executable, "-W", "error", str(file), *words]
    made = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)
    assert made.returncode == 0, made.stderr
    how, modules = made.stdout.split()
    return how, int(modules)
