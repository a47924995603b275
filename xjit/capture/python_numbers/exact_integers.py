"""Integers of Python's among floats of NumPy's, which hold them exactly up to 2**53: NumPy does the call beyond that.

n if x[0] > 0 else x[1]     an int64 and a float64 become a float64 and a truth value: it is expected that
                            abs(n) <= 2**53
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.python_control.leaves import Kind, optional
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.demands import expect
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_integers import is_integer, span
from xjit.ir.context import TracedValue
from xjit.ops.elements.compare import le
from xjit.ops.elements.elementwise import abs as absolute
from xjit.types import FLOAT64

_MOST = 2**53


def expect_exact(value: Any) -> None:
    """Lets NumPy do the call where an integer of Python's is one that floats do not hold; NumPy's go as they are."""
    if isinstance(value, TracedValue):
        if value.weak is not None and not _is_small(value) and not expect(le(absolute(value), np.int64(_MOST))):
            _refuse()
    elif not isinstance(value, np.generic) and abs(value) > _MOST:
        _refuse()


def expect_exact_as(value: Any, kind: Any) -> None:
    """Expects the same of a value that becomes one of a kind; None stands for zero there."""
    if value is not None and isinstance(kind, Kind) and kind.doubtful is int and kind.place.aval.dtype == FLOAT64:
        expect_exact(value)


def expect_exact_in(carried: Sequence[Any], values: Sequence[Any]) -> None:
    """Expects the same of the values of variables that a loop carries."""
    for one, value in zip(carried, values, strict=True):
        if one is None or value is UNBOUND:
            continue
        leaves, _ = tree.flatten(optional(value, one.structure, one.leaves))
        if len(leaves) == len(one.leaves):
            for leaf, kind in zip(leaves, one.leaves, strict=True):
                expect_exact_as(leaf, kind)


def _is_small(value: TracedValue) -> bool:
    """Return whether the bounds of an integer tell that floats hold it."""
    found = span(value) if is_integer(value) else None
    return found is not None and found[0] >= -_MOST and found[1] <= _MOST


def _refuse() -> None:
    refuse("an integer of Python's among floats is more than these hold exactly", fix="convert it to a float")
