"""Cuts units at the borders of the assembled values that they read, so that every part reads one piece of each."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator

from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.assembled import cuts_of, piece_pull
from xjit.fusion.plan import Pull, Unit
from xjit.fusion.reads import TooManyVisitsError, nodes_below, walk
from xjit.ir.index import changed
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.passes.split import TINY


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a unit, or the assembled values that have to be stored before it can be made."""

    units: tuple[Unit, ...]
    to_store: frozenset[Node] = frozenset()


def parts_of(unit: Unit, leaves: frozenset[Node]) -> Parts:
    """The unit itself where it crosses no border, else its parts.

    Only what makes every element by itself can be cut, and only at borders whose places are known; else the
    assembled values are to be stored.
    """
    waiting, done = [(unit, frozenset[int]())], list[Unit]()
    pulled: frozenset[Node] = frozenset()
    below = nodes_below(unit, leaves)
    most = max(cost.KERNEL_OPERATIONS, cost.MOST_PLACES * len(below))
    operations = 0
    while waiting:
        part, later = waiting.pop()
        try:
            visits = walk(part, leaves, most).visits
        except TooManyVisitsError:
            return Parts((), frozenset(node for node in below if node.is_assembled and node is not unit.target))
        crossing = [pull for pull in visits if pull.node.is_assembled and piece_pull(pull, part.dims) is None]
        pulled |= {pull.node for pull in crossing if pull.node is not unit.target}
        found = list(itertools.chain.from_iterable(cuts_of(pull, part.dims) for pull in crossing))
        if crossing and not (found and unit.is_plain):
            return Parts((), pulled)
        if found:
            cuts, rest = _first_axis(found)
            waiting += [(piece, rest) for piece in _cut(part, cuts if rest | later else _with_pixels(part, cuts))]
        else:
            done.append(part)
            operations += len(visits)
        if pulled and (len(waiting) + len(done) > cost.MOST_PARTS or operations > cost.KERNEL_OPERATIONS):
            return Parts((), pulled)
    return Parts(tuple(done))


def _first_axis(found: Iterable[tuple[int, int, int]]) -> tuple[set[tuple[int, int]], frozenset[int]]:
    """The cuts along one axis, and which others are to be cut.

    Cuts that go through no piece come first: of a pad by slabs as many parts as there are slabs, of which cuts along
    all axes at once would make exponentially many.
    """
    through = Counter[int]()
    for axis, _, pieces in found:
        through[axis] += pieces
    first = min(sorted(through), key=lambda axis: through[axis])
    return {(axis, position) for axis, position, _ in found if axis == first}, frozenset(through) - {first}


def _with_pixels(unit: Unit, cuts: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The cuts, or all positions along a short axis that is the fastest in memory and the only one that is cut.

    What makes the elements of a pixel then shares a loop over pixels, as vectors with shuffles.
    """
    axis = next(axis for axis, _ in cuts)
    size, item = unit.dims[axis], unit.target.aval.dtype.itemsize
    fills_no_vector = size <= TINY and size * item < cost.VECTOR_BYTES
    if unit.steps[axis] != 1 or not fills_no_vector or math.prod(unit.dims) <= TINY * size:
        return cuts
    return {(axis, position) for position in range(1, size)}


def _cut(unit: Unit, cuts: Iterable[tuple[int, int]]) -> Iterator[Unit]:
    """The parts between (axis, position) pairs, the last one first."""
    edges = [[0, size] for size in unit.dims]
    for axis, position in cuts:
        edges[axis].append(position)
    spans = [list(itertools.pairwise(sorted(row, reverse=True))) for row in edges]
    for block in itertools.product(*spans):
        low = tuple(first for _, first in block)
        dims = tuple(stop - first for stop, first in block)
        at = functools.partial(_moved, low, dims)
        yield dataclasses.replace(
            unit,
            dims=dims,
            values=tuple(Pull(pull.node, changed(pull.index, at)) for pull in unit.values),
            start=unit.start + sum(step * first for step, first in zip(unit.steps, low, strict=True)),
            origin=tuple(a + b for a, b in zip(unit.origin or (0,) * len(dims), low, strict=True)),
        )


def _moved(low: tuple[int, ...], dims: tuple[int, ...], map: AxisMap) -> AxisMap:
    assert map.axis is not None
    offset = map.offset + map.scale * low[map.axis]
    if dims[map.axis] == 1:
        return AxisMap(None, 1, offset, map.found)
    return AxisMap(map.axis, map.scale, offset, map.found)
