"""Does an entry keep its thresholds? The pessimistic end counts, and a shortfall is measured twice more."""

from __future__ import annotations

from collections.abc import Callable

from perf.measuring.measure import Entry
from perf.measuring.peers import NUMPY, XJIT
from perf.thresholds import SHORT_EXCESS_SECONDS, SHORT_SECONDS, Threshold, thresholds

ATTEMPTS = 3


def shortfall(entry: Entry, threshold: Threshold) -> str | None:
    """Return in words how the entry misses the threshold, or None."""
    reference = threshold.reference
    if not (entry.has(reference) and entry.has(XJIT)):
        return None
    samples = entry.samples
    if reference is NUMPY and samples.median("NumPy") < SHORT_SECONDS:
        excess = samples.median("xjit") - samples.median("NumPy")
        if excess <= SHORT_EXCESS_SECONDS:
            return None
        return f"{excess * 1e6:.2f} µs slower than NumPy, allowed {SHORT_EXCESS_SECONDS * 1e6:.2f}"
    ratio = entry.speedup(XJIT, reference)
    reached = max(ratio.low, ratio.minimum) if threshold.minima else ratio.low
    if reached >= threshold.at_least:
        return None
    return f"{reached:.2f} times as fast as {reference.name}, asked for {threshold.at_least:.2f}"


def shortfalls(entry: Entry) -> list[str]:
    """Return every missed threshold of one entry, in words."""
    found = [shortfall(entry, threshold) for threshold in thresholds(entry.program, entry.size)]
    fallen = f"runs through NumPy: {entry.fallback}" if entry.fallback is not None else None
    return [text for text in (fallen, *found) if text is not None]


def settled(again: Callable[[], Entry]) -> Entry:
    """Measure until the entry keeps its thresholds, at most three times; return the last measurement."""
    entry = again()
    for _ in range(ATTEMPTS - 1):
        if not shortfalls(entry):
            break
        entry = again()
    return entry
