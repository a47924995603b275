"""The command line: `python -m perf COMMAND`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from perf.compare import compare
from perf.measuring.bandwidth import measure_bandwidth
from perf.plot import draw
from perf.report import start_text, write_report
from perf.single.function_report import write_page
from perf.tables.compile_time import measure_compile_time
from perf.tables.entries import measure_entries, missed
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
from perf.tables.reductions import measure_reductions, reduction_figures
from perf.tables.rest import rest_text
from perf.tables.shapes import measure_shapes
from perf.tables.vector_width import measure_widths, width_text

ROOT = Path(__file__).resolve().parent.parent


def show(figures: Sequence[Figure]) -> int:
    """Print figures; return 1 when one is missed."""
    print(figure_table(figures))
    return 0 if all(figure.met for figure in figures) else 1


def run_bandwidth() -> int:
    """Measure the copy bandwidth and the chain, and print all of it."""
    bandwidth = measure_bandwidth()
    for name, value in bandwidth.medians.items():
        print(f"{name:30} {value / 1e9:7.1f} GB/s, at best {bandwidth.minima[name] / 1e9:7.1f}")
    return show([bandwidth_figure(bandwidth)])


def run_overhead() -> int:
    """Measure one small call, and print all of it."""
    overhead = measure_overhead()
    print(overhead_table(overhead))
    return show(overhead_figures(overhead))


def run_compile_time() -> int:
    """Measure first calls, and print all of it."""
    times = measure_compile_time()
    print(f"first function of a process, the compiler's loading included: {times.first_in_process:.3f} s")
    return show(compile_figures(times))


def run_programs(budget: float, sizes: Sequence[str], only: Sequence[str]) -> int:
    """Measure entries, print what is below a threshold, and the geometric means."""
    entries = measure_entries(budget, sizes, only)
    print(missed(entries))
    return show(mean_figures(entries))


def run_memory() -> int:
    """Measure bytes and memory, and print all of it."""
    found = measure_memory()
    print(memory_table(found))
    return show(memory_figures(found))


def run_first_calls() -> int:
    """Measure the first call of every program, and print all of it."""
    print(first_call_table(measure_first_calls()))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m perf", description="the performance suite of xjit")
    commands = top.add_subparsers(dest="command")
    report = commands.add_parser("report", help="measure everything and write the table")
    report.add_argument("--output", type=Path, default=ROOT / "docs" / "performance.md")
    programs = commands.add_parser("programs", help="measure the programs only and print them (the default)")
    programs.add_argument("--sizes", nargs="+", default=[], help="sizes, such as S L; all when not given")
    programs.add_argument("--only", nargs="+", default=[], help="parts of the names of programs")
    reductions = commands.add_parser("reductions", help="reductions over every axis, on one thread")
    for command in (report, programs, reductions):
        command.add_argument("--budget", type=float, default=0.6, help="seconds per program and size")
    functions = commands.add_parser("functions", help="measure single functions and chains of them, write their page")
    functions.add_argument("--output", type=Path, default=ROOT / "docs" / "function-speed", help="folder of pages")
    functions.add_argument("--budget", type=float, default=1.0, help="seconds per entry")
    functions.add_argument("--only", nargs="+", default=[], help="names of functions, such as exp erf")
    versus = commands.add_parser("compare", help="compare an older revision with the working tree")
    versus.add_argument("revision", help="the older revision, as git names it")
    versus.add_argument("--against", help="the newer revision; the working tree when not given")
    versus.add_argument("--sizes", nargs="+", default=["S", "M", "L"])
    versus.add_argument("--budget", type=float, default=2.0, help="seconds per program and size")
    for name, text in (
        ("overhead", "the cost of one small call"),
        ("bandwidth", "copy bandwidth, and what a chain of large arrays reaches of it"),
        ("compile-time", "first calls in a running process"),
        ("vectors", "vectors of 512 bits against 256, for XJIT_VECTOR_BITS"),
        ("rest", "calls that follow a rest, over those in steady use"),
        ("start", "what a new process waits for"),
        ("shapes", "compiles for many random shapes"),
        ("first-calls", "the first call of every program: cold, and in a second process"),
        ("memory", "bytes that plans move, and memory at the peak of a call"),
        ("plot", "draw the times that the last report stored"),
    ):
        commands.add_parser(name, help=text)
    return top


def run_plot() -> int:
    """Draw the stored times."""
    picture = ROOT / "docs" / "performance.svg"
    draw(picture.with_suffix(".json"), picture)
    print(f"written: {picture}")
    return 0


def run_text(text: str) -> int:
    """Print a text."""
    print(text)
    return 0


# Those without options.
PLAIN: Mapping[str, Callable[[], int]] = {
    "overhead": run_overhead,
    "bandwidth": run_bandwidth,
    "compile-time": run_compile_time,
    "first-calls": run_first_calls,
    "memory": run_memory,
    "plot": run_plot,
    "rest": lambda: run_text(rest_text()),
    "start": lambda: run_text(start_text()),
    "vectors": lambda: run_text(width_text(measure_widths(0.3))),
    "shapes": lambda: show(shape_figures(measure_shapes())),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    options = parser().parse_args(arguments)
    if options.command in PLAIN:
        return PLAIN[options.command]()
    match options.command:
        case "report":
            write_report(options.output, options.budget)
            return 0
        case "functions":
            write_page(options.output, options.budget, options.only)
            return 0
        case "compare":
            return compare(options.revision, options.against, options.sizes, options.budget)
        case "reductions":
            return show(reduction_figures(measure_reductions(options.budget)))
        case "programs":
            return run_programs(options.budget, options.sizes, options.only)
        case _:
            return run_programs(0.6, (), ())


if __name__ == "__main__":
    sys.exit(main())
