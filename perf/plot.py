"""A plot of the stored times: for every program at size L, how many times as fast as NumPy everybody is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from perf.measuring.peers import JAX, LOOPS, NUMEXPR, NUMPY, TORCH, XJIT
from perf.measuring.results import load

SIZE = "L"
# Name, marker, colour (of a palette that colour-blind people can tell apart), area.
MARKS = (
    (LOOPS.name, "v", "#CC79A7", 34),
    (NUMEXPR.name, "s", "#E69F00", 26),
    (TORCH.name, "^", "#009E73", 34),
    (JAX.name, "D", "#56B4E9", 28),
    (XJIT.name, "o", "#0B3C6F", 62),
)
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)


def drawable() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def speedups(results: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """Return for every program how many times as fast as NumPy each runner is, by medians, the slowest xjit first."""
    found = []
    for entry in results["entries"]:
        seconds = entry["seconds"]
        if entry["size"] == SIZE and XJIT.name in seconds:
            base = seconds[NUMPY.name]["median"]
            found.append((entry["program"], {name: base / one["median"] for name, one in seconds.items()}))
    return sorted(found, key=lambda pair: pair[1][XJIT.name])


def draw(source: Path, picture: Path) -> None:
    """Draw the times stored in `source`. Raises FileNotFoundError where nothing has been stored."""
    import matplotlib

    results = load(source)
    rows = speedups(results)
    # Text stays text, and the same numbers give the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "xjit", "font.size": 9}):
        figure = panel(rows, f"size {SIZE}, {results['date']}; {results['machine'].split(';')[0]}")
        figure.savefig(picture, format="svg", metadata={"Date": None})


def panel(rows: list[tuple[str, dict[str, float]]], title: str) -> Any:
    """Return the figure: a line per program, a mark per runner, a logarithmic axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 0.9 + 0.245 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.axvline(1.0, color="#444444", linewidth=1.0)
    for name, marker, colour, area in MARKS:
        points = [(ratios[name], line) for line, (_, ratios) in enumerate(rows) if name in ratios]
        if points:
            across, up = zip(*points, strict=True)
            axes.scatter(across, up, s=area, marker=marker, color=colour, label=name, zorder=3, linewidths=0)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    shown = [value for _, ratios in rows for value in ratios.values()]
    ticks = [tick for tick in TICKS if min(shown) / 2 <= tick <= max(shown) * 2]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    axes.grid(axis="y", color="#F0F0F0", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("times as fast as NumPy (logarithmic)")
    axes.set_title(title, loc="left", fontsize=9)
    axes.legend(loc="lower right", frameon=True, framealpha=1.0)
    return figure
