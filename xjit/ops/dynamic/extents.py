"""Extents of one trace: which dimensions of which nodes have a size that only the run knows.

Values stay at their bound, and what lies between extent and bound is padding. Beside each such node stand the scalar
nodes of its sizes, one for each dynamic dimension. An operation on it is written so that nobody sees the padding
(:mod:`xjit.ops.dynamic.extent_rules`), and its result has extents again. A result that leaves the trace is trimmed.
"""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.alignment import SMALL_PART
from xjit.dataclass import dataclass, field
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define.core import apply, aval_of, constant, register
from xjit.ops.define.references import Array
from xjit.types import INT32, ArrayType, TupleType


class Stretched(enum.Enum):
    """Marks a dimension along which a value is repeated to the size of others, whatever that is."""

    ALONG = "stretched"


STRETCHED = Stretched.ALONG

Size: TypeAlias = "Node | Stretched | None"
"""The extent of one dimension; None is its bound."""

Sizes: TypeAlias = "tuple[Size, ...]"


# ---- what leaves a trace


def _infer_trim(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    return types[0]


def _trim(operand: Array, *sizes: Any, axes: tuple[int, ...]) -> Array:
    cut = [slice(None)] * operand.ndim
    for axis, size in zip(axes, sizes, strict=True):
        cut[axis] = slice(int(size))
    flags = operand.flags
    return np.array(operand[tuple(cut)], order="C" if flags.c_contiguous else "F" if flags.f_contiguous else "K")


def _bound_trim(params: Params) -> Callable[..., Any]:
    """Return the function that trims; along the first axis alone, as most results need it, a quick one."""
    return _first_rows if params["axes"] == (0,) else functools.partial(_trim, **params)


def _first_rows(operand: Array, size: Any) -> Array:
    found = operand[:size]
    return found.copy() if operand.flags.c_contiguous else _trim(operand, size, axes=(0,))


TRIM = register(
    OpDef(
        name="trim",
        kind=Kind.STRUCTURED,
        infer=_infer_trim,
        reference=_trim,
        trims=True,
        fresh=True,
        silent=True,
        bound=_bound_trim,
        doc="A value without what lies behind the sizes of its dynamic dimensions.",
    )
)


def _bound_cut(params: Params) -> Callable[..., Any]:
    """Return the function that cuts; along the first axis alone a small part is copied, which is quicker."""
    return _cut_rows if params["axes"] == (0,) else functools.partial(_cut, **params)


def _cut_rows(operand: Array, size: Any) -> Array:
    count = int(size)
    if SMALL_PART * count <= len(operand) and operand.flags.c_contiguous:
        return operand[:count].copy()
    return _cut(operand, count, axes=(0,))


def _cut(operand: Array, *sizes: Any, axes: tuple[int, ...]) -> Array:
    if axes == (0,) and operand.flags.owndata and operand.flags.c_contiguous:
        operand.resize((int(sizes[0]), *operand.shape[1:]), refcheck=False)
        return operand
    return _trim(operand, *sizes, axes=axes)


CUT = register(
    OpDef(
        name="cut",
        kind=Kind.STRUCTURED,
        infer=_infer_trim,
        reference=_cut,
        trims=True,
        fresh=True,
        silent=True,
        bound=_bound_cut,
        doc="The same of a value that nobody else reads, in its memory.",
    )
)


def cut(operand: Any, size: Any, axes: tuple[int, ...]) -> Any:
    """The elements of a value that nobody else reads up to a size along some axes, in its memory."""
    return apply(CUT, operand, size, axes=axes)


# ---- the extents of a trace


@dataclass(eq=False)
class Extents:
    """The dynamic dimensions of the nodes of one trace. While it is ``paused`` nodes are made as they are."""

    trace: Trace
    known: dict[Node, Sizes] = field(default_factory=dict)
    paused: bool = False

    def concern(self, op: OpDef, nodes: Sequence[Node]) -> bool:
        """Return whether an operation on these nodes has to look at extents."""
        if self.paused or not any(node in self.known for node in nodes):
            return False
        return op.kind is Kind.ELEMENTWISE or any(
            isinstance(size, Node) for node in nodes for size in self.sizes(node)
        )

    def sizes(self, node: Node) -> Sizes:
        """The extents of a node."""
        if isinstance(node.type, TupleType):
            return ()
        return self.known.get(node) or (None,) * node.type.rank

    def note(self, node: Node, sizes: Sizes) -> None:
        """Keep the extents of a node, if it has any."""
        if any(size is not None for size in sizes):
            self.known[node] = sizes

    def apply(self, op: OpDef, nodes: tuple[Node, ...], params: dict[str, Any]) -> Any:
        """Return what the caller sees of an operation that is not to see the padding of its operands."""
        from xjit.ops.dynamic.extent_rules import applied

        with self.at_bounds():
            return applied(self, op, nodes, params)

    @contextlib.contextmanager
    def at_bounds(self) -> Iterator[None]:
        """Make nodes as they are, padding and all."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def hand_on(self, inner: Trace, outer_node: Node, inner_node: Node) -> None:
        """Tell a trace inside of this one about a node that it closes over."""
        sizes = self.known.get(outer_node)
        if sizes is not None:
            found = extents_in(inner)
            found.note(inner_node, tuple(inner.adopt(one) if isinstance(one, Node) else one for one in sizes))

    def trimmed(self, node: Node) -> Node:
        """The node without its padding."""
        pairs = [(axis, size) for axis, size in enumerate(self.known.get(node, ())) if isinstance(size, Node)]
        if not pairs:
            return node
        axes = tuple(axis for axis, _ in pairs)
        return self.trace.add(TRIM, (node, *(size for _, size in pairs)), {"axes": axes}, node.where)

    def stretch(self, node: Node, axes: Sequence[int]) -> None:
        """Note that a value is repeated along dimensions to the size of others, whatever that is."""
        if self.paused:
            return
        sizes = list(self.sizes(node))
        for axis in axes:
            sizes[axis] = STRETCHED
        self.note(node, tuple(sizes))


def extents_in(trace: Trace) -> Extents:
    """The extents of a trace."""
    found = trace.extents
    if found is None:
        found = trace.extents = Extents(trace)
    assert isinstance(found, Extents)
    return found


def sizes_of(value: Any) -> Sizes:
    """The extents of an operand in the current trace; those of an array are its dimensions."""
    trace = current()
    if trace is None or not isinstance(value, TracedValue):
        return (None,) * aval_of(value).rank
    node = trace.adopt(value.node)  # which tells this trace of extents in the one around
    return (None,) * node.aval.rank if trace.extents is None else extents_in(trace).sizes(node)


def dynamic_axes(value: Any) -> tuple[int, ...]:
    """The dimensions whose size only the run knows."""
    return tuple(axis for axis, size in enumerate(sizes_of(value)) if isinstance(size, Node))


def extent(value: Any, axis: int) -> Any:
    """The size of one dimension as S32: that of the run, or the bound."""
    size = sizes_of(value)[axis]
    trace = current()
    if isinstance(size, Node):
        assert trace is not None
        return trace.wrap(size, trace)
    return constant(np.array(aval_of(value).shape[axis], INT32))
