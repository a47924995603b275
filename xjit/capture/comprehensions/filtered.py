"""Comprehensions over conditions of the run: a loop fills a place of an array for each item, and a mask says which
of them are elements.

[v * 2 for v in x if v > 0]     for k, v in enumerate(x):
                                    keep[k] = v > 0
                                    if v > 0: column[k] = v * 2
                                column[keep]
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.element_forms import Form, Holder, Type, column_of, form_of, in_rows, numbers_in
from xjit.capture.comprehensions.entry_lines import doubt_in
from xjit.capture.comprehensions.gathered import (
    Column,
    Fixed,
    Gathered,
    columns_of,
    count_of,
    listed,
)
from xjit.capture.comprehensions.generator_calls import Emitting, GeneratorCall
from xjit.capture.comprehensions.growing import OF_LISTS, growing_list
from xjit.capture.comprehensions.lone_arrays import note_entry
from xjit.capture.comprehensions.mapped import Selected
from xjit.capture.constants.choices import in_numbers
from xjit.capture.control.inner_traces import inner_trace, undecided
from xjit.capture.python_control.checkpoint import Checkpoint
from xjit.capture.python_control.loop_sequences import Enumerated, Turns, begin_again, turns_of, use_up
from xjit.capture.python_control.loop_turns import written_buffers
from xjit.capture.recording.container_entries import (
    ARRAY_INSTEAD,
    LIST_OF_RUN,
    EntryType,
    RecordType,
    entry_type,
)
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.rewriting.assigned_cells import assigned_cells
from xjit.capture.rewriting.runtime_protocol import UNBOUND, Collection, ControlRuntime, Site, Thunk, content
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.errors_in_order import test_ahead_of_effect
from xjit.capture.tracers.provenance import (
    CaptureTrace,
    enclosing_capture,
    instruction,
    is_splitting,
    refuse,
)
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass
from xjit.errors import CaptureError
from xjit.ir.current import current, tracing
from xjit.ops.effects.python_call import is_taken_back
from xjit.types import INT64, scalar_type

_MOST_PLACES = 2**24
"""Places of arrays that a comprehension fills, where only the run tells how many items there are."""
MAKERS: dict[str, Any] = {"set": set, "dict": dict}
"""The classes of other collections than lists, which take a list of the elements."""
_BRANCH = Site("if", 0, (), (), ())
_LONGEST_CODE = 2**32
"""Sets instructions of loops within each other apart, and of comprehensions from columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """The parts of a comprehension: what it goes through, and functions of the names of its target.

    The elements of a ``whole`` one are its items. The ``depth`` is that of a loop within others of one comprehension.
    """

    runtime: ControlRuntime
    items: Any
    unpack: Callable[[Any], tuple[Any, ...]] | None
    conditions: tuple[Callable[..., Any], ...]
    element: Callable[..., Any]
    is_whole: bool = False
    depth: int = 0

    @classmethod
    def of(cls, runtime: ControlRuntime, items: Any) -> Generator:
        """The parts of a comprehension that collects the items as they are."""
        if isinstance(items, Selected):
            use_up(items)
            return cls(runtime, items.values, None, (items.condition,), _same)
        return cls(runtime, items, None, (), _same, is_whole=True)

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions of the user's, which blocks have as defaults so that what they change is found."""
        return (self.element, *self.conditions, self.unpack)

    @property
    def turns(self) -> Turns | None:
        """The turns of a loop over the items."""
        return turns_of(self.items)

    def values(self, item: Any) -> tuple[Any, ...]:
        """The values of the names of the target."""
        return (item,) if self.unpack is None else self.unpack(item)

    def holds(self, values: tuple[Any, ...]) -> Any:
        """The truth of all conditions."""
        thunks = [functools.partial(one, *values) for one in self.conditions]
        return self.runtime.both(True, *thunks)

    def each(self, items: Any, take: Callable[[Any], None], going: Thunk | None = None) -> None:
        """Does something with each item, in turns of a loop that goes on as long as ``going`` holds."""
        if isinstance(items, Emitting):
            items.each(take, going)
            return
        item: Any = None

        def assign(one: Any) -> None:
            nonlocal item
            item = one

        def body(functions: tuple[Any, ...] = self.functions) -> None:
            take(item)

        begin_again(items)  # whoever goes through the elements has used it up
        (line, number), names = instruction(), ("item",)
        place = line, number + self.depth * _LONGEST_CODE
        site = Site("for", 0, names, (), (), stop=None if going is None else "going", instruction=place)
        self.runtime.for_(items, assign, body, going, site)

    def chosen(self, item: Any, then: Callable[..., None]) -> Any:
        """Do something with the names of the target where the conditions hold; return whether they do."""
        values = self.values(item)
        holds = self.holds(values)

        def block(functions: tuple[Any, ...] = self.functions) -> None:
            then(*values)

        self.runtime.if_(holds, block, None, _BRANCH)
        return holds


def _same(item: Any) -> Any:
    return item


def comprehended(kind: Collection, parts: Generator) -> Any:
    """The collection that a comprehension makes where its conditions, or its length, are those of the run."""
    found = of_columns(kind, parts)
    return appended(kind, parts) if found is None else found


def of_columns(kind: Collection, parts: Generator) -> Any:
    """The collection of elements of arrays that a loop fills; None where they are none."""
    found = gathered(parts)
    if found is None:
        return None
    trace = enclosing_capture()
    assert trace is not None
    if kind != "list":
        return found.collection(kind)
    place = place_of_code()
    if type(found.count) is int:
        trace.recorder.rewriting.note_known_turns(place)
    return listed(GatheredList.of(found, place), trace)


def note_place(made: Any) -> None:
    """Notes where a comprehension has made a list, whose length may turn out to be one that only the run knows."""
    trace = current()
    if type(made) is list and isinstance(trace, CaptureTrace) and trace.recorder is not None:
        trace.recorder.rewriting.is_of_run(made, place_of_code())


@dataclass(eq=False, slots=True)
class GatheredList(Gathered):
    """The elements of a comprehension, in a place: one that loops change is to be a list that grows."""

    place: tuple[int, int] | None = None

    @staticmethod
    def of(found: Gathered, place: tuple[int, int]) -> GatheredList:
        """The elements with their place."""
        return GatheredList(found.form, found.parts, found.count, place=place)

    @property
    def is_left(self) -> bool:
        """Return whether it may have changed."""
        return self.changed

    def leave(self) -> None:
        """Has the function traced anew with a list of Python's, where that can be done in its turns one by one."""
        trace = enclosing_capture()
        if self.place is not None and trace is not None and trace.recorder.rewriting.want_plain(self.place):
            refuse("the list of a comprehension is used as a list", fix=ARRAY_INSTEAD)

    def attribute(self, name: str) -> Any:
        """None; has the function traced anew with a list that grows where the method changes one of such elements."""
        trace, kind = current(), self._kind()
        if name not in OF_LISTS or kind is None or not isinstance(trace, CaptureTrace):
            return None
        rewriting, place = trace.recorder.rewriting, self.place
        if place is None or trace.lengths is None or trace.lengths.room(1) is None or rewriting.is_of_run([], place):
            return None
        rewriting.want_of_run_at(place, kind)
        refuse("the list of a comprehension is changed", fix=ARRAY_INSTEAD)

    def _kind(self) -> EntryType | RecordType | None:
        """The type of the elements; None where they are of none."""
        columns = [one for one in self.parts if isinstance(one, Column)]
        if len(columns) != len(self.parts) or not columns or any(one.shown for one in columns):
            return None
        kinds = tuple(EntryType(one.array.dtype, one.weak, tuple(one.array.shape[1:])) for one in columns)
        if self.form == tree.LEAF:
            return kinds[0]
        return RecordType(self.form, kinds) if all(one.is_number for one in kinds) else None


def gathered(parts: Generator) -> Gathered | None:
    """The elements as arrays; None where they are not numbers and arrays of one type, or have effects."""
    turns = parts.turns
    most = None if turns is None else turns.most
    form = None if turns is None or not most or most > _MOST_PLACES else _form_of(parts, turns)
    if form is None or most is None:
        return None
    holder = Holder()
    columns, keep = _filled(parts, most, form, holder)
    all_count = turns is not None and turns.length is not None and not parts.conditions
    chosen = iter(columns if all_count else columns_of(columns, keep))
    made = tuple(
        one if isinstance(one, Fixed) else column_of(one, chosen, holder if shown else None)
        for one, shown in form.kinds
    )
    return Gathered(form.tree, made, most if all_count else count_of(keep))


class Trial:
    """A run of the parts of a comprehension that may be taken back."""

    def __init__(self, parts: Generator) -> None:
        self._mark = Checkpoint(parts.functions)
        self._cells = [(cell, content(cell)) for _, cell in assigned_cells(parts.functions)]

    def take_back(self) -> bool:
        """Takes back what was traced and assigned; return whether objects or variables were assigned."""
        assigned = bool(self._mark.objects.assigned())
        self._mark.restore()
        for cell, before in self._cells:
            assigned |= content(cell) is not before
            if before is not UNBOUND:
                cell.cell_contents = before
            elif content(cell) is not UNBOUND:
                del cell.cell_contents
        return assigned


class _Found:
    """The result of a trial, where loops and branches see no variable."""

    result: Any = None


def _form_of(parts: Generator, turns: Turns | None) -> Form | None:
    """The form of the elements; None where they are of no such form."""
    outer = current()
    assert isinstance(outer, CaptureTrace)
    form: Form | None = _tried(parts, lambda element: form_of(element, outer), turns)
    return form


def _tried(parts: Generator, look: Callable[[Any], Any], turns: Turns | None = None) -> Any:
    """The result of a look at an element, found by a turn of which nothing is kept.

    None where it has effects that happen once, or where Python goes through the items one by one.
    """
    outer, turns = current(), turns or parts.turns
    assert isinstance(outer, CaptureTrace)
    if turns is None and not isinstance(parts.items, Emitting):
        return None
    trial = Trial(parts)
    trace = inner_trace("element")
    trace.hands_on = True
    found = _Found()

    def note(*values: Any) -> None:
        found.result = look(parts.element(*values))

    with tracing(trace), undecided():
        if isinstance(parts.items, GeneratorCall):
            with parts.items.within(trace):
                parts.each(parts.items, lambda item: parts.chosen(item, note))
        elif isinstance(parts.items, Emitting):
            parts.each(parts.items, lambda item: parts.chosen(item, note))
        else:
            assert turns is not None
            number = TracedArray(trace.parameter(scalar_type(INT64)), trace, weak=int, scalar=True)
            number.bounds = turns.bounds
            parts.chosen(turns.element(number), note)
    return found.result if _has_no_effects(trace, outer, trial) else None


def _has_no_effects(trace: CaptureTrace, outer: CaptureTrace, trial: Trial) -> bool:
    """Take a trial back; return whether it has left nothing behind, but draws of random numbers."""
    own = (outer.recorder.demands, outer.recorder.rooms)
    written = [one for one in written_buffers(trace) if one not in own]
    return not (trial.take_back() or written) and all(map(is_taken_back, trace.effects))


def type_of_element(parts: Generator) -> Type | None:
    """The type of the elements, if they are numbers or arrays of one type."""
    turns = parts.turns
    known = isinstance(parts.items, Emitting) or (turns is not None and turns.most)
    form = _form_of(parts, turns) if known else None
    if form is None or form.tree != tree.LEAF:
        return None
    ((found, _),) = form.kinds
    return found if isinstance(found, Type) and not found.doubtful else None


def entry_of(parts: Generator) -> Any:
    """The type of the elements as entries of a list that grows; None where they have effects, or are none."""
    return _tried(parts, entry_type)


def zero_of(parts: Generator) -> Any:
    """An element of zeros, of the types that elements have; None where they are no numbers, or tuples of these."""
    turns = parts.turns
    known = isinstance(parts.items, Emitting) or (turns is not None and turns.most)
    form = _form_of(parts, turns) if known else None
    if form is None or any(isinstance(one, Type) and (one.shape or one.doubtful) for one, _ in form.kinds):
        return None
    return tree.unflatten(form.tree, [one.zero() if isinstance(one, Type) else one.value for one, _ in form.kinds])


def _filled(parts: Generator, most: int, form: Form, holder: Holder) -> tuple[list[Any], Any]:
    """The columns, with a place for each item, and the mask of the places that count."""
    shown = [place for place, (_, others) in enumerate(form.kinds) if others]
    make: Any = np.zeros
    zeros = traced_numpy(make)
    types = [one for one, _ in form.kinds if isinstance(one, Type)]
    places = [place for place, (one, _) in enumerate(form.kinds) if isinstance(one, Type)]
    columns = [
        column
        for one in types
        for column in (zeros((most, *one.shape), one.dtype), *([zeros(most, bool)] if one.doubtful else []))
    ]
    keep = zeros(most, bool)

    def take(pair: Any) -> None:
        place, item = pair

        def fill(*values: Any) -> None:
            leaves = in_numbers(in_rows(parts.element(*values)))[0]
            for (one, _), leaf in zip(form.kinds, leaves, strict=True):
                if isinstance(one, Fixed) and leaf is not one.value:
                    refuse("an element of a comprehension is another object in each turn", fix="use numbers")
            if not all(note_entry(holder, leaves[place]) for place in shown):
                refuse("an element of a comprehension is an array that others have, too", fix="copy it")
            own = iter(columns)
            for kind, number in zip(types, places, strict=True):
                numbers = numbers_in(leaves[number])
                next(own)[place] = leaves[number] if numbers is None else numbers.array
                if kind.doubtful:
                    next(own)[place] = doubt_in(leaves[number])

        keep[place] = parts.chosen(item, fill)

    parts.each(Enumerated(parts.items, 0), take)
    return columns, keep


def appended(kind: Collection, parts: Generator, before: Sequence[Any] = ()) -> Any:
    """The collection by way of a list of the run, to which turns append."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    if not before:
        _want_growing(parts, trace)
    if not is_splitting():
        refuse("the conditions of a comprehension are known to the run alone", fix="use np.where, or x[mask]")
    test_ahead_of_effect(trace)
    note = CaptureError(LIST_OF_RUN, fix=ARRAY_INSTEAD)
    found = _filled_list(step(list, (list(before),), {}, note=note, label="a list", kind=list), parts)
    return found if kind == "list" else step(MAKERS[kind], (found,), {})


def grown(parts: Generator) -> Any:
    """The list of a comprehension in a place that an earlier run has shown to be one of a list that grows, else None.

    So is that of few elements, or of known ones: the next turn of a loop around it has others.
    """
    trace = current()
    if not isinstance(trace, CaptureTrace) or trace.recorder is None:
        return None
    place, rewriting = place_of_code(), trace.recorder.rewriting
    kind = rewriting.elements_of(place) if rewriting.is_of_run([], place) else None
    found = None if kind is None else growing_list([], place, kind, trace)
    return None if found is None else _filled_list(found, parts)


def _want_growing(parts: Generator, trace: CaptureTrace) -> None:
    """Has the function traced anew with a list that grows, where a comprehension is one of arrays.

    Of numbers, too, where no loop of known bounds fills arrays with them.
    """
    place, rewriting = place_of_code(), trace.recorder.rewriting
    if rewriting.is_of_run([], place):
        return  # it was one, and was given up
    kind = _tried(parts, entry_type)
    by_turns = kind is not None and kind.is_number and parts.turns is not None
    if kind is not None and not by_turns and trace.lengths is not None and trace.lengths.room(1) is not None:
        rewriting.want_of_run_at(place, kind)
        refuse("the elements of a comprehension are arrays of lengths that only the run knows", fix=ARRAY_INSTEAD)


def place_of_code() -> tuple[int, int]:
    """The place of a comprehension, as one of lists that the function makes."""
    line, number = instruction()
    return line, -number - _LONGEST_CODE


def _filled_list(found: Any, parts: Generator) -> Any:
    """The list, once turns have appended the elements."""

    def append(*values: Any) -> None:
        found.append(parts.element(*values))

    def take(item: Any) -> None:
        parts.chosen(item, append)

    parts.each(parts.items, take)
    return found
