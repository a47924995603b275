"""Rewritten functions over Python's runtime: results, errors with their lines, and effects are those of Python."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.capture.rewriting import cases_blocks, cases_expressions, cases_loops, cases_scopes
from tests.capture.rewriting.case_table import TABLE
from tests.capture.rewriting.random_functions import (
    ForgetfulRuntime,
    difference,
    error_of,
    over_forgetful,
    over_late_returns,
    over_python,
)
from xjit.capture.rewriting.rewrite import rebuild
from xjit.capture.rewriting.runtime_protocol import ControlRuntime

MODULES = (cases_blocks, cases_expressions, cases_loops, cases_scopes)


def behaviour(function: Any, value: Any) -> Any:
    """Return result or error, and effects, of one call."""
    notes: list[str] = []

    def note(*values: Any) -> Any:
        notes.append(repr(values))
        return values[0] if values else None

    value = copy.deepcopy(value)
    try:
        result: Any = repr(function(value, note))
    except (Exception, GeneratorExit) as error:
        result = error_of(error, function.__code__.co_filename)
    return result, notes, repr(value)


def test_table_is_long() -> None:
    assert len(TABLE) >= 120
    assert {function.__module__ for function, _ in TABLE} == {module.__name__ for module in MODULES}


@pytest.mark.parametrize("change", [over_python, over_forgetful, over_late_returns])
@pytest.mark.parametrize(("function", "inputs"), TABLE, ids=lambda value: getattr(value, "__name__", ""))
def test_behaves_as_python(function: Any, inputs: Any, change: Any) -> None:
    for value in inputs:
        assert behaviour(change(function), value) == behaviour(function, value)


@pytest.mark.parametrize("first", range(0, 400, 40))
def test_random_functions_behave_as_python(first: int) -> None:
    assert not [shown for seed in range(first, first + 40) if (shown := difference(seed))]


def test_wrong_liveness_is_noticed() -> None:
    """The runtime that forgets has to forget something."""

    class ForgetsAll(ForgetfulRuntime):
        def if_(self, test: Any, then: Any, otherwise: Any, site: Any) -> None:
            super().if_(test, then, otherwise, site)
            site.state(then, otherwise).set([None for _ in site.names])

    runtime: ControlRuntime = ForgetsAll()
    assert rebuild(cases_loops.one_branch_binds, runtime)(True, print) is None
