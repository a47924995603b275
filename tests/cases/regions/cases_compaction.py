"""Cases of compaction: chosen elements and their positions, in front of zeros where NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.dynamic.compaction import chosen_positions, compact, count_chosen
from xjit.ops.dynamic.extents import cut
from xjit.ops.dynamic.library_calls import limited_call
from xjit.types import DTYPES

MASK = np.array([True, False, True, True, False])
ENDS, SIZE = np.array([3]), np.array(5)
LINE = np.array([3.0, 1.0, 2.0, 9.0, 8.0])


def _cut(operand: Any, size: Any) -> Any:
    return cut(ops.neg(operand), size, (0,))  # of an array that nobody else has


def _sorted(operand: Any, size: Any) -> Any:
    return limited_call("sort", [operand], [{0: size}], {}, (5,))


def _cases() -> list[Case]:
    found = [
        Case("count_chosen", count_chosen, (MASK, SIZE), np.array([3]), label="all"),
        Case("count_chosen", count_chosen, (MASK, np.array(3)), np.array([2]), label="the first three"),
        Case("chosen_positions", lambda m, e: chosen_positions(m, e, 3), (MASK, ENDS), np.array([0, 2, 3])),
        Case("limited_call", _sorted, (LINE, np.array(3)), np.array([1.0, 2, 3, 0, 0])),
        Case("cut", _cut, (np.arange(5.0), np.array(2)), np.array([-0.0, -1.0])),
    ]
    for name in DTYPES:
        x = array(name, np.arange(5) % 2)
        found.append(Case("compact", lambda x, m, e: compact(x, m, e, 3), (x, MASK, ENDS), x[MASK], label=name))
    return found


CASES = _cases()
