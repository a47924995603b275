"""Factors, determinants and systems of equations as calls of LAPACK and BLAS among kernels.

Small systems of a stack are shared among our own threads; in larger ones the library uses its threads. Matrices that
are eliminated are copied to the stack of a thread: larger ones are left to NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts, is_row_major
from xjit.fusion.buffers.operands import View
from xjit.fusion.regions.checks import status_of
from xjit.ir.node import Node
from xjit.ir.opdef import Solver
from xjit.machine import Machine
from xjit.programs.blas_calls import LARGEST_COUNT
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import Routine
from xjit.runtime.steps.blas_steps import LETTERS, SOLVED
from xjit.types import TupleType

# How many elements of a factor, or of solutions, each routine may compute for OpenBLAS to keep to one thread.
_ON_ONE_THREAD = {"potrf": 2**10, "trsm": 2**8}
_MOST_ELIMINATED = 2**12


@dataclass(frozen=True, slots=True)
class _Call:
    """A routine on each matrix of a stack.

    sizes      the words of its table behind the steps
    products   the multiplications for one matrix
    alone      OpenBLAS computes one on one thread
    appended   the status is a pointer of its own
    """

    stack: tuple[int, ...]
    sizes: tuple[int, ...]
    products: float
    alone: bool
    appended: bool = False


def _potrf(node: Node, solver: Solver) -> _Call:
    *stack, size, _ = node.inputs[0].aval.shape
    words = (*solver.options, size, int(solver.failure is not None), int(solver.marks))
    return _Call(tuple(stack), words, size**3 / 3, size * size <= _ON_ONE_THREAD["potrf"])


def _trsm(node: Node, solver: Solver) -> _Call:
    (*stack, rows, columns), size = node.aval.shape, node.inputs[0].aval.shape[-1]
    words = (*solver.options, rows, columns, size, int(solver.failure is not None))
    return _Call(tuple(stack), words, rows * columns * size / 2, rows * columns <= _ON_ONE_THREAD["trsm"])


def _getrf(node: Node, solver: Solver) -> _Call | None:
    *stack, size, _ = node.inputs[0].aval.shape
    return _Call(tuple(stack), (size,), size**3 / 3, True) if size * size <= _MOST_ELIMINATED else None


def _gesv(node: Node, solver: Solver) -> _Call | None:
    matrix, right, given = node.inputs[0].aval.shape, node.inputs[-1].aval.shape, len(node.inputs) == 2
    *stack, size, _ = matrix
    columns = right[-1] if len(right) == len(matrix) else 1
    if max(size * size, size * columns) > _MOST_ELIMINATED or right != (*stack, size, columns)[: len(right)]:
        return None
    products = size**2 * (size / 3 + columns)
    words = (size, columns, int(given), int(solver.marks))
    return _Call(tuple(stack), words, products, True, appended=True)


_CALLS: Mapping[str, Callable[[Node, Solver], _Call | None]] = {
    "potrf": _potrf,
    "trsm": _trsm,
    "getrf": _getrf,
    "gesv": _gesv,
}


def piece_of_solver(
    node: Node, views: Sequence[View], layouts: Layouts, long: bool, machine: Machine
) -> Piece | None:
    """The piece of a run that computes a node from operands in these buffers; None where that is left to NumPy.

    ``long`` says that the integers of BLAS have 64 bits.
    """
    solver = None if node.op.solver is None else node.op.solver(node.kwargs)
    if solver is None or isinstance(node.type, TupleType):
        return None
    dtype = node.aval.dtype
    packed = all(
        is_row_major(source.aval, view.strides) and source.aval.dtype == dtype
        for view, source in zip(views, node.inputs, strict=True)
    )
    whole = packed and node.inputs[0].aval.size and node.aval.size and layouts.is_row_major(node)
    if not whole or dtype not in SOLVED[solver.routine]:
        return None
    call = _CALLS[solver.routine](node, solver)
    if (
        call is None
        or (solver.marks and call.stack)
        or (not long and max(*node.aval.shape, *node.inputs[0].aval.shape) > LARGEST_COUNT)
    ):
        return None
    count, item = math.prod(call.stack), dtype.itemsize
    first, second = ((view.base, view.start * item) for view in (views[0], views[-1]))
    status = [] if solver.failure is None else [(status_of(node), 0)]
    status = [(node, node.aval.nbytes - item)] if solver.marks else status
    operands = [first, second] if call.appended else [first, *(status or [second])]
    behind = status if call.appended else []
    steps = [source.aval.nbytes // count for source in (node.inputs[0], node.inputs[-1], node)]
    return Piece(
        machine,
        pointers=(*operands, (node, 0), *behind),
        written=(False, bool(status) and not call.appended, True, *(True for _ in behind)),
        words=(*steps, int(not call.alone), *call.sizes),
        extent=count,
        work=count * call.products * machine.product_cost,
        code=Routine(f"{solver.routine}_{LETTERS[dtype][1]}"),
        unlocked=not call.alone,
        in_turn=not call.alone,
        lasting=call.products > machine.lasting_products,
    )
