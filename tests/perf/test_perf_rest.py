"""The measurement of calls that follow a rest: which rounds count, and what is said of them."""

from __future__ import annotations

import pytest

from perf.tables import rest
from perf.tables.rest import RestTimes, Round, interleaved_rounds, one_round, quiet, rest_table


def round_of(others: float, *calls: float) -> Round:
    return Round(2.0, calls, others)


def test_only_quiet_rounds_count_if_there_are_any() -> None:
    noisy, calm = round_of(0.9, 2.0), round_of(0.01, 2.0)
    assert quiet([noisy, calm, noisy]) == (calm,)
    assert quiet([noisy, round_of(0.5, 2.0)]) == (round_of(0.5, 2.0),)


def test_calls_are_compared_with_the_steady_time() -> None:
    times = RestTimes("x", (round_of(0, 4.0, 3.0, 2.0, 2.2), round_of(0, 3.0, 3.0, 2.4, 2.6)), 5)
    assert times.steady == 2.0
    assert times.over_steady(1, 1) == pytest.approx((1.75, 1.875))
    assert times.over_steady(3, 4) == pytest.approx((1.15, 1.2))


def test_a_round_times_calls_before_and_after_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "REST_SECONDS", 0.0)
    monkeypatch.setattr(rest, "WARM_SECONDS", 0.001)
    calls: list[int] = []
    found = one_round(lambda: calls.append(1))
    assert len(found.calls) == rest.CALLS and len(calls) > rest.CALLS + rest.STEADY_CALLS
    assert found.steady >= 0 and found.others >= 0
    (times,) = interleaved_rounds({"x": lambda: None}, 0.0)
    assert (times.name, times.tried, len(times.rounds)) == ("x", 1, 1)


def test_systems_that_do_not_tell_count_as_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "PROCESSOR_TIMES", rest.PROCESSOR_TIMES / "absent")
    assert rest.processor_seconds() == 0.0


def test_the_table_has_a_row_for_each_candidate() -> None:
    table = rest_table([RestTimes("xjit", (Round(0.001, (0.0015, 0.001, *[0.0011] * 8), 0.0),), 3)])
    assert table.splitlines()[2] == "| xjit | 1.00 | 1.50 | 1.50 | 1.10 | 1.10 | 1 of 3 |"
