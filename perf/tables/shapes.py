"""Number of kernels that are compiled for many shapes of one rank and dtype."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import numpy as np

from perf.measuring.processes import environment
from perf.programs import SEED, Function
from perf.programs.elementwise import hypot
from perf.programs.rows import logsumexp

SHAPES = 200
LONGEST = 512
FUNCTIONS: dict[str, tuple[Function, int]] = {"elementwise, two arrays": (hypot, 2), "row reductions": (logsumexp, 1)}


def compiles_here(name: str) -> int:
    """Return the number of compiles of one function over the random shapes, checking every result."""
    from xjit import xjit

    function, count = FUNCTIONS[name]
    compiled = xjit(function)
    rng = np.random.default_rng(SEED)
    for _ in range(SHAPES):
        shape = tuple(int(extent) for extent in rng.integers(1, LONGEST + 1, 2))
        arrays = [rng.standard_normal(shape) for _ in range(count)]
        np.testing.assert_allclose(compiled(*arrays), function(*arrays), rtol=1e-13, atol=1e-13)
    return int(compiled.stats().compiles)


def measure_shapes() -> dict[str, int]:
    """Return the number of compiles of each function, each in a fresh process with a fresh cache folder."""
    found = {}
    for name in FUNCTIONS:
        with tempfile.TemporaryDirectory(prefix="xjit-perf-cache-") as folder:
            run = subprocess.run(
                [sys.executable, "-m", "perf.tables.shapes", name],
                env=environment(folder),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        found[name] = int(run.stdout.split()[-1])
    return found


if __name__ == "__main__":
    print(compiles_here(sys.argv[1]))
