"""Calls of libraries among kernels: products, solvers, sorts and draws that need no step of their own."""

from __future__ import annotations

from collections.abc import Iterable

from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.programs.blas_calls import piece_of
from xjit.programs.block_calls import piece_in_blocks
from xjit.programs.draw_calls import piece_of_draw
from xjit.programs.kernel_runs import Piece
from xjit.programs.libraries import Libraries
from xjit.programs.solver_calls import piece_of_solver
from xjit.programs.sort_calls import piece_of_sort


def library_piece(
    node: Node, operands: Iterable[View], layouts: Layouts, libraries: Libraries, machine: Machine
) -> Piece | None:
    """A library step as a call among the kernels, if there is one; ``operands`` are where these lie."""
    views = tuple(operands)
    if node.op.line_sort:
        return piece_of_sort(node, views, layouts, machine) if libraries.sorts() else None
    if node.op.in_blocks:
        return piece_in_blocks(node, views, machine) if libraries.routines() else None
    if node.op.draws:
        return piece_of_draw(node, views, layouts, machine) if libraries.draws() else None
    long = libraries.blas() if node.op.product or node.op.solver else None
    if long is None:
        return None
    make = piece_of if node.op.product else piece_of_solver
    return make(node, views, layouts, long, machine)
