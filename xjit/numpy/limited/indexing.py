"""Indices with numbers of the run in them: ``x[:i]``, ``A[i, i + 1:]``, ``x[i]``; reading, and new versions of arrays
that are written there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray, is_moving, picked, sizes_of
from xjit.numpy.rules.values import as_scalar, as_view, fresh
from xjit.numpy.selecting.indexing import expanded
from xjit.types import INT64


def applies(value: Any, index: Any) -> bool:
    """Return whether an index is basic, and says or asks what only the run knows."""
    entries = index if isinstance(index, tuple) else (index,)
    found = isinstance(value, LimitedArray) or any(is_moving(one) or _is_position(one) for one in entries)
    return found and all(map(_is_basic, entries))


def _is_position(entry: Any) -> bool:
    """Return whether an entry is an integer of Python's that only the run knows."""
    return isinstance(entry, TracedValue) and entry.weak is int and entry.dtype == INT64 and not entry.node.aval.rank


def _is_basic(entry: Any) -> bool:
    if entry is None or entry is Ellipsis or _is_position(entry):
        return True
    if isinstance(entry, slice):
        return not isinstance(entry.step, TracedValue)
    return isinstance(entry, int | np.integer) and not isinstance(entry, bool | np.bool_)


def getitem(value: Any, index: Any) -> Any:
    """``value[index]`` for an index that `applies`.

    Raises IndexOutOfBoundsError for a position outside, when the program runs if only that tells.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    rank = len(sizes_of(value))
    found = picked(value, expanded((0,) * rank, entries))
    if isinstance(found, LimitedArray):
        return found
    return as_scalar(fresh(found)) if len(entries) == rank and _are_positions(entries) else as_view(found)


def _are_positions(entries: Sequence[Any]) -> bool:
    return not any(one is None or one is Ellipsis or isinstance(one, slice) for one in entries)


def refused_index() -> CaptureError:
    """The error about an index that is not basic into an array whose size only the run knows."""
    return CaptureError(
        "an array whose size only the run knows is indexed by an array", fix="index the whole array instead"
    )
