"""Reductions of whole arrays over every axis, on one thread beside NumPy: in C order, Fortran order and strided.

All operations of one array and axis take turns, so that they can be compared with each other as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perf import thresholds
from perf.measuring.timing import Call, Samples, bound, geometric_mean, interleave
from perf.program import SEED, Array, Function
from perf.tables.figures import Figure

SHAPES = ((128, 128, 128), (4096, 4096), (10_000_000,))
OPERATIONS: Mapping[str, Function] = {
    "sum": lambda x, axis: np.sum(x, axis=axis),
    "min": lambda x, axis: np.min(x, axis=axis),
    "max": lambda x, axis: np.max(x, axis=axis),
    "mean": lambda x, axis: np.mean(x, axis=axis),
    "std": lambda x, axis: np.std(x, axis=axis),
    "argmax": lambda x, axis: np.argmax(x, axis=axis),
}
TOLERANCE = 1e-11
EXTREMES = ("min", "max")


@dataclass(frozen=True, slots=True)
class Case:
    """One array and the axis it is reduced over; None is all of them."""

    shape: tuple[int, ...]
    layout: str
    axis: int | None

    def __str__(self) -> str:
        over = "all" if self.axis is None else f"axis {self.axis}"
        return f"{'×'.join(map(str, self.shape))} {self.layout}, {over}"


@dataclass(frozen=True, slots=True)
class Reduced:
    """Measurements of one case: samples named "sum, NumPy", "sum, xjit" and so on."""

    case: Case
    samples: Samples

    def over_numpy(self, operation: str) -> float:
        """Return NumPy's time over xjit's, by medians or by minima, whichever is more."""
        ratio = self.samples.ratio(f"{operation}, NumPy", f"{operation}, xjit")
        return max(ratio.median, ratio.minimum)

    def over_sum(self, operation: str) -> float:
        """Return xjit's time over that of its sum, by medians or by minima, whichever is less."""
        ratio = self.samples.ratio(f"{operation}, xjit", "sum, xjit")
        return min(ratio.median, ratio.minimum)


def cases() -> Iterator[Case]:
    """Yield every case; a vector has one order only."""
    for shape in SHAPES:
        for layout in ("C", "F", "strided"):
            if len(shape) == 1 and layout == "F":
                continue
            axes = [None] if len(shape) == 1 else [None, *range(len(shape))]
            yield from (Case(shape, layout, axis) for axis in axes)


def laid_out(shape: tuple[int, ...], layout: str) -> Array:
    """Return float64 numbers of a shape in a layout; strided: every second element of the last axis of more."""
    rng = np.random.default_rng(SEED)
    if layout == "strided":
        return rng.standard_normal((*shape[:-1], 2 * shape[-1]))[..., ::2]
    return rng.standard_normal(shape) if layout == "C" else rng.standard_normal(shape[::-1]).T


def over_axis(operation: Function, axis: int | None) -> Function:
    """Return the operation over one axis as a function of the array."""
    return lambda x: operation(x, axis)


def calls_of(x: Array, axis: int | None) -> dict[str, Call]:
    """Return the call of every operation under NumPy and under xjit, compared with each other."""
    import xjit

    calls: dict[str, Call] = {}
    for name, operation in OPERATIONS.items():
        plain = over_axis(operation, axis)
        compiled = xjit.jit(plain)
        np.testing.assert_allclose(compiled(x), plain(x), rtol=TOLERANCE, atol=TOLERANCE)
        calls[f"{name}, NumPy"], calls[f"{name}, xjit"] = bound(plain, (x,)), bound(compiled, (x,))
    return calls


def measure_reductions(budget: float) -> list[Reduced]:
    """Measure every case on one thread; `budget` is seconds per case."""
    import xjit

    found = []
    with xjit.threads(1):
        for case in cases():
            x = laid_out(case.shape, case.layout)
            found.append(Reduced(case, interleave(calls_of(x, case.axis), budget)))
            print(row(found[-1]), flush=True)
    return found


def row(reduced: Reduced) -> str:
    """Return one line of the table: ratios over NumPy, and extremes over the sum; bold where missed."""
    cells = [str(reduced.case)]
    for name in OPERATIONS:
        median = reduced.samples.median(f"{name}, xjit") * 1e3
        ratio = reduced.over_numpy(name)
        text = f"{ratio:.2f}" if ratio >= thresholds.REDUCTION_OVER_NUMPY else f"**{ratio:.2f}**"
        cells.append(f"{median:.3g} ms, {text}")
    worst = max(reduced.over_sum(name) for name in EXTREMES)
    cells.append(f"{worst:.2f}" if worst <= thresholds.EXTREMES_OVER_SUM else f"**{worst:.2f}**")
    return f"| {' | '.join(cells)} |"


def reduction_table(found: Sequence[Reduced]) -> str:
    """Return the table."""
    titles = ["array", *OPERATIONS, "min or max over sum"]
    return "\n".join([f"| {' | '.join(titles)} |", "|---" * len(titles) + "|", *map(row, found)])


def reduction_figures(found: Sequence[Reduced]) -> list[Figure]:
    """Return the slowest reduction beside NumPy, and the slowest minimum or maximum beside the sum."""
    asked, allowed = thresholds.REDUCTION_OVER_NUMPY, thresholds.EXTREMES_OVER_SUM
    ratios = [(one.over_numpy(name), f"{name} of {one.case}") for one in found for name in OPERATIONS]
    extremes = [(one.over_sum(name), f"{name} of {one.case}") for one in found for name in EXTREMES]
    (least, slowest), (most, worst) = min(ratios), max(extremes)
    below, above = sum(value < asked for value, _ in ratios), sum(value > allowed for value, _ in extremes)
    mean = geometric_mean([value for value, _ in ratios])
    return [
        Figure(
            "each reduction on one thread over NumPy",
            f"≥ {asked:g}x",
            f"{least:.2f}x ({slowest}); {below} of {len(ratios)} below; geometric mean {mean:.2f}x",
            least >= asked,
        ),
        Figure(
            "each minimum and maximum over the sum",
            f"≤ {allowed:g}x",
            f"{most:.2f}x ({worst}); {above} of {len(extremes)} above",
            most <= allowed,
        ),
    ]
