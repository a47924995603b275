"""Views of arrays whose sizes only the run knows, and stores of nothing into them: what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def shown(x: Any, y: Any) -> Any:
    found = x[x < 3]
    view = found.view()
    view[0] -= 1
    return found.sum(), view.sum()


def turned(x: Any, y: Any) -> Any:
    found = x[x < 3]
    view = found.T
    view[0] = 7
    return found.sum()


def both(x: Any, y: Any) -> Any:
    found = x[x < 3]
    return found.transpose(), found


def alone(x: Any, y: Any) -> Any:
    return x[x < 3].view()


def stored_at(x: Any, y: Any) -> Any:
    found = np.where(x > 1)[0]
    found[[0, -1]] = found[:]
    return found


def in_an_arm(x: Any, y: Any) -> Any:
    return 0 if np.any(x < -5) else {"rest": x[: int(x[3])][:]}


def backward(x: Any, y: Any) -> Any:
    return x[int(x[1] == 1) - 1 :: -1], x


def _outcome(function: Callable[..., Any], size: int) -> tuple[Any, ...]:
    found = function(np.arange(4.0), np.zeros(size))
    arrays = [one for one in (found if isinstance(found, tuple) else (found,)) if isinstance(one, np.ndarray)]
    shares = len(arrays) > 1 and np.shares_memory(*arrays)
    return repr(found), shares, [one.flags.writeable for one in arrays]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [shown, turned, both, alone, stored_at, in_an_arm, backward])
def test_views_are_views(function: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    assert _outcome(xjit.jit(function), 1) == _outcome(function, 1)


def test_nothing_is_read_of_arrays_without_elements(monkeypatch: Any) -> None:
    def stored(x: Any, y: Any) -> Any:
        found = x[x < 3]
        found[0:] = y
        return found

    monkeypatch.setenv("XJIT_DEBUG", "1")
    compiled = xjit.jit(stored, strict=True)
    assert compiled(np.arange(4.0), np.ones(1)).tolist() == [1.0, 1.0, 1.0]
    assert compiled(np.arange(4.0) + 5, np.zeros(0)).tolist() == []
    with pytest.raises(ValueError, match="could not broadcast"):
        compiled(np.arange(4.0), np.zeros(0))


def row_by_another_shape(y: Any) -> Any:
    k = int(y.flat[0] < 1)
    shaped = y[k : k + 2].reshape(-1, 1)
    row = shaped[k]
    row[0] = 9
    return shaped, row


def part_by_another_shape(y: Any) -> Any:
    k = int(y.flat[0] < 1)
    part = y.T[k:].reshape(-1, 1)[k : k + 3 : 2]
    part[0] = 3
    return part


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [row_by_another_shape, part_by_another_shape])
def test_writes_to_parts_of_other_shapes_reach_the_array(function: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for first in (2.0, 2.5):
        found, wanted = np.arange(4.0)[None] + first, np.arange(4.0)[None] + first
        assert repr(compiled(found)) == repr(function(wanted))
        np.testing.assert_array_equal(found, wanted)
