"""Sets and counters of the elements of arrays and of lists of the run, filled by a loop of the graph.

len(set(a))      for v in a: found.add(v)
Counter(a)       for v in a: found[v] += 1
"""

from __future__ import annotations

import collections
from typing import Any

from xjit.capture.comprehensions.filtered import Generator, type_of_element
from xjit.capture.dicts.new_dicts import keyed_elements
from xjit.capture.python_control.loop_sequences import gone_through, lists_in, turns_of
from xjit.capture.python_numbers.builtin_functions import is_line
from xjit.capture.recording.container_entries import DictType, EntryType
from xjit.capture.rewriting.runtime_protocol import ControlRuntime
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace, instruction
from xjit.types import INT64

_COUNT = EntryType(INT64, int)


def filled(function: Any, items: Any, runtime: ControlRuntime, trace: CaptureTrace) -> Any:
    """The set or the counter of the elements of an array or a list; None where it is left to Python."""
    if function not in (set, collections.Counter) or not _has_elements(items):
        return None
    line, number = instruction()
    place, rewriting = (line, -2 - number), trace.recorder.rewriting
    parts = Generator(runtime, items, None, (), lambda value: value)
    kind = None if rewriting.is_dict_of_run((), place) else type_of_element(parts)
    if kind is None or kind.shape:
        return None
    types = DictType(EntryType(kind.dtype, kind.weak), None if function is set else _COUNT)
    elements = keyed_elements(function(), place, types, trace)
    if elements is None:
        return None
    found: Any = DeferredObject(None, trace, f"a {function.__name__}", function, elements)

    def take(value: Any) -> None:
        if function is set:
            found.add(value)
        else:
            found[value] = found.get(value, 0) + 1

    with gone_through(lists_in(items)):
        parts.each(items, take)
    return found


def _has_elements(items: Any) -> bool:
    """Return whether an object has elements of which Python knows none."""
    return is_line(items) or (type(items) is DeferredObject and turns_of(items) is not None)
