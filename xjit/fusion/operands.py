"""What a step on whole arrays reads: arrays, and views of arrays, which need no memory of their own.

In ``x.T @ r`` the library gets ``x`` with its strides exchanged; nothing is copied before the product.
"""

from __future__ import annotations

from xjit.fusion.layout import Layouts
from xjit.fusion.units import is_given, view_chain
from xjit.ir.context import CONSTANT
from xjit.ir.index import compose, identity
from xjit.ir.node import Node


def is_shown(node: Node, layouts: Layouts) -> bool:
    """Whether a library reads the value as a view: of an argument, or of a value with as many elements.

    The view has to be one that libraries read in place: some axis runs through neighbours in memory, none backwards,
    and no element is read twice.
    """
    chain = view_chain(node)
    base = chain[0]
    if len(chain) == 1 or base.op is CONSTANT or not node.aval.size:
        return False
    if not is_given(base) and base.aval.size != node.aval.size:
        return False
    moves = _moves(chain, layouts)
    return moves is not None and min(moves, default=0) == 1


def _moves(chain: tuple[Node, ...], layouts: Layouts) -> list[int] | None:
    """How many elements of the base each axis of more than one element moves; None where data decide."""
    shape = chain[-1].aval.shape
    index = identity(shape)
    for node in reversed(chain[1:]):
        access = node.op.access and node.op.access(tuple(one.aval for one in node.inputs), node.kwargs, node.aval)
        if access is None:
            return None
        index = compose(access, index, node.inputs)
    moves, _ = layouts.coefficients(chain[0], index, len(shape))
    return [move for move, size in zip(moves, shape, strict=True) if size != 1]
