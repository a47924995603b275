"""Products of matrices as calls of BLAS: the routine and its arguments are those that NumPy would choose.

So the bits are NumPy's as well.  Our own threads share the products of a stack: small ones, which BLAS computes on
one thread anyway, and those of large stacks (:func:`xjit.numerics.shares_members`), which have the bits of NumPy on
one thread, however many there are.  In others BLAS uses its threads, as many as the calling thread allows
(:mod:`xjit.runtime.parallel.blas_limits`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.numerics import shares_members
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import Routine
from xjit.runtime.steps.blas_steps import LETTERS
from xjit.types import FLOAT32, FLOAT64, DType, TupleType

# How many products of real elements each routine may form for OpenBLAS to keep to one thread in any case; of complex
# elements where that differs.
_REAL_ON_ONE_THREAD = {"gemm": 2**17, "syrk": 0, "gemv": 2**13, "dot": 2**13}
_COMPLEX_ON_ONE_THREAD = {"gemv": 2**12 - 1}
# What NumPy sums at a time in a dot product, and what integers of BLAS hold if they have 32 bits.
LONGEST_DOT = 2**30
LARGEST_COUNT = 2**31 - 1

# What the adaptors are told of threads.
NO_LIMIT, OWN_LIMIT, ONE_THREAD = 0, 1, 2

ROW_MAJOR, COLUMN_MAJOR = 101, 102
PLAIN, TURNED = 111, 112


def on_one_thread(routine: str, dtype: DType) -> int:
    """Return how many products of elements a routine may form without a limit to obey: on one thread in any case."""
    real = _REAL_ON_ONE_THREAD[routine]
    return real if dtype in (FLOAT32, FLOAT64) else _COMPLEX_ON_ONE_THREAD.get(routine, real)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A stack of matrices in memory: their sizes, and distances in elements of rows, columns and members."""

    rows: int
    columns: int
    row: int
    column: int
    member: int

    @property
    def turned(self) -> Matrix:
        """The transposed matrices."""
        return Matrix(self.columns, self.rows, self.column, self.row, self.member)

    @property
    def has_packed_rows(self) -> bool:
        """Return whether BLAS can take it as row-major: rows without gaps that do not overlap."""
        return self.column == 1 and self.row >= max(self.columns, 1)

    @property
    def leading(self) -> int:
        """The distance of its rows, or of its columns where those are packed."""
        return self.row if self.has_packed_rows else self.column


@dataclass(frozen=True, slots=True)
class Call:
    """A routine of BLAS, ``gemm``, ``syrk``, ``gemv`` or ``dot``: its operands and the arguments behind them."""

    routine: str
    operands: tuple[tuple[View, Matrix], tuple[View, Matrix]]
    arguments: tuple[int, ...]


def call_of(node: Node, views: tuple[View, View], layouts: Layouts) -> tuple[Call, int, int] | None:
    """Return how BLAS computes a node from operands that lie in these buffers, for how many members of stacks, and
    how many products of elements each takes.

    None where NumPy does it some other way.
    """
    if node.op.product is None or isinstance(node.type, TupleType) or not layouts.is_row_major(node):
        return None
    if node.aval.dtype not in LETTERS or 0 in (node.aval.size, *(source.aval.size for source in node.inputs)):
        return None
    product = node.op.product(node.kwargs)
    (lhs, rhs), batch = node.inputs, tuple(zip(*product.batch, strict=True)) or ((), ())
    over = tuple(zip(*product.summed, strict=True)) or ((), ())
    first = _matrix(lhs.aval.shape, views[0].strides, batch[0], over[0])
    second = _matrix(rhs.aval.shape, views[1].strides, batch[1], over[1])
    if first is None or second is None:
        return None
    found = _routine((views[0], first), (views[1], second.turned))
    if found is None:
        return None
    return found, math.prod(lhs.aval.shape[axis] for axis in batch[0]), first.rows * first.columns * second.rows


def _matrix(
    sizes: Sequence[int], strides: Sequence[int], batch: Sequence[int], summed: Sequence[int]
) -> Matrix | None:
    """An operand with its summed axes as columns; None where groups of axes are no single axis in memory."""
    free = [axis for axis in range(len(sizes)) if axis not in batch and axis not in summed]
    groups = [_merged([(sizes[axis], strides[axis]) for axis in group]) for group in (free, summed, batch)]
    if None in groups:
        return None
    (rows, row), (columns, column), (_, member) = (group for group in groups if group is not None)
    return Matrix(rows, columns, row, column, member)


def _merged(axes: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Size and distance of several axes as one."""
    size, stride = 1, 0
    for extent, step in reversed(axes):
        if extent == 1:
            continue
        if size > 1 and step != stride * size:
            return None
        stride = stride if size > 1 else step
        size *= extent
    return size, stride


def _routine(lhs: tuple[View, Matrix], rhs: tuple[View, Matrix]) -> Call | None:
    """Return what NumPy's matmul calls: a dot product, matrix by vector, or matrices, maybe of one with itself."""
    operands, first, second = (lhs, rhs), lhs[1], rhs[1]
    if first.rows == 1 and second.columns == 1:
        steps = (first.column, second.row)
        short = min(steps) > 0 and first.columns <= LONGEST_DOT
        return Call("dot", operands, (first.columns, *steps)) if short else None
    if first.columns == 1:
        return None
    if second.columns == 1:
        return _matrix_vector(operands[0], operands[1], second.row)
    if first.rows == 1:
        return _matrix_vector((rhs[0], second.turned), operands[0], first.column)
    if not all(one.has_packed_rows or one.turned.has_packed_rows for _, one in operands):
        return None
    turned = [PLAIN if one.has_packed_rows else TURNED for _, one in operands]
    if (lhs[0].base, lhs[0].start, first) == (rhs[0].base, rhs[0].start, second.turned):
        return Call("syrk", operands, (turned[0], first.rows, first.columns, first.leading))
    return Call(
        "gemm",
        operands,
        (
            *turned,
            first.rows,
            second.columns,
            first.columns,
            first.leading,
            second.leading,
            second.columns,
        ),
    )


def _matrix_vector(matrix: tuple[View, Matrix], vector: tuple[View, Matrix], step: int) -> Call | None:
    one = matrix[1]
    if step <= 0 or not (one.has_packed_rows or one.turned.has_packed_rows):
        return None
    # BLAS transposes: it is told that rows are columns.
    order = COLUMN_MAJOR if one.has_packed_rows else ROW_MAJOR
    return Call("gemv", (matrix, vector), (order, one.columns, one.rows, one.leading, step))


def piece_of(node: Node, views: tuple[View, ...], layouts: Layouts, long: bool, machine: Machine) -> Piece | None:
    """The piece of a run that computes a node from operands in these buffers; None where that is left to NumPy.

    ``long`` says that the integers of BLAS have 64 bits.
    """
    lhs, rhs = views
    found = call_of(node, (lhs, rhs), layouts)
    if found is None:
        return None
    call, count, products = found
    if not long and max(call.arguments) > LARGEST_COUNT:
        return None
    item = node.aval.dtype.itemsize
    steps = [matrix.member * item for _, matrix in call.operands] + [node.aval.nbytes // count]
    alone = products <= on_one_thread(call.routine, node.aval.dtype)
    shared = alone or shares_members(count, products)
    threads = NO_LIMIT if alone else ONE_THREAD if shared else OWN_LIMIT
    return Piece(
        machine,
        pointers=(*((view.base, view.start * item) for view, _ in call.operands), (node, 0)),
        written=(False, False, True),
        words=(*steps, threads, *call.arguments),
        extent=count,
        work=count * products * machine.product_cost,
        code=Routine(f"{call.routine}_{LETTERS[node.aval.dtype][1]}"),
        unlocked=not alone,
        in_turn=not shared,
        lasting=products > machine.lasting_products,
    )
