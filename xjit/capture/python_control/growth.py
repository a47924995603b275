"""The types and bounds that the variables of a loop come to have, found by turns of it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xjit import tree
from xjit.capture.constants.choices import all_choices, as_choices
from xjit.capture.memory.buffer import Buffer
from xjit.capture.python_control.fitting import as_parts
from xjit.capture.python_control.leaves import Kind, kind_of
from xjit.capture.python_control.loop_turns import Carried, Turn, carried_of, is_same_value
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.optional_value import is_optional, structure_of
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_integers import WIDEST, Bounds, Pace
from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, Trace, TracedValue
from xjit.ir.node import Node
from xjit.ops.define.core import registry

if TYPE_CHECKING:
    from xjit.capture.python_control.python_loops import Settled

_MOST_TYPES = 3
_LONGEST = 2**40
"""More turns than loops of integers take in a day, those inside of others included."""
_FAR = 2**61
"""The most that an integer may grow in all turns of a loop, those of loops within it included."""
_WIDTHS = (1, 8, 16, 32, 52, 62)


@dataclass(slots=True)
class Growth:
    """The development of one variable: its types so far, and by how much its integers grow in a turn.

    ``growths`` are those of its integers in the last turn, ``first`` those in the first one, from where it starts.
    ``claims`` are the growths that integers are believed to have, from wherever they start; another turn, from far
    away, has to show it. With ``doubts`` a number that is Python's or NumPy's by turns is one in doubt, and an
    ``optional`` variable that starts as None may be that behind the loop.
    """

    name: str
    start: Any
    turns: int | None
    doubts: bool = False
    optional: bool = False
    carried: Carried | None = None
    types: int = 0
    growths: dict[int, Bounds] = field(default_factory=dict)
    claims: dict[int, Bounds] = field(default_factory=dict)
    first: dict[int, Bounds] = field(default_factory=dict)

    def like(self, earlier: Growth) -> None:
        """Begins with what an earlier trace of the same loop has come to, which often is right at once."""
        if earlier.carried is None:
            return
        found = earlier.carried
        if self.start is not UNBOUND:
            began = carried_of(self.name, as_parts(self.start, found))
            found = _at_pace(self._joined(began, found), began, found)
        self.carried, self.claims, self.growths = found, dict(earlier.claims), dict(earlier.growths)

    def goes_on(self, after: Any) -> bool:
        """Takes in what a turn made of the variable; return whether another turn has to be tried."""
        if self.carried is None:
            if is_same_value(self.start, after):
                return False
            after = all_choices(after) if self.optional and self.start is None else as_choices(self.start, after)[1]
            found = carried_of(self.name, after)
            if self.start is not UNBOUND:
                began = carried_of(self.name, as_parts(self.start, found))
                self.first = dict(_growths(began, found))
                found = self._joined(began, found)
            self.carried = found
            return True
        found = carried_of(self.name, after)
        if found.types != self.carried.types:
            joined = self._joined(self.carried, found)
            if joined.is_as(self.carried):
                return False
            self.types += 1
            if self.types >= _MOST_TYPES:
                refuse(f"the type of {self.name} differs from turn to turn of a loop", after)
            self.carried = joined
            return True
        wider = self._widened(found)
        changes = not wider.is_as(self.carried)
        self.carried = wider
        return changes

    def _joined(self, start: Carried, after: Carried) -> Carried:
        if start.types != after.types:
            if self.doubts and self.optional and start.structure is None:
                return after if is_optional(after.structure) else _optional(self.name, after)
            return (_agreed(start, after) if self.doubts else None) or _of_origins(start, after)
        pairs = zip(start.leaves, after.leaves, strict=True)
        return replace(after, leaves=tuple(a.joined(b) if isinstance(a, Kind) else a for a, b in pairs))

    def _widened(self, found: Carried) -> Carried:
        assert self.carried is not None
        pairs = zip(self.carried.leaves, found.leaves, strict=True)
        return replace(self.carried, leaves=tuple(self._leaf(k, *pair) for k, pair in enumerate(pairs)))

    def _leaf(self, place: int, one: Any, after: Any) -> Any:
        if not isinstance(one, Kind):
            return one
        if after.doubtful and not one.doubtful:
            return replace(one, doubtful=after.doubtful)
        if after.origin > one.origin:
            return replace(one, origin=after.origin)
        if after.shown and not one.shown:
            return replace(one, shown=True)
        layout = one.layout.joined(after.layout)
        if layout != one.layout:
            return replace(one, layout=layout)
        if one.bounds is None or one.wraps or _holds(one.bounds, after.bounds):
            return one
        growth = after.bounds[0] - one.bounds[0], after.bounds[1] - one.bounds[1]
        claim = self.claims.get(place)
        if claim is not None and claim[0] <= min(growth[0], 0) and max(growth[1], 0) <= claim[1]:
            return one
        began = one.joined(after).bounds
        assert began is not None
        before = self.growths.get(place)
        if before is None:
            self.growths[place] = before = growth
            if self.first.get(place) != growth:
                return replace(one, bounds=began)
        pace = self._pace(growth, after.pace) if claim is None and before == growth else None
        if pace is not None:
            self.claims[place] = min(growth[0], 0), max(growth[1], 0)
            return replace(one, bounds=(one.bounds[0] + pace.all[0], one.bounds[1] + pace.all[1]), pace=pace)
        self.claims[place] = (1, -1)
        return replace(one, bounds=_power_of_two(began))

    def _pace(self, growth: Bounds, inner: Pace | None) -> Pace | None:
        """The growth of an integer in all turns, which grows this much in one; None if that is too fast.

        What it grows by in loops inside of the turn counts by the turns of those.
        """
        turn, rest = (0, 0), growth
        if inner is not None:
            turn, rest = inner.turn, (growth[0] - inner.all[0], growth[1] - inner.all[1])
        turn = min(turn[0] + rest[0], 0), max(turn[1] + rest[1], 0)
        low, high = turn[0] * _LONGEST, turn[1] * _LONGEST
        if self.turns is not None:
            low, high = max(low, self.turns * min(growth[0], 0)), min(high, self.turns * max(growth[1], 0))
        return Pace(turn, (low, high)) if low >= -_FAR and high <= _FAR else None


@dataclass(frozen=True, slots=True)
class Earlier:
    """The end of an earlier trace of a loop, with which another one begins: it often is right at once.

    ``exchanges`` tells that turns exchange names of arrays. The buffers are those that turns have written to.
    """

    growths: tuple[Growth, ...]
    buffers: tuple[weakref.ref[Buffer], ...]
    exchanges: bool

    @classmethod
    def of(cls, growths: Sequence[Growth], buffers: Sequence[Buffer], exchanges: bool) -> Earlier:
        """Return the same without the values, which would hold arrays."""
        return cls(tuple(replace(one, start=UNBOUND) for one in growths), tuple(map(weakref.ref, buffers)), exchanges)

    def buffers_of(self, trace: Trace | None, gathered: Sequence[Any]) -> list[Buffer]:
        """Return the buffers that are there, and that were made in front of a loop of this trace.

        Where others are gone, those of lists that grow stand for them: each turn of a loop around makes them anew.
        """
        homes = [] if trace is None else [trace, *trace.around()]
        there = (one() for one in self.buffers)
        found = [one for one in there if one is not None and one.home in homes]
        if len(found) < len(self.buffers):
            columns = (one for lists in gathered for one in lists.memory)
            found += (one for one in columns if one not in found and one.home in homes)
        return found


def growths_of(
    names: Sequence[str], start: Sequence[Any], turns: int | None, optional: Sequence[str], doubts: bool
) -> list[Growth]:
    """The development of the variables of a loop from where they start."""
    pairs = zip(names, start, strict=True)
    return [Growth(name, value, turns, doubts, name in optional) for name, value in pairs]


def counted(settled: Settled, turn: Turn, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values behind a loop; what turns add a known number to is known where their number is.

    for v in x: count += 2          count + 2 * len(x)
    """
    loop, carried, start = settled.loop, settled.carried, settled.start
    length = None if loop.turns is None or loop.test is not None or loop.exchanges else loop.turns.length
    if length is None:
        return values
    parameters = iter(turn.trace.parameters if turn.counter is None else turn.trace.parameters[1:])
    found: list[Any] = []
    for one, first, after, value in zip(carried, start, turn.after, values, strict=True):
        if one is None:
            found.append(value)
            continue
        own = [(next(parameters), *(next(parameters) for _ in kind.types[1:]))[0] for kind in one.kinds]
        known = first is not UNBOUND and len(own) == len(one.leaves) and tree.flatten(first)[1] == one.structure
        if not known or after is UNBOUND or value is UNBOUND:
            found.append(value)
            continue
        rows = zip(own, *(tree.flatten(each)[0] for each in (first, after, value)), strict=True)
        found.append(tree.unflatten(one.structure, [_counted(length, *row) for row in rows]))
    return tuple(found)


def _counted(length: int, parameter: Node, first: Any, after: Any, value: Any) -> Any:
    node = after.node if isinstance(after, TracedValue) and after.weak is int else None
    if type(first) is not int or node is None or node.op is not registry["add"] or node.inputs[0] is not parameter:
        return value
    added = node.inputs[1]
    return first + length * int(added.param("value").array()) if added.op is CONSTANT else value


def is_written(buffer: Buffer, trace: CaptureTrace) -> bool:
    """Return whether a turn has written to a buffer, which it began with a version of its own."""
    return buffer.version(trace) not in trace.labels


def _optional(name: str, value: Carried) -> Carried:
    """The variable that may also be None; as it is where a graph cannot hold its value."""
    if not value.leaves or not all(isinstance(one, Kind) for one in value.leaves):
        return value
    present = kind_of(True, name).joined(kind_of(False, name))
    return Carried(structure_of(value.structure, len(value.leaves)), (present, *value.leaves))


def _agreed(start: Carried, after: Carried) -> Carried | None:
    """The variable whose numbers are of one of two types; None where it is more than numbers."""
    if start.structure != after.structure or not all(isinstance(one, Kind) for one in (*start.leaves, *after.leaves)):
        return None
    leaves = tuple(a.agreed(b) for a, b in zip(start.leaves, after.leaves, strict=True))
    return None if None in leaves else replace(start, leaves=leaves)


def _of_origins(start: Carried, after: Carried) -> Carried:
    """The variable as turns leave it, whose arrays may be those from outside that it starts as."""
    if start.structure != after.structure:
        return after
    pairs = zip(start.leaves, after.leaves, strict=True)
    both = [isinstance(a, Kind) and isinstance(b, Kind) and b.place.aval.rank > 0 for a, b in pairs]
    rows = zip(both, start.leaves, after.leaves, strict=True)
    return replace(
        after, leaves=tuple(replace(b, origin=max(a.origin, b.origin)) if known else b for known, a, b in rows)
    )


def _at_pace(found: Carried, began: Carried, earlier: Carried) -> Carried:
    """A variable whose integers grow from where they begin as they did in an earlier trace."""
    if found.structure != began.structure:
        return found
    pairs = zip(found.leaves, began.leaves, earlier.leaves, strict=True)
    return replace(found, leaves=tuple(_leaf_at_pace(*leaves) for leaves in pairs))


def _leaf_at_pace(found: Any, began: Any, earlier: Any) -> Any:
    pace = earlier.pace if isinstance(earlier, Kind) else None
    if pace is None or found.bounds is None or began.bounds is None:
        return found
    low, high = began.bounds[0] + pace.all[0], began.bounds[1] + pace.all[1]
    return replace(found, bounds=(min(found.bounds[0], low), max(found.bounds[1], high)), pace=pace)


def _growths(start: Carried, after: Carried) -> Iterator[tuple[int, Bounds]]:
    """The growths of the integers of a variable in the first turn, by their places."""
    if start.types == after.types:
        for place, (one, other) in enumerate(zip(start.leaves, after.leaves, strict=True)):
            if isinstance(one, Kind) and one.bounds is not None and other.bounds is not None:
                yield place, (other.bounds[0] - one.bounds[0], other.bounds[1] - one.bounds[1])


def _holds(bounds: Bounds, inner: Bounds) -> bool:
    return bounds[0] <= inner[0] and inner[1] <= bounds[1]


def _power_of_two(bounds: Bounds) -> Bounds:
    """The next bounds of a number of bits; in the end those of 64, which the run looks at."""
    for width in _WIDTHS:
        found = (-(2**width) if bounds[0] < 0 else 0, 2**width - 1)
        if _holds(found, bounds):
            return found
    return WIDEST
