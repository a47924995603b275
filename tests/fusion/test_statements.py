"""Statements: parts of them lie where they belong, read what is theirs and store it there; kinds differ in fields."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from xjit.fusion.statements import Check, Domain, IndexedValue, Output, Reduce, Scan, Statement, Store
from xjit.ir.context import PARAMETER
from xjit.ir.index_map import identity
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.ir.source_location import NOWHERE
from xjit.types import array_type

SHAPE = (6, 8)
X = Node(PARAMETER, (), (), array_type(np.dtype(np.float64), SHAPE), NOWHERE)
Y = Node(PARAMETER, (), (), array_type(np.dtype(np.float64), SHAPE), NOWHERE)
VALUES = (IndexedValue(X, identity(SHAPE)),)
ROWS = Output(Y, (8, 1))

STATEMENTS: dict[str, Statement] = {
    "store": Store(Domain(SHAPE), VALUES, ROWS),
    "scan": Scan(Domain(SHAPE), VALUES, ROWS, 1),
    "reduce": Reduce(Domain(SHAPE), VALUES, Y, (1,)),
    "check": Check(Domain(SHAPE), VALUES, Y),
}


def test_part_reads_and_stores_further_on() -> None:
    part = Store(Domain(SHAPE), VALUES, ROWS).part((2, 3), (4, 5))
    assert part.dims == (4, 5) and part.domain.corner == (2, 3) and not part.domain.is_whole
    assert part.values[0].index == (AxisMap(0, 1, 2), AxisMap(1, 1, 3))
    assert part.output == Output(Y, (8, 1), 2 * 8 + 3)


def test_part_of_a_part_adds_up() -> None:
    whole = Store(Domain(SHAPE), VALUES, ROWS)
    twice, once = whole.part((2, 3), (4, 5)).part((1, 1), (2, 2)), whole.part((3, 4), (2, 2))
    assert (twice.domain, twice.values, twice.output) == (once.domain, once.values, once.output)


def test_axis_of_one_position_is_no_axis_of_what_is_read() -> None:
    at = Store(Domain(SHAPE), VALUES, ROWS).at({1: 5})
    assert at.dims == (6, 1) and at.domain.fixed == ((1, 5),) and at.domain.corner == (0, 5)
    assert at.values[0].index == (AxisMap(0), AxisMap(None, 1, 5))
    assert at.output.start == 5
    assert dataclasses.replace(at, values=(IndexedValue(Y, ()),)).made_at({0: 0, 1: 1}) == at.values[0].index


@pytest.mark.parametrize("name", STATEMENTS)
def test_moving_keeps_the_kind_and_the_extents(name: str) -> None:
    statement = STATEMENTS[name]
    moved = statement.moved(0, 1)
    assert type(moved) is type(statement) and moved.dims == statement.dims
    assert moved.domain.origin == (1, 0) and moved.target is Y
    assert moved.values[0].index == (AxisMap(0, 1, 1), AxisMap(1))


def test_skewed_statement_counts_from_where_the_scan_begins() -> None:
    behind = Store(Domain((6, 5)), VALUES, ROWS).skewed(1, 3)
    assert behind.domain.skew == 3 and behind.domain.begin == (0, -3)
    assert behind.output.start == -3


def test_axes_of_each_kind() -> None:
    assert {name: one.reduced for name, one in STATEMENTS.items()} == {
        "store": (),
        "scan": (1,),
        "reduce": (1,),
        "check": (),
    }
    assert {name: one.places for name, one in STATEMENTS.items()} == {
        "store": (0, 1),
        "scan": (0, 1),
        "reduce": (0,),
        "check": (0, 1),
    }


def test_places_that_are_made() -> None:
    axes = {0: 2, 1: 0}
    assert STATEMENTS["store"].made_at(axes) is None  # it stores what another value has there
    assert STATEMENTS["scan"].made_at(axes) == (AxisMap(2), AxisMap(0))
    assert STATEMENTS["reduce"].made_at(axes) == (AxisMap(2),)
    assert STATEMENTS["check"].made_at(axes) is None


def test_nested_reductions_have_axes_of_their_own() -> None:
    domain = Domain(SHAPE).part((1, 0), (5, 8)).around(X, (3,))
    assert domain.extents == (5, 8, 3) and domain.rank == 2 and domain.begin == (1, 0, 0)
    assert domain.nested == ((X, 2),)


def test_kinds_have_no_fields_of_others() -> None:
    names = {name: {field.name for field in dataclasses.fields(one)} for name, one in STATEMENTS.items()}
    shared = {"domain", "values"}
    assert names == {
        "store": {*shared, "output"},
        "scan": {*shared, "output", "axis"},
        "reduce": {*shared, "target", "axes", "chunk"},
        "check": {*shared, "target"},
    }
