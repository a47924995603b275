"""The time of a first call in a running process: tracing, fusing, compiling, loading, running.

Every function is new to the process and to the cache folder, which is made for the purpose. The process has
compiled something else before, so that loading the compiler is not counted (that is told apart).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perf.measuring.peers import JAX
from perf.measuring.processes import environment
from perf.programs import Function

COUNTS = (10, 200, 500)
REPEATS = 7
CHEAP = ("v + y", "v * x", "v - 0.3", "np.maximum(v, x)", "v * 0.9", "x - v", "np.minimum(v, 1.5)")
COSTLY = ("np.sin(v)", "np.exp(-v)", "np.tanh(v)")
MIXES = {"arithmetic": 0, "every tenth transcendental": 10}


@dataclass(frozen=True, slots=True)
class CompileTimes:
    """Seconds of first calls, medians, by mix and number of operations."""

    xjit: Mapping[str, Mapping[int, float]]
    jax: Mapping[str, Mapping[int, float]]
    first_in_process: float


def new_chain(count: int, costly_every: int, seed: int) -> Function:
    """Return a new function of about `count` operations in a row, different for every seed.

    Values stay near 1, and no two neighbours are the same operation, so that nothing can be simplified away.
    """
    rng = np.random.default_rng([seed, count, costly_every])
    lines, last = ["def chain(x, y):", "    v = x * y"], ""
    for step in range(1, count):
        table = COSTLY if costly_every and step % costly_every == costly_every - 1 else CHEAP
        choices = [text for text in table if text != last]
        last = choices[int(rng.integers(len(choices)))]
        lines.append(f"    v = {last}")
    lines.append("    return v")
    space: dict[str, Any] = {"np": np}
    exec("\n".join(lines), space)
    function: Function = space["chain"]
    return function


def first_call(prepare: Callable[[Function], Function], function: Function, arrays: tuple[Any, ...]) -> float:
    """Return the seconds of decorating and the first call, after checking nothing was left for later."""
    begin = time.perf_counter()
    prepare(function)(*arrays)
    return time.perf_counter() - begin


def medians(prepare: Callable[[Function], Function], arrays: tuple[Any, ...]) -> dict[str, dict[int, float]]:
    """Return the median first call of each mix and count."""
    return {
        mix: {
            count: statistics.median(
                first_call(prepare, new_chain(count, every, seed), arrays) for seed in range(REPEATS)
            )
            for count in COUNTS
        }
        for mix, every in MIXES.items()
    }


def verify(prepare: Callable[[Function], Function], arrays: tuple[Any, ...]) -> None:
    """Check a chain of each count against NumPy: equal bits for arithmetic."""
    for count in COUNTS:
        function = new_chain(count, 0, REPEATS)
        if prepare(function)(*arrays).tobytes() != function(*arrays).tobytes():
            raise AssertionError(f"a chain of {count} operations differs from NumPy")


def work() -> dict[str, Any]:
    """Measure in this process, whose cache folder must be empty."""
    from xjit import xjit

    rng = np.random.default_rng(0)
    arrays = rng.uniform(0.5, 1.0, 1000), rng.uniform(0.5, 1.0, 1000)
    first = first_call(xjit, new_chain(5, 0, -1 % 2**32), arrays)
    verify(xjit, arrays)
    result: dict[str, Any] = {"first": first, "xjit": medians(xjit, arrays), "jax": {}}
    if JAX.installed:
        result["jax"] = jax_medians(arrays)
    return result


def jax_medians(arrays: tuple[Any, ...]) -> dict[str, dict[int, float]]:
    """Return the same for JAX, on its own device arrays."""
    import jax
    import jax.numpy

    from perf.programs import over_module

    jax.config.update("jax_enable_x64", True)

    def prepare(function: Function) -> Function:
        compiled = jax.jit(over_module(function, jax.numpy))
        return lambda *values: jax.block_until_ready(compiled(*values))

    on_device = tuple(jax.device_put(array) for array in arrays)
    first_call(prepare, new_chain(5, 0, 1), on_device)
    return medians(prepare, on_device)


def measure_compile_time() -> CompileTimes:
    """Measure in a fresh process with a fresh cache folder."""
    with tempfile.TemporaryDirectory(prefix="xjit-perf-cache-") as folder:
        run = subprocess.run(
            [sys.executable, "-m", "perf.tables.compile_time"],
            env=environment(folder),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    result = json.loads(run.stdout.splitlines()[-1])

    def table(rows: dict[str, dict[str, float]]) -> dict[str, dict[int, float]]:
        return {mix: {int(count): value for count, value in row.items()} for mix, row in rows.items()}

    return CompileTimes(table(result["xjit"]), table(result["jax"]), result["first"])


if __name__ == "__main__":
    print(json.dumps(work()))
