"""The page on ordinary programs, from results that `python -m perf.tables.ordinary --keep` left.

    python -m perf.tables.ordinary_page [--figures figures.json] results.json [more.json] docs/programs.md

Results of several runs are joined; of a program that was measured again at a size, the last row counts. The figures
beside the programs are those that `python -m perf.tables.ordinary_figures --keep` left.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from perf.tables.figures import Figure, figure_table
from perf.tables.ordinary import (
    COVERAGE_HEAD,
    TIME_HEAD,
    Row,
    coverage_line,
    summary,
    time_line,
)

HEAD = """# Ordinary programs

Made by `python -m perf.tables.ordinary --keep` and `python -m perf.tables.ordinary_page`, measured on {date}.

Machine: {machine}.

The programs of `perf/ordinary` are written from their mathematics as people write NumPy: writes in place, loops,
branches, masks, objects, generators and calls of libraries. `@xjit` is put on them and nothing else. Results, text
that is printed and what is left in arguments are compared with NumPy's. A program is compiled whole, or split: then
what is refused, the place of which is named, is called in Python between compiled parts. Else NumPy runs it.
Well-known kernels have a version written by hand for Numba, parallel where that is faster, and many have a port to
JAX in JAX's own style. All sides take turns in one process; arguments are restored before each call, outside
of the time. Times are medians in milliseconds, ratios are those of the minima; above 1 xjit is faster.

A first call is that of a process that has compiled one kernel before; the second process finds the cache on disk.
"""


FIGURES_HEAD = """## Beside the programs

Made by `python -m perf.tables.ordinary_figures --keep`: ratios and times of medians, those of minima in brackets.
"""


def page(rows: Sequence[Row], machine: str, date: str, figures: Sequence[Figure] = ()) -> str:
    """Return the text of the page."""
    parts = [HEAD.format(date=date, machine=machine)]
    if figures:
        parts.append(f"{FIGURES_HEAD}\n{figure_table(figures)}\n")
    for size in sorted({row.size for row in rows}, key="SL".index):
        of_size = [row for row in rows if row.size == size]
        parts.append(f"## Size {size}\n")
        parts.append("\n".join(f"* {line}" for line in summary(of_size)) + "\n")
        parts.append("### Outcomes and first calls\n")
        parts.append("\n".join([COVERAGE_HEAD, *map(coverage_line, of_size)]) + "\n")
        timed = [row for row in of_size if row.seconds]
        if timed:
            parts.append("### Times\n")
            parts.append("\n".join([TIME_HEAD, *map(time_line, timed)]) + "\n")
    return "\n".join(parts)


def joined(files: Sequence[Path]) -> tuple[list[Row], str]:
    """Return the rows of several files, and the machine of the last one."""
    found: dict[tuple[str, str], Row] = {}
    machine = ""
    for file in files:
        kept = json.loads(file.read_text())
        machine = kept["machine"]
        found.update({(row["name"], row["size"]): Row(**row) for row in kept["rows"]})
    return list(found.values()), machine


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--figures", type=Path, default=None)
    options = parser.parse_args(arguments)
    rows, machine = joined(options.results)
    kept = json.loads(options.figures.read_text())["figures"] if options.figures else ()
    figures = [Figure(**figure) for figure in kept]
    options.page.write_text(page(rows, machine, datetime.date.today().isoformat(), figures))


if __name__ == "__main__":
    main()
