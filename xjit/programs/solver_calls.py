"""Cholesky factors and triangular systems as calls of LAPACK and BLAS among kernels.

Small systems of a stack are shared among our own threads; in larger ones the library uses its threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import View
from xjit.fusion.regions.checks import status_of
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.programs.blas_calls import LARGEST_COUNT
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import Routine
from xjit.runtime.steps.blas_steps import FACTORED, LETTERS
from xjit.types import TupleType

# How many elements of a factor, or of solutions, each routine may compute for OpenBLAS to keep to one thread.
_ON_ONE_THREAD = {"potrf": 2**10, "trsm": 2**8}
_TYPES = {"potrf": FACTORED, "trsm": tuple(LETTERS)}


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
        tuple(view.strides) == packed_strides(source.aval) and source.aval.dtype == dtype
        for view, source in zip(views, node.inputs, strict=True)
    )
    if not packed or not node.aval.size or not layouts.is_row_major(node) or dtype not in _TYPES[solver.routine]:
        return None
    (*stack, rows, columns), size = node.aval.shape, node.inputs[0].aval.shape[-1]
    if not long and max(rows, columns, size) > LARGEST_COUNT:
        return None
    count, item = math.prod(stack), dtype.itemsize
    first, second = ((view.base, view.start * item) for view in (views[0], views[-1]))
    if solver.failure is not None:
        second = status_of(node), 0
    steps = [source.aval.nbytes // count for source in (node.inputs[0], node.inputs[-1], node)]
    sizes = (rows, columns, size) if solver.routine == "trsm" else (size,)
    products = rows * columns * size / (2 if solver.routine == "trsm" else 3)
    alone = rows * columns <= _ON_ONE_THREAD[solver.routine]
    return Piece(
        machine,
        pointers=(first, second, (node, 0)),
        written=(False, solver.failure is not None, True),
        words=(*steps, int(not alone), *solver.options, *sizes, int(solver.failure is not None)),
        extent=count,
        work=count * products * machine.product_cost,
        code=Routine(f"{solver.routine}_{LETTERS[dtype][1]}"),
        unlocked=not alone,
        in_turn=not alone,
        lasting=products > machine.lasting_products,
    )
