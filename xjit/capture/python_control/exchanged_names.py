"""Arrays that exchange their names in turns of a loop whose number only the run knows: carried as values.

    while change > limit:                    (old, new) = (new', old): the loop of the graph exchanges their memory
        new[1:-1] = ...
        old, new = new, old

Behind the loop the names stand for memory of their own. Memory that other names show, as that of arguments, gets what
it would have: after an odd number of turns that is the other array.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np

from xjit.capture.memory.buffer import Buffer
from xjit.capture.python_control.loop_aliases import Aliases, Member, Pairs, both_ways, is_fixed
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import constant, lift
from xjit.ops.elements.elementwise import logical_not
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.shape import broadcast
from xjit.types import BOOL, scalar_type


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """The pairs of carried arrays that exchange their names in each turn, and whose memory other names show.

    With them a loop carries the parity of the number of turns so far.
    """

    pairs: tuple[tuple[Member, Member], ...]

    @property
    def known(self) -> Pairs:
        """Pairs that may be one memory, of which the parity tells which are."""
        return both_ways(
            (member.begin, other.start.buffer) for pair in self.pairs for member in pair for other in pair
        )

    @property
    def start(self) -> list[Any]:
        """The parity in front of the loop."""
        return [constant(np.asarray(False))] if self.pairs else []

    def next(self, trace: CaptureTrace) -> list[Any]:
        """The parity behind a turn; that before it becomes a parameter of the trace."""
        return [logical_not(one) for one in self.parameters(trace)]

    def parameters(self, trace: CaptureTrace) -> list[Any]:
        """The parity as a parameter of a trace."""
        return [TracedValue(trace.parameter(scalar_type(BOOL)), trace)] if self.pairs else []

    def check_reads(self, trace: CaptureTrace) -> None:
        """CaptureError if a turn reads the memory by other names."""
        for member in itertools.chain(*self.pairs):
            if any(node in trace.captures for node in _shown(member.start)):
                refuse(
                    "a loop reads an array by one name, which exchanges its others",
                    member.start,
                    fix="exchange two arrays that the function makes",
                )

    def hand_on(self, odd: Any, begin: Sequence[Buffer | None], behind: Sequence[Any]) -> None:
        """Gives the memory what it has behind the loop, of the values there; ``begin`` is their memory in a turn."""
        outer, values_of = _capture(), dict(zip(begin, behind, strict=True))
        for one, other in self.pairs:
            values = [values_of[one.begin], values_of[other.begin]]
            mask = broadcast(odd, values[0].shape) if values[0].ndim else odd
            nodes = [lift(outer, select(mask, *pair)) for pair in (values[::-1], values)]
            one.start.buffer.advance(outer, nodes[0])
            other.start.buffer.advance(outer, nodes[1])


def exchange_of(aliases: Aliases, buffers: Sequence[Buffer]) -> Exchange:
    """The exchange of the carried arrays of a loop, as far as it can be followed.

    The ``buffers`` are those from outside that turns write to. Turns of loops within loops are not followed: the
    memory may be that of another array in a later turn of the loop around.
    """
    if _capture().parent is not None:
        return Exchange(())
    first = aliases.at_first
    couples = itertools.combinations(aliases.members, 2)
    swapped = (pair for pair in couples if _takes(*pair) and _takes(*reversed(pair)))
    written = {*buffers, *aliases.written}
    return Exchange(tuple(pair for pair in swapped if _can_be_followed(pair, aliases, first, written)))


def _takes(one: Member, other: Member) -> bool:
    """Return whether one name stands for the array of the other one behind a turn."""
    return one.end.buffer is other.begin and not one.end.steps


def _can_be_followed(pair: tuple[Member, Member], aliases: Aliases, first: Pairs, written: Container[Buffer]) -> bool:
    """Return whether other names show two arrays, each as a whole, and only one of the two."""
    if any(not one.first or is_constant(one.start) or one.start.steps or is_fixed(one.start) for one in pair):
        return False
    memory = [one.start.buffer for one in pair]
    begun = [one.begin for one in pair]
    partners = {other for one, other in first if one in begun}
    alike = pair[0].start.node.type == pair[1].start.node.type == pair[0].end.node.type == pair[1].end.node.type
    return (
        alike
        and memory[0] is not memory[1]
        and bool(partners)
        and partners <= set(memory)
        and not any(one in written or one.is_shown for one in memory)
    )


def _shown(array: Any) -> Iterator[Node]:
    """The values by which code in front of a loop sees the memory of an array."""
    outer = _capture()
    yield outer.adopt(array.buffer.version(outer))
    for view in list(array.buffer.views.values()):
        if view.is_made_in(outer):
            yield outer.adopt(view.node)


def _capture() -> CaptureTrace:
    trace = current()
    assert isinstance(trace, CaptureTrace)
    return trace
