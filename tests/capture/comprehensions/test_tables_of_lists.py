"""Lists of lists of as many numbers each, read and written at positions that only the run knows: arrays of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole

RNG = np.random.default_rng(7)
ROWS, COLUMNS = RNG.integers(0, 6, 30), RNG.integers(0, 5, 30)
PLACES = [
    (ROWS, COLUMNS),
    (ROWS - 6, COLUMNS - 5),
    (np.where(np.arange(30) == 3, 6, ROWS), COLUMNS),
    (ROWS, np.where(np.arange(30) == 7, -6, COLUMNS)),
    (ROWS[:0], COLUMNS[:0]),
]


def common(a: Any, b: Any) -> Any:
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                longest[i][j] = longest[i - 1][j - 1] + 1
            else:
                longest[i][j] = max(longest[i - 1][j], longest[i][j - 1])
    return longest[len(a)][len(b)]


def edits(a: Any, b: Any) -> Any:
    fewest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        fewest[i][0] = i
    for j in range(len(b) + 1):
        fewest[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            other = 0 if a[i - 1] == b[j - 1] else 1
            fewest[i][j] = min(fewest[i - 1][j] + 1, fewest[i][j - 1] + 1, fewest[i - 1][j - 1] + other)
    return fewest[-1][-1]


def test_tables_of_dynamic_programs() -> None:
    words = [RNG.integers(0, 4, count) for count in (30, 40, 20, 1)]
    check_whole(common, words[:2], words[2:])
    check_whole(edits, words[:2], words[2:])


def counted(x: Any, y: Any) -> Any:
    counts = [[0 for _ in range(5)] for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    return counts


def by_rows(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    total = 0
    for row in counts:
        for v in row:
            total += v * v
    return total, len(counts), len(counts[0]), [sum(row) for row in counts], max(counts[2])


def named_rows(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        row = counts[x[k]]
        row[y[k]] += 1
        counts[x[k]][0] += 1
        if row[0] > 3:
            row[1] = 7
    return counts


def in_an_array(x: Any, y: Any) -> Any:
    counts = [[0.5] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1.0
    return np.array(counts)


def of_numpy(x: Any, y: Any) -> Any:
    found = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        found[x[k]][y[k]] = y[k]
    return found


@pytest.mark.parametrize("function", [counted, by_rows, named_rows, in_an_array, of_numpy])
def test_elements_are_those_of_python(function: Any) -> None:
    check_whole(function, *PLACES)


def rows_that_are_one(x: Any, y: Any) -> Any:
    counts = [[0] * 5] * 6
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    return counts


def row_of_another_name(x: Any, y: Any) -> Any:
    first = [0] * 5
    counts = [first, [0] * 5]
    for k in range(len(x)):
        counts[x[k] % 2][y[k]] += 1
    return counts, first


def another_row(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    counts[0] = [1, 2, 3]
    return counts


def longer(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    counts.append([1])
    counts[0].append(9)
    return counts


def with_a_row(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    return counts, counts[1]


def part_of_the_rows(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    part = counts[1:3]
    part[0][0] = 55
    return counts[1][0], part


def rows_of_two_lists(x: Any, y: Any) -> Any:
    counts = [[0] * 5 for _ in range(6)]
    for k in range(len(x)):
        counts[x[k]][y[k]] += 1
    row, both = counts[0], sorted(counts)
    both[0][0] = 9
    row[1] = 8
    return both, np.array(counts).sum()


OTHERS = [
    rows_that_are_one,
    row_of_another_name,
    another_row,
    longer,
    with_a_row,
    part_of_the_rows,
    rows_of_two_lists,
]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", OTHERS)
def test_rows_with_other_names_are_as_in_python(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for _ in range(2):
        found, wanted = compiled(ROWS, COLUMNS), function(ROWS, COLUMNS)
        assert found == wanted
    assert function is not with_a_row or found[1] is found[0][1]
