"""Attributes of traced values that stand for numbers of Python's: code that is traced sees those of their classes.

    n = math.sqrt(x[0])     n.is_integer()      a method of floats
                            n.dtype             AttributeError, as floats have no such attribute
    s = 0.0                 s.dtype             the type of the number is pinned: AttributeError, or float64
    for v in x[:n]: s += v

Code of libraries and of xjit sees the array of rank 0.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from xjit.capture.catching.running_code import is_traced
from xjit.capture.memory.buffer import BufferView
from xjit.ir.context import Trace, TracedValue
from xjit.ir.node import Node


def check_attribute(kind: type, name: str, frame: FrameType) -> None:
    """AttributeError if code that is traced asks for an attribute that numbers of a class of Python's do not have."""
    if not hasattr(kind, name) and is_traced(frame):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")


class NumberAttributes(BufferView):
    """A traced value whose attributes are those of a number of Python's, where it stands for one.

    ``doubt`` says if a number is Python's, and of which type it is then; None where that is known.
    """

    __slots__ = ("doubt",)

    doubt: tuple[TracedValue, type] | None

    def __init__(
        self, node: Node, trace: Trace, *, weak: type | None = None, scalar: bool = False, is_view: bool = False
    ) -> None:
        super().__init__(node, trace, weak=weak, scalar=scalar, is_view=is_view)
        object.__setattr__(self, "doubt", None)

    def certain(self) -> Any:
        """The number as one of Python's or of NumPy's, which is known of it."""
        raise NotImplementedError

    def check_number(self, name: str, frame: FrameType) -> None:
        """AttributeError where the number is Python's, or is pinned to be, and its class has no such attribute."""
        if self.weak is not None:
            check_attribute(self.weak, name, frame)
        elif self.doubt is not None and not hasattr(self.doubt[1], name) and is_traced(frame):
            kind = self.certain().weak
            if kind is not None:
                check_attribute(kind, name, frame)

    @property
    def dtype(self) -> Any:
        """The element type."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("dtype", sys._getframe(1))
        return self.node.aval.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, which are the same in every version."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("shape", sys._getframe(1))
        return self.last_node.aval.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions, which is the same in every version."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("ndim", sys._getframe(1))
        return self.last_node.aval.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("size", sys._getframe(1))
        return self.node.aval.size

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("itemsize", sys._getframe(1))
        return int(self.node.aval.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        if self.weak is not None or self.doubt is not None:
            self.check_number("nbytes", sys._getframe(1))
        return self.node.aval.size * int(self.node.aval.dtype.itemsize)
