"""Functions of the standard library in traced code: those that only look at their arguments run while tracing."""

from __future__ import annotations

import bisect
import fractions
import functools
import heapq
import itertools
import math
import operator
import statistics
import struct
from bisect import bisect_left
from heapq import heappop, heappush, nsmallest
from operator import itemgetter
from struct import pack
from typing import Any

import numpy as np
import pytest

from tests.helpers.capturing import captured, check
from xjit.errors import CaptureError

X = np.array([1.0, 2.0, 4.0])
EDGES = [0.0, 0.5, 2.0]


def sorted_by_heap(x: Any) -> Any:
    heap: list[int] = []
    for number in (3, 1, 2):
        heappush(heap, number)
    return [x * heappop(heap) for _ in range(3)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * bisect.bisect(EDGES, 0.7),
        lambda x: x * bisect_left(EDGES, 0.5),
        lambda x: x[heapq.nlargest(1, [0, 2, 1])[0]],
        lambda x: x + nsmallest(2, EDGES)[1],
        lambda x: x + len(pack("d", 1.5)) + struct.calcsize("i"),
        lambda x: x + itemgetter(1)(EDGES) + operator.add(1, 2),
        lambda x: x + statistics.mean(EDGES) + statistics.NormalDist().cdf(0.3),
        lambda x: x * float(fractions.Fraction(1, 3)) + math.pi,
        lambda x: functools.reduce(operator.mul, [x, x, x]),
        lambda x: [a * b for a, b in itertools.pairwise([x, x + 1, x + 2])],
        sorted_by_heap,
    ],
)
def test_functions_of_their_arguments_are_called(function: Any) -> None:
    check(function, X)


def test_numbers_among_the_arguments_are_looked_up() -> None:
    found = check(lambda x, s: x * bisect_left(EDGES, s), X, 0.7)
    assert found.guards.holds([X, 1.9]) and not found.guards.holds([X, 2.5])


def test_modules_that_do_not_change_are_not_read_again() -> None:
    found, _ = captured(lambda x: x * math.sqrt(math.tau) + bisect.bisect([1, 2], 1), X)
    assert not [guard for guard in found.guards.guards if len(guard.path.steps) > 1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: heappush(EDGES, -1.0) or x * EDGES[0],
        lambda x: heapq.heapify(EDGES[:]) or heapq.heapreplace(EDGES, 3.0) * x,
        lambda x: bisect.insort(EDGES, 1.0) or x * EDGES[1],
    ],
)
def test_lists_from_outside_that_they_change_are_refused(function: Any) -> None:
    with pytest.raises(CaptureError, match="from outside"):
        captured(function, X)
    assert EDGES == [0.0, 0.5, 2.0]
