"""np.block: arrays put together as nested lists show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.values import as_value, shape_of, with_order
from xjit.numpy.rules.view_strides import memory_of
from xjit.ops.define.core import Operand, aval_of
from xjit.ops.define.memory_order import pack
from xjit.types import c_order

LARGE = 2 * 512 * 512
"""Results of more elements times levels of lists are row-major in NumPy, or column-major if all parts are."""


def block(arrays: Any) -> Any:
    """The arrays of the innermost lists side by side along the last axis, those lists along the one before it.

    Any element types, promoted together. Raises DTypeError for tuples, ArgumentError for lists that are empty or
    nested to different depths, ShapeError for sizes that do not fit.

    >>> import numpy as np
    >>> block([[np.eye(1), np.zeros((1, 2))], [np.ones((1, 3))]])
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """
    depth = _depth(arrays, "arrays")
    leaves = [as_array(as_value(leaf, "block")) for leaf in _leaves(arrays)]
    rank = max([depth, *(len(shape_of(leaf)) for leaf in leaves)])
    result = _joined(arrays, iter(leaves), depth, rank)
    if depth == 0:
        return pack(result, c_order(rank))
    if depth * sum(aval_of(leaf).size for leaf in leaves) > LARGE:
        return with_order(result, _large_order(leaves, rank))
    return result


def _depth(arrays: Any, place: str) -> int:
    """Return the depth to which the lists are nested."""
    if isinstance(arrays, tuple):
        raise DTypeError(f"numpy.block: {place} is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ArgumentError(f"numpy.block: List at {place} cannot be empty")
    depths = [_depth(one, f"{place}[{k}]") for k, one in enumerate(arrays)]
    if len(set(depths)) > 1:
        wrong = next(k for k, depth in enumerate(depths) if depth != depths[0])
        raise ArgumentError(
            f"numpy.block: List depths are mismatched. First element was at depth {depths[0] + 1}, but there is an "
            f"element at depth {depths[wrong] + 1} ({place}[{wrong}])"
        )
    return depths[0] + 1


def _leaves(arrays: Any) -> Iterator[Any]:
    if isinstance(arrays, list):
        for one in arrays:
            yield from _leaves(one)
    else:
        yield arrays


def _joined(arrays: Any, leaves: Iterator[Operand], depth: int, rank: int) -> Any:
    if depth == 0:
        leaf = next(leaves)
        missing = rank - len(shape_of(leaf))
        return ops.reshape(leaf, (1,) * missing + shape_of(leaf)) if missing else leaf
    return join("block", [_joined(one, leaves, depth - 1, rank) for one in arrays], -depth)


def _large_order(leaves: list[Operand], rank: int) -> tuple[int, ...]:
    memories = [one for one in map(memory_of, leaves) if one is not None]
    column = all(one.flags.f_contiguous for one in memories)
    row = all(one.flags.c_contiguous for one in memories)
    return c_order(rank)[::-1] if column and not row else c_order(rank)
