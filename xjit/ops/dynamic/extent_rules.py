"""Operations on dynamic extents, by the kind of their record: how padding stays unseen, and what sizes results have.

    elementwise     equal sizes, which is checked when the program runs
    index maps      the sizes of the dimensions that are handed on whole; reversed ones are moved to the front
    reductions      padding is the identity; an arbitrary computation passes it over
    scans           nothing: padding lies behind what counts
    products        padding of summed dimensions is zero on both sides
    pieces          those behind a dynamic one are moved up to it; a border begins where the size ends
    reshapes        a dynamic dimension stays one, or slower ones of size 1 and faster ones fall together with it

Others refuse. Sorts, loops and searches for extremes look at extents by themselves (:mod:`.paddings`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.errors import ShapeError
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Kind, OpDef, Piece
from xjit.ops.define import rules
from xjit.ops.define.computation import captured, replay, traced_scalars
from xjit.ops.define.core import constant, lift, wrap
from xjit.ops.dynamic.extents import STRETCHED, Extents, Size, Sizes
from xjit.ops.dynamic.paddings import before_size, filled, looked_up, scalar
from xjit.ops.elements.compare import eq, ge
from xjit.ops.elements.elementwise import add, mul, sub
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, ArrayType, TupleType, scalar_type

Nodes: TypeAlias = "tuple[Node, ...]"
Params: TypeAlias = "dict[str, Any]"


def applied(extents: Extents, op: OpDef, nodes: Nodes, params: Params) -> Any:
    """Return what the caller sees of an operation on nodes some of which have dynamic dimensions."""
    rule = _rule_for(op)
    if rule is None:
        raise _refused(op, nodes, extents)
    return rule(_Application(extents, op, nodes, params))


def _rule_for(op: OpDef) -> Callable[[_Application], Any] | None:
    if op.barrier:
        return _scan
    if op.product is not None:
        return _product
    if op.pieces is not None:
        return _pieces
    return _RULES.get(op.kind)


def _refused(op: OpDef, nodes: Nodes, extents: Extents) -> ShapeError:
    types = [node.aval for node in nodes if node in extents.known]
    return ShapeError(
        f"ops.{op.name}: operand: arrays of static sizes are required, set_dimension_size to the bound gives one; "
        f"got dynamic dimensions of {rules.got(types)}"
    )


class _Application:
    """One operation, its operands and their sizes; ``conditions`` have to hold when the program runs."""

    def __init__(self, extents: Extents, op: OpDef, nodes: Nodes, params: Params) -> None:
        self.extents, self.trace = extents, extents.trace
        self.op, self.nodes, self.params = op, nodes, params
        self.sizes: list[Sizes] = [extents.sizes(node) for node in nodes]
        self.conditions: list[tuple[Any, str]] = []

    def value(self, node: Node) -> Any:
        """The value of a node."""
        return wrap(self.trace, node)

    def size(self, size: Size, bound: int) -> Any:
        """A size as a value."""
        return self.value(size) if isinstance(size, Node) else scalar(bound)

    def made(self, nodes: Nodes | None = None) -> Node:
        """The operation itself, on its own operands or on others."""
        return self.trace.add(self.op, self.nodes if nodes is None else nodes, self.params)

    def joined(self, sizes: Sequence[Size], bound: int) -> Size:
        """The one size that several have to be; stretched dimensions are of any."""
        dynamic = list(dict.fromkeys(size for size in sizes if isinstance(size, Node)))
        for other in dynamic[1:]:
            self.check(eq(self.value(dynamic[0]), self.value(other)), "equal dynamic sizes are required")
        if None in sizes:
            for size in dynamic[:1]:
                equal = eq(self.value(size), scalar(bound))
                self.check(equal, f"the size {bound} of the other operand is required")
            return None
        return dynamic[0] if dynamic else STRETCHED

    def check(self, condition: Any, rule: str) -> None:
        """Require a condition when the program runs."""
        self.conditions.append((condition, rule))

    def result(self, node: Node, sizes: Sequence[Size]) -> Any:
        """Return what the caller sees: a value with its sizes, once all conditions hold."""
        for condition, rule in self.conditions:
            types = rules.got([one.aval for one in self.nodes])
            message = f"ops.{self.op.name}: operands: {rule}; got others for {types}"
            node = require(self.value(node), condition, "shape", message).node
        self.extents.note(node, tuple(sizes))
        return self.value(node)


# ---- rules


def _elementwise(one: _Application) -> Any:
    dims = one.nodes[0].aval.shape
    sizes = [one.joined([size[axis] for size in one.sizes], bound) for axis, bound in enumerate(dims)]
    return one.result(one.made(), sizes)


def _indexing(one: _Application) -> Any:
    made = one.made()
    if made.access is None:
        return _reshape(one, made)
    found: dict[int, list[Size]] = {}
    turned: list[tuple[int, Size]] = []
    for axis, map in enumerate(made.access.axes):
        size, bound = one.sizes[0][axis], one.nodes[0].aval.shape[axis]
        for lookup in map.found:
            _hand_on(one, lookup.source, lookup.axes, found, made.aval)
        if (map.found or map.also) and isinstance(size, Node):
            raise _refused(one.op, one.nodes, one.extents)
        if map.axis is None or map.found or map.also:
            _need(one, size, map.offset + 1, bound)
        elif _is_whole(map, bound, made.aval):
            found.setdefault(map.axis, []).append(size)
        elif (map.scale, map.offset) == (-1, bound - 1) and made.aval.shape[map.axis] == bound:
            found.setdefault(map.axis, []).append(size)
            turned.append((map.axis, size))
        else:
            last = map.offset + max(0, map.scale * (made.aval.shape[map.axis] - 1))
            _need(one, size, last + 1 if made.aval.shape[map.axis] else map.offset, bound)
    for result, size in turned:
        if isinstance(size, Node):
            ahead = sub(scalar(made.aval.shape[result]), one.value(size))
            made = looked_up(one.value(made), result, ahead).node
    dims = made.aval.shape
    return one.result(made, [one.joined(found.get(axis, (None,)), bound) for axis, bound in enumerate(dims)])


def _hand_on(
    one: _Application, source: int, axes: Sequence[AxisMap], found: dict[int, list[Size]], out: ArrayType
) -> None:
    """The sizes of positions that are looked up, along the dimensions of the result that they have."""
    for axis, map in enumerate(axes):
        size, bound = one.sizes[source][axis], one.nodes[source].aval.shape[axis]
        if map.axis is not None and _is_whole(map, bound, out):
            found.setdefault(map.axis, []).append(size)
        elif isinstance(size, Node):
            raise _refused(one.op, one.nodes, one.extents)


def _is_whole(map: AxisMap, bound: int, out: ArrayType) -> bool:
    """Return whether a dimension of the result is one of the operand."""
    return (map.scale, map.offset) == (1, 0) and map.axis is not None and out.shape[map.axis] == bound


def _need(one: _Application, size: Size, least: int, bound: int) -> None:
    """Require that elements which are read are there."""
    if isinstance(size, Node) and least > 0:
        one.check(ge(one.value(size), scalar(least)), f"a size of {least} or more is required")


def _reshape(one: _Application, made: Node) -> Any:
    """A dynamic dimension behind slower ones of size 1 may take faster ones in: sizes are multiplied."""
    dims, sizes, found = one.nodes[0].aval.shape, made.aval.shape, [None] * len(made.aval.dims)
    result: list[Size] = list(found)
    for axis, size in enumerate(one.sizes[0]):
        if not isinstance(size, Node):
            continue
        ahead, inside = math.prod(dims[:axis]), math.prod(dims[axis:])
        place = _place_behind(sizes, ahead)
        if place is None or sizes[place] == 0 or dims[axis] == 0:
            raise _refused(one.op, one.nodes, one.extents)
        times, rest = divmod(sizes[place], dims[axis])
        whole = rest == 0 and _is_product(dims[axis + 1 :], times) and (times == 1 or ahead == 1)
        if not whole or inside % sizes[place]:
            raise _refused(one.op, one.nodes, one.extents)
        result[place] = size if times == 1 else mul(one.value(size), scalar(times)).node
    return one.result(made, result)


def _place_behind(sizes: Sequence[int], ahead: int) -> int | None:
    """The dimension, of more than one element, in front of which so many elements are counted."""
    for place, size in enumerate(sizes):
        if math.prod(sizes[:place]) == ahead and size != 1:
            return place
    return None


def _is_product(sizes: Sequence[int], times: int) -> bool:
    """Return whether the first sizes multiply to a number."""
    return any(math.prod(sizes[:count]) == times for count in range(len(sizes) + 1))


def _reduce(one: _Application) -> Any:
    dims, count = tuple(one.params["dims"]), one.params["n"]
    bounds = one.nodes[0].aval.shape
    sizes = [one.joined([size[axis] for size in one.sizes[:count]], bound) for axis, bound in enumerate(bounds)]
    hidden = [(axis, sizes[axis]) for axis in dims if isinstance(sizes[axis], Node)]
    kept = [size for axis, size in enumerate(sizes) if axis not in dims]
    reducer = one.params["reducer"] or one.params.get("extreme")
    if not hidden:
        return _each(one, one.made(), kept)
    inside = before_size(bounds, [(axis, one.value(size)) for axis, size in hidden if isinstance(size, Node)])
    if reducer is None:
        return _fold(one, inside, kept)
    operand = one.value(one.nodes[0])
    neutral = constant(np.asarray(reducer.identity(one.nodes[0].aval.dtype), one.nodes[0].aval.dtype))
    return one.result(one.made((select(inside, operand, filled(neutral, bounds)).node, *one.nodes[1:])), kept)


def _each(one: _Application, made: Node, sizes: Sequence[Size]) -> Any:
    """The results of an operation that may have several."""
    if not isinstance(made.type, TupleType):
        return one.result(made, sizes)
    return tuple(one.result(one.trace.project(made, k), sizes) for k in range(len(made.type.elements)))


def _fold(one: _Application, inside: Any, kept: Sequence[Size]) -> Any:
    """A fold that keeps what it has at padding: whether elements count is one more operand."""
    count, graph = one.params["n"], one.params["computation"]
    types = [scalar_type(node.aval.dtype) for node in one.nodes[:count]] + [scalar_type(BOOL)]

    def passing_over(*values: Any) -> tuple[Any, ...]:
        held, given = values[:count], values[count + 1 : 2 * count + 1]
        taken = replay(graph, (*held, *given), ())
        counts = values[2 * count + 1]
        return (*(select(counts, new, old) for new, old in zip(taken, held, strict=True)), counts)

    computation = traced_scalars(one.op.name, passing_over, (*types, *types), [type.dtype for type in types])
    operands = (
        *one.nodes[:count],
        inside.node,
        *one.nodes[count : 2 * count],
        lift(one.trace, constant(np.array(False))),
    )
    more = tuple(value.node for value in captured(computation))
    params = {**one.params, "computation": computation, "n": count + 1}
    made = one.trace.add(one.op, (*operands, *more), params)
    results = tuple(one.result(one.trace.project(made, k), kept) for k in range(count))
    return results if count > 1 else results[0]


def _scan(one: _Application) -> Any:
    return one.result(one.made(), one.sizes[0])


def _product(one: _Application) -> Any:
    assert one.op.product is not None
    axes = one.op.product(one.params)
    bounds = [node.aval.shape for node in one.nodes]
    joint: dict[tuple[int, int], Size] = {}
    for left, right in (*axes.batch, *axes.summed):
        size = one.joined([one.sizes[0][left], one.sizes[1][right]], bounds[0][left])
        joint[0, left] = joint[1, right] = size
    nodes = []
    for side, node in enumerate(one.nodes):
        summed = [pair[side] for pair in axes.summed]
        hidden = [(axis, one.value(size)) for axis in summed if isinstance(size := joint[side, axis], Node)]
        value = one.value(node)
        if hidden:
            zero = filled(constant(np.zeros((), node.aval.dtype)), bounds[side])
            value = select(before_size(bounds[side], hidden), value, zero)
        nodes.append(value.node)
    batch = [joint[0, left] for left, _ in axes.batch]
    free = [size for side in (0, 1) for axis, size in enumerate(one.sizes[side]) if (side, axis) not in joint]
    return one.result(one.made(tuple(nodes)), [*batch, *free])


def _pieces(one: _Application) -> Any:
    made = one.made()
    pieces = {piece.operand: piece for piece in made.pieces if one.nodes[piece.operand].aval.rank}
    if any(not node.aval.rank for node in one.nodes):
        return _bordered(one, made, pieces.get(0))
    found: list[Size] = []
    for axis, bound in enumerate(made.aval.shape):
        if all(piece.count[axis] == bound for piece in pieces.values()):
            found.append(one.joined([size[axis] for size in one.sizes], bound))
        else:
            made, size = _behind_each_other(one, made, axis)
            found.append(size)
    return one.result(made, found)


def _behind_each_other(one: _Application, made: Node, axis: int) -> tuple[Node, Size]:
    """Each operand from where the one before it ends; what it has overwrites padding in front of it."""
    bounds = [node.aval.shape[axis] for node in one.nodes]
    dynamic = [isinstance(size[axis], Node) for size in one.sizes]
    if not any(dynamic):
        return made, None
    start: Any = scalar(0)
    result = None
    for node, size, bound in zip(one.nodes, one.sizes, bounds, strict=True):
        spread = _spread_out(one, node, axis, made.aval.shape[axis])
        moved = looked_up(spread, axis, sub(scalar(0), start))
        if result is None:
            result = moved
        else:
            earlier = before_size(made.aval.shape, [(axis, start)])
            result = select(earlier, result, moved)
        start = add(start, one.size(size[axis], bound))
    assert result is not None
    return result.node, start.node


def _spread_out(one: _Application, node: Node, axis: int, size: int) -> Any:
    """The operand with padding up to the size of the result."""
    from xjit.ops.whole_arrays.concatenate import pad

    config = [(0, size - node.aval.shape[axis] if place == axis else 0, 0) for place in range(node.aval.rank)]
    return pad(one.value(node), constant(np.zeros((), node.aval.dtype)), tuple(config))


def _bordered(one: _Application, made: Node, piece: Piece | None) -> Any:
    """Borders and holes: padding becomes a part of the border behind."""
    operand, value = one.nodes[0], one.value(one.nodes[0])
    bounds = operand.aval.shape
    hidden = [(axis, one.value(size)) for axis, size in enumerate(one.sizes[0]) if isinstance(size, Node)]
    inside = select(before_size(bounds, hidden), value, filled(one.value(one.nodes[1]), bounds))
    found: list[Size] = [None] * len(bounds)
    for axis, size in hidden:
        low, high, holes = one.params["config"][axis]
        between = mul(larger(sub(size, scalar(1)), scalar(0)), scalar(holes))
        total = add(add(size, between), scalar(low + high))
        one.check(ge(total, scalar(0)), "no more elements than there are may be cut off")
        found[axis] = larger(total, scalar(0)).node
    return one.result(one.made((inside.node, one.nodes[1])), found)


def _control(one: _Application) -> Any:
    """The operation as it is: computations know the sizes of what they close over, and carry others as values."""
    return wrap(one.trace, one.made())


_RULES: dict[Kind, Callable[[_Application], Any]] = {
    Kind.ELEMENTWISE: _elementwise,
    Kind.INDEXING: _indexing,
    Kind.REDUCE: _reduce,
    Kind.SCAN: _scan,
    Kind.CONTROL: _control,
}
