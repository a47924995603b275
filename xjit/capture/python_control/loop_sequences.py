"""Sequences that a loop goes through: ranges, rows of arrays, and these side by side, by the number of the turn."""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import operator
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, GeneratorType
from typing import Any, NoReturn

import numpy as np

from xjit.capture.control.pinned_values import deciding
from xjit.capture.guarding import guards
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import ARMS, demand
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.limited_calls import python_integer
from xjit.capture.tracers.provenance import ask_to_rewrite, noted, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST, Bounds, limits_of, span
from xjit.capture.tracers.traced_scalar import TracedScalar
from xjit.dataclass import dataclass, replace
from xjit.errors import DTypeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.source_location import is_own_code
from xjit.ir.spans import span_of
from xjit.numpy.limited.arrays import LimitedArray
from xjit.numpy.limited.run_time_integers import integer, smallest
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import gt
from xjit.ops.elements.convert import convert_element_type
from xjit.types import INT64

MOST_PINNED = 64
"""Turns of a loop that is traced turn by turn as it cannot be one of the graph, for each number of them."""
_MANY = 2**31
"""Turns of loops of which nobody knows how long they are."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of a loop: a counter from ``first`` to below ``end``, and what the loop gets for a number of it.

    They are not traced one by one where the ``arguments`` say how many there are: other calls have others.
    """

    first: Any
    end: Any
    element: Callable[[Any], Any]
    arguments: bool = False

    @property
    def length(self) -> int | None:
        """The number of turns, if it is known."""
        if isinstance(self.first, TracedValue) or isinstance(self.end, TracedValue):
            return None
        return max(0, int(self.end) - int(self.first))

    @property
    def bounds(self) -> Bounds:
        """Between which numbers the counter lies."""
        low, high = _span(self.first)[0], _span(self.end)[1] - 1
        return low, max(low, high)

    @property
    def most(self) -> int | None:
        """The most turns that there can be, if the sizes of arrays or other ranges tell."""
        if self.length is not None:
            return self.length
        low, high = self.bounds
        return high - low + 1 if high - low < _MANY else None

    @property
    def is_known(self) -> bool:
        """Return whether it is known without any guard that there is a first turn."""
        return bool(self.length)

    @property
    def is_certain(self) -> bool:
        """Return whether there is a first turn; of arguments, that becomes a guard."""
        if self.length is not None:
            return self.length > 0
        first, end = self.first, self.end
        if type(end) is TracedScalar and end.is_argument and not isinstance(first, TracedValue):
            return bool(end > first)
        return _span(first)[1] < _span(end)[0]

    @property
    def has_known_numbers(self) -> bool:
        """Return whether the ends can be known, as guards if they are arguments."""
        return all(not isinstance(one, TracedValue) or type(one) is TracedScalar for one in (self.first, self.end))

    def rest(self) -> Turns:
        """The turns but the first."""
        return replace(self, first=self.first + 1)

    def first_number(self) -> Any:
        """The first number of the counter, as a value of a graph."""
        return _number(self.first)

    def end_number(self) -> Any:
        """The end of the counter, as a value of a graph."""
        return _number(self.end)


def _settled(number: Any) -> Any:
    """The number itself where the trace holds for no other, as that of the size of an array."""
    return number.constant() if type(number) is TracedScalar and number.is_settled else number


def _number(value: Any) -> Any:
    if not isinstance(value, TracedValue):
        return np.int64(value)
    return value if value.dtype == INT64 else convert_element_type(value, INT64)


def _span(number: Any) -> Bounds:
    if type(number) is TracedScalar:
        return limited(number)
    return span(number) or (WIDEST[0], 2**53)


def limited(number: TracedScalar) -> Bounds:
    """Bounds of a number among the arguments, which become guards: the next size of an array, or 32 bits."""
    recorder = number.recorder
    limits = limits_of(number.value, recorder.sizes()) if number.is_argument else None
    if limits is None:
        return int(number), int(number)
    recorder.decide(guards.outcome(number.sources[0], "<=", limits[1], True))
    recorder.decide(guards.outcome(number.sources[0], ">=", limits[0], True))
    return limits


class Sequence:
    """A stand-in for a range or an iterator over traced values; Python goes through it if a loop cannot."""

    def known(self) -> Any:
        """The object of Python in its place; ends that are arguments become guards."""
        raise NotImplementedError

    def turns(self) -> Turns | None:
        """The turns of a loop over it, if a number tells each of them."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        if ask_to_rewrite():
            refuse("a Python loop would be traced turn by turn", fix="use operations on whole arrays")
        return iter(self.known())


class TracedRange(Sequence):
    """``range`` with ends that only the run tells, or that should not decide the trace."""

    def __init__(self, *ends: Any) -> None:
        self.ends = tuple(map(_settled, ends))
        self.start, self.stop = map(_end, self.ends[:2] if len(ends) > 1 else (0, *self.ends))
        self.step = _step(self.ends[2]) if len(ends) == 3 else 1
        if not isinstance(self.step, TracedValue) and self.step == 0:
            raise ValueError("range() arg 3 must not be zero")

    def known(self) -> range:
        """The range of Python's."""
        return range(*self.ends)

    def turns(self) -> Turns:
        """The turns, of a counter that is the number itself where that grows by one."""
        return replace(_of_range(self.start, self.stop, self.step), arguments=True)

    def __reversed__(self) -> Any:
        return Reversed(self)

    def __len__(self) -> int:
        return len(self.known())

    def __getitem__(self, index: Any) -> Any:
        return self.known()[index]

    def __contains__(self, value: Any) -> bool:
        return value in self.known()


class OneWay(Sequence):
    """A stand-in for an iterator, which gives its elements out once: so a class tells where it cannot be imported."""

    gives_once = True

    def __init__(self, values: Any) -> None:
        self.values = values
        self.home = current()
        self.used = False

    @property
    def parts(self) -> tuple[Any, ...]:
        """The values that it goes through."""
        return self.values if type(self.values) is tuple else (self.values,)

    def __iter__(self) -> Any:
        use_up(self)
        return super().__iter__()

    def __next__(self) -> NoReturn:
        refuse("next() takes an element out of an iterator over traced values", fix="use an index: x[0]")


def use_up(iterable: Any) -> None:
    """Notes that code goes through an iterator; CaptureError where there may be nothing left of it.

    pairs = zip(x, y)
    for a, b in pairs: ...
    for a, b in pairs: ...        Python finds it empty
    """
    if not isinstance(iterable, OneWay):
        return
    trace = current()
    while trace is not None and trace is not iterable.home and trace.name in ARMS:
        trace = trace.parent
    if iterable.used or trace is not iterable.home:
        refuse("an iterator may be gone through several times", fix="make it anew in front of each loop")
    iterable.used = True
    for one in iterable.parts:
        use_up(one)


def begin_again(iterable: Any) -> None:
    """Notes that code goes through an iterator from its beginning, which others have noted as well."""
    if isinstance(iterable, OneWay):
        iterable.used = False
        for one in iterable.parts:
            begin_again(one)


class Enumerated(OneWay):
    """``enumerate`` of what has turns."""

    def __init__(self, values: Any, start: Any) -> None:
        super().__init__(values)
        self.start = start

    def known(self) -> Any:
        """The iterator of Python's."""
        return enumerate(known_of(self.values), self.start)

    def turns(self) -> Turns | None:
        """The turns, of pairs."""
        found = turns_of(self.values)
        if found is None:
            return None
        return replace(found, element=lambda k: (_python_integer(self.start + (k - found.first)), found.element(k)))


class Reversed(OneWay):
    """``reversed`` of what has turns."""

    def known(self) -> Any:
        """The iterator of Python's."""
        return reversed(self.values.known() if isinstance(self.values, Sequence) else self.values)

    def turns(self) -> Turns | None:
        """The turns, the last one first."""
        found = turns_of(self.values)
        if found is None:
            return None
        return replace(found, element=lambda k: found.element(found.first + (found.end - 1 - k)))


class Zipped(OneWay):
    """``zip`` of what has turns, as many as the shortest."""

    def known(self) -> Any:
        """The iterator of Python's."""
        return zip(*map(known_of, self.values), strict=False)

    @property
    def are_even(self) -> bool:
        """Return whether all are known to have as many turns."""
        lengths = {None if one is None else one.length for one in map(turns_of, self.values)}
        return len(lengths) == 1 and None not in lengths

    def turns(self) -> Turns | None:
        """The turns, of tuples."""
        parts = [one for one in map(turns_of, self.values) if one is not None]
        if len(parts) < len(self.values):
            return None
        lengths = [
            integer(one.end) - integer(one.first) if one.length is None else integer(one.length) for one in parts
        ]
        least = functools.reduce(smallest, lengths)
        return Turns(0, python_integer(least), lambda k: tuple(one.element(one.first + k) for one in parts))


def turns_of(iterable: Any) -> Turns | None:
    """The turns of a loop over a value; None where Python has to go through it."""
    if isinstance(iterable, Sequence):
        return iterable.turns()
    if type(iterable) is range:
        return _of_range(iterable.start, iterable.stop, iterable.step)
    if isinstance(iterable, TracedArray) and iterable.ndim:
        return Turns(0, len(iterable), lambda k: iterable[k])
    if type(iterable) is DeferredObject:
        found = iterable.elements
        return None if found is None else Turns(0, found.fitting_count(), found.element)
    if _is_limited(iterable):
        rows = iterable.packed() if getattr(type(iterable), "chooses", False) else iterable
        return Turns(0, rows.shape[0], lambda k: rows[k])
    return None


def _is_limited(value: Any) -> bool:
    """Return whether a value is an array of a length that only the run may know."""
    return getattr(type(value), "chooses", False) or (isinstance(value, LimitedArray) and value.ndim > 0)


@contextlib.contextmanager
def gone_through(lists: list[Any]) -> Iterator[None]:
    """A loop over lists of the run whose elements are known; CaptureError if its turns change one of them."""
    for one in lists:
        one.readers += 1
    try:
        yield
    finally:
        for one in lists:
            one.readers -= 1
    if any(one.changed for one in lists):
        refuse("a loop changes the list that it goes through", fix="go through a copy of it")


@contextlib.contextmanager
def with_pinned_turns(iterable: Any) -> Iterator[Any]:
    """A loop over a value, at the top of the function: over its items, where their number is pinned."""
    turns = turns_of(iterable)
    begins = turns is not None and not isinstance(turns.first, TracedValue)
    end = turns.end if turns is not None and begins and type(turns.end) is not TracedScalar else None
    with deciding(end, "the number of turns", MOST_PINNED) as known:
        if turns is None or known is None:
            yield iterable
        else:
            yield tuple(map(turns.element, range(turns.first, int(known))))


def lists_in(iterable: Any) -> list[Any]:
    """The elements of lists of the run that a loop over a value goes through."""
    if type(iterable) is DeferredObject:
        return [] if iterable.gathered is None else [iterable.gathered]
    if isinstance(iterable, Zipped):
        return [found for one in iterable.values for found in lists_in(one)]
    return lists_in(iterable.values) if isinstance(iterable, Enumerated | Reversed) else []


def check_left(iterable: Any, frame: FrameType | None) -> None:
    """CaptureError where code may go on with an iterator that a loop leaves early, as only the run tells where.

    it = iter(x)
    for v in it:
        if v > 0: break         the next loop begins behind this element
    for v in it: ...
    """
    found = list(_iterators_in(iterable))
    while frame is not None and found:
        if not is_own_code(frame.f_code):
            held = {name for name, value in frame.f_locals.items() if any(value is one for one in found)}
            if any(_reads(frame.f_code, name) > 1 for name in held):
                refuse(
                    "an iterator is left early, as only the run tells where, and may be gone on with",
                    fix="go through positions: for i in range(len(x))",
                )
        frame = frame.f_back


def _iterators_in(iterable: Any) -> Iterator[Any]:
    """The iterators among what a loop goes through: it leaves them where it ends."""
    if isinstance(iterable, Zipped | Enumerated | Reversed):
        yield iterable
        values = iterable.values if isinstance(iterable, Zipped) else (iterable.values,)
    elif hasattr(type(iterable), "__next__"):
        yield iterable
        values = _parts_of(iterable)
    else:
        values = iterable if type(iterable) is tuple else ()
    for one in values:
        yield from _iterators_in(one)


def _parts_of(iterator: Any) -> tuple[Any, ...]:
    """The parts that an iterator of Python's is made of, as far as it tells."""
    if isinstance(iterator, GeneratorType):
        return () if iterator.gi_frame is None else tuple(iterator.gi_frame.f_locals.values())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = iterator.__reduce__()
    except Exception:
        return ()
    return found if isinstance(found, tuple) else ()


def _reads(code: CodeType, name: str) -> int:
    """The number of places where code, that of functions within included, reads a variable."""
    own: int = sum(one.argval == name and one.opname.startswith("LOAD") for one in dis.get_instructions(code))
    return own + sum(_reads(one, name) for one in code.co_consts if isinstance(one, CodeType))


def known_of(iterable: Any) -> Any:
    """The object that Python goes through where a loop cannot be one of the graph."""
    return iterable.known() if isinstance(iterable, Sequence) else iterable


def _end(number: Any) -> Any:
    """The end of a range as an integer of Python's: no difference of two of them leaves a narrow type of NumPy's."""
    if not isinstance(number, TracedValue):
        return operator.index(number)
    return number if type(number) is TracedScalar or number.weak is int else number_as(int, number)


def _step(number: Any) -> Any:
    """The step of a range; one of which the run tells is demanded to be positive, unless it is surely negative."""
    if not isinstance(number, TracedValue) or type(number) is TracedScalar:
        return operator.index(number)
    found = _python_integer(number)
    low, high = _span(found)
    if low <= 0 <= high:
        demand(gt(_number(found), np.int64(0)))
    return found


def _of_range(first: Any, end: Any, step: Any) -> Turns:
    if not isinstance(step, TracedValue) and step == 1:
        return Turns(first, end, _python_integer)
    is_down = _span(step)[1] < 0 if isinstance(step, TracedValue) else step < 0
    distance, by = (first - end, -step) if is_down else (end - first, step)
    length = (distance + (by - 1)) // by
    return Turns(0, length, lambda k: _python_integer(first + k * step))


def _python_integer(number: Any) -> Any:
    """An integer as ranges have them: one of Python's, also where their ends are NumPy's."""
    trace = current()
    if not isinstance(number, TracedValue) or number.weak is int or trace is None:
        return number
    found = TracedArray(lift(trace, _number(number)), trace, weak=int, scalar=True)
    found.bounds = span_of(found.node, trace)
    return found


class RangeFunction:
    """``range``: that of Python's for known ends."""

    def __call__(self, *ends: Any) -> Any:
        if len(ends) in (1, 2, 3) and any(isinstance(one, TracedValue) for one in ends):
            ends = tuple(one if doubt_of(one) is None else one.certain() for one in ends)
            for one in ends:
                if isinstance(one, TracedValue) and (one.dtype.kind not in "iub" or one.ndim or one.weak is float):
                    name = "numpy.ndarray" if one.ndim else one.weak.__name__ if one.weak else f"numpy.{one.dtype}"
                    raise noted(DTypeError(f"'{name}' object cannot be interpreted as an integer"), one)
            return TracedRange(*ends)
        return range(*ends)


def _enumerate(iterable: Any, start: Any = 0) -> Any:
    return Enumerated(iterable, start) if has_turns(iterable) else builtins.enumerate(iterable, start)


def zipped(*iterables: Any, **strict: Any) -> Any:
    """``zip``, as what loops of the graph go through where that can be."""
    if iterables and all(has_turns(one) or type(one) is range for one in iterables):
        found = Zipped(iterables)
        if strict in ({}, {"strict": False}) or (strict == {"strict": True} and found.are_even):
            return found
    return builtins.zip(*iterables, **strict)  # noqa: B905


def _reversed(values: Any) -> Any:
    return Reversed(values) if has_turns(values) else builtins.reversed(values)


def has_turns(iterable: Any) -> bool:
    """Return whether a loop of the graph may go through a value."""
    has_rows = isinstance(iterable, TracedArray) and iterable.ndim > 0
    is_list = type(iterable) is DeferredObject and iterable.elements is not None
    return isinstance(iterable, Sequence) or has_rows or is_list or _is_limited(iterable)


LOOP_BUILTINS: dict[str, Any] = {
    "range": RangeFunction(),
    "enumerate": _enumerate,
    "zip": zipped,
    "reversed": _reversed,
}
"""The replacements of the builtins that loops go through."""
