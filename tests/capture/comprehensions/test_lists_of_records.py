"""Lists to which loops append tuples and lists of numbers: a column for each number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, described

LINES = [np.arange(1.0, 4.0) * factor for factor in (1.0, 3.0, 2.0)]


def history(x: Any) -> Any:
    found, time = [], 0.0
    while time < x[0] * 5.0:
        found.append((time, x[1]))
        time += 0.5
        x = x * 0.99
    return np.array(found), len(found)


def rows(x: Any) -> Any:
    found, time = [], 0.0
    while time < x[0] * 5.0:
        found.append([time, x[1], x[2]])
        time += 0.5
        x = x * 0.99
    table = np.array(found)
    return table[:, 0].max(), table[-1], found


def of_types(x: Any) -> Any:
    found, k = [], 0
    while k < x[0] * 5.0:
        found.append((k, x[1] > k, x[2]))
        k += 1
    return found, len(found)


def gone_through(x: Any) -> Any:
    found, time = [], 0.0
    while time < x[0] * 5.0:
        found.append((time, (x[1], x[2])))
        time += 0.5
        x = x * 0.99
    total = 0.0
    for one, (other, last) in found:
        total = total * 0.5 + one * other - last
    return total


@pytest.mark.parametrize("function", [history, rows, of_types, gone_through])
def test_records_are_columns(function: Any) -> None:
    compiled = check_whole(function, *((x,) for x in LINES))
    assert compiled.stats().traces == 1


def changed_later(x: Any) -> Any:
    found, time = [], 0.0
    while time < x[0] * 5.0:
        row = [time, x[1]]
        found.append(row)
        time += 0.5
        x = x * 0.99
        row[0] = 7.0
    return np.array(found)


def of_two_forms(x: Any) -> Any:
    found, time = [], 0.0
    while time < x[0] * 5.0:
        found.append((time, x[1]) if time < 2.0 else (time, x[1], x[2]))
        time += 0.5
    return found


def of_two_types(x: Any) -> Any:
    found, k = [(0, 1.5)], 0
    while k < x[0] * 5.0:
        k += 1
        found.append((k, x[1]))
    return found


def one_list_again(x: Any) -> Any:
    row = [0.0, 1.0]
    found, time = [], 0.0
    while time < x[0] * 5.0:
        row[0] += x[1]
        found.append(row)
        time += 0.5
    return found


@pytest.mark.parametrize("function", [changed_later, of_two_forms, of_two_types, one_list_again])
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_other_lists_are_pythons(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    compiled = xjit.jit(function)
    for x in LINES:
        assert described(compiled(x.copy())) == described(function(x.copy()))
