"""Sorts of lines as calls of NumPy's own routines among kernels; threads share the lines."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import SortRoutine
from xjit.runtime.steps.sort_steps import HEAP, QUICK, SORTED_TYPES, STABLE
from xjit.types import FLOAT32, FLOAT64, DType, TupleType

_ALGORITHMS = {"quick": (QUICK, HEAP), "stable": (STABLE, HEAP)}
_SIGNED = {FLOAT32: "sort_signed_f32", FLOAT64: "sort_signed_f64"}


def piece_of_sort(node: Node, views: Sequence[View], layouts: Layouts, machine: Machine) -> Piece | None:
    """The piece of a run that sorts the lines of an operand in this buffer; None where that is left to NumPy."""
    lines = None if node.op.line_sort is None else node.op.line_sort(node.kwargs)
    if lines is None or isinstance(node.type, TupleType) or len(node.inputs) != 1:
        return None
    source, rank = node.inputs[0], node.aval.rank
    packed = tuple(views[0].strides) == packed_strides(source.aval) and layouts.is_row_major(node)
    if not packed or not node.aval.size or node.aval.dtype not in SORTED_TYPES or lines.axis % rank != rank - 1:
        return None
    item, count = node.aval.dtype.itemsize, node.aval.shape[-1]
    return Piece(
        machine,
        pointers=((views[0].base, views[0].start * item), (node, 0)),
        written=(False, True),
        words=(item * count, count),
        extent=node.aval.size // count,
        work=float(node.aval.size * count.bit_length()),
        code=_routine(lines.kind, node.aval.dtype),
    )


def _routine(kind: str, dtype: DType) -> SortRoutine:
    """The adaptor and NumPy's routines: of integers equal ones are the same."""
    if kind == "signed" and dtype in _SIGNED:
        return SortRoutine(_SIGNED[dtype], dtype, QUICK, STABLE)
    return SortRoutine("sort_lines", dtype, *_ALGORITHMS["quick" if kind == "signed" else kind])
