"""Cost of one call: `a * b + c` on three arrays of ten elements beside a call of an empty function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perf.measuring.measure import verified_calls
from perf.measuring.peers import XJIT, installed
from perf.measuring.timing import bound, interleave
from perf.programs import BY_NAME

PROGRAM = BY_NAME["a*b+c, ten elements"]


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds per call, by medians and minima; "empty" is a Python function that does nothing."""

    medians: Mapping[str, float]
    minima: Mapping[str, float]

    @property
    def over_empty(self) -> float:
        """The seconds of xjit's call beyond the empty one."""
        return self.medians[XJIT.name] - self.medians["empty"]

    @property
    def share_of_jax(self) -> float | None:
        """The time of xjit's call as a share of JAX's, where JAX is installed."""
        return self.medians[XJIT.name] / self.medians["JAX"] if "JAX" in self.medians else None


def empty(a: Any, b: Any, c: Any) -> Any:
    """Return the first argument."""
    return a


def measure_overhead(budget: float = 4.0) -> Overhead:
    """Time the calls in turns."""
    calls = dict(verified_calls(PROGRAM, "S", installed()).calls)
    calls["empty"] = bound(empty, PROGRAM.arguments("S"))
    samples = interleave(calls, budget)
    return Overhead({name: samples.median(name) for name in calls}, {name: samples.minimum(name) for name in calls})


def overhead_table(found: Overhead) -> str:
    """Return the table of one small call, in microseconds."""
    lines = ["| a*b+c on ten elements | median µs | minimum µs |", "|---|---|---|"]
    for name, value in found.medians.items():
        lines.append(f"| {name} | {value * 1e6:.3f} | {found.minima[name] * 1e6:.3f} |")
    return "\n".join(lines)
