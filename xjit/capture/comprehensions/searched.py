"""Searches of lists of the run: elements that equal a number are found by one comparison of arrays.

found.count(3)      (column == 3).sum()
found.index(3)      argmax(column == 3), where any is equal; else NumPy does the call, and Python raises ValueError
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit import tree
from xjit.capture.comprehensions.gathered import Column, Gathered
from xjit.capture.dicts.key_codes import demand_no_nan
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.recording.container_entries import EntryType, entry_type
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.capture.tracers.traced_integers import WIDEST
from xjit.ir.context import TracedValue
from xjit.ir.current import current


def _equal(found: Gathered, value: Any) -> Any:
    """The truth values that say which elements equal a number; None of elements or numbers of other types."""
    parts = found.parts_now() if found.form == tree.LEAF else ()
    column, kind = parts[0] if len(parts) == 1 else None, entry_type(value)
    if not isinstance(column, Column) or column.doubts is not None:
        return None
    if column.array.ndim != 1 or not isinstance(kind, EntryType) or not kind.is_number or kind.doubtful is not None:
        return None
    if kind.dtype != column.array.dtype or kind.dtype.kind not in "bif" or not _is_exact(value):
        return None
    if isinstance(value, TracedValue):
        demand_no_nan([value])  # Python finds a NaN by its place in memory
    return column.array == value


def _is_exact(value: Any) -> bool:
    """Return whether a known number is an integer of 64 bits or equals itself."""
    if isinstance(value, TracedValue):
        return True
    return WIDEST[0] <= value <= WIDEST[1] if type(value) is int else bool(value == value)


def _count(mask: Any) -> Any:
    return _integer(mask.sum())


def _index(mask: Any) -> Any:
    demand(mask.any())
    return _integer(mask.argmax())


def _integer(value: Any) -> Any:
    return number_as(int, value) if isinstance(value, TracedValue) else int(value)


_SEARCHES: dict[str, Callable[[Any], Any]] = {"count": _count, "index": _index}


def searched(found: Gathered, name: str, args: tuple[Any, ...]) -> Any:
    """The result of a method that searches; None where it is a step in Python."""
    trace = current()
    handled = name == "index" and isinstance(trace, CaptureTrace) and trace.is_caught(ValueError)
    mask = None if handled or len(args) != 1 else _equal(found, *args)
    return None if mask is None else _SEARCHES[name](mask)
