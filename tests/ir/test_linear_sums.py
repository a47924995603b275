"""Integers of a graph as sums of others, and windows that lie apart because of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import ops
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ir.index_map import are_equal, never_meet
from xjit.ir.linear_sums import linear_sum
from xjit.ir.opdef import AxisMap, Lookup
from xjit.types import INT64, scalar_type


def number(value: int) -> Any:
    return np.int64(value)


def test_sums_and_differences_are_followed() -> None:
    trace = Trace("test")
    with tracing(trace):
        i, j = (TracedValue(trace.parameter(scalar_type(INT64)), trace) for _ in range(2))
        made = ops.sub(ops.add(ops.neg(i), number(7)), ops.sub(j, ops.add(i, number(2))))
        product = ops.mul(i, j)
    assert linear_sum(made.node) == (9, {j.node: -1})
    assert linear_sum(product.node) == (0, {product.node: 1})


def test_products_with_constants_are_followed() -> None:
    trace = Trace("test")
    with tracing(trace):
        i, j = (TracedValue(trace.parameter(scalar_type(INT64)), trace) for _ in range(2))
        made = ops.sub(ops.mul(ops.add(i, number(1)), number(4)), ops.mul(number(-3), ops.sub(j, number(2))))
        length = ops.sub(ops.mul(ops.add(i, number(1)), number(4)), ops.mul(i, number(4)))
        none = ops.mul(ops.sub(i, i), j)
    assert linear_sum(made.node) == (-2, {i.node: 4, j.node: 3})
    assert linear_sum(length.node) == (4, {})
    assert linear_sum(none.node) == (0, {})


@pytest.mark.parametrize("factor", [2**31, -(2**31), 2**62])
def test_products_that_may_leave_64_bits_are_not_followed(factor: int) -> None:
    trace = Trace("test")
    with tracing(trace):
        i = TracedValue(trace.parameter(scalar_type(INT64)), trace)
        product = ops.mul(ops.mul(i, number(factor)), number(4))
    assert all(abs(times) < 2**31 for times in linear_sum(product.node).terms.values())


def test_positions_that_differ_by_a_number_lie_apart() -> None:
    trace = Trace("test")
    with tracing(trace):
        i, j = (TracedValue(trace.parameter(scalar_type(INT64)), trace) for _ in range(2))
        behind = ops.add(i, number(1))
    column = (AxisMap(None, 1, 0, (Lookup(i.node, ()),)),)
    rest, other = ((AxisMap(0, 1, 0, (Lookup(one.node, ()),)),) for one in (behind, j))
    assert never_meet(column, rest, (20,))
    assert not never_meet(column, other, (20,))
    assert not never_meet(rest, rest, (20,))


def test_indices_of_several_numbers_of_axes_are_not_the_same() -> None:
    one, other = AxisMap(0, 1, 0), AxisMap(0, 1, 0)
    assert are_equal((one,), (other,))
    assert not are_equal((one,), (one, other))
