"""The order in which float sums and products are formed: constants and rules that decide bits, the same everywhere.

Numbers stand here, and not among those of a machine (:mod:`xjit.machine`), if another number could give other bits:
the order of additions, or which of two algorithms forms a sum.

No processor, vector width, number of threads, stride or neighbour in a kernel changes any of it: the order depends on
element type, shape, reduced axes and memory order alone. A sum of n elements that lie along the fast axes is

    n <= 8     ((x0 + x1) + x2) + ..., in row-major order
    otherwise  blocks of 512 elements in memory order, whose sums are added up in float64, for float64 compensated.

A block adds whole groups of L elements lane by lane, 64 of float32 and 32 of float64, whole groups of 8 of the rest
likewise, each lane in order. The lanes of both are added in a tree of halves, and what is left over one by one::

    t[l] = x[l] + x[L + l] + ...           l < L
    u[l] = x[m + l] + x[m + 8 + l] + ...   l < 8, m = n - n % L
    ((tree(t) + tree(u)) + x[n - n % 8]) + ...

    tree(v) = tree(v[:half] + v[half:])

Sums along slow axes add row after row. Convolutions add the products of a window one after the other, in features
first, each with one rounding. Large sums to few results are cut into chunks first, by shape
(:mod:`xjit.passes.split_reduce`). Products take the same ways.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from xjit.dataclass import dataclass
from xjit.types import FLOAT64, ArrayType, DType

LANE_BYTES = 256
"""Bytes of elements that are added side by side: four vectors of 512 bits, sixteen of 128."""

FEW_LANES = 8
"""Elements that are added side by side of what is left over of whole groups: a vector of float64."""

BLOCK = 512
"""Elements of one block: with more, the error of float32 grows beyond that of NumPy's pairwise sum."""

SHORT = 8
"""Reductions of so few elements go one by one in row-major order, as NumPy's do. Axes as short are written out."""

VECTOR_COLUMNS = (4, 8)
"""Fast kept axes of so many elements are a vector or two of accumulators, to which few rows are added one by one."""

FEW_ROWS = 128
"""Rows up to which that is done: a run of NumPy's pairwise sums. More of them are more exact in lanes."""

TINY = 8
"""The limit of short axes, which are written out: as many elements as fit into two vectors. At most ``SHORT``:
what is written out is combined one by one."""

WRITTEN_OUT_WINDOW = 32
"""Elements of a window up to which its elements are combined one by one, in row-major order: one of 5 by 5, not more
than a kernel of the size takes in registers."""

# Large sums to few results are cut into chunks (:mod:`xjit.passes.split_reduce`), each of which is added up by
# itself.

FEW_RESULTS = 8
"""Reductions along rows to fewer results than this over MANY_ELEMENTS and more are cut into chunks."""

MANY_ELEMENTS = 32_768
"""Elements of one result from which on a reduction to few results is cut into chunks."""

CHUNK_ELEMENTS = 16_384
"""Elements of a chunk, also of one in which an extreme of a long row is searched."""

FEW_COLUMNS = 16_384
"""Reductions along columns to fewer results than this, which fill few blocks, are cut into chunks of rows."""

MANY_COLUMN_ELEMENTS = 262_144
"""Elements of the operand from which on a reduction along columns is cut."""

CHUNK_COLUMN_ELEMENTS = 65_536
"""Elements of a chunk of rows, at least."""

MOST_COLUMN_CHUNKS = 64
"""Chunks of rows, at most."""

CHUNK_ROWS = 16
"""Rows of a chunk, at least: each chunk writes a row of results that is read again."""

CUT_EXTENT = 16
"""The least extent of an axis that is cut where a slower one is shorter."""

CHUNK_DEPTH = 8
"""Operations between a value and the sum over chunks that it was computed from, at most, for both to share chunks."""

SEARCHED_ELEMENTS = 65_536
"""Elements of a row from which on an extreme is looked for in chunks."""

ONE_PASS_EXTENT = 64
"""Elements of a row from which on one pass finds the place of an extreme. Shorter rows fit into a few vectors, and
are passed over twice. This is chosen while the function is traced, when no target is known."""

# Sorts by comparators that contradict themselves end in some order, which the lengths of runs decide.

SORTED_BYTES = 65_536
"""Bytes of the elements that one run of a sort holds twice, in scratch."""

LONGEST_RUN = 4096
"""Elements of a run that is sorted in scratch, at most."""

FEW_STEPS = 4
"""Steps of a merge from both ends from which on it pays not to ask for the ends of runs."""

SORTED_GROUPS = (8, 4)
"""Neighbours that are put in order by exchanges: by a short comparator, by a long one."""

LONG_COMPARATOR = 12
"""Operations of a comparator from which on it is long."""

# Products with vectors are sums in loops (:mod:`xjit.passes.products.dot_to_reduce`) or calls of BLAS, which add in
# other orders.

FEW_PRODUCTS = 4096
"""Products of elements up to which a sum in loops is quicker than the call of a library takes."""

SMALL_MATRIX = 16
"""Elements of a matrix, with at most ``TINY`` rows to be added, that registers hold: products with it are sums."""

LARGE_MATRIX_BYTES = 32 << 20
"""Bytes of a matrix that no cache holds: to read it is all that counts, which loops do as fast."""

FEW_TURNS = 32
"""Turns below which a loop of independent turns stays one: it takes no time."""

STATE_OF_TURNS_BYTES = 1 << 28
"""Bytes at most of what the loops of turns carry side by side: one after the other they take none."""

ELEMENTS_OF_TURNS = 1 << 28
"""Elements at most that all turns together reduce at once: a fraction of a second, which nothing interrupts."""

PRODUCTS_AHEAD = 4
"""So many times more products than the turns of a loop ask for are formed at once ahead of it: the library forms some
ten in the time in which loops that wait for memory form one."""

# BLAS adds in another order if its own threads share one product. The members of these stacks are on one thread each.

SHARED_STACK = 8
"""Members of a stack from which on threads share the members, unless they are large."""

SHARED_PRODUCTS = 2**21
"""Products of elements that a member may take, for each member of the stack: all threads have enough to do."""

MOST_SHARED_PRODUCTS = 2**27
"""Products of elements that a member takes at most: a few milliseconds."""


def lanes(dtype: DType) -> int:
    """Return the number of elements of a type that are added side by side.

    >>> import numpy as np
    >>> lanes(np.dtype(np.float32)), lanes(np.dtype(np.float64))
    (64, 32)
    """
    return LANE_BYTES // dtype.itemsize


def shares_members(count: int, products: int) -> bool:
    """Return whether threads share a stack of ``count`` products of matrices, each of so many products of elements,
    member by member.

    >>> shares_members(64, 128**3), shares_members(64, 512**3), shares_members(8, 512**3), shares_members(2, 128**3)
    (True, True, False, False)
    """
    return count >= SHARED_STACK and products <= min(count * SHARED_PRODUCTS, MOST_SHARED_PRODUCTS)


def sorted_group(operations: int) -> int:
    """Return how many neighbours are put in order by exchanges, which a comparator of so many operations decides."""
    return SORTED_GROUPS[operations >= LONG_COMPARATOR]


def sorted_run(itemsize: int) -> int:
    """Return how many elements of a line are sorted in scratch; all that move at one place have so many bytes.

    >>> sorted_run(8), sorted_run(1)
    (4096, 4096)
    """
    return min(LONGEST_RUN, 1 << (SORTED_BYTES // (2 * itemsize)).bit_length() - 1)


def keeps_errors(combine: str, dtype: DType) -> bool:
    """Return whether sums of blocks are added with their rounding errors: float64 has no wider type to add them in.

    >>> import numpy as np
    >>> keeps_errors("add", np.dtype(np.float64)), keeps_errors("add", np.dtype(np.float32))
    (True, False)
    """
    return combine == "add" and dtype == FLOAT64


@dataclass(frozen=True, slots=True)
class SumOrder:
    """In which order a reduction takes its elements.

    ``axes`` are the reduced axes of more than one element, the slowest first. ``along_rows`` says whether they are
    the fast ones; then the last ``run`` of them follow each other in memory order and make one line of elements.
    ``short``: there are so few elements that they go one by one.
    """

    axes: tuple[int, ...]
    along_rows: bool
    run: int
    short: bool

    @property
    def line(self) -> tuple[int, ...]:
        """The axes of the line."""
        return self.axes[len(self.axes) - self.run :] if self.along_rows else ()

    def within(self, axis: int) -> SumOrder:
        """The order within one chunk of an axis: a line does not go beyond it."""
        return replace(self, run=len(self.line) - self.line.index(axis)) if axis in self.line else self

    @property
    def in_lanes(self) -> bool:
        """Return whether elements are added lane by lane."""
        return self.along_rows and not self.short


def in_turn(dims: tuple[int, ...], reduced: tuple[int, ...]) -> SumOrder:
    """The order of a sum that takes its elements one after the other in row-major order."""
    return SumOrder(tuple(axis for axis in sorted(reduced) if dims[axis] > 1), False, 0, False)


def sum_order(operand: ArrayType, dims: tuple[int, ...]) -> SumOrder:
    """The order of a reduction of ``operand`` over the axes ``dims``.

    Axes along which the operand is broadcast count as the slowest ones. Kept axes of few elements do not count, but
    for those of as many as a vector has behind few rows: these are added row after row.

    >>> from xjit.types import array_type
    >>> sum_order(array_type("f32", (100, 200)), (0, 1))
    SumOrder(axes=(0, 1), along_rows=True, run=2, short=False)
    >>> [sum_order(array_type("f32", (100, columns)), (0,)).along_rows for columns in (200, 3, 4)]
    [False, True, False]
    """
    shape = operand.shape
    spread = tuple(axis for axis in range(operand.rank) if axis not in operand.order)
    long = [axis for axis in (*spread, *operand.order) if shape[axis] > 1]
    axes = tuple(axis for axis in long if axis in dims)
    if math.prod(shape[axis] for axis in axes) <= SHORT:
        return SumOrder(tuple(sorted(axes)), True, len(axes), True)
    last = long.index(axes[-1])
    within = math.prod(shape[axis] for axis in long[last + 1 :])
    run = len(list(itertools.takewhile(lambda axis: axis in dims, reversed(long[: last + 1]))))
    rows = math.prod(shape[axis] for axis in axes)
    by_rows = operand.dtype.kind == "f" and within in VECTOR_COLUMNS and rows <= FEW_ROWS
    return SumOrder(axes, within <= SHORT and not by_rows, run, False)
