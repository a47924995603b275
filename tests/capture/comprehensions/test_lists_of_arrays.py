"""Lists to which loops append arrays, as often as only the run knows: rows of one array, or parts end to end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, described

LINES = [np.linspace(0.1, 3.0, 20), np.linspace(2.0, 0.7, 20), np.full(20, 1.5)]


def path(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(x)
    return np.array(found)


def path_from_argument(x: Any) -> Any:
    found = [x]
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(x)
    return np.stack(found), len(found)


def copies(x: Any) -> Any:
    x = x + 0.0
    found = [x.copy()]
    while x.max() > 0.5:
        x *= 0.9
        found.append(x.copy())
    return found


def end_to_end(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(x[2:5] * 2.0)
    return np.concatenate(found), np.hstack(found), np.vstack(found), np.column_stack(found)


def matrices(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(np.outer(x[:2], x[:3]))
    return np.array(found), np.concatenate(found), np.vstack(found)


def of_types(x: Any) -> Any:
    signs, counts, turned = [], [], []
    while x.max() > 0.5:
        x = 0.9 * x
        signs.append(x > 1.0)
        counts.append((x * 10).astype(np.int16))
        turned.append(x * 1j)
    return np.array(signs), np.array(counts), np.array(turned)


def accepted_steps(x: Any) -> Any:
    times, states = [0.0], [x.copy()]
    time, step = 0.0, 0.3
    while time < 2.0:
        first = -x
        second = -(x + step * first)
        error = np.abs(first - second).max() * step
        if error < 0.05:
            time += step
            x = x + step * (first + second) / 2.0
            times.append(time)
            states.append(x.copy())
        else:
            step = step * 0.5
    return np.array(times), np.array(states)


@pytest.mark.parametrize(
    "function", [path, path_from_argument, copies, end_to_end, matrices, of_types, accepted_steps]
)
def test_arrays_of_one_shape_are_rows(function: Any) -> None:
    compiled = check_whole(function, *((x,) for x in LINES))
    assert compiled.stats().traces == 1


def above_limits(x: Any) -> Any:
    found, limit = [], 0.0
    while limit < x.max():
        found.append(x[x > limit])
        limit += 0.25
    return np.concatenate(found), len(found)


def shrinking(x: Any) -> Any:
    found = []
    while x.size > 1:
        found.append(x)
        x = x[x > x.mean()]
    return np.concatenate(found)


def chosen(x: Any) -> Any:
    found = []
    for k in range(40):
        part = x[x > k / 10]
        if part.size > 2:
            found.append(part * 2.0)
    return np.hstack(found), len(found)


def slices(x: Any) -> Any:
    found, k = [x[:2] * 1.0], 1
    while k < x[0] * 10.0:
        found.append(x[k : k + k // 2])
        k += 1
    return np.concatenate(found)


def written_before(x: Any) -> Any:
    found = []
    while x.size > 1:
        x = x[x > x.mean()]
        x[0] += 1.0
        found.append(x)
    return np.concatenate(found)


@pytest.mark.parametrize("function", [above_limits, shrinking, chosen, slices, written_before])
def test_arrays_of_lengths_of_the_run_stand_end_to_end(function: Any) -> None:
    compiled = check_whole(function, *((x,) for x in LINES[:2]))
    assert compiled.stats().traces == 1


def many(x: Any) -> Any:
    found, k = [], 0
    while k < x[0] * 1000.0:
        found.append(x + k)
        k += 1
    return np.array(found)


def many_parts(x: Any) -> Any:
    found, k = [], 0
    while k < x[0] * 1000.0:
        found.append(x[x > 1.0])
        k += 1
    return np.concatenate(found)


@pytest.mark.parametrize("function", [many, many_parts])
def test_lists_may_be_longer_than_there_is_room_for(function: Any) -> None:
    long = [np.full(20, 2.0) for _ in range(3)]
    compiled = check_whole(function, *((x,) for x in (LINES[0], *long, LINES[0])))
    assert compiled.stats().traces > 1


def changed_behind(x: Any) -> Any:
    x = x + 0.0
    found = []
    while x.max() > 0.5:
        x *= 0.9
        found.append(x)
    return np.array(found)


def changed_in_the_next_turn(x: Any) -> Any:
    found = []
    x = x + 0.0
    while x.max() > 0.5:
        x[1] -= 0.01
        x = x * 0.9
        found.append(x)
    return np.vstack(found), x


def changed_after_the_loop(x: Any) -> Any:
    found = []
    other = x * 2.0
    while x.max() > 0.5:
        x = x * 0.9
        other = other - 0.1
        found.append(other)
    other[1] = 7.0
    return np.array(found), other


def changed_in_another_arm(x: Any) -> Any:
    found = []
    x = x + 0.0
    while x.max() > 0.5:
        if x.max() > 1.0:
            x[1] -= 0.01
        else:
            found.append(x)
        x *= 0.9
    return np.array(found)


def changed_by_another_name(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = x * 0.9
        part = x[1:3]
        found.append(x)
        part[0] = 0.25
    return np.array(found)


def changed_elements(x: Any) -> Any:
    found = []
    while x.size > 1:
        x = x[x > x.mean()]
        found.append(x)
        x[:1] += 1.0
    return np.concatenate(found)


def changed_elements_later(x: Any) -> Any:
    found = []
    x = x * 1.0
    while x.size > 1:
        x[0] += 0.25
        x = x[x > x.mean()]
        found.append(x)
    return np.concatenate(found)


def changed_by_the_list(x: Any) -> Any:
    found = [x * 1.0]
    while x.max() > 0.5:
        x = x * 0.9
        found.append(x)
    found[-1][0] = 5.0
    return np.array(found), x


def shared_results(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = x * 0.9
        found.append(x)
    return found, x


def no_arrays(x: Any) -> Any:
    found = []
    while x.max() > 100.0:
        x = 0.9 * x
        found.append(x)
    return np.array(found)


def other_shapes(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(x if x.max() > 1.0 else x[:1])
    return len(found), found[-1]


def other_ways_to_join(x: Any) -> Any:
    found = []
    while x.max() > 0.5:
        x = 0.9 * x
        found.append(np.outer(x[:2], x[:3]))
    return np.concatenate(found, axis=1), np.dstack(found), np.stack(found, axis=-1), np.hstack(found)


@pytest.mark.parametrize(
    "function",
    [
        *(changed_behind, changed_in_the_next_turn, changed_after_the_loop, changed_in_another_arm),
        *(changed_by_another_name, changed_elements, changed_elements_later, changed_by_the_list),
        *(shared_results, no_arrays, other_shapes, other_ways_to_join),
    ],
)
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_elements_are_pythons_objects(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for x in LINES * 2:
        given, wanted = x.copy(), x.copy()
        results, others = compiled(given), function(wanted)
        assert described(results) == described(others)
        assert described(given) == described(wanted)
        if function is shared_results:
            assert results[0][-1] is results[1]


def test_lists_without_arrays_have_nothing_to_join() -> None:
    check_whole(end_to_end, (np.zeros(20),), (LINES[0],), (np.zeros(20),))
