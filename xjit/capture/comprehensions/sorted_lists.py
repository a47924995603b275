"""Lists of the run in another order: sorts of their columns, by all numbers of an entry or by a key, and reversals.

pairs.sort()                       order = argsort by the last numbers, then by the ones before, each stable
sorted(pairs, key=lambda p: p[1])  keys  a list of the run that a loop fills; order = argsort(keys)
pairs.reverse()                    order = count - 1 - arange(count)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.filtered import Generator, Trial, entry_of, of_columns
from xjit.capture.comprehensions.gathered import Column, Fixed, Gathered, listed
from xjit.capture.comprehensions.growing import growing_list
from xjit.capture.constants.choices import without_choices
from xjit.capture.python_control.loop_sequences import gone_through
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import CaptureTrace, instruction
from xjit.dataclass import replace
from xjit.errors import CaptureError
from xjit.ir.current import current

_OF_KEYS = -3
"""The column of the keys of a sort in places of lists, less the number of the instruction."""
_argsort: Any = np.argsort
_arange: Any = np.arange


def sorted_list(values: DeferredObject, runtime: Any, key: Any = None, reverse: Any = False) -> DeferredObject | None:
    """The list of the elements in order; None where that is a step in Python."""
    found, trace = values.elements, current()
    order = None if trace is None else order_of(values, found, runtime, key, reverse)
    return None if order is None or trace is None else listed(reordered(found, order), trace)


def sorted_items(items: Any, runtime: Any, key: Any = None, reverse: Any = False) -> DeferredObject | None:
    """The list of the items of a loop in order; None where that is not traced."""
    parts = Generator.of(runtime, items)
    trial = Trial(parts)
    try:
        values = of_columns("list", parts)
        made = None if values is None else sorted_list(values, runtime, key, reverse)
    except CaptureError:
        made = None
    if made is None:
        trial.take_back()
    return made


def reordered(found: Gathered, order: Any) -> Gathered:
    """The elements in another order."""
    return Gathered(found.form, tuple(_reordered(one, order) for one in found.parts_now()), found.fitting_count())


def _reordered(part: Column | Fixed, order: Any) -> Column | Fixed:
    if isinstance(part, Fixed):
        return part
    doubts = None if part.doubts is None else part.doubts[order]
    return replace(part, array=part.array[order], doubts=doubts)


def order_of(values: DeferredObject, found: Gathered, runtime: Any, key: Any, reverse: Any) -> Any:
    """The places of the elements in their order; None where they, or their keys, are no numbers."""
    if not isinstance(reverse, int) or any(column.shown or column.lists for column in found.columns):
        return None
    if key is not None:
        keys = None if found.is_keyed and getattr(found, "is_set", False) else _keys(values, found, runtime, key)
        return None if keys is None else order_of(keys, keys.elements, runtime, None, reverse)
    form, choices = without_choices(found.form)
    parts = found.parts_now()
    if not _is_of_tuples(form) or any(choices) or not all(map(_is_compared, parts)):
        return None
    lines = [part.array for part in parts if isinstance(part, Column)]
    return _order(lines, bool(reverse)) if lines else None


def _is_of_tuples(form: tree.Tree) -> bool:
    return not isinstance(form, tree.Branch) or (form.kind is tuple and all(map(_is_of_tuples, form.children)))


def _is_compared(part: Column | Fixed) -> bool:
    """Return whether parts of two elements have an order as numbers, or are one object."""
    return isinstance(part, Fixed) or (part.array.ndim == 1 and part.array.dtype.kind in "biuf")


def _order(lines: Sequence[Any], reverse: bool) -> Any:
    """The places of numbers in the order of the first line, and of equal ones in that of the next; else they stay.

    NumPy does the call where NaN is one of them.
    """
    order: Any = None
    for line in reversed(lines):
        if line.dtype.kind == "f":
            demand(np.logical_not(np.any(np.isnan(line))))
        keys = _backwards(line) if reverse else line
        places = traced_numpy(_argsort)(keys if order is None else keys[order], kind="stable")
        order = places if order is None else order[places]
    return order


def _backwards(line: Any) -> Any:
    """Numbers in the opposite order: equal ones stay equal."""
    if line.dtype.kind == "b":
        return np.logical_not(line)
    return np.negative(line) if line.dtype.kind == "f" else np.invert(line)


def _keys(values: DeferredObject, found: Gathered, runtime: Any, key: Callable[[Any], Any]) -> DeferredObject | None:
    """The list of the keys of elements, which a loop fills."""
    trace = current()
    if not isinstance(trace, CaptureTrace) or trace.recorder is None:
        return None
    parts = Generator(runtime, values, None, (), key)
    line, number = instruction()
    place, kind = (line, _OF_KEYS - number), entry_of(parts)
    if kind is None or trace.recorder.rewriting.is_of_run([], place):
        return None
    made: DeferredObject | None = growing_list([], place, kind, trace)
    if made is None:
        return None
    keys = made
    with gone_through([found]):
        parts.each(values, lambda item: keys.append(key(item)))
    return keys


def reversed_order(count: Any) -> Any:
    """The places of so many elements, the last one first."""
    return count - 1 - traced_numpy(_arange)(count)


def order_in_place(found: Any, key: Any, reverse: Any) -> Any:
    """The places of the entries of a list that grows in their order; None where that is a step in Python."""
    from xjit.capture.python_control.runtime import TracedRuntime

    trace = current()
    assert trace is not None
    return order_of(DeferredObject(None, found.trace, "a list", list, found), found, TracedRuntime(), key, reverse)
