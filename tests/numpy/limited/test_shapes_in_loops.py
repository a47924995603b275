"""Arrays whose sizes only the run knows in loops and branches: gone through, shrinking, growing, written."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

DENSITIES = (0.3, 0.0, 1.0, 0.05, 0.6)


def over_elements(x, m):
    total = 0.0
    for number, value in enumerate(x[m]):
        total = 0.5 * total + number * value
    return total


def over_positions(x, m):
    total = 0.0
    for i in np.flatnonzero(m):
        total += x[i] * i
    return total


def over_rows(A, r):
    total = np.zeros(7)
    for row in A[r]:
        total = total * 0.5 + row
    return total


def neighbours(x, m):
    y, total = x[m], 0.0
    for i in range(len(y) - 1):
        total += abs(y[i + 1] - y[i])
    return total


def escape_times(z):
    c, counts, index, turn = z, np.zeros(z.shape, np.int64), np.arange(z.size), 0
    z = np.zeros_like(c)
    while index.size and turn < 40:
        z[index] = z[index] ** 2 + c[index]
        inside = np.abs(z[index]) <= 2
        counts[index[~inside]] = turn
        index = index[inside]
        turn += 1
    return counts, turn


def shrinking(z):
    counts, index, point = np.full(z.size, 20), np.arange(z.size), z.ravel()
    z = np.zeros_like(point)
    for n in range(20):
        z = z * z + point
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[index[~inside]] = n
        z, point, index = z[inside], point[inside], index[inside]
        if len(z) == 0:
            break
    return counts


def halved_until_small(x, m):
    index, turns = np.flatnonzero(m), 0
    while len(index):
        x[index] *= 0.5
        index = index[np.abs(x[index]) > 0.1]
        turns += 1
    return x, turns


def filtered_in_a_branch(x, m):
    y = x[m]
    if y.sum() > 0:
        y = y[y > 0.2]
    return y


def whole_or_chosen(x, m):
    if m.sum() > 30:
        y = x[m]
    else:
        y = x
    return y


def joined_in_the_end(A):
    found = []
    for row in A:
        found.append(row[row > 0])
    return np.concatenate(found)


def sparse_product(x, q, ends):
    y = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        begin, end = ends[i], ends[i + 1]
        y[i] = x[begin:end] @ x[q[begin:end]]
    return y


def stored_at_positions(x, m):
    index = np.flatnonzero(m)
    x[index] += 1.0
    x[index[:2]] = 9.0
    return x


def stored_in_order(x, y, m):
    x[m] = np.sort(y[m])
    return x


def stored_at_coordinates(A):
    A[np.nonzero(A > 1)] = 1.0
    A[A < 0] = np.sort(A[A < 0])
    return A


def stored_beside_an_axis(A, r):
    A[r, 0] = 5.0
    A[r, 1:3] *= 2.0
    return A


def cut_in_place(x, m):
    y = x[m]
    y[y > 0.5] = 0.5
    return y, y.sum()


PROGRAMS = [
    *(
        over_elements,
        over_positions,
        over_rows,
        neighbours,
        escape_times,
        shrinking,
        halved_until_small,
        filtered_in_a_branch,
    ),
    *(joined_in_the_end, sparse_product, stored_at_positions, stored_in_order, stored_at_coordinates),
    *(stored_beside_an_axis, cut_in_place),
]


def arguments(density: float) -> dict[str, Any]:
    """Arrays and masks by their names."""
    rng = np.random.default_rng(7)
    ends = np.sort(rng.integers(0, 300, 20))
    found = {"x": rng.standard_normal(300), "y": rng.standard_normal(300), "A": rng.standard_normal((20, 7))}
    found |= {"m": rng.random(300) < density, "r": rng.random(20) < density, "q": rng.integers(0, 300, 300)}
    return found | {"z": rng.standard_normal(150) + 1j * rng.standard_normal(150), "ends": ends}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    names = list(inspect.signature(program).parameters)
    fast = xjit.jit(program, strict=True)
    for density in DENSITIES:
        own, other = ([arguments(density)[name] for name in names] for _ in range(2))
        found, wanted = fast(*own), program(*other)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, two in (*pairs, *zip(own, other, strict=True)):
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)
            assert np.asarray(one).dtype == np.asarray(two).dtype and np.shape(one) == np.shape(two)
    assert fast.stats().traces == 1, "another number of elements is no reason to trace again"


def near_pairs(x: Any, y: Any) -> Any:
    found, count = y.copy(), 0
    for one, other in zip(*np.where(np.abs(x[:, None] - x) < 0.2), strict=False):
        if one < other:
            found[one] += found[other]
            count += 1
    return found, count


def beside_each_other(x: Any, y: Any) -> Any:
    total, marks, chosen = 0.0, np.zeros(len(x)), np.flatnonzero(x > 0.5)
    for one, other, third in zip(x[x > 0.5], y, x[x > 0.2], strict=False):
        total += one * other - third
    for number, (first, last) in enumerate(zip(chosen[:-1], chosen[1:], strict=False)):  # noqa: RUF007
        marks[first:last] = number + y[first]
    return total, marks


@pytest.mark.parametrize("function", [near_pairs, beside_each_other])
def test_arrays_of_unknown_length_side_by_side(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for seed, factor in ((0, 1.0), (1, 1.0), (2, 0.0), (3, 0.55)):
        rng = np.random.default_rng(seed)
        x, y = factor * rng.random(20), rng.random(20)
        for one, other in zip(function(x, y), compiled(x, y), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-13)
