"""Between which numbers integers of a graph lie, and how much is looked at to find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit.ir import linear_sums, spans
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ops.elements.elementwise import add
from xjit.ops.whole_arrays.concatenate import concatenate, pad
from xjit.types import FLOAT64, INT64, array_type, scalar_type

DOUBLINGS = 30
MOST_LOOKED_AT = 40 * DOUBLINGS


def doubled(trace: Trace, bounds: tuple[int, int]) -> Any:
    """A number that is added to itself again and again."""
    node = trace.parameter(scalar_type(INT64))
    trace.spans[node] = bounds
    value = TracedValue(node, trace)
    with tracing(trace):
        for _ in range(DOUBLINGS):
            value = add(value, value)
    return value.node


def test_spans_of_sums_are_sums_of_spans() -> None:
    trace = Trace("doubled")
    assert spans.span_of(doubled(trace, (-1, 3)), trace) == (-(2**DOUBLINGS), 3 * 2**DOUBLINGS)


def test_a_number_that_many_ways_lead_to_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace("doubled")
    node = doubled(trace, (0, 1))
    looked_at = 0

    def counted(original: Any) -> Any:
        def function(*arguments: Any) -> Any:
            nonlocal looked_at
            looked_at += 1
            assert looked_at < MOST_LOOKED_AT
            return original(*arguments)

        return function

    monkeypatch.setattr(spans, "_expr_span", counted(spans._expr_span))
    spans.span_of(node, trace)
    monkeypatch.setattr(linear_sums, "sum_over", counted(linear_sums.sum_over))
    assert linear_sums.linear_sum(node).terms == {trace.parameters[0]: 2**DOUBLINGS}


def test_what_is_put_together_of_arrays_has_the_numbers_of_all() -> None:
    trace = Trace("joined")
    few, many = (trace.parameter(array_type(INT64, (3,))) for _ in range(2))
    trace.spans |= {few: (0, 7), many: (-5, 1000)}
    with tracing(trace):
        joined = concatenate((TracedValue(few, trace), TracedValue(many, trace)), 0)
        padded = pad(TracedValue(few, trace), np.int64(-9), [(1, 0, 0)])
    assert spans.span_of(joined.node, trace) == (-5, 1000)
    assert spans.span_of(padded.node, trace) == (-9, 7)


def test_floats_put_together_with_unknown_ones_are_unknown() -> None:
    trace = Trace("joined")
    line = TracedValue(trace.parameter(array_type(FLOAT64, (3,))), trace)
    with tracing(trace):
        joined = concatenate((np.zeros(2), line), 0)
    assert spans.float_span(joined.node) is None
