"""The project's commands; each needs nothing but Python 3.11 or newer and does its own set-up.

    python tasks.py demo    run the example on real data
    python tasks.py test    run the tests
    python tasks.py lint    run the linter, the formatter and the type checker
    python tasks.py perf    run the performance suite beside its peers (words after it go to `python -m perf`)

The first command creates a virtual environment in `.venv` (or where `--venv` says) and installs the project
into it with what the command needs; later ones find that done. Words after the command are passed on to it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OLDEST_PYTHON = (3, 11)
# Before anything that an older one would stumble over.
if sys.version_info[:2] < OLDEST_PYTHON:
    sys.exit("xjit needs Python 3.11 or newer; this is " + sys.version.split()[0])

ROOT = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Task:
    """One command: the extras it installs and the Python command lines it runs, in order."""

    extras: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]


TASKS = {
    "demo": Task(("examples",), (("examples/hillshade.py",),)),
    "test": Task(("test", "examples"), (("-m", "pytest"),)),
    "lint": Task(
        ("test",),
        (
            ("-m", "ruff", "check", "."),
            ("-m", "ruff", "format", "--check", "."),
            ("-m", "mypy"),
        ),
    ),
    "perf": Task(("perf", "peers"), (("-m", "perf"),)),
}


def environment_python(folder: Path) -> Path:
    """Return the interpreter of the virtual environment in `folder`."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint() -> str:
    """Return what an installation depends on: the project's metadata and this Python version."""
    text = (ROOT / "pyproject.toml").read_bytes() + sys.version.encode()
    return hashlib.sha256(text).hexdigest()


def installed_extras(stamp: Path) -> set[str]:
    """Return the extras that an earlier command installed from the same metadata."""
    try:
        record = json.loads(stamp.read_text())
    except (OSError, ValueError):
        return set()
    return set(record["extras"]) if record.get("fingerprint") == fingerprint() else set()


def prepare(folder: Path, extras: Sequence[str]) -> Path:
    """Make sure that `folder` holds an environment with the project and `extras`; return its interpreter."""
    python = environment_python(folder)
    stamp = folder / "xjit-installed.json"
    present = installed_extras(stamp)
    if python.exists() and present.issuperset(extras):
        return python
    if not python.exists():
        print(f"creating the virtual environment {folder}", flush=True)
        venv.EnvBuilder(with_pip=True).create(folder)
    wanted = sorted(present.union(extras))
    print(f"installing xjit[{','.join(wanted)}]", flush=True)
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--editable", f".[{','.join(wanted)}]"],
        cwd=ROOT,
        check=True,
    )
    stamp.write_text(json.dumps({"fingerprint": fingerprint(), "extras": wanted}))
    return python


def run_task(task: Task, python: Path, rest: Sequence[str]) -> int:
    """Run the command lines of `task`; all of them, so that one report shows everything that is wrong."""
    worst = 0
    for line in task.runs:
        code = subprocess.run([python, *line, *rest], cwd=ROOT, check=False).returncode
        worst = worst or code
    return worst


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, set up and run; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="python tasks.py"
    )
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="folder of the virtual environment")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="passed on to the command")
    options = parser.parse_args(arguments)
    task = TASKS[options.task]
    try:
        python = prepare(options.venv.resolve(), task.extras)
    except subprocess.CalledProcessError as problem:
        print(f"the set-up failed: {problem}", file=sys.stderr)
        return 1
    return run_task(task, python, options.rest)


if __name__ == "__main__":
    sys.exit(main())
