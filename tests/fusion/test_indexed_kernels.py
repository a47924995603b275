"""Kernels of gathers and scatters: what is computed of or for them is not stored beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops, xjit

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(300, 64)).astype(np.float32)
ROWS = RNG.integers(0, 300, 2000)
LINE = RNG.normal(size=50_000).astype(np.float32)
PLACES = RNG.integers(0, 50_000, 1000)
UPDATES = RNG.normal(size=1000).astype(np.float32)


def length_of_rows(table: Any, rows: Any) -> Any:
    numbers: dict[str, Any] = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,)}
    found = ops.gather(table, rows, slice_sizes=(1, 64), index_vector_dim=1, **numbers)
    return ops.reduce(ops.tanh(found), np.float32(0), ops.add, (1,))


def added(line: Any, places: Any, updates: Any) -> Any:
    numbers: dict[str, Any] = {
        "update_window_dims": (),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
    }
    return ops.scatter(line, places, ops.tanh(updates) * updates, ops.add, index_vector_dim=1, **numbers)


def test_rows_that_are_gathered_are_not_stored() -> None:
    compiled = xjit(length_of_rows)
    np.testing.assert_allclose(compiled(TABLE, ROWS), length_of_rows(TABLE, ROWS), rtol=1e-4, atol=1e-4)
    plan = compiled.explain(TABLE, ROWS)
    assert len(plan.kernels) == 1
    # Each row is read where it is needed: never the rows as an array of their own, written and read.
    assert plan.bytes_moved <= 1.1 * (ROWS.nbytes + ROWS.size * 64 * 4 + ROWS.size * 4)


def test_updates_that_are_computed_are_not_stored() -> None:
    compiled = xjit(added)
    np.testing.assert_allclose(compiled(LINE, PLACES, UPDATES), added(LINE, PLACES, UPDATES), rtol=1e-4, atol=1e-6)
    plan = compiled.explain(LINE, PLACES, UPDATES)
    assert len(plan.kernels) == 2, "a copy of the operand, and the scatter"
    assert plan.bytes_moved <= 1.1 * plan.minimum_bytes


def test_an_operand_that_is_computed_is_not_copied() -> None:
    def function(line: Any, places: Any, updates: Any) -> Any:
        return added(ops.tanh(line), places, updates)

    compiled = xjit(function)
    plan = compiled.explain(LINE, PLACES, UPDATES)
    np.testing.assert_allclose(compiled(LINE, PLACES, UPDATES), function(LINE, PLACES, UPDATES), rtol=1e-4, atol=1e-6)
    assert len(plan.kernels) == 2
    assert plan.bytes_moved <= 1.1 * plan.minimum_bytes


def test_updates_need_no_table_of_positions() -> None:
    """Of a call ``ufunc.at`` no table of numbers is made, in which the positions would be looked up."""

    def function(places: Any, updates: Any) -> Any:
        line = np.zeros(50_000, np.float32)
        np.add.at(line, places, updates)
        return line

    assert "look_up" not in str(xjit(function).graph(PLACES, UPDATES))
    assert "look_up" in str(xjit(lambda places: np.arange(50_000)[places]).graph(PLACES))


def test_what_is_read_at_many_random_positions_is_one_array() -> None:
    """A quotient costs less than a load from near by, but its two operands are far apart from the last ones."""
    places = RNG.integers(0, 50_000, 500_000)

    def function(line: Any, other: Any, places: Any) -> Any:
        return (line / other)[places]

    def in_place(line: Any, other: Any, places: Any) -> Any:
        return (line / other)[places[:40_000]]

    other = np.abs(LINE) + 1
    plan = xjit(function).explain(LINE, other, places)
    assert any("div at" in reason and "is stored: pulled in" in reason for reason in plan.reasons)
    assert not any("is stored" in reason for reason in xjit(in_place).explain(LINE, other, places).reasons)
