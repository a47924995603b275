"""Ordinary programs: are they right, compiled whole or split, and their times beside NumPy, loops by hand and JAX.

    python -m perf.tables.ordinary [--coverage] [--sizes S L] [--rounds 7] [--keep results.json] [names]

Every program runs in processes of its own: one says whether it is right, compiled whole or split, with an empty cache
folder; a second one makes the first call again with a full one; a third takes the times, all sides in turns.
`--coverage` leaves the times out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from perf.measuring.machine import this_machine
from perf.measuring.processes import environment
from perf.measuring.timing import geometric_mean
from perf.ordinary.table import PROGRAMS

# Beside xjit's own time a process loads peers and runs NumPy.
LONGEST_PROCESS = 600.0
WAYS = (("whole", "compiled"), ("split", "split"))
PEERS = ("NumPy", "Numba", "JAX")


@dataclass(frozen=True, slots=True)
class Row:
    """One program at one size.

    obstacle     line and message of the first refusal; None where it is compiled whole
    split        whether what is refused are calls in Python between compiled parts, not all of it NumPy's
    difference   how an outcome differs from NumPy's; None where it is right
    first        seconds of the first call, with an empty cache; None where it is not compiled
    again        the same in a second process, with a full one
    seconds      samples of every side
    """

    name: str
    size: str
    obstacle: str | None = None
    split: bool = False
    difference: str | None = None
    first: float | None = None
    again: float | None = None
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Return whether the program is compiled as a whole."""
        return self.obstacle is None

    @property
    def way(self) -> str:
        """Return who runs the program."""
        return "whole" if self.whole else "split" if self.split else "NumPy"

    def median(self, side: str) -> float | None:
        """Return the median of one side; None where it did not take part."""
        return statistics.median(self.seconds[side]) if side in self.seconds else None

    def ratio(self, side: str) -> float | None:
        """Return how many times as fast as a side xjit is, by minima."""
        if side not in self.seconds:
            return None
        return min(self.seconds[side]) / min(self.seconds["xjit"])


def asked(name: str, size: str, task: str, folder: str, rounds: int = 0) -> dict[str, Any]:
    """Return what a process says about a program; one that dies is the program's obstacle."""
    command = [sys.executable, "-m", "perf.ordinary.worker", name, size, task, str(rounds)]
    try:
        run = subprocess.run(
            command, env=environment(folder), capture_output=True, text=True, timeout=LONGEST_PROCESS
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"the process took more than {LONGEST_PROCESS:.0f} s"}
    if run.returncode:
        return {"failed": f"the process ended with {run.returncode}: {(run.stderr.splitlines() or [''])[-1]}"}
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def measured(name: str, size: str, rounds: int) -> Row:
    """Return the row of a program; no rounds: no times."""
    with tempfile.TemporaryDirectory() as folder:
        cover = asked(name, size, "cover", folder)
        if "failed" in cover:
            return Row(name, size, obstacle=cover["failed"], difference=cover["failed"])
        row: dict[str, Any] = {key: cover.get(key) for key in ("obstacle", "split", "difference", "first")}
        again = asked(name, size, "first", folder).get("first") if row["first"] is not None else None
        times = asked(name, size, "time", folder, rounds) if rounds else {}
    if "failed" in times:
        print(f"{name}: {times['failed']}", file=sys.stderr)
    return Row(name, size, **row, again=again, seconds=times.get("seconds", {}))


def _number(value: float | None, scale: float = 1.0) -> str:
    return "" if value is None else f"{scale * value:.3g}"


def coverage_line(row: Row) -> str:
    """Return what is said of a program without times."""
    right = "right" if row.difference is None else f"**wrong**: {row.difference}"
    text = f"| {row.name} | {right} | {row.way if row.whole else f'{row.way}: {row.obstacle}'} |"
    return f"{text} {_number(row.first)} | {_number(row.again)} |"


def time_line(row: Row) -> str:
    """Return the medians of a program in milliseconds, and the ratios of minima."""
    medians = " | ".join(_number(row.median(side), 1e3) for side in ("xjit", *PEERS))
    ratios = " | ".join(_number(row.ratio(side)) for side in PEERS)
    return f"| {row.name} | {row.size} | {'' if row.whole else row.way} | {medians} | {ratios} |"


COVERAGE_HEAD = "| program | outcome | compiled | first call, s | second process, s |\n|---|---|---|---|---|"
TIME_HEAD = (
    "| program | size | compiled | xjit, ms | NumPy | Numba | JAX | over NumPy | over Numba | over JAX |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def summary(rows: Sequence[Row]) -> list[str]:
    """Return the shares compiled whole and split and, for every peer, the geometric mean and the smallest ratios."""
    wrong = [row.name for row in rows if row.difference is not None]
    whole = sum(row.whole for row in rows)
    lines = [f"compiled whole: {whole} of {len(rows)} ({whole / max(len(rows), 1):.0%})"]
    split = [row.name for row in rows if row.way == "split"]
    lines.append(f"split: {len(split)}; NumPy: {len(rows) - whole - len(split)}")
    lines.append(f"wrong: {', '.join(wrong) or 'none'}")
    for peer in PEERS:
        for some, title in _by_way(rows):
            found = sorted((ratio, row.name) for row in some if (ratio := row.ratio(peer)) is not None)
            if found:
                mean = geometric_mean([ratio for ratio, _ in found])
                least = ", ".join(f"{name} {ratio:.2f}" for ratio, name in found[:8])
                lines.append(f"over {peer}, {title} {len(found)}: geometric mean {mean:.2f}; least: {least}")
    firsts = sorted(((row.first, row.name) for row in rows if row.first is not None), reverse=True)
    lines.append("longest first calls: " + ", ".join(f"{name} {seconds:.2f} s" for seconds, name in firsts[:8]))
    agains = sorted(((row.again, row.name) for row in rows if row.again is not None), reverse=True)
    lines.append("in a second process: " + ", ".join(f"{name} {seconds:.2f} s" for seconds, name in agains[:8]))
    return lines


def _by_way(rows: Sequence[Row]) -> list[tuple[list[Row], str]]:
    ways = [([row for row in rows if row.way == way], title) for way, title in WAYS]
    return [(list(rows), "all"), *ways]


def main(arguments: Sequence[str]) -> None:
    """Print the table and the summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--sizes", nargs="+", default=None, choices=("S", "L"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args(arguments)
    names = [one.name for one in PROGRAMS if not options.names or one.name in options.names]
    rows: list[Row] = []
    for size in options.sizes or (["S"] if options.coverage else ["L"]):
        print(COVERAGE_HEAD if options.coverage else TIME_HEAD, flush=True)
        of_size = []
        for name in names:
            of_size.append(measured(name, size, 0 if options.coverage else options.rounds))
            print((coverage_line if options.coverage else time_line)(of_size[-1]), flush=True)
            if options.keep is not None:
                kept = [asdict(row) for row in rows + of_size]
                options.keep.write_text(json.dumps({"machine": str(this_machine()), "rows": kept}, indent=1))
        print("\n" + "\n".join(f"* {line}" for line in [f"size {size}", *summary(of_size)]), flush=True)
        rows += of_size


if __name__ == "__main__":
    main(sys.argv[1:])
