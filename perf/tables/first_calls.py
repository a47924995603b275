"""The first call of every program: with an empty cache folder, in a second process with a full one, and under JAX.

A process has compiled something else before its first program, so that the loading of the compiler is not counted;
`perf.tables.start` tells what that takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from perf.measuring.peers import JAX
from perf.measuring.processes import environment
from perf.measuring.timing import geometric_mean
from perf.programs import PROGRAMS, Program
from perf.tables.compile_time import first_call, new_chain

SIZE = "S"


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """Seconds of the first call of every program, by its name."""

    cold: Mapping[str, float]
    second_process: Mapping[str, float]
    jax: Mapping[str, float]


def xjit_here() -> dict[str, float]:
    """Return the seconds of first calls under xjit in this process."""
    from xjit import xjit
    from xjit.errors import FallbackWarning

    warnings.simplefilter("ignore", FallbackWarning)
    rng = np.random.default_rng(0)
    first_call(xjit, new_chain(5, 0, 1), (rng.random(1000), rng.random(1000)))
    return {program.name: first_call(xjit, program.function, program.arguments(SIZE)) for program in PROGRAMS}


def jax_here() -> dict[str, float]:
    """Return the same under JAX, on its own device arrays."""
    import jax
    import jax.numpy

    from perf.programs import Function, over_module

    jax.config.update("jax_enable_x64", True)

    def prepare(function: Function) -> Function:
        compiled = jax.jit(over_module(function, jax.numpy))
        return lambda *values: jax.block_until_ready(compiled(*values))

    def seconds(program: Program) -> float:
        arrays = tuple(jax.device_put(array) for array in program.arguments(SIZE))
        return first_call(prepare, program.function, arrays)

    first_call(prepare, new_chain(5, 0, 1), tuple(jax.device_put(np.ones(1000)) for _ in range(2)))
    return {program.name: seconds(program) for program in PROGRAMS}


def in_process(who: str, folder: str) -> dict[str, float]:
    """Return what a new process measures with a cache folder."""
    run = subprocess.run(
        [sys.executable, "-m", "perf.tables.first_calls", who],
        env=environment(folder),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure_first_calls() -> FirstCalls:
    """Measure in three processes."""
    with tempfile.TemporaryDirectory(prefix="xjit-perf-cache-") as folder:
        cold, second = in_process("xjit", folder), in_process("xjit", folder)
        return FirstCalls(cold, second, in_process("jax", folder) if JAX.installed else {})


def first_call_table(found: FirstCalls) -> str:
    """Return the table, in milliseconds."""
    lines = ["| program | cold | second process | JAX, cold |", "|---|---|---|---|"]

    def line(name: str, *seconds: float | None) -> str:
        cells = ["–" if value is None else f"{value * 1e3:.1f}" for value in seconds]
        return f"| {name} | {' | '.join(cells)} |"

    lines += [line(name, found.cold[name], found.second_process[name], found.jax.get(name)) for name in found.cold]
    means = [geometric_mean(list(row.values())) for row in (found.cold, found.second_process)]
    lines.append(line("geometric mean", *means, geometric_mean(list(found.jax.values())) if found.jax else None))
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(xjit_here() if sys.argv[1] == "xjit" else jax_here()))
