"""Functions of ``heapq`` and ``bisect`` on lists of the run: their Python form is traced like the user's code.

heappush(queue, (d, k))        queue.append((d, k)), and a loop of the graph that moves it up
nsmallest(3, items)            sorted(items)[:3]
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable
from typing import Any

from xjit.capture.comprehensions import ordered_forms
from xjit.capture.recording.container_entries import ARRAY_INSTEAD, common_type
from xjit.capture.splits.deferred import DeferredObject, is_deferred
from xjit.capture.tracers.numpy_call import traced_leaves
from xjit.capture.tracers.provenance import CaptureTrace, ask_to_rewrite, enclosing_capture, refuse


def _in_place_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The stand-in of a function, which is called as it is on lists that Python knows."""
    form = getattr(ordered_forms, function.__name__)

    @functools.wraps(function)
    def call(found: Any, *items: Any, **options: Any) -> Any:
        trace = enclosing_capture()
        is_of_run = type(found) is DeferredObject and found.elements is not None
        is_known = not is_of_run and next(traced_leaves((found, items)), None) is None
        if trace is None or is_known:
            if trace is not None and is_deferred(found):
                refuse("a list is put in an order that only the run tells", fix=ARRAY_INSTEAD)
            return function(found, *items, **options)
        if options or len(items) != form.__code__.co_argcount - 2:
            refuse(f"{function.__name__} gets further arguments with a list of the run", fix="leave them out")
        if type(found) is list:
            _want_of_run(trace, found, items)
        if is_of_run:
            found.elements.put_in_order()
        return _traced(trace, form)(found, *items, less)

    return call


def _want_of_run(trace: CaptureTrace, found: list[Any], items: tuple[Any, ...]) -> None:
    """Has the function traced anew with a list of the run in place of one that it makes, if there is a way to."""
    kind = common_type((*found, *items))
    known = kind is not None and trace.recorder.rewriting.want_of_run(found, kind)
    if known or ask_to_rewrite():
        refuse("a list is put in an order that only the run tells", fix=ARRAY_INSTEAD)


def _first_in_order(function: Callable[..., Any], *, reverse: bool) -> Callable[..., Any]:
    """The stand-in of ``nsmallest`` or ``nlargest``, which is the first part of the sorted list."""

    @functools.wraps(function)
    def call(n: Any, iterable: Any, key: Any = None) -> Any:
        from xjit.capture.python_numbers.builtin_functions import BUILTINS

        if enclosing_capture() is None or type(n) is not int:
            return function(n, iterable, key)
        options = {} if key is None else {"key": key}
        return BUILTINS["sorted"](iterable, reverse=reverse, **options)[: max(n, 0)]

    return call


def _traced(trace: CaptureTrace, form: Any) -> Any:
    """The form over recording globals, its control flow rewritten once that is asked for."""
    from xjit.capture.recording.global_reads import rebuild

    known = trace.recorder.functions.get(id(form))
    return rebuild(trace.recorder, form) if known is None else known[1]


def less(one: Any, other: Any) -> Any:
    """Return whether a number comes before another one, or a tuple of numbers before another one of as many."""
    if type(one) is not tuple:
        return one < other
    found: Any = False
    for first, second in reversed(list(zip(one, other, strict=True))):
        found = less(first, second) | ((first == second) & found)
    return found


SEQUENCE_FUNCTIONS: dict[Any, Any] = {
    one: _in_place_of(one)
    for one in (
        heapq.heappush,
        heapq.heappop,
        heapq.heapreplace,
        heapq.heapify,
        bisect.bisect_left,
        bisect.bisect_right,
        bisect.insort_left,
        bisect.insort_right,
    )
} | {
    heapq.nsmallest: _first_in_order(heapq.nsmallest, reverse=False),
    heapq.nlargest: _first_in_order(heapq.nlargest, reverse=True),
}
