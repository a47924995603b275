"""Rows that change places: only these are moved, in loops and alone, whatever else the array is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

TABLE = np.random.default_rng(11).random((3000, 40))


def rows_of_two(x: Any, i: Any, p: Any) -> None:
    row = x[i].copy()
    x[i] = x[p]
    x[p] = row


def factored(x: Any) -> None:
    for i in range(x.shape[1] - 1):
        p = i + np.argmax(np.abs(x[i:, i]))
        x[[i, p]] = x[[p, i]]
        x[i + 1 :, i] /= x[i, i]
        x[i + 1 :, i + 1 :] -= np.outer(x[i + 1 :, i], x[i, i + 1 :])


def factored_if_another(x: Any) -> None:
    for i in range(x.shape[1] - 1):
        p = np.argmax(np.abs(x[i:, i])) + i
        if p != i:
            x[[i, p]] = x[[p, i]]
        x[i + 1 :, i] /= x[i, i]
        x[i + 1 :, i + 1 :] -= np.outer(x[i + 1 :, i], x[i, i + 1 :])


def factored_by_copies(x: Any) -> None:
    for i in range(x.shape[1] - 1):
        p = i + np.argmax(np.abs(x[i:, i]))
        row = x[i].copy()
        x[i] = x[p]
        x[p] = row
        x[i + 1 :, i] /= x[i, i]
        x[i + 1 :, i + 1 :] -= np.outer(x[i + 1 :, i], x[i, i + 1 :])


@pytest.mark.parametrize(
    ("function", "further"),
    [
        (rows_of_two, [(3, 77), (4, -1), (9, 9), (5, 2999)]),
        (factored, [()]),
        (factored_if_another, [()]),
        (factored_by_copies, [()]),
    ],
)
def test_no_more_than_rows_are_copied(function: Callable[..., Any], further: list[tuple[int, ...]]) -> None:
    compiled = xjit.jit(function)
    for numbers in (*further, *further):
        ours, theirs = TABLE.copy(), TABLE.copy()
        compiled(ours, *numbers)
        function(theirs, *numbers)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    found = compiled.explain(TABLE.copy(), *further[-1])
    assert found.temporary_bytes < TABLE.nbytes // 8, str(found)


def test_a_row_that_is_not_there_leaves_what_numpy_leaves() -> None:
    compiled = xjit.jit(rows_of_two)
    for numbers in ((3, 77), (4, 8), (3, 3000), (-3001, 3)):
        ours, theirs = TABLE.copy(), TABLE.copy()
        errors = []
        for function, given in ((compiled, ours), (rows_of_two, theirs)):
            try:
                function(given, *numbers)
            except IndexError as error:
                errors.append(str(error))
        assert len(errors) in (0, 2) and len(set(errors)) <= 1
        np.testing.assert_array_equal(ours, theirs)
