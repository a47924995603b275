"""Wait of a new process for its first result, with an empty cache folder and with a full one.

Counted from after `import numpy`: importing xjit, tracing, compiling or loading, running.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass

from perf.measuring.processes import environment

CODE = """
import time
import numpy as np
x = np.linspace(0.0, 1.0, 1000).reshape(10, 100)
begin = time.perf_counter()
from xjit import xjit
loaded = time.perf_counter()
def f(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
xjit(f)(x)
print(loaded - begin, time.perf_counter() - begin)
"""
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from after `import numpy`: of `import xjit`, and to the first result without and with a cache."""

    imported: float
    cold: float
    warm: float


def one_process(folder: str) -> tuple[float, float]:
    """Return the seconds of the import and to the first result, of one new process."""
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=environment(folder), stdout=subprocess.PIPE, text=True, check=True
    )
    imported, result = map(float, run.stdout.split())
    return imported, result


def measure_start() -> Start:
    """Return the fastest of several processes of each kind."""
    cold, warm = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(prefix="xjit-perf-cache-") as folder:
            cold.append(one_process(folder))
            warm.append(one_process(folder))
    return Start(
        min(imported for imported, _ in cold + warm),
        min(result for _, result in cold),
        min(result for _, result in warm),
    )
