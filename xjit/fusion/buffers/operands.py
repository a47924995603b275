"""The operands of a step on whole arrays: arrays, and views of arrays, which need no memory of their own.

In ``x.T @ r`` the library gets ``x`` with its strides exchanged; nothing is copied before the product.
"""

from __future__ import annotations

from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.regions.materialized import is_given, view_chain
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import compose, identity
from xjit.ir.node import Node


def is_shown(node: Node, layouts: Layouts) -> bool:
    """Return whether a library reads the value as a view: of an argument, or of a value with as many elements.

    The view has to be one that libraries read in place: some axis runs through neighbours in memory, none backwards,
    and no element is read twice.
    """
    chain = view_chain(node)
    base = chain[0]
    if len(chain) == 1 or base.op is CONSTANT or not node.aval.size:
        return False
    if not is_given(base) and base.aval.size != node.aval.size:
        return False
    found = view_of(node, layouts)
    if found is None:
        return False
    moves = [stride for stride, size in zip(found.strides, node.aval.shape, strict=True) if size != 1]
    return min(moves, default=0) == 1


@dataclass(frozen=True, slots=True)
class View:
    """The layout of the elements of a value in the buffer of another one: strides and first element, in elements."""

    base: Node
    strides: tuple[int, ...]
    start: int


def view_of(node: Node, layouts: Layouts) -> View | None:
    """The node as a view of the base of its index operations; None where data decide what it shows.

    A reshape of the base itself is such an operation where both have their elements in row-major order.
    """
    chain, shape = view_chain(node), node.aval.shape
    index, place = identity(shape), len(chain) - 1
    while place and (access := chain[place].access) is not None:
        index = compose(access, index, chain[place].inputs)
        place -= 1
    base, source = chain[0], chain[place]
    if place > 1 or (place and not (source.op.flat and all(map(layouts.is_row_major, (base, source))))):
        return None
    return View(base, *layouts.coefficients(source, index, len(shape)))
