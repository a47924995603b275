"""Short axes: reductions over a few elements become expressions, axes of a few elements become copies of the body.

The squared distance of points in space, ``(d**2).sum(axis=-1)`` with three elements along the axis, is no loop but
``d[..., 0]**2 + d[..., 1]**2 + d[..., 2]**2``: it is pulled into its consumer like any elementwise value. Where the
consumer itself runs over such an axis, repeating what does not depend on it, the axis is unrolled: one unit for each
position, in one nest, so that shared values are computed once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from xjit import numerics
from xjit.fusion.plan import Pull, Unit
from xjit.ir.context import CONSTANT
from xjit.ir.index import axes_of, changed, normalise
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind


def is_foldable(node: Node) -> bool:
    """Whether the node is a named reduction of one operand, which a kernel for something else can compute inside."""
    if node.op.kind is not Kind.REDUCE or node.param("n") != 1 or node.param("reducer") is None:
        return False
    operand = node.inputs[0]  # of results of chunks, which want more exact sums, or computed from some
    chunked = any("chunk" in dict(one.params) for one in (node, operand, *operand.inputs))
    return not chunked and node.inputs[1].op is CONSTANT


def is_tiny_reduction(node: Node) -> bool:
    """Whether the node is foldable, over so few elements that it is written out."""
    if not is_foldable(node):
        return False
    shape: tuple[int, ...] = node.inputs[0].aval.shape
    return bool(1 <= math.prod(shape[axis] for axis in node.param("dims")) <= numerics.TINY)


def reduced_pulls(pull: Pull) -> tuple[Pull, ...]:
    """The elements that one result of a tiny reduction is made of, in row-major order, then the initial value."""
    node = pull.node
    operand, initial = node.inputs
    shape, dims = operand.aval.shape, node.param("dims")
    kept = [axis for axis in range(len(shape)) if axis not in dims]
    index = [AxisMap(None)] * len(shape)
    for axis, map in zip(kept, pull.index, strict=True):
        index[axis] = map
    found = []
    for position in itertools.product(*(range(shape[axis]) for axis in dims)):
        for axis, at in zip(dims, position, strict=True):
            index[axis] = AxisMap(None, 1, at)
        found.append(Pull(operand, normalise(tuple(index), shape)))
    return (*found, Pull(initial, ()))


def nested_pulls(pull: Pull, first: int) -> tuple[Pull, ...]:
    """The element of a reduction's operand, at the positions of its own loops, and the initial value."""
    node = pull.node
    operand, initial = node.inputs
    shape, dims = operand.aval.shape, sorted(node.param("dims"))
    own, kept = iter(range(first, first + len(dims))), iter(pull.index)
    index = tuple(AxisMap(next(own)) if axis in dims else next(kept) for axis in range(len(shape)))
    return Pull(operand, normalise(index, shape)), Pull(initial, ())


def unrolled(unit: Unit, visits: Iterable[Pull], *, across: bool) -> tuple[Unit, ...]:
    """The unit, or one for each position along the short axes that a tiny reduction in it does not depend on.

    ``visits`` is what the unit pulls in; ``across`` says that it reduces axes other than the fastest in memory: then
    all short axes are unrolled.
    """
    if unit.is_reduction and (unit.target.param("n") != 1 or unit.target.param("reducer") is None):
        return (unit,)
    short = [axis for axis in unit.kept if 1 < unit.dims[axis] <= numerics.TINY]
    tiny = [axes_of(pull.index) for pull in visits if is_tiny_reduction(pull.node)]
    chosen = [axis for axis in short if across or any(axis not in used for used in tiny)]
    if not chosen or math.prod(unit.dims[axis] for axis in chosen) > numerics.TINY:
        return (unit,)
    return tuple(parts(unit, chosen))


def parts(unit: Unit, chosen: Sequence[int]) -> Iterator[Unit]:
    """The unit at each position along the chosen axes, in row-major order."""
    for position in itertools.product(*(range(unit.dims[axis]) for axis in chosen)):
        fixed = dict(zip(chosen, position, strict=True))
        at = functools.partial(_fixed, fixed)
        yield dataclasses.replace(
            unit,
            dims=tuple(1 if axis in fixed else size for axis, size in enumerate(unit.dims)),
            values=tuple(Pull(pull.node, changed(pull.index, at)) for pull in unit.values),
            start=unit.start + sum(unit.steps[axis] * place for axis, place in fixed.items() if unit.steps),
            fixed=(*unit.fixed, *fixed.items()),
        )


def _fixed(fixed: dict[int, int], map: AxisMap) -> AxisMap:
    if map.axis not in fixed:
        return map
    return AxisMap(None, 1, map.scale * fixed[map.axis] + map.offset, map.found)
