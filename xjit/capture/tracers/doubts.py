"""Numbers of which only the run tells if they are Python's or NumPy's, such as ``s`` behind a loop of no turns.

    s = 0.0
    for i in range(n): s += x[i]

The value is the same. The types of what is computed from it may differ, as Python's numbers give way to other types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue
from xjit.ops.elements.elementwise import and_


def doubt_of(value: Any) -> tuple[TracedValue, type] | None:
    """The truth value that says if a number is Python's, and its type then; None where that is known."""
    return getattr(value, "doubt", None) if hasattr(type(value), "doubt") else None


def hand_on_doubt(ufunc: np.ufunc, inputs: Sequence[Any], result: Any) -> None:
    """Marks a result that is Python's if all operands are; CaptureError where its type depends on what they are."""
    doubts = [doubt for value in inputs if (doubt := doubt_of(value)) is not None]
    if not doubts:
        return
    doubtful = [value for value in inputs if doubt_of(value) is not None]
    others = [value for value in inputs if doubt_of(value) is None]
    types = [value.dtype for value in others if _is_numpys(value)]
    for value, (_, kind) in zip(doubtful, doubts, strict=True):
        sample = kind(1)
        if types and np.result_type(*types, value.dtype) != np.result_type(*types, sample):
            refuse("the type of a result depends on how many turns a loop takes", value, fix="convert the number")
    if types or not isinstance(result, TracedValue) or result.dtype.kind == "b":
        return
    kinds = {kind for _, kind in doubts}
    kinds |= {(value.weak or float) if isinstance(value, TracedValue) else type(value) for value in others}
    kind = next(one for one in (complex, float, int, bool) if one in kinds)
    if ufunc is np.true_divide and kind in (int, bool):
        kind = float
    holds, *rest = [holds for holds, _ in doubts]
    for other in rest:
        holds = and_(holds, other)
    made: Any = result
    made.doubt = holds, kind


def _is_numpys(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return value.weak is None
    return isinstance(value, np.ndarray | np.generic)
