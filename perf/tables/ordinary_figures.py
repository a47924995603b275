"""Figures of ordinary code beside its programs: steps in Python, selections of 10**7, tiles of time, retraces.

    python -m perf.tables.ordinary_figures [--keep figures.json] [steps selections unique tiles retraces]

Each group runs in a process of its own, all of its sides in turns. The results are compared with NumPy's first.
Speeds are ratios of medians, with those of minima in brackets.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from perf.measuring.bandwidth import copies
from perf.measuring.machine import cores, this_machine
from perf.measuring.timing import Call, Samples, interleave
from perf.ordinary.programs.stencils import heat_3d, jacobi_2d
from perf.programs import SEED
from perf.tables.figures import Figure, figure_table

Array = Any

STEPS = 8
LONG = 10_000_000
GRID, GRID_STEPS = 4000, 100
CUBE, CUBE_STEPS = 200, 20
FLOATS = (0.3, 1.3, 2.3, 0.7, 5.5)
LENGTHS = (50, 60, 75, 130)
BUDGET = 15.0


def with_steps(x: Array) -> Array:
    """Return an array that is changed between eight calls of a library."""
    for _ in range(STEPS):
        x = 1.5 * x + 1.0
        zlib.adler32(x)
    return x


def without_steps(x: Array) -> Array:
    """Return the same without the calls."""
    for _ in range(STEPS):
        x = 1.5 * x + 1.0
    return x


def added(x: Array, y: Array) -> Array:
    """Return a sum."""
    return x + y


def selected_mean(x: Array, mask: Array) -> Any:
    """Return the mean of the elements that a mask selects."""
    return x[mask].mean()


def selected(x: Array, mask: Array) -> Array:
    """Return the elements that a mask selects."""
    return x[mask]


def positions(x: Array, mask: Array) -> Array:
    """Return where a mask holds."""
    return np.nonzero(mask)[0]


def distinct(x: Array) -> Array:
    """Return the distinct elements in order."""
    return np.unique(x)


def powers(x: Array, sigma: float) -> Array:
    """Return a function with a power of a number that changes from call to call."""
    return np.exp(-(x**2) / (2 * sigma**2))


def prefix_sums(x: Array, n: int) -> Any:
    """Return a sum over a loop of n turns and a slice of n elements."""
    total = 0.0
    for i in range(n):
        total += x[i] * x[: i + 1].sum()
    return total + x[:n].sum()


def _speed(samples: Samples, slow: str, fast: str) -> tuple[float, str]:
    ratio = samples.ratio(slow, fast)
    times = f"{samples.median(slow) * 1e3:.3g} and {samples.median(fast) * 1e3:.3g} ms"
    return min(ratio.median, ratio.minimum), f"{ratio.median:.2f} ({ratio.minimum:.2f}), {times}"


def _same(expected: Any, got: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def steps() -> list[Figure]:
    """Return the time of a step in Python, and that of a call which is NumPy's."""
    from xjit import xjit

    x: Array = np.linspace(0.0, 1.0, 10)
    split, whole = xjit(with_steps), xjit(without_steps)
    _same(with_steps(x), split(x))
    _same(without_steps(x), whole(x))
    sides = {"split": lambda: split(x), "whole": lambda: whole(x), "library": lambda: zlib.adler32(x)}
    samples = interleave(sides, BUDGET)
    each = [
        ((find("split") - find("whole")) / STEPS - find("library")) * 1e6
        for find in (samples.median, samples.minimum)
    ]
    text = f"{each[0]:.2f} us ({each[1]:.2f}), the kernels of its pieces included"
    found = [Figure("a step in Python, of eight", "≤ 5 us", text, each[0] <= 5.0)]

    y = x.astype(np.longdouble)
    fallen = xjit(added)
    _same(added(y, y), fallen(y, y))
    samples = interleave({"NumPy": lambda: added(y, y), "xjit": lambda: fallen(y, y)}, BUDGET)
    more = [(find("xjit") - find("NumPy")) * 1e6 for find in (samples.median, samples.minimum)]
    text = f"{more[0]:.2f} us ({more[1]:.2f})"
    return [*found, Figure("a call that runs as NumPy, beyond NumPy", "≤ 1 us", text, more[0] <= 1.0)]


def selections() -> list[Figure]:
    """Return the speeds of selections of 10**7 elements by a mask that takes a third of them."""
    from xjit import xjit

    rng = np.random.default_rng(SEED)
    x = rng.standard_normal(LONG)
    mask = x > 0.43
    asked = {"x[mask].mean()": (selected_mean, 3), "np.nonzero": (positions, 2), "x[mask]": (selected, 2)}
    found = []
    for what, (function, least) in asked.items():
        compiled = xjit(function)
        _same(function(x, mask), compiled(x, mask))
        sides = {"NumPy": _bound(function, x, mask), "xjit": _bound(compiled, x, mask)}
        speed, text = _speed(interleave(sides, BUDGET), "NumPy", "xjit")
        found.append(Figure(f"{what} of 10**7", f"≥ {least} x NumPy", text, speed >= least))
    return found


def unique() -> list[Figure]:
    """Return the speeds of np.unique of 10**7 elements of several kinds."""
    from xjit import xjit

    rng = np.random.default_rng(SEED)
    kinds: dict[str, Array] = {
        "float64": rng.standard_normal(LONG),
        "int64 below 1000": rng.integers(0, 1000, LONG),
        "int32": rng.integers(0, 2**31 - 1, LONG, dtype=np.int32),
    }
    found = []
    compiled = xjit(distinct)
    for kind, x in kinds.items():
        _same(distinct(x), compiled(x))
        speed, text = _speed(
            interleave({"NumPy": _bound(distinct, x), "xjit": _bound(compiled, x)}, BUDGET), "NumPy", "xjit"
        )
        found.append(Figure(f"np.unique of 10**7, {kind}", "≥ 1 x NumPy", text, speed >= 1))
    return found


def tiles() -> list[Figure]:
    """Return the speeds of stencils over large arrays beside a copy of the array per sweep."""
    rng = np.random.default_rng(SEED)
    grid, cube = rng.random((GRID, GRID)), rng.random((CUBE, CUBE, CUBE))
    return [
        _sweeps("5-point Jacobi 4000**2, 100 steps", jacobi_2d, grid, GRID_STEPS, 2.0),
        _sweeps("heat 200**3, 20 steps", heat_3d, cube, CUBE_STEPS, 1.7),
    ]


def _sweeps(what: str, function: Callable[..., object], start: Array, count: int, least: float) -> Figure:
    """Return the speed of `count` sweeps over the best copy of the array for each."""
    from xjit import xjit

    compiled = xjit(function)
    pair, other = [start.copy(), start.copy()], [start.copy(), start.copy()]
    function(1, *pair)
    compiled(1, *other)
    _same(pair[0], other[0])
    # A step of the text is two sweeps.
    with ThreadPoolExecutor(cores()) as pool:
        sides = {**copies(start, pool), "xjit": lambda: compiled(count // 2, *other)}
        samples = interleave(sides, BUDGET)
    best = min((name for name in samples.seconds if name != "xjit"), key=samples.median)
    ratios = [count * find(best) / find("xjit") for find in (samples.median, samples.minimum)]
    sweep, copied = samples.median("xjit") / count * 1e3, samples.median(best) * 1e3
    text = f"{ratios[0]:.2f} ({ratios[1]:.2f}), {sweep:.3g} ms a sweep, {copied:.3g} ms a copy ({best})"
    return Figure(what, f"≥ {least:g} x a copy per sweep", text, min(ratios) >= least)


def retraces() -> list[Figure]:
    """Return the numbers of traces and kernels that changes of numbers cost: the first one, and all later ones."""
    from xjit import xjit

    x = np.linspace(0.0, 1.0, 200)
    by_float, by_count = xjit(powers), xjit(prefix_sums)
    traces, kernels = [], []
    for value in FLOATS:
        _same(powers(x, value), by_float(x, value))
        traces.append(by_float.stats().traces)
    for n in LENGTHS:
        _same(prefix_sums(x, n), by_count(x, n))
        kernels.append(by_count.stats().compiles + by_count.stats().cache_hits)
    return [
        _changes("traces by changes of a float", traces),
        _changes("kernels by changes of range(n), x[:n]", kernels),
    ]


def _changes(what: str, counts: Sequence[int]) -> Figure:
    first, later = counts[1] - counts[0], counts[-1] - counts[1]
    return Figure(what, "0", f"{first} by the first change, {later} by {len(counts) - 2} others", not first + later)


def _bound(function: Callable[..., object], *arguments: Array) -> Call:
    return lambda: function(*arguments)


GROUPS: dict[str, Callable[[], list[Figure]]] = {
    "steps": steps,
    "selections": selections,
    "unique": unique,
    "tiles": tiles,
    "retraces": retraces,
}


def asked_of_process(group: str) -> list[Figure]:
    """Return the figures of one group, from a process of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "perf.tables.ordinary_figures", "--group", group],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        return [Figure(group, "", f"failed: {(run.stderr.splitlines() or [''])[-1]}", False)]
    return [Figure(**row) for row in json.loads(run.stdout.splitlines()[-1])]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []])
    parser.add_argument("--group", choices=[*GROUPS], help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args(arguments)
    if options.group is not None:
        print(json.dumps([asdict(figure) for figure in GROUPS[options.group]()]))
        return
    found = [figure for group in options.groups or GROUPS for figure in asked_of_process(group)]
    print(figure_table(found))
    if options.keep is not None:
        kept = {"machine": str(this_machine()), "figures": [asdict(figure) for figure in found]}
        options.keep.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
