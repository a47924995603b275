"""Numbers about a machine change texts, plans and pieces, and never a bit of a result."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from tests.helpers.kernel_executors import on
from tests.machine.machine_cases import AT_RUN_TIME, CASES, SEEN_IN, Case
from xjit import compile, machine, tree
from xjit.inspect.stages import plan_text
from xjit.machine import Machine, processor
from xjit.programs.kernel_runs import piece_size
from xjit.runtime.spec import LoopStep, all_steps

NUMBERS = [field.name for field in fields(Machine)]


def half(value: Any) -> Any:
    return value / 2 if isinstance(value, float) else max(value // 2, 1)


def double(value: Any) -> Any:
    return value * 2


def small(value: Any) -> Any:
    return value / 1e6 if isinstance(value, float) else 1


CHANGES: dict[str, Callable[[Any], Any]] = {"half": half, "double": double, "small": small}


def varied(one: Machine, *names: str, change: Callable[[Any], Any]) -> Machine:
    return replace(one, **{name: change(getattr(one, name)) for name in names})


@functools.cache
def traced(name: str) -> tuple[Any, Any]:
    found, leaves = captured(CASES[name].function, *CASES[name].arguments)
    return found, found.guards.fetch(leaves)


def made(name: str, one: Machine) -> Any:
    """Return what a program becomes: its plan, texts, table words, steps of its shared loops, their pieces, and the
    tiles of its loops.
    """
    found, values = traced(name)
    lowered = compile.lower_graph(found.graph, values, found.views, target=on(one))
    kernels = [(text, kernel.words, kernel.extent, kernel.work) for kernel, text in lowered.kernels]
    steps = all_steps(compile.program_spec(lowered).body)
    tiles = [step.tiles for step in steps if isinstance(step, LoopStep)]
    pieces = [(text, words, extent, piece_size(extent, work, one)) for text, words, extent, work in kernels]
    return plan_text(lowered.plan), pieces, tiles


def bits(case: Case, one: Machine) -> list[bytes]:
    with xjit.threads(2):
        result = xjit.jit(case.function, target=on(one))(*case.arguments)
    return [np.asarray(leaf).tobytes() for leaf in tree.flatten(result)[0]]


@functools.cache
def expected(name: str) -> list[bytes]:
    return bits(CASES[name], processor())


def test_every_number_is_varied() -> None:
    assert sorted([*SEEN_IN, *AT_RUN_TIME]) == sorted(NUMBERS)


@pytest.mark.parametrize("number", SEEN_IN)
def test_a_number_changes_what_is_made_and_no_bit(number: str) -> None:
    changed = set()
    for name in SEEN_IN[number]:
        case = CASES[name]
        plain = made(name, case.machine)
        for word, change in CHANGES.items():
            one = varied(case.machine, number, change=change)
            if made(name, one) != plain:
                changed.add(name)
            assert bits(case, one) == expected(name), f"{number} {word} changes bits of {name}"
    assert changed == set(SEEN_IN[number])


@pytest.mark.parametrize("number", AT_RUN_TIME)
def test_numbers_for_libraries_change_no_bit(number: str) -> None:
    for change in CHANGES.values():
        one = varied(processor(), number, change=change)
        assert made("product", one) == made("product", processor())
        assert bits(CASES["product"], one) == expected("product")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", CASES)
def test_all_numbers_at_once_change_no_bit(name: str, change: str) -> None:
    one = varied(CASES[name].machine, *NUMBERS, change=CHANGES[change])
    assert bits(CASES[name], one) == expected(name)


def test_every_number_says_what_it_decides() -> None:
    (record,) = [node for node in ast.parse(inspect.getsource(machine)).body if isinstance(node, ast.ClassDef)]
    body = record.body
    told = {
        one.target.id
        for one, after in itertools.pairwise(body)
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }
    assert told == set(NUMBERS)
