"""Functions under ``errors="numpy"``, which NumPy runs operation by operation: the same arrays, orders and forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import jit

SQUARE = np.arange(12.0).reshape(3, 4)
ORDERS = {"C": SQUARE, "Fortran": np.asfortranarray(SQUARE), "steps": SQUARE[:, ::2], "middle": SQUARE[None].T}


def steps(x: Any) -> list[int]:
    """The strides that matter: not those of axes of one element."""
    return [stride for stride, extent in zip(x.strides, x.shape, strict=True) if extent > 1]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.clip(x, 1.0, 5.0),
        lambda x: np.where(x > 2, x, 0.0),
        lambda x: x + 1,
        lambda x: x.T * 2,
        lambda x: x.copy(),
        lambda x: np.cumsum(x, axis=0),
    ],
    ids=["clip", "where", "add", "turned", "copy", "cumsum"],
)
def test_results_have_the_memory_order_of_numpy(function: Any, name: str) -> None:
    x = ORDERS[name]
    found, expected = jit(function, errors="numpy")(x), function(x)
    np.testing.assert_array_equal(found, expected)
    assert steps(found) == steps(expected)


def test_a_list_of_another_structure_is_another_call() -> None:
    function = jit(lambda parts: [part * 2 for part in parts], errors="numpy")
    x = np.arange(3.0)
    for parts in ([x], [x, x + 1], (x, x + 1), [x, x + 1, x + 2], [x]):
        found, expected = function(parts), [part * 2 for part in parts]
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_nested_lists_of_as_many_arrays_are_told_apart() -> None:
    function = jit(lambda parts: len(parts) + parts[0][0], errors="numpy")
    x = np.arange(3.0)
    np.testing.assert_array_equal(function([[x], [x]]), x + 2)
    np.testing.assert_array_equal(function([[x, x]]), x + 1)
