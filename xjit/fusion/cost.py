"""The cost model: the only place with thresholds of planning. Costs are in additions per element."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet

from xjit.fusion.tiny import is_foldable
from xjit.ir.expr import cost as expression_cost
from xjit.ir.index import Index, axes_of
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.passes.split import MANY_COLUMN_ELEMENTS

# A value this cheap is computed again rather than stored and loaded: about one load from the first-level cache.
CHEAP = 4.0
# Storing a row for a later pass pays from about one division on.
WORTH_A_ROW = 6.0
# Elements that fill a vector by themselves are better left in one.
VECTOR_BYTES = 64
# Columns that one thread accumulates at a time: their accumulators stay in the first-level cache, and pieces of rows
# are long enough for memory to be read ahead.
COLUMN_BLOCK = 4096
# Accumulators of so many bytes fill most of the first-level cache and are loaded and stored for several rows at once.
# Rows with fewer are taken one by one, as memory is read ahead best along one stream.
COLUMN_BYTES = 24_576
# Blocks into which threads share the columns of an array that stays in the second-level cache, and their least width.
SHARED_COLUMN_BLOCKS = 4
FEWEST_COLUMNS = 128
# Work, in additions, below which waking another thread costs more than it saves.
PARALLEL_WORK = 500_000.0
# Beyond this many operations one kernel takes longer to compile than two.
KERNEL_OPERATIONS = 1_200
# Of the kernels that a statement could share although it needs nothing of theirs, so many are asked.
MOST_SIBLINGS = 4
# A loop over a few elements is written out if that makes at most so many operations.
WRITTEN_OUT_OPERATIONS = 256

# Values between stencils stay in scratch if they have at least so many bytes together; fewer stay in cache anyway.
TILED_BYTES = 4_194_304
# Scratch for all windows of a tile: they stay in the second-level cache, and on the stack.
TILE_BYTES = 131_072
# Tiles per axis, so that threads have some to share, and the narrowest pieces of rows, so that loops stay long.
LEAST_TILES = 8
NARROWEST_TILE = 256
# Steps that all scans of a walk keep for what runs behind: they are moved once per block of the walk.
LONGEST_HISTORY = 1024
# Reductions of more elements are worth a kernel of their own rather than a loop within that of their reader.
LONGEST_NESTED = 4096
# More parts of what is put together from pieces take longer to compile than a kernel that puts it together in memory.
MOST_PARTS = 27
# What reads its values at more places each, in the mean, is a stencil of stencils.
MOST_PLACES = 4
# What storing and loading an element of a large array costs.
ROUND_TRIP = 2.0

# Bytes of a row that one kernel keeps of what its scans make, for later passes.
SCANNED_ROW = 65_536
# Reductions of at most so many elements share a kernel although they read different values.
SMALL_REDUCTION = 65_536


def is_worth_storing(total: float, times: int, size: int) -> bool:
    """Whether computing ``size`` elements at this cost ``times`` times takes longer than storing and loading them."""
    return total > CHEAP and (times - size) * total > CHEAP * size


def shared_columns(columns: int, elements: int, work: float) -> int:
    """How many columns of so many one thread accumulates at a time at most, so that there are some for the others;
    one where there are none.

    >>> shared_columns(200, 80_000, 600_000.0), shared_columns(200, 10_000_000, 6e7), shared_columns(0, 0, 0.0)
    (128, 200, 1)
    """
    if work < PARALLEL_WORK or elements >= MANY_COLUMN_ELEMENTS:
        return max(1, columns)
    return max(1, -(-columns // (SHARED_COLUMN_BLOCKS * FEWEST_COLUMNS))) * FEWEST_COLUMNS


def element_cost(node: Node) -> float:
    """The cost of computing one element of a node from elements of its inputs."""
    if is_foldable(node):
        return float(_elements(node))
    return 0.0 if node.element is None else expression_cost(node.element)


def _elements(node: Node) -> int:
    """How many elements of its operand one result of a reduction is made of."""
    return node.inputs[0].aval.size // max(node.aval.size, 1)


def _is_open(node: Node) -> bool:
    """Whether the cost of the node includes that of its inputs."""
    return node.op.kind in (Kind.ELEMENTWISE, Kind.INDEXING) or is_foldable(node)


def evaluations(
    group_dims: tuple[int, ...], reduced: tuple[int, ...], index: Index, rank: int, *, columns: bool = False
) -> int:
    """How often a value read at this index is computed: once per step of the innermost loop it depends on.

    The axes from ``rank`` on belong to nested reductions. In ``columns`` the last kept axis is cut into blocks, and
    the reduced ones run between the loop over blocks and that over the columns of each.
    """
    kept = [axis for axis in range(rank) if axis not in reduced and not (columns and group_dims[axis] == 1)]
    column: list[int] = kept[-1:] if columns else []
    order = [*kept[: len(kept) - len(column)], *reduced, *column, *range(rank, len(group_dims))]
    used = [order.index(axis) for axis in axes_of(index)]
    if not used:
        return 1
    times: int = math.prod(group_dims[axis] for axis in order[: max(used) + 1])
    if not column or column[0] in order[: max(used) + 1]:
        return times
    return times * math.ceil(group_dims[column[0]] / COLUMN_BLOCK)


class CostTable:
    """Costs of nodes with everything below them that would be inlined, each computed once."""

    def __init__(self, leaves: AbstractSet[Node]) -> None:
        self._leaves = leaves
        self._own: dict[Node, float] = {}
        self._total: dict[Node, float] = {}

    def own(self, node: Node) -> float:
        """The cost of the node itself."""
        if node not in self._own:
            self._own[node] = element_cost(node)
        return self._own[node]

    def total(self, node: Node) -> float:
        """The cost of the node and of what it inlines, down to materialised values."""
        found = self._total.get(node)
        if found is not None:
            return found
        stack = [node]
        while stack:
            top = stack[-1]
            waiting = [n for n in top.inputs if n not in self._leaves and n not in self._total]
            if waiting and _is_open(top):
                stack.extend(waiting)
                continue
            inputs = [self._total[n] for n in top.inputs if n not in self._leaves] if _is_open(top) else []
            below = sum(inputs) if top.op.pieces is None else max(inputs, default=0.0)
            self._total[top] = self.own(top) + below * (_elements(top) if is_foldable(top) else 1)
            stack.pop()
        return self._total[node]
