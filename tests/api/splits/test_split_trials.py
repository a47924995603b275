"""Trials of split programs: each call is done once, and what is quicker takes those that follow."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient
from xjit.api.splits.trials import MOST_ROUNDS, Trials
from xjit.errors import FallbackWarning
from xjit.runtime.miss import MISS


def everything(*args: Any) -> Any:
    """Serves all arguments."""


class Side:
    """A side of a trial that takes a while, and counts its calls."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.calls = seconds, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        time.sleep(self.seconds)
        return args, kwargs


@pytest.mark.parametrize(("ours", "other"), [(0.0, 0.05), (0.05, 0.0)])
def test_the_quicker_side_is_chosen(ours: float, other: float) -> None:
    program, plain = Side(ours), Side(other)
    trials = Trials(program, plain, (), everything)
    for count in range(1, 20):
        assert trials(1) == ((1,), {})
        assert program.calls + plain.calls == count
    assert (plain if ours < other else program).calls == 1
    assert trials.words.startswith("the program runs" if ours < other else "NumPy runs")


def test_short_calls_are_tried_more_often() -> None:
    program, plain = Side(0.0), Side(0.002)
    trials = Trials(program, plain, (), everything)
    for _ in range(20):
        trials()
    assert plain.calls == MOST_ROUNDS


def test_names_of_arguments() -> None:
    plain = Side(0.0)
    trials = Trials(Side(0.0), plain, ("b", "c"), everything)
    found = [trials(1, 2, 3) for _ in range(2)]
    assert found == [((1, 2, 3), {}), ((1,), {"b": 2, "c": 3})]


def test_calls_of_another_kind_do_not_count() -> None:
    plain = Side(0.0)
    trials = Trials(lambda *args: MISS, plain, (), everything)
    for _ in range(5):
        assert trials() is MISS
    assert plain.calls == 0 and trials.words == "not decided yet"


def counted(x: Any) -> Any:
    print("x")
    return x + 1


def test_each_call_is_done_once(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = xjit.jit(counted)
    with lenient(), pytest.warns(FallbackWarning):
        for _ in range(30):
            np.testing.assert_array_equal(compiled(np.ones(3)), [2, 2, 2])
        assert "trial: " in str(compiled.explain(np.ones(3)))
    assert capsys.readouterr().out == "x\n" * 30


@pytest.mark.parametrize("named", [False, True])
def test_what_is_quicker_for_some_arrays_is_tried_anew_for_others(
    named: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = xjit.jit(counted)
    with lenient(), pytest.warns(FallbackWarning):
        for size in (3, 5):
            for _ in range(2 * MOST_ROUNDS + 2):
                x = np.ones(size)
                np.testing.assert_array_equal(compiled(x=x) if named else compiled(x), x + 1)
        found = str(compiled.explain(np.ones(3)))
    assert found.count("trial: ") == 2 and "not decided" not in found
    assert compiled.stats().traces == 2
    assert len(capsys.readouterr().out) == 2 * 2 * (2 * MOST_ROUNDS + 2)


def test_numpy_is_asked_for_what_the_program_serves_alone() -> None:
    program, plain = Side(0.0), Side(0.0)
    trials = Trials(lambda x: MISS if x > 1 else program(x), plain, (), lambda x: MISS if x > 1 else None)
    for _ in range(3):
        assert trials(1) == ((1,), {})
        assert trials(2) is MISS
    assert (program.calls, plain.calls) == (2, 1)


LARGE = 1 << 18
"""Elements of an argument that is copied in a time that matters."""


def in_an_arm(x: Any) -> None:
    if x[0] < 1:
        x[1:9000] = 0


def between_conditions(x: Any) -> None:
    if x[0] < -9:
        raise ValueError("too small")
    x[:5] = 1
    if x[7] < -100:
        raise ValueError("too small")
    x[3:9] = 2


def by_another_shape(x: Any) -> None:
    y = x.reshape(512, -1)
    y[0] = y[1] = 3.0


def at_once(x: Any) -> None:
    x[1:9] = 0
    x *= 2
    x[5:] += 1


def in_turns(x: Any) -> None:
    for k in range(400):
        if x[k] < 1:
            x[k : k + 5] = k


@pytest.mark.parametrize("function", [between_conditions, by_another_shape])
def test_numpy_is_tried_where_large_arguments_are_copied(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for _ in range(2 * MOST_ROUNDS + 2):
        x, y = np.linspace(0, 3, LARGE), np.linspace(0, 3, LARGE)
        compiled(x)
        function(y)
        np.testing.assert_array_equal(x, y)
    assert "trial: " in str(compiled.explain(x))
    compiled(np.ones(LARGE // 1024 * 512))
    assert len(compiled._dispatcher.trials) == 2
    compiled(np.ones(1024))
    assert len(compiled._dispatcher.trials) == 2  # a copy of few elements costs nothing


@pytest.mark.parametrize("function", [at_once, in_an_arm, in_turns])
def test_numpy_is_not_tried_in_other_programs(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    compiled(np.ones(LARGE))
    assert len(compiled._dispatcher.trials) == 0
