"""The rest before every turn of a measurement, under a clock that the test turns."""

from __future__ import annotations

import pytest

from perf.measuring import timing


class Clock:
    """Time that passes while somebody sleeps; threads use `shares` of a processor in the first sleeps, then none."""

    def __init__(self, shares: tuple[float, ...]) -> None:
        self.shares = shares
        self.now = 0.0
        self.used = 0.0
        self.sleeps = 0

    def perf_counter(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.used

    def sleep(self, seconds: float) -> None:
        share = self.shares[self.sleeps] if self.sleeps < len(self.shares) else 0.0
        self.now += seconds
        self.used += seconds * share
        self.sleeps += 1


@pytest.mark.parametrize(("shares", "sleeps"), [((), 1), ((1.0, 1.9, 0.5), 4), ((0.05,), 1)])
def test_a_rest_ends_when_no_thread_computes(
    shares: tuple[float, ...], sleeps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(shares)
    monkeypatch.setattr(timing, "time", clock)
    timing.rest()
    assert clock.sleeps == sleeps


def test_a_rest_ends_where_threads_never_do(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock((1.0,) * 10_000)
    monkeypatch.setattr(timing, "time", clock)
    timing.rest()
    assert clock.now == pytest.approx(timing.LONGEST_REST_SECONDS, abs=2 * timing.REST_STEP_SECONDS)


def test_every_candidate_rests_before_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    monkeypatch.setattr(timing, "rest", lambda: events.append("rest"))
    plans = {name: timing.Plan(lambda name=name: events.append(name), 2, True, 0.0) for name in "ab"}
    for part in plans.values():
        part.sample()
    assert events == ["rest", "a", "a", "a", "rest", "b", "b", "b"]
