"""Costs that warnings tell: of a step in Python, and of NumPy in the place of a program."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


@pytest.fixture(autouse=True)
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it, with programs that are split as they are."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")


def told(function: Any, *args: Any) -> tuple[list[str], str]:
    """The lines of the only warning about a function, and its explanation."""
    compiled = xjit.jit(function)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            compiled(*args)
    (only,) = found
    assert only.category is FallbackWarning
    return str(only.message).splitlines(), str(compiled.explain(*args))


def cost_in(lines: list[str]) -> str:
    """The cost, which comes ahead of the fix."""
    assert lines[1].startswith("  at ") and lines[-1].startswith("  fix: ")
    return lines[-2].removeprefix("  cost: ")


def prints(x: Any) -> Any:
    y = np.exp(-x)
    print("all", y)
    return y.sum()


def prints_three_times(x: Any) -> Any:
    for i in range(3):
        print(i)
    return np.exp(x)


def prints_in_a_loop(x: Any) -> Any:
    total = 0.0
    for value in x:
        total += value
        if total > 4000.0:
            print(total)
    return total


def hashes(x: Any) -> Any:
    return hash(x.sum())


def chooses(x: Any) -> Any:
    return ["a", b"b", None][int(x.argmax())]


def calls_itself(x: Any) -> Any:
    return x if x.sum() < 1 else calls_itself(x * 0.5)


def test_a_step_costs_its_call_and_the_memory_that_it_reads(capsys: Any) -> None:
    lines, explained = told(prints, np.ones(100))
    assert lines[0] == "prints runs a step in Python: print(): the function prints, which is no operation on arrays"
    assert cost_in(lines) == "a few microseconds at each call; 800 bytes are in memory for it"
    assert cost_in(lines) in explained


def test_steps_at_one_place_are_counted(capsys: Any) -> None:
    assert cost_in(told(prints_three_times, np.ones(3))[0]) == "3 times a few microseconds at each call"


def test_a_step_in_a_loop_costs_each_turn(capsys: Any) -> None:
    lines, explained = told(prints_in_a_loop, np.arange(200.0))
    assert cost_in(lines).startswith("a few microseconds at each turn of the loop")
    assert cost_in(lines) in explained


def test_what_numpy_runs_is_not_compiled() -> None:
    assert cost_in(told(hashes, np.ones(3))[0]) == "nothing of such a call is compiled: it takes NumPy's time"
    assert (
        cost_in(told(np.sort, np.array(["b", "a"]))[0]) == "nothing of such a call is compiled: it takes NumPy's time"
    )


def test_functions_that_call_themselves_are_named() -> None:
    lines, _ = told(calls_itself, np.ones(3))
    assert lines[0].endswith("calls_itself calls itself, and only the run tells how often")


def test_what_is_passed_to_code_that_is_not_traced_is_called_that() -> None:
    def assigns(table: Any) -> Any:
        return table.assign(c=lambda one: one["a"] * 2)

    pandas = pytest.importorskip("pandas")
    lines, _ = told(assigns, pandas.DataFrame({"a": [1.0, 2.0]}))
    assert lines[0].endswith("a value of type function is passed to code that is not traced")
    assert lines[-1] == "  fix: pass arrays and numbers to this call, or make it outside of the function"
