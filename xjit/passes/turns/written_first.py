"""Positions of what a counted loop starts from that turns write before they read them.

    x = zeros n                             no turn reads an element of x before one has written it:
    for i in range(n):                      whatever x holds before the loop is never seen
      x[i] = f(x[i - 1], i) if i else 0

Positions are those along one axis of a carried array; along the others, turns write all of it. The positions of every
turn are computed at once, as the counter has known values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from xjit.dataclass import dataclass, field
from xjit.ir.context import CONSTANT, PROJECT
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Access, AxisMap, Kind
from xjit.ops.define.memory_order import PACK
from xjit.passes.loop_parts import parts_of
from xjit.passes.turns.counted_turns import turns_of
from xjit.types import TupleType

Integers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[Any]]"
Truths: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"

MOST_TOUCHES = 1 << 21
"""Turns times positions of a turn that are looked at."""

_NEVER = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Some positions along an axis of an array."""

    axis: int
    truths: Truths

    def with_all(self, first: int, last: int) -> Positions:
        """These positions, and those from one to another, this one left out."""
        truths = self.truths.copy()
        truths[first:last] = True
        return Positions(self.axis, truths)


class _Version(NamedTuple):
    """An array that a loop carries as it is after so many ``writes`` of a turn."""

    place: int
    writes: int


def written_first(loop: Node, places: Collection[int]) -> dict[int, Positions]:
    """The positions of carried arrays of these numbers that turns write before they read, of those that have some.

    Of arrays that turns touch in ways that are not known nothing is said.
    """
    turns = turns_of(parts_of(loop))
    condition, body = (inner.graph for inner in inner_graphs(loop))
    carried = {place: body.parameters[place] for place in places}
    kept = [place for place, one in carried.items() if one.aval.rank and one.aval.is_static]
    if turns is None or not kept or len(turns.values) > MOST_TOUCHES:
        return {}
    counted = np.arange(turns.values.start, turns.values.stop, turns.values.step, dtype=np.int64)
    search = _Search({place: carried[place].aval.shape for place in kept})
    search.unknown.update(place for place in kept if _is_read(condition, condition.parameters[place]))
    versions = {carried[place]: _Version(place, 0) for place in kept}
    with np.errstate(all="ignore"):
        ends = search.follow(body, versions, {turns.counter: counted}, np.arange(len(counted), dtype=np.int32))
    for place, end in enumerate(ends):
        search.unknown.update({place, end.place} if end and end.place != place else () if end else {place})
    found = {place: search.found(place) for place in kept if place not in search.unknown}
    return {place: one for place, one in found.items() if one is not None and one.truths.any()}


def _is_read(graph: Graph, parameter: Node) -> bool:
    return parameter in graph.outputs or any(parameter in node.inputs for node in graph.nodes)


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch:
    """So many positions behind each other in each turn, the first one an integer of the turn and the ``offset``."""

    integers: Integers
    offset: int
    count: int

    @property
    def step(self) -> int:
        """By how much the integers differ from turn to turn, if they rise or fall by one; else 0."""
        values = self.integers
        if values.ndim == 0 or values.size < 2:
            return 0
        step = int(values[1] - values[0])
        return step if abs(step) == 1 and bool((values[1:] - values[:-1] == step).all()) else 0

    def is_inside(self, size: int) -> bool:
        """Return whether all positions are those of an axis."""
        values = self.integers
        if not values.size:
            return True
        first, last = int(values.min()) + self.offset, int(values.max()) + self.offset + self.count
        return first >= 0 and last <= size


@dataclass(frozen=True, slots=True, eq=False)
class _Touch:
    """The positions along each axis that some turns touch.

    A read sees the writes up to a version, a write makes the version.
    """

    written: bool
    version: _Version
    turns: Integers
    stretches: tuple[_Stretch, ...]

    def note(self, axis: int, times: Integers, first: Integers) -> None:
        """Notes when positions along an axis are touched for the first time, in turns at these times."""
        one = self.stretches[axis]
        values, step = one.integers, one.step
        for offset in range(one.offset, one.offset + one.count) if times.size else ():
            begin, stop = (int(values[0]) + offset, int(values[-1]) + offset + step) if step else (0, 0)
            if step:
                there = first[begin:stop] if step > 0 else first[stop + 1 : begin + 1][::-1]
                np.minimum(there, times, out=there)
            else:
                own = np.full_like(first, _NEVER)
                own[np.broadcast_to(values + offset, times.shape)[::-1]] = times[::-1]  # the first one comes last
                np.minimum(first, own, out=first)


class _UnknownError(Exception):
    """An operation touches an array at places that are not known."""


@dataclass(eq=False)
class _Search:
    """Follows the versions of arrays of these shapes through graphs, for all turns at once."""

    shapes: dict[int, tuple[int, ...]]
    touches: list[_Touch] = field(default_factory=list)
    unknown: set[int] = field(default_factory=set)

    def follow(
        self, graph: Graph, versions: dict[Node, _Version], values: dict[Node, Integers], turns: Integers
    ) -> list[_Version | None]:
        """The versions that the outputs of a graph are; ``values`` are integers of the ``turns`` in which it runs."""
        several = dict[Node, list[_Version | None]]()
        for node in graph.nodes:
            sources = [source for source in node.inputs if source in versions]
            version: _Version | None = None
            if node.op is PROJECT and node.inputs[0] in several:
                version = several[node.inputs[0]][node.param("index")]
            elif not sources:
                _evaluate(node, values)
            elif node.op.control == "branch":
                several[node] = self._branch(node, versions, values, turns)
            elif node.op is PACK:
                version = versions[sources[0]]
            else:
                version = self._touched(node, sources, versions, values, turns)
            if version is not None:
                versions[node] = version
        return [versions.get(node) for node in graph.outputs]

    def _touched(
        self,
        node: Node,
        sources: Sequence[Node],
        versions: Mapping[Node, _Version],
        values: Mapping[Node, Integers],
        turns: Integers,
    ) -> _Version | None:
        """Notes what an operation reads or replaces; the version that it makes."""
        try:
            if len(sources) > 1 or node.inputs[0] is not sources[0]:
                raise _UnknownError
            touch = self._touch(node, versions[sources[0]], values, turns)
        except _UnknownError:
            self.unknown.update(versions[source].place for source in sources)
            return None
        self.touches.append(touch)
        return touch.version if touch.written else None

    def _touch(self, node: Node, version: _Version, values: Mapping[Node, Integers], turns: Integers) -> _Touch:
        shape = self.shapes[version.place]
        if node.op.kind is Kind.INDEXING and node.access is not None:
            return _Touch(False, version, turns, _stretches(node, node.access, (shape, node.aval.shape), values))
        if node.place is None or node.param("n") != 1 or "computation" in node.kwargs or node.inputs[1].limits:
            raise _UnknownError
        stretches = _stretches(node, node.place, (shape, node.inputs[1].aval.shape), values)
        return _Touch(True, _Version(version.place, version.writes + 1), turns, stretches)

    def _branch(
        self, choice: Node, versions: Mapping[Node, _Version], values: Mapping[Node, Integers], turns: Integers
    ) -> list[_Version | None]:
        """The versions that the results of a choice are, each arm followed for the turns that choose it."""
        inner = inner_graphs(choice)
        if choice.inputs[0] not in values:
            self.unknown.update(versions[source].place for source in choice.inputs if source in versions)
            return [None] * len(inner[0].graph.outputs)
        number = np.broadcast_to(values[choice.inputs[0]], turns.shape)
        number = np.where((number >= 0) & (number < len(inner)), number, len(inner) - 1)
        ends = list[list[_Version | None]]()
        for arm, one in enumerate(inner):
            chosen = number == arm
            pairs = [(given, choice.inputs[at]) for given, at in zip(one.graph.parameters, one.operands, strict=True)]
            known = {given: _of(values[source], chosen) for given, source in pairs if source in values}
            seen = {given: versions[source] for given, source in pairs if source in versions}
            ends.append(self.follow(one.graph, seen, known, turns[chosen]))
        return [self._either(several) for several in zip(*ends, strict=True)]

    def _either(self, several: Sequence[_Version | None]) -> _Version | None:
        """The version that one of several arms leaves."""
        found = [one for one in several if one is not None]
        if found and {one.place for one in found} == {found[0].place} and len(found) == len(several):
            return max(found)
        self.unknown.update(one.place for one in found)
        return None

    def found(self, place: int) -> Positions | None:
        """The positions that are written first, along the only axis along which writes are no wholes."""
        shape, touches = self.shapes[place], [touch for touch in self.touches if touch.version.place == place]
        writes = [touch.stretches for touch in touches if touch.written]
        partly = [axis for axis, size in enumerate(shape) if any(one[axis].count < size for one in writes)]
        if len(partly) > 1 or not writes:
            return None
        axis = partly[0] if partly else 0
        size, latest = shape[axis], 1 + max(touch.version.writes for touch in touches)
        most = max(touch.stretches[axis].count * max(touch.turns.size, size) for touch in touches)
        if most > MOST_TOUCHES or latest * MOST_TOUCHES >= _NEVER:
            return None
        write, read = (np.full(size, _NEVER, np.int32) for _ in range(2))
        for touch in touches:
            times = touch.turns * np.int32(latest) + np.int32(touch.version.writes)
            touch.note(axis, times, write if touch.written else read)
        return Positions(axis, (write < _NEVER) & (write <= read))


def _evaluate(node: Node, values: dict[Node, Integers]) -> None:
    """Notes the integers that a node is in all turns, where those of its operands are known."""
    if node in values or isinstance(node.type, TupleType) or node.aval.rank or node.aval.dtype.kind not in "biu":
        return
    if node.op is CONSTANT:
        values[node] = np.asarray(node.param("value").item(), node.aval.dtype)
    elif node.op is PACK and node.inputs[0] in values:  # of one element, in each turn
        values[node] = values[node.inputs[0]]
    elif node.op.kind is Kind.ELEMENTWISE and all(source in values for source in node.inputs):
        values[node] = np.asarray(node.op.reference(*(values[one] for one in node.inputs), **node.kwargs))
    elif node.op.kind is Kind.INDEXING and node.inputs[0] in values:  # the very element, if a condition holds
        values[node] = values[node.inputs[0]]


def _stretches(
    node: Node, access: Access, shapes: tuple[Sequence[int], Sequence[int]], values: Mapping[Node, Integers]
) -> tuple[_Stretch, ...]:
    """The stretches of an array that the elements of a window lie in. The ``shapes`` are those of both."""
    found = list[_Stretch]()
    for one, size in zip(access.axes, shapes[0], strict=True):
        integers: Integers = np.asarray(0)
        for lookup in one.found:
            source = node.inputs[lookup.source]
            if source not in values:
                raise _UnknownError
            own = values[source].astype(np.int64, copy=False)
            integers = own if len(one.found) == lookup.times == 1 else integers + lookup.times * own
        stretch = _Stretch(integers, one.offset, _count(one, shapes[1]))
        if not stretch.is_inside(size):
            raise _UnknownError
        found.append(stretch)
    return tuple(found)


def _count(one: AxisMap, shape: Sequence[int]) -> int:
    if one.axis is None:
        return 1
    if one.scale != 1 or one.also:
        raise _UnknownError
    return shape[one.axis]


def _of(values: Integers, chosen: Truths) -> Integers:
    """The integers in those turns that are chosen."""
    return values[chosen] if values.ndim else values
