"""``errors="numpy"``: the traced graph runs through NumPy, with its warnings, structures and memory orders."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit

LINE = np.arange(3.0)
ROWS = np.arange(24.0).reshape(2, 3, 4) - 5.0


def total(parts: Any) -> Any:
    """The sum over nested containers, each level at another weight."""
    if isinstance(parts, dict):
        return sum(2.0 * total(part) for part in parts.values())
    if isinstance(parts, list | tuple):
        return sum(3.0 * total(part) for part in parts)
    return parts


STRUCTURES: list[Any] = [
    LINE,
    [LINE],
    (LINE,),
    [LINE, LINE + 1.0],
    [[LINE], LINE + 1.0],
    [LINE, [LINE + 1.0]],
    [LINE, LINE, LINE + 2.0],
    {"a": LINE},
    {"b": LINE, "a": (LINE, LINE)},
]


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.permutations(range(len(STRUCTURES)), 2)), ids=lambda number: str(number)
)
def test_every_structure_of_arguments_has_a_trace_of_its_own(first: int, second: int) -> None:
    function = xjit.jit(errors="numpy")(total)
    for number in (first, second, first):
        result = function(STRUCTURES[number])
        np.testing.assert_array_equal(result, total(STRUCTURES[number]))
        assert result.shape == (3,)
    assert function.stats().traces == 2


LAYOUTS = {
    "C": ROWS,
    "F": np.asfortranarray(ROWS),
    "other": ROWS.transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "strided": np.repeat(np.asfortranarray(ROWS), 2, axis=0)[::2],
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.clip(x, 0.0, 7.0),
        lambda x: x.clip(-1.0),
        lambda x: np.where(x > 0.0, x, -x),
        lambda x: np.abs(x) + 1.0,
        lambda x: np.sum(x, axis=1),
        lambda x: (np.clip(x, 0.0, 7.0), np.sort(x, axis=0)),
        lambda x: np.rint(x / 3.0),
        lambda x: np.nan_to_num(x),
        lambda x: x.copy(),
        lambda x: np.cumsum(x, axis=0),
    ],
)
def test_results_have_numpys_memory_order(function: Any, layout: str) -> None:
    x = LAYOUTS[layout]
    made, expected = (one if isinstance(one, tuple) else (one,) for one in (run(x) for run in _both(function)))
    for one, other in zip(made, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.strides == other.strides
        assert one.flags.owndata and one.flags.writeable and not np.may_share_memory(one, x)


def _both(function: Any) -> tuple[Any, Any]:
    return xjit.jit(errors="numpy")(function), function
