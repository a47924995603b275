"""Between which numbers elements lie whose operands depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import numerics, ops
from xjit.ir import element_spans, spans
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ir.element_spans import element_span
from xjit.ir.spans import Span, extreme_of, span_of
from xjit.ops.dynamic.limited_windows import Range, limited_window
from xjit.ops.whole_arrays.arg_extreme import arg_extreme
from xjit.types import FLOAT64, INT64, array_type, scalar_type

BOUND = 50


def number(trace: Trace, span: Span) -> Any:
    """A number of the run between two others."""
    node = trace.parameter(scalar_type(INT64))
    trace.spans[node] = span
    return TracedValue(node, trace)


def repeated(value: Any) -> Any:
    return ops.broadcast_in_dim(value, (BOUND,), ())


def counted(first: Any, end: Any) -> Any:
    """The integers from one number to another, as arange makes them."""
    count = ops.max(ops.sub(end, first), np.int64(0))
    places = ops.add(ops.iota(f"s64[{BOUND}]", 0), repeated(first))
    return limited_window(places, [Range(0, 1, count, BOUND)])


def diagonal(rows: int, columns: int) -> tuple[Trace, Any, Any]:
    """The positions of a diagonal of a matrix along both axes."""
    trace = Trace("diagonal")
    with tracing(trace):
        d = number(trace, (2, rows + columns))
        ahead = ops.sub(d, np.int64(columns))
        first = ops.select(ops.lt(np.int64(1), ahead), ahead, np.int64(1))
        before = ops.sub(d, np.int64(1))
        last = ops.select(ops.lt(before, np.int64(rows)), before, np.int64(rows))
        i = counted(first, ops.add(last, np.int64(1)))
        j = ops.sub(repeated(d), i)
    return trace, i, j


def test_positions_of_a_diagonal_are_within_the_matrix() -> None:
    trace, i, j = diagonal(30, 20)
    assert element_span(i.node, trace) == (1, 30)
    assert element_span(j.node, trace) == (1, 20)
    assert span_of(j.node, trace)[0] < 0


def test_what_follows_from_positions_moves_with_them() -> None:
    trace, i, j = diagonal(30, 20)
    with tracing(trace):
        moved = ops.sub(j, repeated(np.int64(1)))
        crossed = ops.sub(ops.add(i, j), repeated(np.int64(1)))
    assert element_span(moved.node, trace) == (0, 19)
    assert element_span(crossed.node, trace) == (1, 49)


def test_only_elements_that_exist_are_within() -> None:
    trace = Trace("unlimited")
    with tracing(trace):
        end = number(trace, (0, 10))
        places = ops.sub(repeated(end), ops.iota(f"s64[{BOUND}]", 0))
        shown = limited_window(places, [Range(0, 1, end, BOUND)])
    assert element_span(places.node, trace) == (1 - BOUND, 10)
    assert element_span(shown.node, trace) == (1, 10)


def test_sums_that_may_wrap_are_no_sums() -> None:
    trace = Trace("wrapping")
    with tracing(trace):
        d = number(trace, (0, 2**62))
        far = ops.mul(d, np.int64(4))
        near = ops.sub(repeated(far), repeated(ops.mul(d, np.int64(3))))
    assert element_span(near.node, trace) == spans.type_span(INT64)


@pytest.mark.parametrize(
    ("name", "turned", "wanted"), [("lt", 0, "min"), ("ge", 0, "max"), ("le", 1, "max"), ("gt", 1, "min")]
)
def test_a_choice_of_what_is_less_is_an_extreme(name: str, turned: bool, wanted: str) -> None:
    trace = Trace("choice")
    with tracing(trace):
        a, b = number(trace, (0, 5)), number(trace, (3, 9))
        condition = getattr(ops, name)(*((b, a) if turned else (a, b)))
        found = ops.select(condition, a, b).node
        other = ops.select(getattr(ops, name)(a, np.int64(4)), a, b).node
    assert extreme_of(found) == (wanted, a.node, b.node)
    assert span_of(found, trace) == ((0, 5) if wanted == "min" else (3, 9))
    assert extreme_of(other) is None


def test_few_sums_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace("many")
    with tracing(trace):
        total = repeated(np.int64(0))
        for _ in range(12):
            least = ops.min(number(trace, (0, 3)), number(trace, (1, 4)))
            total = ops.add(total, repeated(least))
    looked_at = 0

    def one(*_: Any) -> Any:
        nonlocal looked_at
        looked_at += 1
        return extreme_of(*_)

    monkeypatch.setattr(element_spans, "extreme_of", one)
    assert element_span(total.node, trace) == (0, 36)
    assert looked_at < 40 * element_spans._MOST_SUMS


def test_the_first_extreme_is_one_of_the_elements_that_exist() -> None:
    trace, size = Trace("extreme"), numerics.ONE_PASS_EXTENT
    with tracing(trace):
        first, maybe = number(trace, (0, 9)), number(trace, (0, size))
        line = TracedValue(trace.parameter(array_type(FLOAT64, (size,))), trace)
        rest = limited_window(line, [Range(first, 1, ops.sub(np.int64(size), first), size)])
        place = ops.add(arg_extreme(rest, 0, "max"), first)
        pair = ops.concatenate([ops.reshape(first, (1,)), ops.reshape(place, (1,))], 0)
        of_none = arg_extreme(limited_window(line, [Range(0, 1, maybe, size)]), 0, "max")
    assert element_span(place.node, trace) == (0, size - 1)
    assert element_span(pair.node, trace) == (0, size - 1)
    assert span_of(of_none.node, trace) == spans.type_span(INT64)
    inner = Trace("arm", parent=trace)
    with tracing(inner):
        inside = inner.adopt(place.node)
    assert element_span(inside, inner) == (0, size - 1)
