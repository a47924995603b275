"""Scripts that run in a process of their own, with a limit on time: they fork, take signals, or might hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Ten times what the slowest of them needs.
SECONDS = 120

BEGINNING = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # forks are the point here
import numpy as np
from xjit import xjit
x = np.linspace(0.0, 1.0, 50)

def in_child(check):
    child = os.fork()
    if child == 0:
        try:
            check()
        except BaseException as error:
            print(f"child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.waitstatus_to_exitcode(status) == 0
"""


def run_script(script: str, folder: Path, *, strict: bool = True) -> None:
    """Runs a script after the common beginning, with a cache of its own; it has to end well."""
    environment = os.environ | {"XJIT_CACHE_DIR": str(folder), "XJIT_STRICT": str(int(strict))}
    command = [sys.executable, "-c", BEGINNING + script]
    try:
        ended = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"the script hangs: {error.stdout!r} {error.stderr!r}") from None
    assert ended.returncode == 0, ended.stderr
