"""Cases of compaction: chosen elements and their positions, in front of zeros where NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.dynamic.compaction import chosen_positions, compact, count_chosen
from xjit.ops.dynamic.counting import count_numbers
from xjit.ops.dynamic.extents import cut
from xjit.ops.dynamic.library_calls import limited_call
from xjit.ops.dynamic.repetition import repeat_each
from xjit.types import DTYPES

MASK = np.array([True, False, True, True, False])
ENDS, SIZE = np.array([3]), np.array(5)
REPEATED = np.array([2, 2, 3, 3, 6])
LINE = np.array([3.0, 1.0, 2.0, 9.0, 8.0])


def _cut(operand: Any, size: Any) -> Any:
    return cut(ops.neg(operand), size, (0,))  # of an array that nobody else has


def _sorted(operand: Any, size: Any) -> Any:
    return limited_call("sort", [operand], [{0: size}], {}, (3,))


def _inverse(operand: Any, size: Any) -> Any:
    return limited_call("linalg.inv", [operand], [{0: size, 1: size}], {}, (3, 3))


def _repeated(operand: Any, ends: Any, size: Any) -> Any:
    return repeat_each(operand, ends, size, 6)


def _counted(operand: Any, size: Any, length: Any) -> Any:
    return count_numbers(operand, None, size, length, 5)


def _weighed(operand: Any, weights: Any, size: Any, length: Any) -> Any:
    return count_numbers(operand, weights, size, length, 3)


def _cases() -> list[Case]:
    found = [
        Case("count_chosen", count_chosen, (MASK, SIZE), np.array([3]), label="all"),
        Case("count_chosen", count_chosen, (MASK, np.array(3)), np.array([2]), label="the first three"),
        Case("chosen_positions", lambda m, e: chosen_positions(m, e, 3), (MASK, ENDS), np.array([0, 2, 3])),
        Case("limited_call", _sorted, (LINE, np.array(3)), np.array([1.0, 2, 3])),
        Case("limited_solver", _inverse, (np.diag([2.0, 4, 0]), np.array(2)), np.diag([0.5, 0.25, 0])),
        Case(
            "count_numbers", _counted, (np.array([3, 0, 3, 9]), np.array(3), np.array(4)), np.array([1, 0, 0, 2, 0])
        ),
        Case(
            "count_numbers",
            _weighed,
            (np.array([2, 2, 0]), LINE[:3], np.array(3), np.array(3)),
            np.array([2.0, 0, 4]),
        ),
        Case(
            "count_numbers", _counted, (np.array([9]), np.array(1), np.array(10)), np.zeros(5, np.int64), label="room"
        ),
        Case("cut", _cut, (np.arange(5.0), np.array(2)), np.array([-0.0, -1.0])),
    ]
    for name in DTYPES:
        x = array(name, np.arange(5) % 2)
        found.append(Case("repeat_each", _repeated, (x, REPEATED, SIZE), np.repeat(x, [2, 0, 1, 0, 3]), label=name))
        found.append(Case("compact", lambda x, m, e: compact(x, m, e, 3), (x, MASK, ENDS), x[MASK], label=name))
    return found


CASES = _cases()
