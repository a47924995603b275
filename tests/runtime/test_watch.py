"""Compiles that take long: they are logged, tell how far they are, and end at the limit with NumPy's answer."""

from __future__ import annotations

import logging
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import jobs, watch
from xjit.capture.tracers import provenance
from xjit.codegen.front_end import numba_compat
from xjit.codegen.lowering.kernels import equal_kernels
from xjit.errors import FallbackWarning
from xjit.fusion.grouping import groups
from xjit.fusion.regions import parts
from xjit.fusion.storage import choice
from xjit.watch import CompileLimitError, Progress, Watch

X = np.linspace(0.1, 0.9, 64)


def stepped(x: Any) -> Any:
    for _ in range(12):
        x = np.sin(x[1:]) * 1.5 + np.cos(x[:-1])
    return x


@pytest.fixture(autouse=True)
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it: what cannot be compiled runs through NumPy."""
    monkeypatch.setenv("XJIT_STRICT", "0")


class Clock:
    """Stands still until it is put forward."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(watch, "time", found)
    return found


# ---- the limit


@pytest.mark.parametrize("stage", ["tracing", "storage", "parts", "groups", "lowering", "compiling"])
def test_the_limit_ends_every_stage(monkeypatch: pytest.MonkeyPatch, clock: Clock, stage: str) -> None:
    """Time passes in one stage only, and there the compile ends."""
    places: dict[str, tuple[Any, str]] = {
        "tracing": (provenance.CaptureTrace, "add"),
        "storage": (choice._Choice, "decide"),
        "parts": (parts, "statements_of"),
        "groups": (groups.Grouping, "add"),
        "lowering": (equal_kernels, "lower"),
        "compiling": (numba_compat, "compile_kernel"),
    }
    calls = 0

    def slow(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            clock.now += 100.0
            return original(*args, **kwargs)

        return call

    owner, name = places[stage]
    monkeypatch.setattr(owner, name, slow(getattr(owner, name)))
    compiled = xjit.jit(stepped)
    with pytest.warns(FallbackWarning, match="longer than 60 s, the limit"):
        result = compiled(X)
    np.testing.assert_array_equal(result, stepped(X))
    assert 1 <= calls <= 3
    assert compiled.stats().fallbacks == 1


def test_a_refused_program_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_COMPILE_LIMIT", "1e-9")
    compiled = xjit.jit(stepped)
    with pytest.warns(FallbackWarning, match="XJIT_COMPILE_LIMIT"):
        compiled(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(X), stepped(X))
    assert compiled.stats().traces == 0


def test_under_strict_the_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_COMPILE_LIMIT", "1e-9")
    with pytest.raises(CompileLimitError, match="fix: "):
        xjit.jit(stepped, strict=True)(X)
    with pytest.raises(CompileLimitError):
        xjit.jit(stepped).explain(X)


@pytest.mark.parametrize("text", ["0", ""])
def test_there_may_be_no_limit(monkeypatch: pytest.MonkeyPatch, clock: Clock, text: str) -> None:
    monkeypatch.setenv("XJIT_COMPILE_LIMIT", text)
    decide = choice._Choice.decide

    def late(self: Any, position: int) -> None:
        clock.now += 1e6
        decide(self, position)

    monkeypatch.setattr(choice._Choice, "decide", late)
    compiled = xjit.jit(stepped, strict=True)
    np.testing.assert_allclose(compiled(X), stepped(X), rtol=1e-12)


def test_the_limit_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_COMPILE_LIMIT", "soon")
    with pytest.raises(xjit.ArgumentError, match="XJIT_COMPILE_LIMIT: a number of seconds is required; got 'soon'"):
        xjit.jit(stepped).explain(X)


def test_a_limit_that_the_user_catches_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_COMPILE_LIMIT", "1e-9")

    def careless(x: Any) -> Any:
        try:
            return np.sin(x)
        except RuntimeError:
            return x

    with pytest.warns(FallbackWarning, match="the limit"):
        np.testing.assert_array_equal(xjit.jit(careless)(X), np.sin(X))


# ---- progress


@pytest.fixture
def slow_planning(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Planning that takes about a second."""
    decide = choice._Choice.decide

    def slowly(self: Any, position: int) -> None:
        time.sleep(0.02)
        decide(self, position)

    monkeypatch.setattr(choice._Choice, "decide", slowly)
    yield


@pytest.mark.usefixtures("slow_planning")
def test_progress_is_told_on_the_thread_that_waits() -> None:
    told: list[tuple[Progress, int, bool]] = []
    compiled = xjit.jit(
        stepped, strict=True, progress=lambda one: told.append((one, threading.get_ident(), jobs.inside()))
    )
    np.testing.assert_allclose(compiled(X), stepped(X), rtol=1e-12)
    found = [one for one, _, _ in told if one.stage == "planning: what is stored"]
    assert found and found == sorted(found, key=lambda one: (one.done, one.seconds))
    assert 0 < found[-1].done <= found[-1].total and found[0].function == "stepped"
    assert {(thread, inside) for _, thread, inside in told} == {(threading.get_ident(), False)}


@pytest.mark.usefixtures("slow_planning")
def test_what_progress_raises_is_the_users() -> None:
    class Enough(Exception):
        pass

    def stop(found: Progress) -> None:
        if found.stage.startswith("planning"):
            raise Enough

    with pytest.raises(Enough):
        xjit.jit(stepped, progress=stop)(X)


def test_progress_is_a_function() -> None:
    wrong: Any = 3
    with pytest.raises(xjit.ArgumentError, match="progress: a function is required; got 3"):
        xjit.jit(stepped, progress=wrong)


def test_long_compiles_are_logged(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    found = Watch("solve")
    found.enter("planning operations", 4000)
    with caplog.at_level(logging.INFO, "xjit"):
        for second in (1.0, 2.5, 3.0, 25.0, 40.0):
            clock.now = found.begun + second
            found.step()
            found.look()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "compiling solve: planning operations, 2 of 4,000 after 2.5 s"),
        ("WARNING", "compiling solve: planning operations, 4 of 4,000 after 25.0 s"),
    ]


# ---- signals


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers")
@pytest.mark.usefixtures("slow_planning")
@pytest.mark.parametrize("strict", [False, True])
def test_what_a_signal_handler_raises_while_planning_is_the_users(strict: bool) -> None:
    """A time limit of the user's own, with an error of a built-in class."""

    def expired(number: int, frame: Any) -> None:
        raise TimeoutError("the user's own limit")

    compiled = xjit.jit(stepped, strict=strict)
    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with warnings.catch_warnings(), pytest.raises(TimeoutError, match="the user's own limit"):
            warnings.simplefilter("error")
            compiled(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(compiled(X), stepped(X), rtol=1e-12)
    assert compiled.stats().fallbacks == 0
