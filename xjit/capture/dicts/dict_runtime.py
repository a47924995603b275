"""Dicts and sets of rewritten functions: new ones, and keys of which only the run tells if they are there."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from xjit.capture.comprehensions.entries_of_lists import ListRuntime
from xjit.capture.dicts.filled import filled
from xjit.capture.dicts.growing_dict import GrowingDict
from xjit.capture.dicts.new_dicts import new_dict
from xjit.capture.rewriting.runtime_protocol import Thunk
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace, enclosing_capture
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of


class DictRuntime(ListRuntime):
    """Dicts and sets while a function is traced."""

    def new_dict(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the dict or the set, or one of which only the run tells the keys, if that is known to be so."""
        trace = enclosing_capture()
        return made if trace is None else new_dict(made, place, trace)

    def find(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the method, or find the value that only the run tells to be there."""
        if isinstance(function, MethodType) and isinstance(function.__self__, GrowingDict):
            return function.__self__.value_or_none(args[0])
        return function(*args)

    def asked(self, found: Any, key: Thunk) -> tuple[Any, ...]:
        """Return the key, if the dict is one of the run."""
        if type(found) is not DeferredObject or found.keyed is None or type(found.keyed.empty) is not dict:
            return ()
        return (key(),) if found.keyed.grows else ()

    def lacks(self, found: Any, asked: Thunk) -> Any:
        """Return whether the dict lacks the key."""
        key = asked()
        lacks = found.keyed.lacks(*key) if key else False
        if not isinstance(lacks, TracedValue):
            return lacks
        low, high = span_of(lacks.node, current())
        return bool(low) if low == high else lacks

    def counter(self, function: Any, items: Any) -> Any:
        """Call the function, or count the elements of an array in a loop of the graph."""
        found = self.filled(function, items)
        return function(items) if found is None else found

    def filled(self, function: Any, items: Any) -> Any:
        """Return a set or a counter of the elements of an array; None where that is left to Python."""
        trace = current()
        return filled(function, items, self, trace) if isinstance(trace, CaptureTrace) and trace.recorder else None
