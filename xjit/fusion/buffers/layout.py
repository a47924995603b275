"""The layout of the elements of materialised values: strides in elements, per node."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence

from xjit.dataclass import dataclass
from xjit.ir.index_map import Index
from xjit.ir.node import Node
from xjit.types import ArrayType, c_order


@dataclass(frozen=True, slots=True)
class Layouts:
    """Strides in bytes of the parameters as they arrive; everything else is packed in the order of its type."""

    parameters: Mapping[Node, tuple[int, ...]]

    def strides(self, node: Node) -> tuple[int, ...]:
        """Strides of the node's buffer in elements."""
        if node.op.barrier:
            return self.strides(node.inputs[0])
        found = self.parameters.get(node)
        return packed_strides(node.aval) if found is None else _in_elements(found, node.aval)

    def is_row_major(self, node: Node) -> bool:
        """Return whether the buffer holds the elements in row-major order without gaps."""
        return is_row_major(node.aval, self.strides(node))

    def coefficients(self, node: Node, index: Index, rank: int) -> tuple[tuple[int, ...], int]:
        """The number of elements that each domain axis moves in the buffer, and the first element, for reads at an
        index.
        """
        return coefficients(index, self.strides(node), rank)

    def directions(self, node: Node, index: Index, rank: int) -> tuple[int, ...]:
        """The moves of :meth:`coefficients` with positions from data counted as if they went up one by one."""
        moves = list(self.coefficients(node, index, rank)[0])
        for map, stride in zip(index, self.strides(node), strict=True):
            for lookup in map.found:
                for axis, scale in itertools.chain.from_iterable(inner.terms for inner in lookup.axes):
                    moves[axis] += scale * lookup.times * stride
        return tuple(moves)


def coefficients(index: Index, strides: Sequence[int], rank: int) -> tuple[tuple[int, ...], int]:
    """The number of elements that each domain axis moves, and the first element, for reads at an index with these
    strides.
    """
    moves, start = [0] * rank, 0
    for map, stride in zip(index, strides, strict=True):
        start += map.offset * stride
        if map.axis is not None:
            moves[map.axis] += map.scale * stride
            for axis, scale in map.also:
                moves[axis] += scale * stride
    return tuple(moves), start


@functools.lru_cache(maxsize=4096)
def is_row_major(aval: ArrayType, strides: Sequence[int]) -> bool:
    """Return whether elements at these strides, in elements, are in row-major order without gaps."""
    packed = _in_elements(ArrayType(aval.dtype, aval.dims, c_order(aval.rank)).strides, aval)
    pairs = zip(aval.shape, strides, packed, strict=True)
    return aval.size == 0 or all(size == 1 or own == wanted for size, own, wanted in pairs)


def packed_strides(aval: ArrayType) -> tuple[int, ...]:
    """The strides of a fresh buffer in elements."""
    return _in_elements(buffer_type(aval).strides, aval)


def _in_elements(strides: tuple[int, ...], aval: ArrayType) -> tuple[int, ...]:
    item = aval.dtype.itemsize
    return tuple([stride // item for stride in strides])


def buffer_type(aval: ArrayType) -> ArrayType:
    """The type of a fresh buffer: a full order, row-major where the value is broadcast along some axis."""
    return aval if len(aval.order) == aval.rank else ArrayType(aval.dtype, aval.dims, c_order(aval.rank))
