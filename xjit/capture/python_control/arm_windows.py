"""The windows that operations read and write, whatever they keep of them."""

from __future__ import annotations

from xjit.dataclass import dataclass
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.spans import Span
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, STORE_WINDOW
from xjit.ops.regions.strided_slices import SLICE_FROM, UPDATE_SLICE


@dataclass(frozen=True, slots=True)
class Window:
    """Along each axis: the first position and the operand that is added to it, the size and the step."""

    starts: tuple[int, ...]
    numbers: tuple[int | None, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    is_update: bool

    def holds(self, axis: int, operand: Node, number: Span) -> bool:
        """Return whether the window lies within an operand for all numbers in between along an axis."""
        last = (self.sizes[axis] - 1) * self.steps[axis]
        low, high = self.starts[axis] + min(0, last), self.starts[axis] + max(0, last)
        return low + number[0] >= 0 and high + number[1] < operand.aval.shape[axis]


def window_of(node: Node) -> Window | None:
    """The window that a node reads or writes; None for other operations, and where only the run tells its size."""
    is_update = node.op.kind is Kind.UPDATE
    if node.op in (SLICE_FROM, UPDATE_SLICE):
        starts, axes = node.param("starts"), node.param("axes")
        first = 2 if is_update else 1
        numbers = tuple(first + axes.index(axis) if axis in axes else None for axis in range(len(starts)))
        sizes = node.inputs[1].aval.shape if is_update else node.aval.shape
        return Window(starts, numbers, sizes, node.param("strides"), is_update)
    if node.op in (LIMITED_WINDOW, STORE_WINDOW) and all(count < 0 for count in node.param("counts")):
        pairs = node.param("starts")
        starts = tuple(offset for offset, _ in pairs)
        numbers = tuple(operand if operand >= 0 else None for _, operand in pairs)
        return Window(starts, numbers, node.param("bounds"), node.param("steps"), is_update)
    return None
