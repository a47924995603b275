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


def hand_on_doubt(ufunc: np.ufunc, inputs: Sequence[Any], result: Any) -> None:
    """Marks a result that is Python's if all operands are; CaptureError where its type depends on what they are."""
    doubtful = [value for value in inputs if hasattr(value, "doubt")]
    others = [value for value in inputs if not hasattr(value, "doubt")]
    types = [value.dtype for value in others if _is_numpys(value)]
    for value in doubtful:
        sample = value.doubt[1](1)
        if types and np.result_type(*types, value.dtype) != np.result_type(*types, sample):
            refuse("the type of a result depends on how many turns a loop takes", value, fix="convert the number")
    if types or not isinstance(result, TracedValue) or result.dtype.kind == "b":
        return
    kinds = {value.doubt[1] for value in doubtful}
    kinds |= {value.weak if isinstance(value, TracedValue) else type(value) for value in others}
    kind = next(one for one in (complex, float, int, bool) if one in kinds)
    if ufunc is np.true_divide and kind in (int, bool):
        kind = float
    holds, *rest = [value.doubt[0] for value in doubtful]
    for other in rest:
        holds = and_(holds, other)
    made: Any = result
    made.doubt = holds, kind


def _is_numpys(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return value.weak is None
    return isinstance(value, np.ndarray | np.generic)
