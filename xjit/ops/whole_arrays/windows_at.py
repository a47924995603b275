"""Dimension numbers of gathers and scatters: which dimensions are windows, and which lead to an index vector."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, aval_of
from xjit.ops.whole_arrays.shape import SLICE, reshape
from xjit.types import ArrayType

Dims = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowsAt:
    """The dimensions of windows of an operand of rank ``rank``, one for each index vector.

    ``windowed`` are those of the result, or of the updates, that lie in a window; ``dropped`` and ``batching`` those
    of the operand that do not, ``starting`` those that the elements of an index vector are for. ``batches`` are the
    places of the batching dimensions among those that lead to an index vector.
    """

    rank: int
    windowed: Dims
    dropped: Dims
    starting: Dims
    batching: Dims
    batches: Dims

    @property
    def kept(self) -> Dims:
        """The dimensions of the operand that are dimensions of the window, in the order of ``windowed``."""
        out = {*self.dropped, *self.batching}
        return tuple(axis for axis in range(self.rank) if axis not in out)

    def leading(self, rank: int) -> Dims:
        """The dimensions of something of this rank that lead to an index vector."""
        return tuple(axis for axis in range(rank) if axis not in self.windowed)


@dataclass(frozen=True, slots=True)
class Names:
    """The names that an operation has for its arguments."""

    operation: str
    indices: str
    windowed: str
    dropped: str
    starting: str
    batching: str
    batches: str


def check_numbers(names: Names, at: WindowsAt, indices: ArrayType, vector_dim: int, batches: Dims, rank: int) -> None:
    """ArgumentError for dimension numbers that mean nothing; ``rank`` is that of the result or of the updates."""
    name = names.operation
    if not 0 <= vector_dim <= indices.rank:
        raise ArgumentError(
            f"ops.{name}: index_vector_dim: a dimension of {names.indices}, or their rank, is required; "
            f"got {vector_dim}"
        )
    rules.check_increasing(name, names.windowed, at.windowed, rank)
    rules.check_increasing(name, names.dropped, at.dropped, at.rank)
    rules.check_increasing(name, names.batching, at.batching, at.rank)
    rules.check_axes(name, names.batches, batches, indices.rank)
    if set(at.dropped) & set(at.batching):
        raise ArgumentError(
            f"ops.{name}: {names.batching}: dimensions apart from {names.dropped} are required; got {at.batching}"
        )
    if len(batches) != len(at.batching) or vector_dim in batches:
        raise ArgumentError(
            f"ops.{name}: {names.batches}: a dimension of {names.indices} other than index_vector_dim is required "
            f"for each of {names.batching}; got {batches}"
        )
    rules.check_axes(name, names.starting, at.starting, at.rank)
    length = 1 if vector_dim == indices.rank else indices.shape[vector_dim]
    if set(at.starting) & set(at.batching) or len(at.starting) != length:
        raise ArgumentError(
            f"ops.{name}: {names.starting}: one dimension for each of {length} elements of an index vector, apart "
            f"from {names.batching}, is required; got {at.starting}"
        )


def elements_of_vectors(indices: Operand, vector_dim: int) -> list[Operand]:
    """The arrays of the first, second ... elements of all index vectors."""
    type = aval_of(indices)
    if vector_dim == type.rank:
        return [indices]
    others = (*type.shape[:vector_dim], *type.shape[vector_dim + 1 :])
    return [reshape(_cut(indices, vector_dim, k), others) for k in range(type.shape[vector_dim])]


def _cut(array: Operand, axis: int, place: int) -> Operand:
    """One position along an axis."""
    sizes: Sequence[int] = aval_of(array).shape
    start = tuple(place if one == axis else 0 for one in range(len(sizes)))
    limit = tuple(place + 1 if one == axis else size for one, size in enumerate(sizes))
    cut: Operand = apply(SLICE, array, start=start, limit=limit, strides=(1,) * len(sizes))
    return cut


def batch_places(batches: Dims, vector_dim: int) -> Dims:
    """The places of dimensions of the indices among those that lead to an index vector."""
    return tuple(axis - (axis > vector_dim) for axis in batches)


def sizes_of_batches(indices: ArrayType, vector_dim: int) -> Dims:
    """The dimensions that lead to an index vector."""
    return tuple(size for axis, size in enumerate(indices.shape) if axis != vector_dim)
