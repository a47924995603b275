"""Arrays that variables of a loop share: which of them may be one memory when a turn begins, and behind the loop.

    a = b = np.zeros(n)          the first turn begins with one array that has two names,
    for i in range(n):           each further one with two arrays
        a[i] = x[i]
        b = b + 1

A loop of the graph carries arrays by value. That is the same for any code that follows, unless one of two that may
be one memory is written: such a loop is refused, or begins behind its first turn, where that helps.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xjit.capture.memory.buffer import Buffer
from xjit.capture.python_control.leaves import Kind, is_array, is_in_parts, kind_of, same
from xjit.capture.python_control.loop_turns import Carried, Turn, Twin, carried_values, memories
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.dataclass import dataclass, replace

Pairs = frozenset[tuple[Buffer, Buffer]]
"""Buffers that may be one memory, each pair in both orders; one beside itself has elements that nobody may write."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One carried array: its value in front of the loop, its memory when a turn begins, and its value at the end."""

    start: Any
    begin: Buffer
    end: Any

    @property
    def first(self) -> frozenset[Buffer]:
        """The buffers that it may lie in in front of the loop."""
        return self.start.buffer.family if is_array(self.start) else frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Aliases:
    """The carried arrays of a loop, what its turns write, and what only variables of the loop hold at first."""

    trace: CaptureTrace
    members: tuple[Member, ...]
    written: frozenset[Buffer]
    alone: frozenset[int]

    @property
    def at_first(self) -> Pairs:
        """Pairs that may be one memory when the first turn begins: carried arrays, and arrays from outside."""
        found = {(one.begin, one.begin) for one in self.members if one.first and is_fixed(one.start)}
        for one in self.members:
            own = {one.start.buffer} if id(one.start) in self.alone else set[Buffer]()
            seen = (buffer for buffer in one.first - own if buffer.is_seen)
            found.update((one.begin, other) for other in seen)
        for one, other in self._couples():
            if one.first and other.first and one.start.buffer.shares(other.start.buffer):
                found.add((one.begin, other.begin))
        return both_ways(found)

    @property
    def of_turn(self) -> Pairs:
        """Pairs of carried arrays with those that the turn of a loop around carries, and which may have names there.

        for i in range(n):          the inner loop begins with what the turn has been given, which nothing else in
            for j in range(m):      the turn holds: the memory may be that of the argument
                a = a.T
        """
        starts = ((one.begin, one.start.buffer) for one in self.members if one.first)
        return both_ways((begin, start) for begin, start in starts if start.is_carried)

    def later(self, before: Pairs) -> Pairs:
        """Pairs that may be one memory at the end of a turn, by the names of the next one."""
        fixed = {one for one, other in before if one is other}
        ends = (one for one in self.members if is_fixed(one.end) or one.end.buffer in fixed)
        found = {(one.begin, one.begin) for one in ends}
        joined = {one.begin: self._joined(one, before) for one in self.members}
        for one in self.members:
            memory = joined[one.begin] | one.end.buffer.family
            found.update((one.begin, other) for other in memory if self._is_outside(other))
        for one, other in self._couples():
            if one.end.buffer.shares(other.end.buffer) or joined[one.begin] & other.end.buffer.family:
                found.add((one.begin, other.begin))
        return both_ways(found)

    def after(self, first: Pairs) -> Pairs:
        """Pairs that may be one memory at the end of any turn, where the first one begins with these."""
        begun, found = first, self.later(first)
        while not found <= begun:
            begun |= found
            found = self.later(begun)
        return found

    def clash(self, pairs: Pairs) -> bool:
        """Return whether turns write to memory that may be that of two names."""
        return any(one in self.written or other in self.written for one, other in pairs)

    @property
    def overwritten(self) -> frozenset[Buffer]:
        """The buffers in front of the loop whose memory turns may write: what is carried lies in it at first."""
        begun = set(self.written)
        while more := {one.end.buffer for one in self.members if one.begin in begun} - begun:
            begun |= more
        starts = frozenset[Buffer]().union(*(one.first for one in self.members if one.begin in begun))
        return starts | {buffer for buffer in self.trace.overwritten if self._is_outside(buffer)}

    def _couples(self) -> Iterator[tuple[Member, Member]]:
        pairs = itertools.combinations(self.members, 2)
        return (pair for pair in pairs if pair[0].begin is not pair[1].begin)

    @staticmethod
    def _joined(member: Member, before: Pairs) -> frozenset[Buffer]:
        """The buffers that may be the memory of the array at the end of a turn, because they may when that begins."""
        own = member.end.buffer.family
        return frozenset(other for one, other in before if one in own and one is not other)

    def _is_outside(self, buffer: Buffer) -> bool:
        """Return whether a buffer was there in front of the turn."""
        return buffer.is_of(self.trace.parent)


def is_fixed(value: Any) -> bool:
    """Return whether NumPy refuses to write to an array, or shows an element of it twice."""
    type = value.last_node.aval  # the same in every version
    return bool(value.frozen or value.buffer.frozen or len(type.order) < type.rank)


def both_ways(pairs: Iterable[tuple[Buffer, Buffer]]) -> Pairs:
    """Pairs in both orders."""
    return frozenset(itertools.chain.from_iterable(((a, b), (b, a)) for a, b in pairs))


def aliases_of(
    turn: Turn, carried: Sequence[Carried | None], start: Sequence[Any], alone: Mapping[int, int]
) -> Aliases:
    """The carried arrays of a traced turn."""
    kinds = [leaf for one in carried if one is not None for leaf in one.leaves]
    rows = zip(kinds, carried_values(carried, start), turn.begin, carried_values(carried, turn.after), strict=True)
    found = (
        Member(first, begin, end)
        for kind, first, begin, end in rows
        if isinstance(kind, Kind) and begin is not None and is_array(end)
    )
    firsts = zip(kinds, carried_values(carried, start), strict=True)
    names = Counter(id(first) for kind, first in firsts if isinstance(kind, Kind | Twin))
    single = frozenset(one for one, count in names.items() if alone.get(one) == count)
    members, written = tuple(found), frozenset(turn.trace.versions) | turn.trace.overwritten
    return Aliases(turn.trace, members, written | _written_in_parts(turn, carried, members, written), single)


def _written_in_parts(
    turn: Turn, carried: Sequence[Carried | None], members: Sequence[Member], written: frozenset[Buffer]
) -> frozenset[Buffer]:
    """The memory of arrays of the run's size that turns write to, which get a buffer of their own then."""
    if not any(one is not None and is_in_parts(one.structure) for one in carried):
        return frozenset()
    nodes = {buffer.first for buffer in written if buffer.home is turn.trace}
    return frozenset(one.begin for one in members if one.begin.first in nodes)


def connect(
    aliases: Aliases,
    pairs: Pairs,
    begin: Sequence[Buffer | None],
    variables: Sequence[Carried | None],
    behind: Sequence[Any],
) -> None:
    """Notes which values behind a loop may be one memory with others, and with arrays from outside."""
    carried, leaves = {member.begin for member in aliases.members}, memories(variables, behind)
    values = {buffer: value for buffer, value in zip(begin, leaves, strict=True) if buffer in carried}
    for one, other in pairs:
        if one in values and one is not other:
            values[one].buffer.may_be((values[other].buffer if other in values else other,))
    for member in aliases.members:
        if is_fixed(member.end):
            values[member.begin].frozen = True


Objects = dict[int, Any]
"""For leaves of the variables that turns change the twin, or the array that stays."""


def objects_of(carried: Sequence[Carried | None], start: Sequence[Any], turn: Turn) -> Objects:
    """The arrays that turns leave as they are, and those that are one object with another, from the start on."""
    firsts, ends = carried_values(carried, start), carried_values(carried, turn.after)
    kinds = [leaf for one in carried if one is not None for leaf in one.leaves]
    found: Objects = {}
    for number, (first, begin, end) in enumerate(zip(firsts, turn.begin, ends, strict=True)):
        if begin is None or not (is_array(end) and is_array(first)):
            continue
        if _stays(first, begin, end) and kind_of(first, "").type == kinds[number].type:
            found[number] = first
    for group in _groups(ends):
        bound = [number for number in group if firsts[number] is not None]
        if found.keys().isdisjoint(group) and all(firsts[one] is firsts[bound[0]] for one in bound):
            source = bound[0] if bound else group[0]
            found.update((number, Twin(source)) for number in group if number != source)
    return found


def are_same(one: Objects, other: Objects) -> bool:
    """Return whether the same leaves are known to be the same objects."""
    return one.keys() == other.keys() and all(_is_one(value, other[number]) for number, value in one.items())


def _is_one(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, Twin) and isinstance(other, Twin) and one == other)


def _stays(first: Any, begin: Buffer, end: Any) -> bool:
    return same(first, end) or (end.buffer is begin and not end.steps)


def _groups(ends: Sequence[Any]) -> Iterator[list[int]]:
    """The numbers of arrays that are one object, of which there are several."""
    found: dict[int, list[int]] = {}
    for number, end in enumerate(ends):
        if is_array(end):
            found.setdefault(id(end), []).append(number)
    return (group for group in found.values() if len(group) > 1)


def will_meet(carried: Sequence[Carried | None], start: Sequence[Any], turn: Turn) -> bool:
    """Return whether each turn makes variables one array that are two in front of the loop."""
    firsts, ends = carried_values(carried, start), carried_values(carried, turn.after)
    pairs = (pair for group in _groups(ends) for pair in itertools.combinations(group, 2))
    bound = (pair for pair in pairs if firsts[pair[0]] is not None is not firsts[pair[1]])
    return any(firsts[one] is not firsts[other] for one, other in bound)


def with_objects(carried: Sequence[Carried | None], objects: Objects) -> tuple[Carried | None, ...]:
    """The variables that turns change, with the leaves of which it is known which objects they are."""
    numbers = itertools.count()
    return tuple(
        one and replace(one, leaves=tuple(objects.get(next(numbers), leaf) for leaf in one.leaves)) for one in carried
    )
