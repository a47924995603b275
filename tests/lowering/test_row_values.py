"""Sums over columns that need a number from each row: the numbers of a strip of rows are made first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit.codegen.scheduling.ideas.columns import Rows
from xjit.codegen.scheduling.ideas.unrolled_rows import are_worth_joining
from xjit.ir.loops.intexpr import constant, variable, word
from xjit.ir.loops.nodes import Let, Load, Loop, Prim, Statement, Store, Var
from xjit.ir.source_location import NOWHERE
from xjit.machine import processor
from xjit.types import FLOAT64

Function = Callable[..., Any]

MACHINE = processor()
STRIP_ROWS, ROWS = MACHINE.strip_rows, MACHINE.joined_rows
# Whole strips, a strip with whole steps of rows only, one with a rest, less than a step.
ROW_COUNTS = (2 * STRIP_ROWS, STRIP_ROWS + ROWS, 2 * STRIP_ROWS + ROWS + 3, 2)

PROGRAMS: dict[str, Function] = {
    "sum within": lambda x, w: x.T @ (x @ w),
    "function of a sum within": lambda x, w: x.T @ np.exp(x @ w),
    "function of a column": lambda x, w: (x * np.exp(x[:, :1])).sum(axis=0),
    "function with rare arguments": lambda x, w: x.T @ np.sin(1e3 * (x @ w)),
    "two sums": lambda x, w: (
        (x * np.exp(x @ w)[:, None]).sum(axis=0),
        (x * np.tanh(x.max(axis=1))[:, None]).sum(axis=0),
    ),
    "maximum": lambda x, w: (x * np.log1p(np.abs(x @ w))[:, None]).max(axis=0),
    "functions along columns too": lambda x, w: (np.cos(1e3 * x) * np.exp(x @ w)[:, None]).sum(axis=0),
    "deviations": lambda x, w: (x * np.exp(x @ w)[:, None]).std(axis=0),
}


@pytest.mark.parametrize("rows", ROW_COUNTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, rows: int, rng: np.random.Generator) -> None:
    function, arrays = PROGRAMS[name], [rng.standard_normal((rows, 11)), rng.standard_normal(11)]
    expected = function(*(array.astype(np.longdouble) for array in arrays))
    for run in (run_uncompiled, run_serial, run_parallel):
        found = run(function, arrays)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
        for one, other in pairs:
            np.testing.assert_allclose(one, other.astype(np.float64), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_element_types(dtype: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((2 * STRIP_ROWS + 5, 9)).astype(dtype)
    found = xjit.jit(lambda x: (x * np.exp(x[:, :1])).sum(axis=0, dtype=np.float32))(x)
    expected = (x * np.exp(x[:, :1])).sum(axis=0, dtype=np.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype is np.float16 else 1e-5, atol=1e-3)


def test_rows_are_added_one_after_the_other(rng: np.random.Generator) -> None:
    x = rng.standard_normal((2 * STRIP_ROWS + 7, 13))
    expected = np.zeros(13)
    for row in x:
        expected = expected + row * (1 / (2 + 1 / (3 + row[0] * row[0])))
    found = xjit.jit(lambda x: (x * (1 / (2 + 1 / (3 + np.square(x[:, :1]))))).sum(axis=0))(x)
    assert found.tobytes() == expected.tobytes()


def test_the_function_runs_over_a_strip() -> None:
    x, w = np.ones((90, 70)), np.ones(70)
    text = xjit.jit(lambda x, w: (x * np.exp((x * w).sum(axis=1))[:, None]).sum(axis=0)).source(x, w)
    lines = [line.split("  #")[0] for line in text.splitlines()]
    call = next(number for number, line in enumerate(lines) if "exp_f64" in line)
    around = next(line for line in reversed(lines[:call]) if line.strip().startswith("for"))
    assert around.strip() == "for r1 in range(b2, stop0):"
    assert sum("exp_f64" in line for line in lines) == 1


def test_cheap_numbers_stay_where_they_are() -> None:
    x = np.ones((900, 70))
    assert "scratch_f64(16)" not in xjit.jit(lambda x: (x * x[:, :1]).sum(axis=0)).source(x)


I0, J0 = variable("i0"), variable("j0")


def loop_over_rows(*inner: Statement) -> Rows:
    columns = Loop("i0", constant(0), word("n0"), inner)
    return Rows(Loop("j0", variable("b0"), variable("e0"), (columns,)), columns, room=64, extent=50)


def added(buffer: str) -> tuple[Statement, ...]:
    value = Let("x0", Load("a0", (J0, I0), FLOAT64), NOWHERE)
    total = Prim("add", (Load(buffer, (I0,), FLOAT64), Var("x0", FLOAT64)), FLOAT64)
    return value, Store(buffer, (I0,), total, NOWHERE)


def test_rows_are_joined_where_they_only_add_up() -> None:
    assert are_worth_joining(loop_over_rows(*added("m0")), {"a0", "o0"}, MACHINE)
    assert not are_worth_joining(loop_over_rows(*added("o0")), {"a0", "o0"}, MACHINE)
    few = replace(MACHINE, joined_statements=1)
    assert not are_worth_joining(loop_over_rows(*added("m0")), {"a0", "o0"}, few)


def test_long_columns_take_several_rows_in_a_step() -> None:
    lines = xjit.jit(lambda x: x.sum(axis=0)).source(np.ones((50, 4000))).splitlines()
    step = next(number for number, line in enumerate(lines) if ", 4):" in line)
    adds = [line for line in lines[step : step + 30] if "st(t0_b0" in line]
    assert len(adds) == MACHINE.joined_rows + 1  # those of a step, and that of the rest
