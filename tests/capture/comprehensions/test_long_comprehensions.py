"""Comprehensions, maps and loops that append, of more elements than are traced one by one."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_same, check_split, split

ROWS = 300


def points(seed: int, rows: int = ROWS) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(-50, 50, size=(rows, 8)).astype(float), rng.integers(-9, 9, size=8).astype(float)


CALLS = [points(seed) for seed in range(3)]


def dots(x: Any, w: Any) -> Any:
    return np.array([row @ w for row in x])


def rows(x: Any, w: Any) -> Any:
    return np.array([row * w + 1 for row in x]), [row[0] for row in x]


def means(x: Any, w: Any) -> Any:
    line = x.ravel()
    return np.array([line[i : i + 8].max() for i in range(len(line) - 8)])


def of_python(x: Any, w: Any) -> Any:
    return [float(row[0]) * i for i, row in enumerate(x)], [int(v) for v in x[:, 1]], [bool(v > 0) for v in x[:, 2]]


def in_doubt(x: Any, w: Any) -> Any:
    found = [row.sum() if row[0] > 0 else 0.0 for row in x]
    return found, np.array(found)


def pairs(x: Any, w: Any) -> Any:
    found = [(i, row[0], 2.0 * row[1]) for i, row in enumerate(x)]
    return found, np.array(found), len(found)


def tables(x: Any, w: Any) -> Any:
    found = [[a[0] * b[1] for a in x] for b in x[:40]]
    return np.array(found), found, found[3][5], len(found[0])


def small_tables(x: Any, w: Any) -> Any:
    found = [[a[0] * b[1] for a in x[:20]] for b in x[:20]]
    return np.array(found), found


def at_positions(x: Any, w: Any) -> Any:
    found = [[abs(a[0] - b[1]) for a in x[:60]] for b in x[:60]]
    best, place = 0.0, 0
    for i in range(len(found)):
        for j in range(len(found[i])):
            if found[i][j] > best:
                best, place = found[i][j], i * 60 + j
    return best, place, found[-1][2], sum(found[4])


def parts(x: Any, w: Any) -> Any:
    found = [row.sum() for row in x]
    return found[1:5], found[::-1][:3], found[-1], found[-4:][0], len(found[7:]), found[250]


def beside_each_other(x: Any, w: Any) -> Any:
    one, other = [row.sum() for row in x], [row.max() for row in x]
    return [a * b for a, b in zip(one, other, strict=True)], max(one), min(other), np.max(one)


def joined(x: Any, w: Any) -> Any:
    found = [np.cumsum(row) for row in x]
    return np.vstack(found), np.concatenate(found), found[0]


def maps(x: Any, w: Any) -> Any:
    return np.array(list(map(lambda row: row @ w, x))), max(map(np.max, x)), list(map(float, x[:, 0]))[:3]  # noqa: C417


def maps_of_two(x: Any, w: Any) -> Any:
    return list(map(lambda a, b: a[0] * b[1], x, x[::-1])), sum(map(lambda k: k * 2, range(200)))  # noqa: C417


def chosen(x: Any, w: Any) -> Any:
    return np.array(list(filter(lambda v: v > 0, x[:, 0]))), any(map(lambda v: v > 48, x[:, 1]))  # noqa: C417


def appended(x: Any, w: Any) -> Any:
    found, total = [], 0.0
    for row in x:
        total += row[0]
        found.append(total)
    return np.array(found), found[-1], len(found)


def history(x: Any, w: Any) -> Any:
    state, states, times = w.copy(), [w], [0.0]
    for k in range(250):
        state = state + 2.0 * x[k]
        states.append(state)
        times.append(times[-1] + 0.5)
    return np.array(states), times, np.array(states).reshape(251, 2, 4)[3], np.array(states)[::50].T


def smoothed(x: Any, w: Any) -> Any:
    found = [x[0, 0]]
    for v in x[1:, 0]:
        found.append(0.5 * found[-1] + v)
    return np.asarray(found)


def rows_of_lists(x: Any, w: Any) -> Any:
    found = []
    for a in x[:90]:
        row = []
        for b in x:
            row.append(a[0] - b[1])
        found.append(row)
    return np.array(found), found[3][4], found


def rows_of_comprehensions(x: Any, w: Any) -> Any:
    found = []
    for a in x[:90]:
        found.append([a[0] - b[1] for b in x])
    return found


def counted(x: Any, w: Any) -> Any:
    count, others = 3, 0
    for row in x:
        count += 2
        if row[0] > 0:
            others += 1
    return np.zeros(count).shape, others


FUNCTIONS = [
    dots,
    rows,
    means,
    of_python,
    in_doubt,
    pairs,
    tables,
    small_tables,
    at_positions,
    parts,
    beside_each_other,
    joined,
    maps,
    maps_of_two,
    chosen,
    appended,
    history,
    smoothed,
    rows_of_lists,
    rows_of_comprehensions,
    counted,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_loops_fill_arrays(function: Any) -> None:
    compiled = check_whole(function, *CALLS)
    first = str(compiled.graph(*CALLS[0]))
    assert first.count("\n") < 400, "elements were traced one by one"


def test_nothing_is_in_empty_arrays() -> None:
    for function in (dots, appended, beside_each_other):
        with split():
            compiled = xjit.jit(function)
            for arguments in (points(0), points(1, 0)):
                try:
                    wanted = function(*arguments)
                except Exception as error:
                    with pytest.raises(type(error)):
                        compiled(*arguments)
                else:
                    check_same(compiled(*arguments), wanted)


def changed_entries(x: Any, w: Any) -> Any:
    found = [[a[0] * b[1] for a in x[:8]] for b in x[:8]]
    found[3][4] = 7.0
    found[2][1] += 1
    for i in range(3):
        found[i][i] = 0.0
    return found, np.array(found)


def added(x: Any, w: Any) -> Any:
    found = [row.sum() for row in x[:100]]
    found.append(3.0)
    found.insert(0, 1.0)
    return found + [2.0], np.array(found)  # noqa: RUF005


def repeated(x: Any, w: Any) -> Any:
    found = []
    for row in x[:60]:
        found.append(row.sum())
    return found * 2, found[2:] + found[:2]


@pytest.mark.parametrize("function", [changed_entries, added, repeated])
def test_lists_that_are_used_as_such_are_pythons(function: Any) -> None:
    for one in CALLS:
        check_split(function, *one)


def later_changes(x: Any, w: Any) -> Any:
    found = []
    for a in x[:30]:
        row = [a[0] - b[1] for b in x[:40]]
        found.append(row)
        row[0] = 5.0
    found[4][3] = 8.0
    found[-1].append(4.0)
    return found


def row_of_a_table(x: Any, w: Any) -> Any:
    found = [[a[0] * b[1] for a in x] for b in x[:50]]
    row = found[3]
    row[2] = 5.0
    row.append(1.0)
    return found[3], row


def one_list_in_many_places(x: Any, w: Any) -> Any:
    row, found = [], []
    for b in x[:70]:
        row.append(b[1])
    for _ in x[:70]:
        found.append(row)
    row.append(3.0)
    return found, row


def one_array_in_many_places(x: Any, w: Any) -> Any:
    found = [w for _ in x]
    found[0][0] = 3.0
    return w, found[5][0]


def views_of_an_argument(x: Any, w: Any) -> Any:
    found = [row[:3] for row in x[:80]]
    found[2][0] = 9.0
    x[3, 1] = 4.0
    return x, found[3].copy(), np.array(found)


def arrays_of_its_own(x: Any, w: Any) -> Any:
    found = [row * w for row in x]
    row = found[3]
    row[0] = 5.0
    found[4][1] = 7.0
    for k in range(200):
        found[k][2] += k
    return found[3], found[4], np.array(found), found[0] is found[0], found[1] is found[2]


def windows_of_an_argument(x: Any, w: Any) -> Any:
    line = x.ravel()
    found = [line[k : k + 8] for k in range(200)]
    return np.array(found), found[7].sum(), np.stack(found)[:, 0]


@pytest.mark.parametrize(
    "function",
    [
        later_changes,
        row_of_a_table,
        one_list_in_many_places,
        one_array_in_many_places,
        views_of_an_argument,
        arrays_of_its_own,
        windows_of_an_argument,
    ],
)
def test_changes_of_lists_in_lists_are_seen(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for one in CALLS:
            own, theirs = copy.deepcopy(one), copy.deepcopy(one)
            check_same(compiled(*theirs), function(*own))
            check_same(theirs, own)


def test_iterators_go_on_where_they_are() -> None:
    def begun(x: Any, w: Any) -> Any:
        doubled = map(lambda v: 2 * v, x[:, 0])  # noqa: C417
        first = next(doubled)
        return first, sum(doubled)

    compiled = xjit.jit(begun)
    with split():
        for one in CALLS:
            check_same(compiled(*one), begun(*one))


def test_lists_are_longer_than_was_guessed() -> None:
    def filled(x: Any, w: Any) -> Any:
        found = []
        for k in range(20_000):
            found.append(k * x[k % 7, 0])
        return np.array(found)

    check_whole(filled, *CALLS)
