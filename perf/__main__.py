"""The command line: `python -m perf COMMAND`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from perf.bandwidth import measure_bandwidth
from perf.compare import compare
from perf.compile_time import measure_compile_time
from perf.figures import Figure, bandwidth_figure, compile_figures, overhead_figures, shape_figures
from perf.function_report import write_page
from perf.overhead import measure_overhead
from perf.report import figure_table, measure_entries, missed, start_text, write_report
from perf.shapes import measure_shapes
from perf.vector_width import measure_widths, width_text

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
    for name, value in overhead.medians.items():
        print(f"{name:10} {value * 1e6:7.3f} µs, at best {overhead.minima[name] * 1e6:7.3f}")
    return show(overhead_figures(overhead))


def run_compile_time() -> int:
    """Measure first calls, and print all of it."""
    times = measure_compile_time()
    print(f"first function of a process, the compiler's loading included: {times.first_in_process:.3f} s")
    return show(compile_figures(times))


def run_programs(budget: float) -> int:
    """Measure every entry and print what is below a threshold."""
    print(missed(measure_entries(budget)))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m perf", description="the performance suite of xjit")
    commands = top.add_subparsers(dest="command")
    report = commands.add_parser("report", help="measure everything and write the table")
    report.add_argument("--output", type=Path, default=ROOT / "docs" / "performance.md")
    programs = commands.add_parser("programs", help="measure the programs only and print them (the default)")
    for command in (report, programs):
        command.add_argument("--budget", type=float, default=3.0, help="seconds per program and size")
    functions = commands.add_parser("functions", help="measure single functions and chains of them, write their page")
    functions.add_argument("--output", type=Path, default=ROOT / "docs" / "function-speed.md")
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
        ("start", "what a new process waits for"),
        ("shapes", "compiles for many random shapes"),
    ):
        commands.add_parser(name, help=text)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    options = parser().parse_args(arguments)
    match options.command:
        case "report":
            write_report(options.output, options.budget)
            return 0
        case "functions":
            write_page(options.output, options.budget, options.only)
            return 0
        case "compare":
            return compare(options.revision, options.against, options.sizes, options.budget)
        case "overhead":
            return run_overhead()
        case "bandwidth":
            return run_bandwidth()
        case "compile-time":
            return run_compile_time()
        case "start":
            print(start_text())
            return 0
        case "vectors":
            print(width_text(measure_widths(0.3)))
            return 0
        case "shapes":
            return show(shape_figures(measure_shapes()))
        case _:
            return run_programs(getattr(options, "budget", 3.0))


if __name__ == "__main__":
    sys.exit(main())
