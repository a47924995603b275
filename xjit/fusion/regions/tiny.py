"""Short axes: reductions over a few elements become expressions, axes of a few elements become copies of the body.

The squared distance of points in space, ``(d**2).sum(axis=-1)`` with three elements along the axis, is no loop but
``d[..., 0]**2 + d[..., 1]**2 + d[..., 2]**2``: it is inlined into its consumer like any elementwise value. Where the
consumer itself runs over such an axis, repeating what does not depend on it, the axis is unrolled: one statement for
each position, in one nest, so that shared values are computed once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from xjit import numerics
from xjit.fusion.statements import IndexedValue, Reduce, Statement, Update
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import axes_of, normalise
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind


def is_foldable(node: Node) -> bool:
    """Return whether the node is a named reduction of one operand, which a kernel for something else can compute
    inside.
    """
    if node.op.kind is not Kind.REDUCE or node.param("n") != 1 or node.param("reducer") is None:
        return False
    operand = node.inputs[0]  # of results of chunks, which want more exact sums, or computed from some
    chunked = any("chunk" in dict(one.params) for one in (node, operand, *operand.inputs))
    return not (chunked or operand.limits) and node.inputs[1].op is CONSTANT


def is_tiny_reduction(node: Node) -> bool:
    """Return whether the node is foldable, over so few elements that it is written out."""
    if not is_foldable(node):
        return False
    shape: tuple[int, ...] = node.inputs[0].aval.shape
    return bool(1 <= math.prod(shape[axis] for axis in node.param("dims")) <= numerics.TINY)


def reduced_values(indexed: IndexedValue) -> tuple[IndexedValue, ...]:
    """The elements that one result of a tiny reduction is made of, in row-major order, then the initial value."""
    node = indexed.node
    operand, initial = node.inputs
    shape, dims = operand.aval.shape, node.param("dims")
    kept = [axis for axis in range(len(shape)) if axis not in dims]
    index = [AxisMap(None)] * len(shape)
    for axis, map in zip(kept, indexed.index, strict=True):
        index[axis] = map
    found = []
    for position in itertools.product(*(range(shape[axis]) for axis in dims)):
        for axis, at in zip(dims, position, strict=True):
            index[axis] = AxisMap(None, 1, at)
        found.append(IndexedValue(operand, normalise(tuple(index), shape)))
    return (*found, IndexedValue(initial, ()))


def nested_values(indexed: IndexedValue, first: int) -> tuple[IndexedValue, ...]:
    """The element of a reduction's operand, at the positions of its own loops, and the initial value."""
    node = indexed.node
    operand, initial = node.inputs
    shape, dims = operand.aval.shape, sorted(node.param("dims"))
    own, kept = iter(range(first, first + len(dims))), iter(indexed.index)
    index = tuple(AxisMap(next(own)) if axis in dims else next(kept) for axis in range(len(shape)))
    return IndexedValue(operand, normalise(index, shape)), IndexedValue(initial, ())


def short_axes(statement: Statement) -> list[int]:
    """The axes along which a statement may be written out."""
    if isinstance(statement, Update):
        return []
    if isinstance(statement, Reduce):
        target = statement.target
        if target.param("n") != 1 or target.param("reducer") is None:
            return []
    return [axis for axis in statement.kept if 1 < statement.dims[axis] <= numerics.TINY]


def unrolled(statement: Statement, visits: Iterable[IndexedValue], *, across: bool) -> tuple[Statement, ...]:
    """The statement, or one for each position along the short axes that a tiny reduction in it does not depend on.

    ``visits`` is what the statement inlines; ``across`` says that it reduces axes other than the fastest in memory:
    then all short axes are unrolled.
    """
    short = short_axes(statement)
    tiny = [axes_of(indexed.index) for indexed in visits if is_tiny_reduction(indexed.node)]
    chosen = [axis for axis in short if across or any(axis not in used for used in tiny)]
    if not chosen or math.prod(statement.dims[axis] for axis in chosen) > numerics.TINY:
        return (statement,)
    return tuple(parts(statement, chosen))


def parts(statement: Statement, chosen: Sequence[int]) -> Iterator[Statement]:
    """The statement at each position along the chosen axes, in row-major order."""
    for position in itertools.product(*(range(statement.dims[axis]) for axis in chosen)):
        yield statement.at(dict(zip(chosen, position, strict=True)))
