"""Sorts of lines as calls of NumPy's own routines among kernels; threads share the lines."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import View
from xjit.ir.node import Node
from xjit.ir.opdef import LineSort
from xjit.machine import Machine
from xjit.programs.kernel_runs import Piece
from xjit.runtime.spec import SortRoutine
from xjit.runtime.steps.sort_steps import HEAP, POSITIONS, QUICK, SORTED_TYPES, STABLE
from xjit.types import FLOAT32, FLOAT64, DType, TupleType, c_order

_ALGORITHMS = {"quick": (QUICK, HEAP), "stable": (STABLE, HEAP)}
_LONG = 1 << 22
"""Elements from which on signals do not wait for a sort."""
_SIGNED = {FLOAT32: "sort_signed_f32", FLOAT64: "sort_signed_f64"}


def piece_of_sort(node: Node, views: Sequence[View], layouts: Layouts, machine: Machine) -> Piece | None:
    """The piece of a run that sorts the lines of an operand in this buffer; None where that is left to NumPy."""
    lines = None if node.op.line_sort is None else node.op.line_sort(node.kwargs)
    if lines is None or isinstance(node.type, TupleType) or len(node.inputs) != 1 + (lines.until is not None):
        return None
    source, rank = node.inputs[0], node.aval.rank
    rows = packed_strides(replace(source.aval, order=c_order(source.aval.rank)))
    packed = tuple(views[0].strides) == rows and layouts.is_row_major(node)
    if not packed or not node.aval.size or source.aval.dtype not in SORTED_TYPES or lines.axis % rank != rank - 1:
        return None
    if lines.until is not None:
        return _piece_of_first(node, views, lines, machine)
    item, count = source.aval.dtype.itemsize, node.aval.shape[-1]
    return Piece(
        machine,
        pointers=((views[0].base, views[0].start * item), (node, 0)),
        written=(False, True),
        words=(item * count, count),
        extent=node.aval.size // count,
        work=float(node.aval.size * count.bit_length()),
        code=_routine(lines, source.aval.dtype, "lines"),
    )


def _piece_of_first(node: Node, views: Sequence[View], lines: LineSort, machine: Machine) -> Piece:
    """The piece that sorts the first elements of a line, whose number a kernel has made."""
    items = [source.aval.dtype.itemsize for source in node.inputs]
    return Piece(
        machine,
        pointers=(*((view.base, view.start * item) for view, item in zip(views, items, strict=True)), (node, 0)),
        written=(False, False, True),
        words=(*items, node.inputs[0].aval.size),
        extent=1,
        work=float(node.aval.size * node.aval.size.bit_length()),
        code=_routine(lines, node.inputs[0].aval.dtype, "first"),
        lasting=None if node.aval.size > _LONG else False,
    )


def _routine(lines: LineSort, dtype: DType, what: str) -> SortRoutine:
    """The adaptor and NumPy's routines: of integers equal ones are the same."""
    if lines.kind == "signed" and dtype in _SIGNED:
        return SortRoutine(_SIGNED[dtype], dtype, QUICK, STABLE)
    algorithms = _ALGORITHMS["quick" if lines.kind == "signed" else lines.kind]
    if lines.positions:
        return SortRoutine(f"order_{what}", dtype, *(POSITIONS + one for one in algorithms))
    return SortRoutine(f"sort_{what}", dtype, *algorithms)
