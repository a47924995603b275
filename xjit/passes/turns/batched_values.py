"""Values of all turns of a loop at once: what is a number in each turn becomes an array with one element a turn.

    y = sin x[i]            ->    y = sin x[begin : begin + turns]

A value is *uniform* where it is the same in every turn, and *batched* where it has an axis of turns in place of its
own axes, which have one position each. A carried array of which each turn touches a part of its own is known by the
values of these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Kind
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.passes.loop_parts import needed_by
from xjit.passes.turns import wide_values
from xjit.passes.turns.wide_values import Wide
from xjit.types import INT64, DType, TupleType, array_type


@dataclass(frozen=True, slots=True, eq=False)
class Batched:
    """A value in every turn: of the shape (turns,), or of its own shape where it is ``uniform``.

    With a ``ramp`` it is the number of the turn, counted from zero, plus that.
    """

    node: Node
    uniform: bool = False
    ramp: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OwnParts:
    """A carried array, of this number, in each turn: the elements at some known positions of the turn's own row are
    what ``parts`` has for these, all others as they were.
    """

    number: int
    start: Node
    parts: Mapping[tuple[int, ...], Batched] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """The values that an operation with several results yields."""

    values: tuple[Value, ...]


Value: TypeAlias = "Batched | OwnParts | Several | Wide | None"


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """A position along an axis: an offset, and integers that are added, each some times."""

    offset: int
    terms: tuple[tuple[Batched, int], ...] = ()

    @property
    def ramp(self) -> int | None:
        """The ramp of the position, if it has one."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and self.terms[0][0].ramp is not None:
            return self.terms[0][0].ramp + self.offset
        return None


@dataclass(eq=False)
class Batch:
    """The values of the nodes of a graph in all of so many turns; None for those that are not known at once.

    ``rows`` has the axis of carried arrays that turns go along, and the ramp of the position at which a turn does all
    that it does to them. ``spoiled`` are the numbers of arrays that are used otherwise, ``folded`` the reductions of
    arrays of turns. Without ``lookups`` elements are not read at positions that are found. The ``loops`` say what
    becomes of loops.
    """

    turns: int
    values: dict[Node, Value]
    lookups: bool = True
    loops: Callable[[Node, Sequence[Value]], Several | None] | None = None
    rows: dict[int, tuple[int, int]] = field(default_factory=dict)
    spoiled: set[int] = field(default_factory=set)
    folded: set[Node] = field(default_factory=set)

    def run(self, nodes: Iterable[Node]) -> None:
        """Finds the values of nodes, operands before users."""
        for node in nodes:
            if node in self.values:
                continue
            found = self.values[node] = self._value(node)
            if not isinstance(found, OwnParts):
                self._spoil(node, found)

    def _spoil(self, node: Node, found: Value) -> None:
        """Notes that an array is read as a whole, or in a way that is not followed."""
        own = [one for one in (self.values[source] for source in node.inputs) if isinstance(one, OwnParts)]
        if own and (found is None or len(own) > 1 or not isinstance(self.values[node.inputs[0]], OwnParts)):
            self.spoiled.update(one.number for one in own)

    def _value(self, node: Node) -> Value:
        inputs = [self.values[source] for source in node.inputs]
        if node.op is PROJECT:
            (whole,) = inputs
            return whole.values[node.param("index")] if isinstance(whole, Several) else None
        if node.op.control == "loop" and self.loops is not None:
            return self.loops(node, inputs)
        if not is_pure(node):
            return None
        if inputs and isinstance(inputs[0], OwnParts):
            return self._of_own(node, inputs[0], inputs)
        known = [one for one in inputs if isinstance(one, Batched)]
        if len(known) < len(inputs):
            return self._of_wide(node, inputs)
        if all(one.uniform for one in known):
            same = all(one.node is source for one, source in zip(known, node.inputs, strict=True))
            return Batched(node if same else replace(node, inputs=tuple(one.node for one in known)), uniform=True)
        if not _is_single(node):
            return self._repeated(node, known)
        if node.op.kind is Kind.ELEMENTWISE:
            return self._elementwise(node, known)
        return self._element_read(node, known) if node.access is not None else None

    # ---- arrays

    def _repeated(self, node: Node, inputs: Sequence[Batched]) -> Wide | None:
        """An array that repeats a number of the turn, which no reduction of such arrays has made."""
        numbers = inputs[0].node
        if len(inputs) > 1 or not _is_single(node.inputs[0]) or not self.folded.isdisjoint(needed_by((numbers,))):
            return None
        return wide_values.spread_number(numbers, node)

    def _of_wide(self, node: Node, inputs: Sequence[Value]) -> Value:
        """An operation on arrays of the turns, and on those that are the same in all of them."""
        if not self.lookups or any(isinstance(one, Batched) and not one.uniform for one in inputs):
            return None
        if any(not isinstance(one, Batched | Wide) for one in inputs):
            return None
        if node.op.kind is Kind.ELEMENTWISE:
            arrays = [
                one if isinstance(one, Wide) else wide_values.in_each_turn(one.node, self.turns)
                for one in inputs
                if isinstance(one, Batched | Wide)
            ]
            return wide_values.elementwise(node, arrays)
        operand, *rest = inputs
        if not isinstance(operand, Wide) or len(rest) != 1 or not isinstance(rest[0], Batched):
            return None
        found = wide_values.reduced(node, operand, rest[0].node)
        if found is None:
            return None
        self.folded.add(found)
        return Batched(found)

    # ---- elements

    def spread(self, value: Batched) -> Node:
        """The value as an array with one element a turn."""
        if not value.uniform:
            return value.node
        node = value.node
        scalar = derived(registry["reshape"], (node,), node, sizes=()) if node.aval.rank else node
        return derived(registry["broadcast_in_dim"], (scalar,), node, dims=(self.turns,), mapping=())

    def _elementwise(self, node: Node, inputs: Sequence[Batched]) -> Batched:
        made = derived(node.op, tuple(map(self.spread, inputs)), node, **node.kwargs)
        return Batched(made, ramp=_ramp_of(node, inputs))

    def _element_read(self, node: Node, inputs: Sequence[Batched]) -> Batched | None:
        """An operation that reads one element of its first operand in each turn."""
        source, assert_access = inputs[0], node.access
        assert assert_access is not None
        if not source.uniform:
            return Batched(source.node, ramp=source.ramp) if _is_single(node.inputs[0]) else None
        places = _positions(assert_access, node, inputs)
        return None if places is None else self.element(source.node, places)

    def element(self, source: Node, places: Sequence[Position]) -> Batched | None:
        """The element of an array at these positions, in all turns."""
        sizes = source.aval.shape
        moving = [axis for axis, place in enumerate(places) if place.terms]
        if len(moving) == 1 and (ramp := places[moving[0]].ramp) is not None:
            if not 0 <= ramp <= sizes[moving[0]] - self.turns:
                return None
            return Batched(self.reshaped(self._window(source, places, moving[0], ramp), (self.turns,)))
        if not self.lookups:
            return None
        kept = self._window(source, places, None, 0)
        kept = self.reshaped(kept, tuple(sizes[axis] for axis in moving))
        found = tuple(self._places(places[axis], source) for axis in moving)
        axes = tuple(range(len(moving)))
        return Batched(
            derived(registry["look_up"], (kept, *found), source, axes=axes, place=0, positions_first=False)
        )

    def _window(self, source: Node, places: Sequence[Position], axis: int | None, ramp: int) -> Node:
        """The part of an array at the positions that are known, and at those of all turns along an axis."""
        begin, end = [], []
        for number, (place, size) in enumerate(zip(places, source.aval.shape, strict=True)):
            first = ramp if number == axis else 0 if place.terms else place.offset
            begin.append(first)
            end.append(first + self.turns if number == axis else size if place.terms else first + 1)
        if all(one == 0 for one in begin) and tuple(end) == source.aval.shape:
            return source
        strides = (1,) * len(begin)
        return derived(registry["slice"], (source,), source, start=tuple(begin), limit=tuple(end), strides=strides)

    def _places(self, place: Position, like: Node) -> Node:
        """The positions along an axis in all turns."""
        total = self.number(place.offset, INT64, like)
        for term, times in place.terms:
            one = self.spread(term)
            if one.aval.dtype != INT64:
                one = derived(registry["convert_element_type"], (one,), like, new_element_type=INT64)
            if times != 1:
                one = derived(registry["mul"], (one, self.number(times, INT64, like)), like)
            total = derived(registry["add"], (total, one), like)
        return total

    def number(self, value: Any, dtype: DType, like: Node) -> Node:
        """A number in every turn."""
        return self.spread(Batched(constant(value, dtype, like), uniform=True))

    def reshaped(self, node: Node, sizes: tuple[int, ...]) -> Node:
        """The node with these dimensions."""
        return node if node.aval.shape == sizes else derived(registry["reshape"], (node,), node, sizes=sizes)

    # ---- carried arrays

    def _of_own(self, node: Node, own: OwnParts, inputs: Sequence[Value]) -> Value:
        """The value of an operation on a carried array: a later array, or an element of the turn's own row."""
        rest = [one for one in inputs[1:] if isinstance(one, Batched)]
        if len(rest) < len(inputs) - 1:
            return None
        if node.op.kind is Kind.INDEXING and node.access is not None:
            if _shows_all(node):
                return own
            places = _positions(node.access, node, [Batched(own.start, uniform=True), *rest])
            at = self._place_in_row(own, places) if _is_single(node) else None
            if at is None or places is None:
                return None
            return own.parts[at] if at in own.parts else self.element(own.start, places)
        if node.place is None or node.param("n") != 1 or not _is_single(node.inputs[1]):
            return None
        places = _positions(node.place, node, [Batched(own.start, uniform=True), *rest])
        at = self._place_in_row(own, places)
        return None if at is None else OwnParts(own.number, own.start, {**own.parts, at: rest[0]})

    def _place_in_row(self, own: OwnParts, places: Sequence[Position] | None) -> tuple[int, ...] | None:
        """The known positions of an element in the row of a turn, zero along the axis of the turns; None outside."""
        moving = [axis for axis, place in enumerate(places or ()) if place.terms]
        if places is None or len(moving) != 1:
            return None
        (axis,) = moving
        ramp = places[axis].ramp
        if ramp is None or self.rows.setdefault(own.number, (axis, ramp)) != (axis, ramp):
            return None
        if not 0 <= ramp <= own.start.aval.shape[axis] - self.turns:
            return None
        return tuple(0 if number == axis else place.offset for number, place in enumerate(places))


def constant(value: Any, dtype: DType, like: Node) -> Node:
    """A number as a node."""
    type = array_type(dtype, ())
    return Node(CONSTANT, (), (("value", Literal.of(np.asarray(value, dtype)[()])), ("type", type)), type, like.where)


def is_pure(node: Node) -> bool:
    """Return whether a node may be computed although its turn may not come, and is one array of a known size."""
    plain = not node.op.control and node.op.kind not in (Kind.EFFECT, Kind.COLLECTIVE) and node.sequence < 0
    whole = not isinstance(node.type, TupleType) and node.aval.is_static and not node.limits
    return node.op is not PARAMETER and plain and whole and node.op.failure is None and not node.op.raises


def _is_single(node: Node) -> bool:
    """Return whether a node is one element."""
    return not isinstance(node.type, TupleType) and node.aval.is_static and node.aval.size == 1 and not node.limits


def _shows_all(node: Node) -> bool:
    """Return whether an index operation yields every element of its operand at its own place."""
    same = node.aval.dims == node.inputs[0].aval.dims and len(node.inputs) == 1
    return same and node.access == Access(tuple(AxisMap(axis) for axis in range(node.aval.rank)))


def _ramp_of(node: Node, inputs: Sequence[Batched]) -> int | None:
    """The ramp of a sum of a ramp and a known number."""
    if node.aval.dtype != INT64 or node.op not in (registry["add"], registry["sub"]):
        return None
    one, other = inputs
    if one.ramp is None and node.op is registry["add"]:
        one, other = other, one
    number = _known(other)
    if one.ramp is None or number is None:
        return None
    return one.ramp + number if node.op is registry["add"] else one.ramp - number


def _known(value: Batched) -> int | None:
    node = value.node
    return int(node.param("value").item()) if value.uniform and node.op is CONSTANT and node.aval.size == 1 else None


def _positions(access: Access, node: Node, inputs: Sequence[Batched]) -> list[Position] | None:
    """The positions at which an operation on one element reads or writes its first operand, along each axis."""
    found = []
    for map in access.axes:
        offset, terms = map.offset, []
        for lookup in map.found:
            if not _is_single(node.inputs[lookup.source]):
                return None
            term = inputs[lookup.source]
            number = _known(term)
            if number is None:
                terms.append((term, lookup.times))
            else:
                offset += number * lookup.times
        found.append(Position(offset, tuple(terms)))
    return found
