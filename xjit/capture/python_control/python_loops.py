"""Loops of Python's that become loops of the graph: a turn is traced once, the state is found by trials."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from math import lcm
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed, inner_trace, not_assigning, undecided
from xjit.capture.control.loops import COUNTER
from xjit.capture.memory.buffer import Buffer
from xjit.capture.memory.carried_layout import shown_version, stored_version
from xjit.capture.python_control.exchanged_names import Exchange, exchange_of
from xjit.capture.python_control.fitting import as_parameters, as_parts, fitted, is_as_given, refuse_start
from xjit.capture.python_control.growth import Earlier, counted, growths_of, is_written
from xjit.capture.python_control.leaves import Kind, kind_of
from xjit.capture.python_control.loop_aliases import (
    Aliases,
    Objects,
    aliases_of,
    are_same,
    connect,
    objects_of,
    will_meet,
    with_objects,
)
from xjit.capture.python_control.loop_sequences import Turns
from xjit.capture.python_control.loop_turns import (
    Carried,
    Turn,
    carried_of,
    carried_values,
    is_same_value,
    leaves_of,
    may_be_unbound,
    parameters_of,
    traced_turn,
    values_in,
    versions_of,
    with_twins,
    written_buffers,
)
from xjit.capture.python_control.sharing import alone, cycles_of, may_exchange
from xjit.capture.python_control.truth import asked, holds_surely, truth
from xjit.capture.python_control.views_of_memory import ViewsBehind
from xjit.capture.python_numbers.exact_integers import expect_exact_in
from xjit.capture.recording.container_names import note_copies
from xjit.capture.recording.object_variables import Variables
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.demands import demand, unless_failed
from xjit.capture.tracers.limited_calls import may_be_one
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass, replace
from xjit.ir.current import current, tracing
from xjit.ops.control.computations import Computation
from xjit.ops.control.while_loop import loop
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import lt
from xjit.ops.elements.elementwise import add, and_

_MOST_TRIALS = 12
_MOST_PEELED = 2


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the user's: the variables, the condition for another turn, the body, and what is gone through.

    ``certain`` tells if the first turn surely happens. Whoever traces it holds the values in front of it besides.
    The ``exchanged`` are the places of variables whose arrays turns exchange, for loops that may end after any turn;
    where a loop ``exchanges`` arrays and its number of turns is known, a turn of it is several of the user's.
    The ``containers`` are the lists and dicts in front of it that turns may change, ``gathered`` those of the run.
    """

    state: Variables
    test: Callable[[], Any] | None
    body: Callable[[Any], None]
    turns: Turns | None
    certain: Callable[[], bool]
    held: tuple[Any, ...] = ()
    exchanged: frozenset[int] = frozenset()
    exchanges: bool = False
    containers: tuple[Any, ...] = ()
    gathered: tuple[Any, ...] = ()

    @property
    def needed(self) -> frozenset[str]:
        """The variables whose values a further turn, or what follows, may read."""
        return frozenset(self.state.carried)

    def start(self) -> tuple[Any, ...]:
        """The values of the variables in front of the loop; those that nobody needs are not bound."""
        pairs = zip(self.state.names, self.state.get(), strict=True)
        return tuple(value if name in self.needed else UNBOUND for name, value in pairs)

    @property
    def counter(self) -> Kind | None:
        """The kind of the number of a turn."""
        return None if self.turns is None else Kind(replace(COUNTER, weak=int), self.turns.bounds)


@dataclass(frozen=True, slots=True)
class Settled:
    """A loop with what its turns change: variables and the buffers that they write to.

    The arrays with identities that are ``alone`` are seen in front of it by so many variables only.
    """

    loop: Loop
    start: tuple[Any, ...]
    carried: tuple[Carried | None, ...]
    buffers: tuple[Buffer, ...]
    alone: Mapping[int, int]

    def turn(self) -> Turn:
        """A trial of a turn."""
        loop, test = self.loop, self.loop.test if self.loop.turns is None else None
        known = (self.carried, self.start, self.buffers, loop.counter)
        return traced_turn(loop.state, *known, loop.body, test, loop.containers)

    def refuse_start(self) -> NoReturn:
        """CaptureError about a first turn that is not as the others, and may not be one."""
        refuse_start(self.loop.state.names, self.carried, self.start)

    def aliases(self, turn: Turn) -> Aliases:
        """Return what may be one memory in a turn."""
        return aliases_of(turn, self.carried, self.start, self.alone)

    def exchange(self, aliases: Aliases) -> Exchange:
        """Return the arrays that exchange their names in a turn, as far as that can be followed."""
        return exchange_of(aliases, self.buffers) if self.loop.exchanged else Exchange(())


def captured(loop: Loop) -> None:
    """Traces the loop as a loop; the variables then have the values behind it.

    AssignedAttributes where turns assign others than its variables.
    """
    trial, earlier = None, _recorder().loops.get(loop.state.place)
    if may_exchange(loop.start()) and (earlier is None or earlier.exchanges):
        loop, trial = _without_exchange(loop)
        if loop.turns is not None and loop.turns.length == 0:
            return
    for _ in range(_MOST_PEELED + 1):
        single = alone(loop.state.get(), loop.held)
        start = loop.start()
        if _is_captured(loop, start, single, trial=trial):
            return
        loop.state.set(start)
        if not loop.certain():
            loop.state.set(start)
            if not _is_captured(loop, start, single, doubts=True):
                _settled(loop, start, single)[0].refuse_start()
            return
        del start  # which would hold arrays
        loop, trial = peeled(loop), None
    _settled(loop, loop.start(), {})[0].refuse_start()


def _is_captured(
    loop: Loop, start: tuple[Any, ...], single: Mapping[int, int], doubts: bool = False, trial: Turn | None = None
) -> bool:
    """Trace the loop as a loop unless the first turn is not as the others.

    With doubts, numbers of Python's and of NumPy's in turn are numbers in doubt. The ``trial`` is a turn of which
    nothing is carried, if there has been one.
    """
    recorder = _recorder()
    begun = recorder.decisions()
    settled, turn = _settled(loop, start, single, doubts, trial)
    decisions = recorder.decisions()
    first = _first(settled, turn, doubts)
    recorder.take_back(begun if first is None else decisions)
    if first is not None:
        carried = _in_doubt(settled, first)
        if carried != settled.carried:
            recorder.take_back(begun)
            settled = replace(settled, carried=carried)
            turn = settled.turn()
            new = [one for one in written_buffers(turn.trace) if one not in settled.buffers]
            if new:
                recorder.take_back(begun)
                settled = replace(settled, buffers=(*settled.buffers, *new))
                turn = settled.turn()
        _finish(settled, turn, first)
    return first is not None


def _without_exchange(loop: Loop) -> tuple[Loop, Turn | None]:
    """The loop; where turns exchange the names of arrays, as many of them as one that leave each its own.

    The trial that has shown it comes along where it is one of this loop.
    """
    start = loop.start()
    settled = Settled(loop, start, (None,) * len(start), (), {})
    trial = settled.turn()
    cycles, turns = cycles_of(start, trial.after), loop.turns
    loop.state.set(start)
    if not cycles:
        return loop, trial
    if turns is None or loop.test is not None or not turns.has_known_numbers:
        return replace(loop, exchanged=frozenset(itertools.chain(*cycles)), exchanges=True), None
    period = lcm(*map(len, cycles))
    first, end = int(turns.first), int(turns.end)
    rest = max(0, end - first) % period
    for number in range(first, first + rest):
        loop.body(number)

    def several(counter: Any) -> None:
        for number in range(period):
            loop.body(counter * period + (first + rest + number))

    count = max(0, end - first) // period
    found = Turns(0, count, turns.element)
    return replace(loop, body=several, turns=found, certain=lambda: count > 0, exchanges=True), None


def _recorder() -> Any:
    """The recorder of the trace that is under way."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    return trace.recorder


def _settled(
    loop: Loop, start: tuple[Any, ...], single: Mapping[int, int], doubts: bool = False, trial: Turn | None = None
) -> tuple[Settled, Turn]:
    """The variables that turns change, and their types: from what one turn changes to what no further one adds to.

    That one is the turn of the loop; what the trials before it have decided is taken back.
    """
    length = None if loop.turns is None else loop.turns.length
    names, recorder = loop.state.names, _recorder()
    growths = growths_of(names, start, length, loop.state.optional, doubts)
    earlier, decisions = recorder.loops.get(loop.state.place), recorder.decisions()
    buffers: list[Buffer] = [] if earlier is None else earlier.buffers_of(current(), loop.gathered)
    believed = list(buffers)
    for one, other in zip(growths, growths if earlier is None else earlier.growths, strict=True):
        one.like(other)
    for place in loop.exchanged:
        growths[place].carried = growths[place].carried or carried_of(names[place], start[place])
    objects: Objects = {}
    for _ in range(_MOST_TRIALS):
        recorder.take_back(decisions)
        kinds = [one.carried for one in growths]
        found = Settled(loop, start, with_objects(kinds, objects), tuple(buffers), single)
        carries = buffers or any(found.carried)
        turn = found.turn() if trial is None or carries else trial
        with tracing(turn.trace):
            changed = [
                name in loop.needed and one.goes_on(after)
                for name, one, after in zip(names, growths, turn.after, strict=True)
            ]
        new = [buffer for buffer in written_buffers(turn.trace) if buffer not in buffers]
        kept = [one for one in buffers if one not in believed or is_written(one, turn.trace)]
        if not any(changed) and not new and kept == buffers:
            same = objects_of(kinds, start, turn)
            if are_same(same, objects):
                recorder.loops[loop.state.place] = Earlier.of(growths, buffers, loop.exchanges)
                return replace(found, start=tuple(map(as_parts, start, kinds))), turn
            objects = same
        buffers, believed = kept + new, []
    refuse("what the variables of a loop are does not settle in a few turns")


def _first(settled: Settled, turn: Turn, doubts: bool = False) -> list[Any] | None:
    """The values that variables start from; None where the first turn is not as the others.

    A number of Python's may start as one of NumPy's if the first turn makes the same of both, or with a doubt.
    """
    found = []
    for one, value in zip(settled.carried, settled.start, strict=True):
        start = value if one is None else fitted(value, one)
        if one is not None and start is None:
            return None
        found.append(start)
    changed = [
        not (a is UNBOUND or is_as_given(a, b) or (doubts and one is not None and one.is_doubtful))
        for one, a, b in zip(settled.carried, settled.start, found, strict=True)
    ]
    if any(changed) and not _is_as_others(settled):
        return None
    return None if _clashes(settled, turn) or _will_meet(settled, turn) else found


def _clashes(settled: Settled, turn: Turn) -> bool:
    """Return whether turns write to an array that may have another name."""
    aliases = settled.aliases(turn)
    pairs = aliases.at_first | aliases.after(aliases.at_first)
    return aliases.clash(pairs - settled.exchange(aliases).known)


def _will_meet(settled: Settled, turn: Turn) -> bool:
    settled.loop.state.set(settled.start)
    return will_meet(settled.carried, settled.start, turn) and settled.loop.certain()


def _in_doubt(settled: Settled, first: Sequence[Any]) -> tuple[Carried | None, ...]:
    """The variables that turns change, where numbers that start as Python's are in doubt if there may be no turn."""
    found, turns = list(settled.carried), settled.loop.turns
    if turns is not None and turns.is_known:
        return settled.carried
    for place, (one, value, start) in enumerate(zip(found, settled.start, first, strict=True)):
        if one is not None and value is not UNBOUND and not is_as_given(value, start):
            pairs = zip(one.leaves, tree.flatten(value)[0], strict=True)
            found[place] = replace(one, leaves=tuple(_doubted(*pair, settled) for pair in pairs))
    return tuple(found)


def _doubted(kind: Any, leaf: Any, settled: Settled) -> Any:
    if not isinstance(kind, Kind) or kind_of(leaf, "").type == kind.type:
        return kind
    found = kind_of(leaf, kind.place.label).agreed(kind)
    if found is not None:
        return found
    settled.loop.state.set(settled.start)
    if not settled.loop.certain():
        refuse(
            f"the type of {kind.place.label} behind a loop depends on how many turns it takes",
            fix="start with a value of the type that the loop makes",
        )
    return kind


def _is_as_others(settled: Settled) -> bool:
    """Return whether a turn makes the same of numbers of Python's, whichever they are, as of those that fit."""
    trace = inner_trace("body")
    trace.hands_on = True
    results: list[list[Any]] = []
    with tracing(trace), undecided():
        nothing = [None] * len(settled.carried)
        number, _ = parameters_of(trace, settled.loop.counter, nothing, settled.start, settled.buffers)
        versions = dict(trace.versions)
        pairs = zip(settled.carried, settled.start, strict=True)
        begun = [value if one is None else as_parameters(value, one, trace) for one, value in pairs]
        others = zip(settled.carried, begun, strict=True)
        fits = [value if one is None else fitted(value, one) for one, value in others]
        for values in (with_twins(settled.carried, begun), with_twins(settled.carried, fits)):
            for buffer, node in versions.items():
                buffer.advance(trace, node)
            made = _made_of(values, settled, number, trace)
            if made is None:
                return False
            results.append(made)
    return all(a is b for a, b in zip(*results, strict=True))


def _made_of(values: Sequence[Any], settled: Settled, number: Any, trace: CaptureTrace) -> list[Any] | None:
    """The results that a turn makes of values of the variables; None where that is of other types."""
    settled.loop.state.set(tuple(values))
    settled.loop.body(number)
    after = settled.loop.state.get()
    found = zip(settled.carried, after, strict=True)
    if any(one is not None and (value is UNBOUND or fitted(value, one) is None) for one, value in found):
        return None
    leaves = values_in(settled.carried, after)
    return [*(lift(trace, leaf) for leaf in leaves), *(trace.versions[b] for b in settled.buffers)]


def peeled(loop: Loop) -> Loop:
    """The loop without its first turn, which is traced in front of it."""
    if loop.turns is None:
        loop.body(None)
        test = loop.test
        return replace(loop, certain=lambda: test is None or holds_surely(test))
    loop.body(loop.turns.first)
    rest = loop.turns.rest()
    if loop.test is not None and truth(loop.test()) is not True:
        refuse("the types of the variables of a loop settle in its first turn, which may be its last one")
    return replace(loop, turns=rest, certain=lambda: rest.is_certain)


def _finish(settled: Settled, turn: Turn, values: Sequence[Any]) -> None:
    """Makes the loop of the graph of a turn, and hands on what the loop leaves behind."""
    refitted = [
        one if kinds is None else fitted(value, kinds)
        for kinds, one, value in zip(settled.carried, values, settled.start, strict=True)
    ]
    expect_exact_in(settled.carried, settled.start)
    first = leaves_of(settled.carried, refitted)
    turns = settled.loop.turns
    outer = current()
    assert isinstance(outer, CaptureTrace)
    begin = 0 if turns is None else 1
    aliases = settled.aliases(turn)
    exchange = settled.exchange(aliases)
    outer.overwritten |= aliases.overwritten
    with tracing(turn.trace):
        ahead = [] if turns is None else [add(turn.counter, np.int64(1))]
        results = [*ahead, *leaves_of(settled.carried, turn.after), *versions_of(turn.trace, settled.buffers)]
        results += exchange.next(turn.trace)
    if not results:
        refuse("a loop changes nothing that is seen behind it")
    exchange.check_reads(turn.trace)
    step = computed(turn.trace, results)
    _demand_bound(settled, turn)
    views = ViewsBehind(turn, lambda: _is_taken(settled))
    shown = replace(settled, start=views.values(settled.start), carried=views.carried(settled.carried))
    start = [] if turns is None else [turns.first_number()]
    memory = [stored_version(buffer, outer) for buffer in settled.buffers]
    begun = [*start, *first, *memory, *exchange.start]
    condition, goes_on = _test(settled, exchange), _demands(settled) and not _recorder().raises
    last = list(loop(begun, condition, step, None if turns is None else turns.most, goes_on))
    end = begin + len(first)
    for buffer, value in zip(settled.buffers, last[end:], strict=False):
        buffer.advance(outer, shown_version(buffer, outer.adopt(value.node), outer))
    behind = counted(settled, turn, _values_behind(shown, last[begin:end]))
    exchange.hand_on(last[-1], turn.begin, carried_values(settled.carried, behind))
    _connect(settled, turn, behind)
    places = [place for place, one in enumerate(settled.carried) if one is not None]
    sources, results = ([one[place] for place in places] for one in (settled.start, behind))
    settled.loop.state.set(behind)
    list(map(may_be_one, results, zip(sources, (turn.after[place] for place in places), strict=True)))
    note_copies(outer.recorder, sources, results, settled.loop.containers)


def _demand_bound(settled: Settled, turn: Turn) -> None:
    """Demands a first turn where only that gives a value to a variable that is read behind the loop.

    for i in range(n): last = x[i]
    return last                                   demands  0 < n
    """
    loop, outer = settled.loop, current()
    assert isinstance(outer, CaptureTrace)
    rows = zip(loop.state.names, settled.carried, settled.start, turn.after, strict=True)
    left = [(name, start) for name, one, start, after in rows if one is not None and after is not UNBOUND]
    if not any(name not in loop.state.bound and may_be_unbound(name, start, outer) for name, start in left):
        return
    taken = _is_taken(settled)
    if taken is not True:
        demand(taken)


def _is_taken(settled: Settled) -> Any:
    """A truth value of the graph that says if there is a first turn; True where that is certain."""
    loop, turns = settled.loop, settled.loop.turns
    loop.state.set(settled.start)
    if loop.certain():
        return True
    loop.state.set(settled.start)
    if turns is not None:
        return lt(turns.first_number(), turns.end_number())
    return loop.test is None or asked(loop.test)


def _connect(settled: Settled, turn: Turn, behind: Sequence[Any]) -> None:
    """Notes which arrays behind the loop may be one memory."""
    turns, aliases = settled.loop.turns, settled.aliases(turn)
    first = aliases.at_first | aliases.of_turn
    pairs = aliases.after(first)
    if turns is None or not turns.is_known:
        pairs |= first
    connect(aliases, pairs, turn.begin, settled.carried, behind)


def _test(settled: Settled, exchange: Exchange) -> Computation:
    """The condition for another turn."""
    trace = inner_trace("condition")
    state, turns, test = settled.loop.state, settled.loop.turns, settled.loop.test
    with tracing(trace), undecided():
        counter, values = parameters_of(trace, settled.loop.counter, settled.carried, settled.start, settled.buffers)
        exchange.parameters(trace)
        state.set(values)
        versions = dict(trace.versions)
        held = [] if turns is None else [lt(counter, turns.end_number())]
        if test is not None:
            with not_assigning():
                held.append(truth(test(), traced=True))
        if trace.versions != versions or not all(map(is_same_value, values, state.get())):
            refuse("the condition of a loop assigns a variable or writes to an array")
        both = functools.reduce(and_, held)
        if turns is None or not turns.has_known_numbers or _demands(settled):
            both = unless_failed(both, trace)
    return computed(trace, [both])


def _demands(settled: Settled) -> bool:
    """Return whether a turn demands something, for the loop to end where it does not hold."""
    return _recorder().demands in settled.buffers


def _values_behind(settled: Settled, last: Sequence[Any]) -> tuple[Any, ...]:
    values: list[Any] = []
    outer = current()
    assert outer is not None
    rest = iter([lift(outer, one) for one in last])
    for name, one, value in zip(settled.loop.state.names, settled.carried, settled.start, strict=True):
        if one is not None:
            leaves = [kind.seen_behind(rest, outer) if isinstance(kind, Kind) else kind for kind in one.leaves]
            values.append(tree.unflatten(one.structure, leaves))
        else:
            values.append(value if name in settled.loop.needed else UNBOUND)
    return tuple(with_twins(settled.carried, values))
