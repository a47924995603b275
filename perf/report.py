"""Measure everything and write the table, with the machine and the date."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from perf.bandwidth import measure_bandwidth
from perf.compile_time import measure_compile_time
from perf.figures import (
    Figure,
    bandwidth_figure,
    compile_figures,
    mean_figures,
    overhead_figures,
    shape_figures,
)
from perf.gate import settled, shortfalls
from perf.machine import this_machine
from perf.measure import Entry, measure
from perf.overhead import measure_overhead
from perf.peers import JAX, NUMPY, XJIT, Runner, installed
from perf.programs import Program, table
from perf.shapes import measure_shapes
from perf.start import measure_start

HEAD = """# Performance

Made by `python -m perf report` on {date}.

Machine: {machine}.{load}

All candidates take turns in one process, on the same inputs, with their results checked against NumPy
first, and each allocates its result in every call. JAX is jitted and works on its own device arrays.
Times are medians in milliseconds, with the minimum in brackets; a ratio above 1 means that xjit is
faster. The ratio over NumPy has its 95 % bootstrap interval; the ratio over JAX has the ratio of minima
in brackets, because the thread pools of neighbours inflate medians. An entry that misses a threshold is measured
up to twice more; the last measurement stands.

Sizes: S about 10³ elements; M with all arrays in a 1 MiB second-level cache; L the usual size of such a program;
XL 10⁷ elements.
"""


def milliseconds(entry: Entry, runner: Runner) -> str:
    """Return a cell with a median and a minimum."""
    if not entry.has(runner):
        return "wrong result" if "differs" in entry.left_out.get(runner.name, "") else "–"
    samples = entry.samples
    return f"{samples.median(runner.name) * 1e3:.4g} ({samples.minimum(runner.name) * 1e3:.4g})"


def row(entry: Entry, runners: Sequence[Runner]) -> str:
    """Return one line of the table."""
    cells = [entry.program.name, f"{entry.size} {'×'.join(map(str, entry.program.sizes[entry.size]))}"]
    cells += [milliseconds(entry, runner) for runner in runners]
    over_numpy = entry.speedup(XJIT, NUMPY)
    cells.append(f"{over_numpy.median:.2f} [{over_numpy.low:.2f}, {over_numpy.high:.2f}]")
    if JAX in runners:
        over_jax = entry.speedup(XJIT, JAX)
        cells.append(f"{over_jax.median:.2f} ({over_jax.minimum:.2f})")
    return f"| {' | '.join(cells)} |"


def entry_table(entries: Sequence[Entry], runners: Sequence[Runner]) -> str:
    """Return the table of all entries."""
    titles = ["program", "size", *(runner.name for runner in runners), "over NumPy"]
    titles += ["over JAX"] if JAX in runners else []
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    return "\n".join(lines + [row(entry, runners) for entry in entries])


def figure_table(figures: Sequence[Figure]) -> str:
    """Return the table of figures."""
    lines = ["| figure | asked | reached | met |", "|---|---|---|---|"]
    lines += [f"| {f.what} | {f.asked} | {f.reached} | {'yes' if f.met else '**no**'} |" for f in figures]
    return "\n".join(lines)


def missed(entries: Sequence[Entry]) -> str:
    """Return the entries below their thresholds, in words."""
    lines = [f"* {e.program.name}, {e.size}: {text}" for e in entries for text in shortfalls(e)]
    return "\n".join(lines) if lines else "Every entry keeps its thresholds."


def measured(program: Program, size: str, runners: Sequence[Runner], budget: float) -> Entry:
    """Measure one entry; one that misses a threshold, up to three times."""
    return settled(lambda: measure(program, size, runners, budget))


def measure_entries(budget: float) -> list[Entry]:
    """Measure every program at every size, telling how far it is."""
    runners, found = installed(), []
    for program, size in table():
        found.append(measured(program, size, runners, budget))
        print(row(found[-1], runners), flush=True)
    return found


def all_figures(entries: Sequence[Entry]) -> list[Figure]:
    """Measure the figures that are no entries, and return all."""
    found = mean_figures(entries) + overhead_figures(measure_overhead())
    found += [bandwidth_figure(measure_bandwidth())]
    return found + compile_figures(measure_compile_time()) + shape_figures(measure_shapes())


def start_text() -> str:
    """Return what a new process waits for, in words."""
    start = measure_start()
    return (
        f"\nA new process, counted from after `import numpy`: `import xjit` takes {start.imported * 1e3:.0f} ms; the "
        f"first result (softmax of rows) is there after {start.cold:.2f} s with an empty cache folder and after "
        f"{start.warm:.2f} s with its kernel on disk (fastest of five each)."
    )


def load_text() -> str:
    """Return how busy the machine was before the measurements, in words; empty where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f" Load average when the measurements began, without them: {os.getloadavg()[0]:.1f}."


def write_report(output: Path, budget: float) -> None:
    """Measure everything and write the report to `output`; `budget` is seconds per entry."""
    load = load_text()
    entries = measure_entries(budget)
    head = HEAD.format(date=datetime.date.today().isoformat(), machine=this_machine(), load=load)
    parts = [
        head,
        "## Figures\n",
        figure_table(all_figures(entries)),
        start_text(),
        "\n## Entries below a threshold\n",
        missed(entries),
        "\n## All entries\n",
        entry_table(entries, installed()),
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(parts) + "\n")
    print(f"written: {output}")
