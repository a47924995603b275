"""Measure everything and write the page, with the machine and the date."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from perf.measuring.bandwidth import measure_bandwidth
from perf.measuring.machine import this_machine
from perf.measuring.measure import Entry
from perf.measuring.peers import installed
from perf.measuring.results import store
from perf.plot import draw, drawable
from perf.tables.compile_time import measure_compile_time
from perf.tables.copying import share_figures, share_table, shares
from perf.tables.entries import entry_table, left_out_text, measure_entries, missed
from perf.tables.figures import (
    Figure,
    bandwidth_figure,
    compile_figures,
    figure_table,
    mean_figures,
    overhead_figures,
    shape_figures,
)
from perf.tables.first_calls import first_call_table, measure_first_calls
from perf.tables.memory import measure_memory, memory_figures, memory_table
from perf.tables.overhead import measure_overhead, overhead_table
from perf.tables.reductions import measure_reductions, reduction_figures, reduction_table
from perf.tables.rest import rest_text
from perf.tables.shapes import measure_shapes
from perf.tables.start import measure_start

HEAD = """# Performance

Made by `python -m perf report` on {date}.

Machine: {machine}.{load}

All candidates take turns in one process, on the same inputs, with their results checked against NumPy
first, and each allocates its result in every call. Before every turn, whoever's it is, come a rest until the threads
of all pools sleep, as those of OpenBLAS and OpenMP go on spinning after a call, and an untimed call.
JAX is jitted and works on its own device arrays, torch.compile on its own tensors; the loops are written by hand and
compiled by Numba for all cores.
Times are medians in milliseconds, with the minimum in brackets; a ratio above 1 means that xjit is
faster. The ratio over NumPy has its 95 % bootstrap interval; other ratios have the ratio of minima
in brackets, because what else the machine does inflates medians. An entry that misses a threshold is measured
up to twice more; the last measurement stands.

Sizes: S about 10³ elements; M with all arrays in a 1 MiB second-level cache; L the usual size of such a program, for
those bound by memory 10⁷ elements or more; XL 10⁷ elements.
"""
COPYING = """Bytes that have to move (all inputs and outputs once) over the time, at the largest size of each program,
beside the best way of copying arrays of {mebibytes} MiB ({best}: {speed:.1f} GB/s).
"""
REDUCTIONS = """Float64, on one thread: milliseconds under xjit, and how many times faster than NumPy (medians or
minima, whichever is better); the last column is the slower of minimum and maximum over the sum.
"""
FIRST_CALLS = """Milliseconds of the first call at size S in a process that has compiled before: cold with an empty
cache folder; in a second process that finds the kernels on disk; and JAX's.
"""
REST = """GELU with a bias, size L, used for a while; then a rest of 0.12 s and ten calls. Rounds in which other
processes took more than a twentieth of a processor are left out.
"""
MEMORY = """At the largest size of each program: what the plan moves, what any program has to, and the resident memory
at the peak of a call above that before it, results included, with nothing held from earlier calls.
"""


def start_text() -> str:
    """Return what a new process waits for, in words."""
    start = measure_start()
    return (
        f"A new process, counted from after `import numpy`: `import xjit` takes {start.imported * 1e3:.0f} ms; the "
        f"first result (softmax of rows) is there after {start.cold:.2f} s with an empty cache folder and after "
        f"{start.warm:.2f} s with its kernel on disk (fastest of five each)."
    )


def load_text() -> str:
    """Return how busy the machine was before the measurements, in words; empty where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f" Load average when the measurements began, without them: {os.getloadavg()[0]:.1f}."


def sections(entries: Sequence[Entry], budget: float) -> tuple[list[Figure], list[tuple[str, str]]]:
    """Measure what is no entry; return all figures, and title and text of every section."""
    overhead, bandwidth = measure_overhead(), measure_bandwidth()
    copied = shares(entries, bandwidth)
    reductions, memory = measure_reductions(budget), measure_memory()
    compiles, first_calls, shapes = measure_compile_time(), measure_first_calls(), measure_shapes()
    figures = [
        *mean_figures(entries),
        *overhead_figures(overhead),
        bandwidth_figure(bandwidth),
        *share_figures(copied),
        *memory_figures(memory),
        *reduction_figures(reductions),
        *compile_figures(compiles),
        *shape_figures(shapes),
    ]
    best, mebibytes = bandwidth.best_copy, bandwidth.array_bytes >> 20
    copying = COPYING.format(mebibytes=mebibytes, best=best, speed=bandwidth.medians[best] / 1e9)
    return figures, [
        ("Entries below a threshold", missed(entries)),
        ("All entries", f"{entry_table(entries, installed())}\n\n{left_out_text(entries)}"),
        ("Programs bound by memory", f"{copying}\n{share_table(copied)}"),
        ("Bytes and memory", f"{MEMORY}\n{memory_table(memory)}"),
        ("Reductions", f"{REDUCTIONS}\n{reduction_table(reductions)}"),
        ("First calls", f"{FIRST_CALLS}\n{first_call_table(first_calls)}"),
        ("Calls after a rest", f"{REST}\n{rest_text()}"),
        ("A new process", start_text()),
        ("One small call", overhead_table(overhead)),
    ]


def write_report(output: Path, budget: float) -> None:
    """Measure everything and write the report to `output`; `budget` is seconds per entry.

    Beside it go the times as JSON and, where matplotlib is installed, their plot.
    """
    load = load_text()
    entries = measure_entries(budget)
    date, machine = datetime.date.today().isoformat(), this_machine()
    figures, parts = sections(entries, budget)
    text = [HEAD.format(date=date, machine=machine, load=load), f"## Figures\n\n{figure_table(figures)}"]
    output.parent.mkdir(parents=True, exist_ok=True)
    results, picture = output.with_suffix(".json"), output.with_suffix(".svg")
    store(results, entries, date, str(machine))
    if drawable():
        draw(results, picture)
        text.append(f"![Times over NumPy's]({picture.name})")
    text += [f"## {title}\n\n{part}" for title, part in parts]
    output.write_text("\n\n".join(text).replace("\n\n\n", "\n\n") + "\n")
    print(f"written: {output}")
