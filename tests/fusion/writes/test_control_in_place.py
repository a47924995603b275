"""Branches and loops change what they are given in place, in loops, too, unless somebody reads it behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.fusion.writes.test_updates import steps
from tests.helpers.kernel_executors import run_uncompiled
from xjit.runtime.spec import BranchStep, CopyStep, LoopStep, Step

Function = Callable[..., Any]

LINE = np.random.default_rng(3).random(60)


def one_or_the_other(a: Any) -> Any:
    """Each branch writes elements; a loop is what keeps the branches from being a choice of elements."""
    b = a.copy()
    for i in range(len(a)):
        if a[i] > 0.5:
            b[i] = 2.0 * a[i]
            for j in range(i % 3):
                b[j] += 1.0
        else:
            b[i] = b[i - 1] - 1.0
    return b


def in_one_branch(a: Any) -> Any:
    b = a.copy()
    for i in range(len(a)):
        if a[i] > 0.5:
            for j in range(i % 3):
                b[j] += a[i]
    return b


def one_of_two_arrays(a: Any) -> Any:
    b, c = a + 1.0, a - 1.0
    for i in range(1, len(a)):
        if a[i] > 0.5:
            for j in range(i % 3):
                b[j] += c[i]
        else:
            for j in range(i % 4):
                c[j] -= b[i]
    return b, c


def exchanged(a: Any) -> Any:
    """Behind the choice the names stand for each other's arrays."""
    b, c = a + 1.0, a - 1.0
    for i in range(1, len(a)):
        if a[i] > 0.5:
            for j in range(i % 3):
                b[j] += c[i]
            b, c = c, b
    return b, c


def nested(a: Any) -> Any:
    b = a.copy()
    for i in range(len(a)):
        if a[i] > 0.25:
            if a[i] > 0.5:
                for j in range(i % 3):
                    b[j] += a[i]
            else:
                b[i] = 0.0
        else:
            b[i] = 1.0
    return b


def with_the_old(a: Any) -> Any:
    """The array from before each choice is needed behind it."""
    b = a.copy()
    total = 0.0
    for i in range(len(a)):
        old = b.copy()
        if a[i] > 0.5:
            for j in range(i % 3):
                b[j] += a[i]
        total += (b - old).sum()
    return b, total


IN_PLACE = (one_or_the_other, in_one_branch, one_of_two_arrays, nested)
OTHERS = (exchanged, with_the_old)


def through_a_library(rows: Any, count: int) -> Any:
    """A step that no kernel has keeps loop and choice from being one kernel."""
    b = rows.copy()
    for i in range(count):
        if rows[i, 0] > 0.5:
            b[i] = np.sort(rows[i])
        else:
            b[i] = b[i - 1]
    return b


def through_two_loops(rows: Any, count: int) -> Any:
    b = rows.copy()
    for i in range(count):
        for j in range(i % 3):
            b[j] = np.sort(rows[i] - b[j])
    return b


ROWS = np.random.default_rng(4).random((50, 40))


@pytest.mark.parametrize("function", [*IN_PLACE, *OTHERS], ids=lambda one: one.__name__)
def test_answers_are_numpys(function: Function) -> None:
    np.testing.assert_allclose(np.hstack(xjit.jit(function)(LINE)), np.hstack(function(LINE)), rtol=1e-12)


@pytest.mark.parametrize("function", [one_or_the_other, one_of_two_arrays, exchanged], ids=lambda one: one.__name__)
def test_answers_are_numpys_uncompiled(function: Function) -> None:
    np.testing.assert_allclose(np.hstack(run_uncompiled(function, (LINE,))), np.hstack(function(LINE)), rtol=1e-12)


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda one: one.__name__)
def test_a_turn_of_a_kernel_moves_no_array(function: Function) -> None:
    """All loops over an array are those around the turns: such a one has no turn of its own in it."""
    text = xjit.jit(function).source(LINE).splitlines()
    begin = next(number for number, line in enumerate(text) if line.lstrip().startswith("while "))
    depth = _depth(text[begin])
    turn = [line for line in text[begin + 1 :] if line]
    end = next((number for number, line in enumerate(turn) if _depth(line) <= depth), len(turn))
    assert not [line for line in turn[:end] if line.lstrip().startswith("for ")]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _loop_and_inner(function: Function) -> tuple[LoopStep, Step]:
    (loop,) = [one for one in steps(function, ROWS, 50) if isinstance(one, LoopStep)]
    (inner,) = [step for step in loop.body.steps if isinstance(step, BranchStep | LoopStep)]
    return loop, inner


def test_branches_between_steps_hand_on_what_they_are_given() -> None:
    loop, choice = _loop_and_inner(through_a_library)
    assert isinstance(choice, BranchStep)
    assert [values for values in zip(*choice.values, strict=True) if {*values} < {*loop.results}]
    np.testing.assert_array_equal(xjit.jit(through_a_library)(ROWS, 50), through_a_library(ROWS, 50))


def test_a_loop_between_steps_goes_on_with_what_the_one_around_it_carries() -> None:
    loop, inner = _loop_and_inner(through_two_loops)
    copied = {slot for step in loop.body.steps if isinstance(step, CopyStep) for slot in step.inputs}
    assert {*inner.inputs} & {*loop.results} - copied
    np.testing.assert_array_equal(xjit.jit(through_two_loops)(ROWS, 50), through_two_loops(ROWS, 50))


def inserted(x: Any) -> Any:
    """The inner loop ends where elements say: it is a kernel between the steps of the outer one."""
    y = x.copy()
    for i in range(1, len(y)):
        value, j = y[i], i - 1
        while j >= 0 and y[j] > value:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = value
    return y


def begun_as_it_was(x: Any) -> Any:
    """The array that the inner loop starts from is read behind it."""
    y, total = x.copy(), 0.0
    for i in range(1, len(y)):
        old, j = y.copy(), i
        while j > 0 and y[j] > 0.25:
            y[j] *= 0.5
            j -= 1
        total += np.abs(old - y).sum()
    return np.append(y, total)


def test_a_kernel_with_a_loop_goes_on_with_what_the_loop_around_it_carries() -> None:
    text = xjit.jit(inserted).source(LINE)
    (kernel,) = [one for one in text.split("def kernel")[1:] if "while " in one]
    assert "for " not in kernel
    np.testing.assert_array_equal(xjit.jit(inserted)(LINE), np.sort(LINE))


@pytest.mark.parametrize("function", [inserted, begun_as_it_was], ids=lambda one: one.__name__)
def test_loops_inside_of_loops_give_numpys_answers(function: Function) -> None:
    before = LINE.copy()
    np.testing.assert_allclose(xjit.jit(function)(LINE), function(LINE), rtol=1e-12)
    np.testing.assert_allclose(run_uncompiled(function, (LINE,)), function(LINE), rtol=1e-12)
    np.testing.assert_array_equal(LINE, before)
