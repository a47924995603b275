"""Views of arrays of sizes that only the run knows: what is written to one is seen by the other, or NumPy runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

X = np.round(np.random.default_rng(4).standard_normal(700) * 4) / 4
A = np.round(np.random.default_rng(5).standard_normal((60, 4)) * 4) / 4

VIEWS: dict[str, Callable[[Any], Any]] = {
    "ravel": lambda a: np.ravel(a),
    "ravel as a method": lambda a: a.ravel(),
    "reshape": lambda a: a.reshape(-1),
    "reshape to a column": lambda a: a.reshape(-1, 1),
    "reshape to a row": lambda a: np.reshape(a, (1, -1)),
    "transpose": lambda a: np.transpose(a),
    "T": lambda a: a.T,
    "real": lambda a: np.real(a),
    "astype without a copy": lambda a: a.astype(np.float64, copy=False),
    "astype": lambda a: a.astype(np.float64),
    "flatten": lambda a: a.flatten(),
    "copy": lambda a: np.copy(a),
    "clip without bounds": lambda a: np.clip(a, None, None),
    "nan_to_num in place": lambda a: np.nan_to_num(a, copy=False),
    "round": lambda a: np.round(a, 2),
    "all of it": lambda a: a[...],
    "a part": lambda a: a[1:],
}
ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "chosen": lambda x, a: x[x > 0.2],
    "rows": lambda x, a: a[a[:, 0] > 0],
    "a window": lambda x, a: (x * 2)[: (x > 0).sum()],
    "a window of rows": lambda x, a: (a * 2)[: (a[:, 0] > 0).sum()],
    "a window of the argument": lambda x, a: x[: (x > 0).sum()],
    "rows of the argument": lambda x, a: a[: (a[:, 0] > 0).sum()],
    "a line of chosen ones backwards": lambda x, a: x[x > 0.2][::-1].ravel(),
    "a line of rows backwards": lambda x, a: (a * 2)[: (a[:, 0] > 0).sum()][::-1].ravel(),
    "a line of rows of the argument": lambda x, a: a[: (a[:, 0] > 0).sum()].ravel(),
}


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("view", VIEWS)
def test_writes_through_one_are_seen_by_the_other(array: str, view: str) -> None:
    chosen, shown = ARRAYS[array], VIEWS[view]

    def into_the_view(x: Any, a: Any) -> Any:
        found = chosen(x, a)
        other = shown(found)
        other[0] = 9.0
        return found.sum(), found * 1.0

    def into_the_array(x: Any, a: Any) -> Any:
        found = chosen(x, a)
        other = shown(found)
        found[0] = 9.0
        return other.sum(), other * 1.0

    with split():
        for function in (into_the_view, into_the_array):
            compiled = xjit.jit(function)
            own, theirs = (X.copy(), A.copy()), (X.copy(), A.copy())
            check_same(compiled(*theirs), function(*own))
            check_same(theirs, own)


@pytest.mark.parametrize("view", ["ravel", "T", "real", "reshape to a column", "reshape"])
def test_views_that_are_only_read_are_compiled(view: str) -> None:
    shown = VIEWS[view]

    def read(x: Any, a: Any) -> Any:
        found = x[x > 0.2]
        found[0] = 9.0
        return (shown(found) * 2).sum(), shown(a[a[:, 0] > 0]).sum()

    check_same(xjit.jit(read, strict=True)(X, A), read(X, A))
