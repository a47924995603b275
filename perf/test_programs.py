"""The programs as tests: `python -m pytest perf/test_programs.py -k "softmax and L"`.

Each verifies, times all runners in turns, stores medians, minima, ratios and intervals beside the
benchmark (so that --benchmark-json has them) and fails when an entry misses a threshold three times in a
row.
"""

from __future__ import annotations

from typing import Any

import pytest

from perf.gate import settled, shortfalls
from perf.measuring.measure import Entry, measure, verified_calls
from perf.measuring.peers import XJIT, installed
from perf.measuring.timing import plan
from perf.programs import Program, table

HISTORY_ROUNDS = 5


def details(entry: Entry) -> dict[str, Any]:
    """Return what is stored beside the benchmark."""
    samples = entry.samples
    stored: dict[str, Any] = {"left out": dict(entry.left_out)}
    for name in samples.seconds:
        stored[name] = {"median": samples.median(name), "minimum": samples.minimum(name)}
        if name != XJIT.name:
            ratio = samples.ratio(name, XJIT.name)
            stored[f"over {name}"] = {
                "median": ratio.median,
                "low": ratio.low,
                "high": ratio.high,
                "minimum": ratio.minimum,
            }
    return stored


@pytest.mark.parametrize(("program", "size"), [pytest.param(p, size, id=f"{p.name}-{size}") for p, size in table()])
def test_program(benchmark: Any, request: pytest.FixtureRequest, program: Program, size: str) -> None:
    """One program at one size keeps its thresholds."""
    budget = request.config.getoption("--budget")
    entry = settled(lambda: measure(program, size, installed(), budget))
    benchmark.extra_info.update(details(entry))
    call = verified_calls(program, size, (XJIT,)).calls[XJIT.name]
    benchmark.pedantic(call, rounds=HISTORY_ROUNDS, iterations=plan(call).calls, warmup_rounds=1)
    assert not shortfalls(entry)
