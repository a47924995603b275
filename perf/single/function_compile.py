"""Time that the use of one function adds to a cold compile.

Every function gets a new process and an empty cache folder, so that nothing of it has been compiled before. The
process compiles arithmetic first, so that loading the compiler is not counted; then kernels that differ in nothing
but the function.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from perf.measuring.processes import environment
from perf.programs import Function
from perf.single.function_table import DTYPES, ROWS, Row
from perf.tables.compile_time import first_call, new_chain

PROCESSES = 5
ARITHMETIC = 7
WHEN = ("cold", "again")
"""The first kernel with a function also compiles the function itself, which later ones find done."""


def kernel(row: Row | None, number: int) -> Function:
    """Return a new function, with the function of the row in it or without; the number makes it new."""
    from scipy import special

    names = ["x", "y"][: 1 if row is None else len(row.ranges)]
    inner = "x" if row is None else f"{row.label}({', '.join(names)})"
    space: dict[str, Any] = {"np": np, "special": special}
    exec(f"def call({', '.join(names)}):\n    return {inner} * {1.5 + number} + {0.25 + number}\n", space)
    function: Function = space["call"]
    return function


def added_here(row: Row) -> dict[str, float]:
    """Return the seconds that the function adds in this process, by element type and turn."""
    from xjit import xjit

    rng = np.random.default_rng(0)
    warm = rng.uniform(0.5, 1.0, 1000), rng.uniform(0.5, 1.0, 1000)
    first_call(xjit, new_chain(5, 0, 1), warm)
    found = {}
    for kind, dtype in DTYPES.items():
        arrays = tuple(rng.uniform(low, high, 1000).astype(dtype) for low, high in row.ranges)
        plain = [first_call(xjit, kernel(None, number), arrays[:1]) for number in range(ARITHMETIC)]
        for turn, when in enumerate(WHEN):
            found[f"{kind} {when}"] = first_call(xjit, kernel(row, turn), arrays) - statistics.median(plain)
    return found


def added(row: Row, processes: int = PROCESSES) -> dict[str, float]:
    """Return the median over several processes, each with an empty cache folder."""
    runs = []
    for _ in range(processes):
        with tempfile.TemporaryDirectory(prefix="xjit-perf-cache-") as folder:
            run = subprocess.run(
                [sys.executable, "-m", "perf.single.function_compile", row.label],
                env=environment(folder),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        runs.append(json.loads(run.stdout.splitlines()[-1]))
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


if __name__ == "__main__":
    print(json.dumps(added_here(next(row for row in ROWS if row.label == sys.argv[1]))))
