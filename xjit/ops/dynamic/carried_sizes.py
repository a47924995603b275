"""Dynamic sizes as values of their own: what loops and branches hand on beside values at their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from xjit import tree
from xjit.errors import ShapeError
from xjit.ir.current import current
from xjit.ops.define.core import aval_of
from xjit.ops.define.rules import got
from xjit.ops.dynamic.dimension_sizes import at_bound, set_dimension_size, sized
from xjit.ops.dynamic.extents import dynamic_axes, extent

Axes: TypeAlias = "Sequence[tuple[int, ...]]"
"""Of each leaf the dimensions that are dynamic."""


def without_sizes(state: Any, axes: Axes) -> Any:
    """A nested value at its bounds, and its sizes."""
    leaves, structure = tree.flatten(state)
    if len(leaves) != len(axes):
        return state, ()
    sizes = tuple(extent(leaf, axis) for leaf, own in zip(leaves, axes, strict=True) for axis in own)
    return tree.unflatten(structure, list(map(at_bound, leaves))), sizes


def with_sizes(pair: Any, axes: Axes) -> Any:
    """A nested value of these bounds and sizes; outside a trace it is cut."""
    state, sizes = pair
    leaves, structure = tree.flatten(state)
    left = iter(sizes)
    values = [_with(leaf, own, left) for leaf, own in zip(leaves, axes, strict=True)]
    return tree.unflatten(structure, values)


def _with(leaf: Any, axes: tuple[int, ...], sizes: Any) -> Any:
    own = {axis: next(sizes) for axis in axes}
    if current() is not None:
        return sized(leaf, own) if own else leaf
    for axis, size in own.items():
        leaf = set_dimension_size(leaf, size, axis)
    return leaf


def check_static(name: str, values: Sequence[Any]) -> None:
    """ShapeError for values with dynamic dimensions, whose sizes nobody carries."""
    types = [aval_of(value) for value in values if dynamic_axes(value)]
    if types:
        raise ShapeError(f"{name}: operands: arrays of static sizes are required here; got {got(types)}")
