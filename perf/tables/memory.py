"""Bytes and memory: what a plan moves beside what any program has to, and the memory that one call needs at its peak.

The peak is that of the process's resident memory during one call, results included, above what it was before: the
system's own record, which is set back just before. Each is measured in a process of its own, where the kernels
have been compiled or loaded before, and no memory is held from earlier calls.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perf import thresholds
from perf.programs import BY_NAME, PROGRAMS, Program
from perf.tables.figures import Figure

STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
SET_PEAK_BACK = "5"
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Memory:
    """One program at its largest size: bytes of the plan, and peaks in bytes (None where the system tells none)."""

    program: Program
    size: str
    moved: int
    least: int
    kernels: int
    numpy_peak: int | None
    xjit_peak: int | None

    @property
    def factor(self) -> float:
        """Return the bytes that the plan moves over the least number."""
        return self.moved / self.least


def largest(program: Program) -> str:
    """Return the name of the largest size of a program."""
    return list(program.sizes)[-1]


def resident(what: str) -> int:
    """Return a number of bytes that the system keeps of this process: `VmRSS` now, `VmHWM` at the peak."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) << 10


def plan_of(program: Program, size: str) -> tuple[int, int, int]:
    """Return the bytes moved, the least number of bytes, and the number of kernels of a program's plan."""
    from xjit import xjit

    explained = xjit(program.function).explain(*program.arguments(size))
    return explained.bytes_moved, explained.minimum_bytes, len(explained.kernels)


def peak_here(program: Program, size: str, compiled: bool) -> int | None:
    """Return the peak of one call in this process, above what was resident before."""
    from xjit import xjit
    from xjit.errors import FallbackWarning
    from xjit.runtime import allocator

    warnings.simplefilter("ignore", FallbackWarning)
    arrays, function = program.arguments(size), program.function
    if compiled:
        function = xjit(function)
        function.warmup(*arrays)
        # What it holds of that call for the next one counts as if it were asked for anew.
        allocator.clear()
    try:
        REFERENCES.write_text(SET_PEAK_BACK)
    except OSError:
        return None
    before = resident("VmRSS")
    result = function(*arrays)
    peak = resident("VmHWM") - before
    del result
    return max(0, peak)


def peak(program: Program, size: str, who: str) -> int | None:
    """Return the same, measured in a new process."""
    run = subprocess.run(
        [sys.executable, "-m", "perf.tables.memory", program.name, size, who],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: int | None = json.loads(run.stdout.splitlines()[-1])
    return found


def measure_memory() -> list[Memory]:
    """Measure every program that is not about overhead."""
    chosen = [(program, largest(program)) for program in PROGRAMS if program.decided_by != "overhead"]
    return [
        Memory(program, size, *plan_of(program, size), peak(program, size, "NumPy"), peak(program, size, "xjit"))
        for program, size in chosen
    ]


def in_mebibytes(count: int | None) -> str:
    """Return a cell with a number of bytes."""
    return "–" if count is None else f"{count / MEBIBYTE:.1f}"


def memory_table(found: Sequence[Memory]) -> str:
    """Return the table."""
    titles = "program | size | kernels | least MiB | moved MiB | moved over least | peak MiB, NumPy | peak MiB, xjit"
    lines = [f"| {titles} |", "|---" * (titles.count("|") + 1) + "|"]
    for one in found:
        cells = [one.program.name, one.size, str(one.kernels), in_mebibytes(one.least), in_mebibytes(one.moved)]
        too_much = one.program.decided_by == "memory" and one.factor > thresholds.MOVED_OVER_LEAST_BYTES
        cells.append(f"**{one.factor:.2f}**" if too_much else f"{one.factor:.2f}")
        cells += [in_mebibytes(one.numpy_peak), in_mebibytes(one.xjit_peak)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def memory_figures(found: Sequence[Memory]) -> list[Figure]:
    """Return the plan that moves most, of the programs bound by memory."""
    allowed = thresholds.MOVED_OVER_LEAST_BYTES
    factors = [(one.factor, one.program.name) for one in found if one.program.decided_by == "memory"]
    most, name = max(factors)
    above = sum(factor > allowed for factor, _ in factors)
    text = f"{most:.2f}x ({name}); {above} of {len(factors)} above"
    what = "bytes moved over least bytes, each program bound by memory"
    return [Figure(what, f"≤ {allowed:g}x", text, most <= allowed)]


if __name__ == "__main__":
    print(json.dumps(peak_here(BY_NAME[sys.argv[1]], sys.argv[2], sys.argv[3] == "xjit")))
