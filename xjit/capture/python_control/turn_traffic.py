"""The memory that turns of a loop move which fuse when they are written out: each element needs its own place only.

x = np.where(x * x < 4, x * x + c, x)      x is read and written: twice its bytes
x = x[1:] + x[:-1]                         needs its neighbours: such turns do not fuse into one pass
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xjit import tree
from xjit.capture.rewriting.runtime_protocol import UNBOUND, State
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind


def values_of(state: State) -> list[Node | None]:
    """The arrays of the variables that a turn begins with, and the buffers that were written to so far."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    names = zip(state.names, state.get(), strict=True)
    leaves = [leaf for name, value in names for leaf in _leaves(value if name in state.carried else UNBOUND)]
    return [*(_node(leaf) for leaf in leaves), *trace.versions.values()]


def traffic(start: Sequence[Node | None], state: State) -> int:
    """The bytes that a turn reads and writes of arrays that it changes; 0 where turns do not fuse into one pass."""
    before = {node for node in start if node is not None}
    after = [node for node in values_of(state) if node is not None and node.aval.rank and node not in before]
    return 2 * sum(node.aval.nbytes for node in after) if _is_pointwise(after, before) else 0


def _leaves(value: Any) -> list[Any]:
    return [] if value is UNBOUND else tree.flatten(value)[0]


def _node(leaf: Any) -> Node | None:
    return leaf.node if isinstance(leaf, TracedValue) else None


def _is_pointwise(values: Iterable[Node], start: set[Node]) -> bool:
    """Return whether each element of the values depends on no other elements of the arrays that turns start with.

    Arrays of constants are taken for such: those whose elements are known are not among the start.
    """
    depends: dict[Node, bool] = dict.fromkeys(start, True)
    stack = list(values)
    while stack:
        node = stack[-1]
        waiting = [] if node in depends else [one for one in node.inputs if one not in depends]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if node not in depends:
            is_array_of_constants = node.op is CONSTANT and bool(node.aval.rank)
            depends[node] = is_array_of_constants or any(depends[one] for one in node.inputs)
            if node.inputs and depends[node] and not _keeps_places(node):
                return False
    return True


def _keeps_places(node: Node) -> bool:
    """Return whether an operation computes each element of those at its place, or of numbers."""
    if node.op.kind is Kind.ELEMENTWISE:
        return True
    return node.op.kind is Kind.INDEXING and not any(one.aval.rank for one in node.inputs)
