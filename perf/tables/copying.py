"""Shares of the copy bandwidth that programs bound by memory reach: the bytes that have to move, over their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perf import thresholds
from perf.measuring.bandwidth import Bandwidth
from perf.measuring.measure import Entry
from perf.measuring.peers import XJIT
from perf.tables.figures import Figure
from perf.tables.memory import largest, plan_of


@dataclass(frozen=True, slots=True)
class Share:
    """One entry: bytes that have to move, per second, by medians and minima, as shares of those of the best copy."""

    entry: Entry
    least: int
    by_medians: float
    by_minima: float

    @property
    def reached(self) -> float:
        """The better of the two: neighbours' thread pools disturb medians."""
        return max(self.by_medians, self.by_minima)


def shares(entries: Sequence[Entry], bandwidth: Bandwidth) -> list[Share]:
    """Return the shares of the entries bound by memory, at the largest size of each."""
    found = []
    for entry in entries:
        if entry.program.decided_by != "memory" or entry.size != largest(entry.program):
            continue
        least = plan_of(entry.program, entry.size)[1]
        speeds = least / entry.samples.median(XJIT.name), least / entry.samples.minimum(XJIT.name)
        copies = bandwidth.medians[bandwidth.best_copy], bandwidth.minima[bandwidth.best_copy]
        found.append(Share(entry, least, speeds[0] / copies[0], speeds[1] / copies[1]))
    return found


def share_table(found: Sequence[Share]) -> str:
    """Return the table; shares that are less than asked are bold."""
    lines = [
        "| program | size | least MiB | GB/s | share of copying, medians | minima |",
        "|---|---|---|---|---|---|",
    ]
    for share in found:
        entry, mark = share.entry, "" if share.reached >= thresholds.SHARE_OF_COPY_BANDWIDTH else "**"
        speed = share.least / entry.samples.median(XJIT.name) / 1e9
        cells = [entry.program.name, entry.size, f"{share.least / (1 << 20):.1f}", f"{speed:.1f}"]
        cells += [f"{mark}{share.by_medians:.0%}{mark}", f"{mark}{share.by_minima:.0%}{mark}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def share_figures(found: Sequence[Share]) -> list[Figure]:
    """Return the least share."""
    if not found:
        return []
    asked = thresholds.SHARE_OF_COPY_BANDWIDTH
    least = min(found, key=lambda share: share.reached)
    below = sum(share.reached < asked for share in found)
    text = f"{least.reached:.0%} ({least.entry.program.name}); {below} of {len(found)} below"
    return [Figure("each program bound by memory, of the copy bandwidth", f"≥ {asked:.0%}", text, not below)]
