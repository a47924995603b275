"""The figures above single entries: what is asked, what was reached, and whether that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perf import thresholds
from perf.measuring.bandwidth import Bandwidth
from perf.measuring.measure import Entry
from perf.measuring.peers import XJIT, Runner
from perf.measuring.timing import geometric_mean
from perf.tables.compile_time import CompileTimes
from perf.tables.overhead import Overhead


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the summary."""

    what: str
    asked: str
    reached: str
    met: bool


def figure_table(figures: Sequence[Figure]) -> str:
    """Return the table of figures."""
    lines = ["| figure | asked | reached | met |", "|---|---|---|---|"]
    lines += [f"| {f.what} | {f.asked} | {f.reached} | {'yes' if f.met else '**no**'} |" for f in figures]
    return "\n".join(lines)


def speedups(entries: Sequence[Entry], reference: Runner, sizes: Sequence[str]) -> list[tuple[float, float]]:
    """Return the speed-ups by medians and by minima of the entries of these sizes."""
    chosen = [entry for entry in entries if entry.size in sizes and entry.has(reference) and entry.has(XJIT)]
    ratios = [entry.speedup(XJIT, reference) for entry in chosen]
    return [(ratio.median, ratio.minimum) for ratio in ratios]


def mean_figure(entries: Sequence[Entry], mean: thresholds.Mean) -> Figure | None:
    """Return the figure of a geometric mean, by medians with minima beside; None without entries."""
    pairs = speedups(entries, mean.reference, mean.sizes)
    if not pairs:
        return None
    median = geometric_mean([pair[0] for pair in pairs])
    minimum = geometric_mean([pair[1] for pair in pairs])
    what = f"geometric mean over {mean.reference.name}, sizes {' '.join(mean.sizes)}, {len(pairs)} entries"
    text = f"{median:.2f}x by medians, {minimum:.2f}x by minima"
    # Medians suffer from neighbours' thread pools, minima from luck: the harsher of the two counts.
    return Figure(what, f"≥ {mean.at_least:g}x", text, min(median, minimum) >= mean.at_least)


def mean_figures(entries: Sequence[Entry]) -> list[Figure]:
    """Return the geometric means against every peer that took part."""
    found = [mean_figure(entries, mean) for mean in thresholds.MEANS]
    return [figure for figure in found if figure is not None]


def bandwidth_figure(bandwidth: Bandwidth) -> Figure:
    """Return the share of the copy bandwidth that a chain of large arrays reaches."""
    asked = thresholds.SHARE_OF_COPY_BANDWIDTH
    chain, best = bandwidth.medians["xjit chain"], bandwidth.best_copy
    reached = f"{bandwidth.share:.0%}: {chain / 1e9:.1f} of {bandwidth.medians[best] / 1e9:.1f} GB/s ({best})"
    what = f"chain of arrays of {bandwidth.array_bytes >> 20} MiB against copying"
    return Figure(what, f"≥ {asked:.0%}", reached, bandwidth.share >= asked)


def overhead_figures(overhead: Overhead) -> list[Figure]:
    """Return the cost of one small call."""
    allowed, share = thresholds.OVERHEAD_SECONDS, overhead.share_of_jax
    found = [
        Figure(
            "a*b+c on ten elements, over an empty call",
            f"≤ {allowed * 1e6:.1f} µs",
            f"{overhead.over_empty * 1e6:.2f} µs",
            overhead.over_empty <= allowed,
        )
    ]
    if share is not None:
        asked = thresholds.OVERHEAD_SHARE_OF_JAX
        found.append(Figure("the same call against JAX's", f"≤ {asked:g}x", f"{share:.2f}x", share <= asked))
    return found


def compile_figures(times: CompileTimes) -> list[Figure]:
    """Return the first calls in a running process."""
    found = []
    for mix, row in times.xjit.items():
        for count, seconds in row.items():
            allowed = thresholds.COMPILE_SECONDS[count]
            peer = times.jax.get(mix, {}).get(count)
            beside = f" (JAX {peer * 1e3:.0f} ms)" if peer is not None else ""
            found.append(
                Figure(
                    f"first call, {count} operations, {mix}",
                    f"≤ {allowed * 1e3:.0f} ms",
                    f"{seconds * 1e3:.0f} ms{beside}",
                    seconds <= allowed,
                )
            )
    return found


def shape_figures(compiles: dict[str, int]) -> list[Figure]:
    """Return the number of compiles for random shapes."""
    asked = thresholds.COMPILES_FOR_RANDOM_SHAPES
    return [
        Figure(f"200 random shapes, {name}", f"≤ {asked} compiles", str(number), number <= asked)
        for name, number in compiles.items()
    ]
