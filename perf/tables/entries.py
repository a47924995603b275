"""The table of programs and sizes: measured, printed, and what is missed."""

from __future__ import annotations

from collections.abc import Sequence

from perf.gate import settled, shortfalls
from perf.measuring.measure import CANNOT_SAY, Entry, time_field, verified_calls
from perf.measuring.peers import NUMPY, XJIT, Runner, installed, no_torch
from perf.programs import Program, table


def milliseconds(entry: Entry, runner: Runner) -> str:
    """Return a cell with a median and a minimum."""
    if not entry.has(runner):
        return "wrong result" if "differs" in entry.left_out.get(runner.name, "") else "–"
    samples = entry.samples
    return f"{samples.median(runner.name) * 1e3:.4g} ({samples.minimum(runner.name) * 1e3:.4g})"


def over(entry: Entry, peer: Runner) -> str:
    """Return a cell with the ratio of medians over a peer and the ratio of minima."""
    if not entry.has(peer):
        return "–"
    ratio = entry.speedup(XJIT, peer)
    return f"{ratio.median:.2f} ({ratio.minimum:.2f})"


def row(entry: Entry, runners: Sequence[Runner]) -> str:
    """Return one line of the table; an asterisk says that xjit ran NumPy."""
    size = f"{entry.size} {'×'.join(map(str, entry.program.sizes[entry.size]))}"
    cells = [entry.program.name + (" *" if entry.fallback is not None else ""), size]
    cells += [milliseconds(entry, runner) for runner in runners]
    over_numpy = entry.speedup(XJIT, NUMPY)
    cells.append(f"{over_numpy.median:.2f} [{over_numpy.low:.2f}, {over_numpy.high:.2f}]")
    cells += [over(entry, runner) for runner in runners if runner not in (NUMPY, XJIT)]
    return f"| {' | '.join(cells)} |"


def entry_table(entries: Sequence[Entry], runners: Sequence[Runner]) -> str:
    """Return the table of all entries."""
    titles = ["program", "size", *(runner.name for runner in runners), "over NumPy"]
    titles += [f"over {runner.name}" for runner in runners if runner not in (NUMPY, XJIT)]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    return "\n".join(lines + [row(entry, runners) for entry in entries])


def missed(entries: Sequence[Entry]) -> str:
    """Return the entries below their thresholds, in words."""
    lines = [f"* {e.program.name}, {e.size}: {text}" for e in entries for text in shortfalls(e)]
    return "\n".join(lines) if lines else "Every entry keeps its thresholds."


def left_out_text(entries: Sequence[Entry]) -> str:
    """Return in words who takes no part where: those that could not run a program, or computed something else."""
    runners = {runner.name for runner in installed()}
    absent = [name for name in ("JAX", "torch.compile", "numexpr") if name not in runners]
    lines = [f"Not installed: {', '.join(absent)}."] if absent else []
    if "torch.compile" in runners:
        lines.append(no_torch() or "torch.compile takes part at size L: it compiles every shape anew.")
    lines += [
        f"* {entry.program.name}, {entry.size}, {name}: {reason}"
        for entry in entries
        for name, reason in entry.left_out.items()
        if reason != CANNOT_SAY and reason != no_torch()
    ]
    return "\n".join(["A dash: the program has not been written for that peer, or cannot be.", *lines])


def measured(program: Program, size: str, runners: Sequence[Runner], budget: float) -> Entry:
    """Measure one entry; one that misses a threshold, up to three times."""
    part = verified_calls(program, size, runners)
    return settled(lambda: time_field(program, size, part, budget))


def measure_entries(budget: float, sizes: Sequence[str] = (), only: Sequence[str] = ()) -> list[Entry]:
    """Measure every program at every size, or those asked for, telling how far it is."""
    runners, found = installed(), []
    for program, size in table():
        if (sizes and size not in sizes) or (only and not any(part in program.name for part in only)):
            continue
        found.append(measured(program, size, runners, budget))
        print(row(found[-1], runners), flush=True)
    return found
