"""Searches of lists of the run: elements that equal a number are found by one comparison of arrays.

found.count(3)      (column == 3).sum()
found.index(3)      argmax(column == 3), where any is equal; else NumPy does the call, and Python raises ValueError
3 in found          any(column == 3)
(i, j) in found     any((first == i) & (second == j))
"""

from __future__ import annotations

import functools
import operator
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
    """The truth values that say which elements equal a number, or a tuple of such; None of other types."""
    values = _numbers_of(found.form, value)
    parts = () if values is None else found.parts_now()
    masks = [_equal_numbers(*pair) for pair in zip(parts, values or (), strict=True)]
    return None if not masks or any(one is None for one in masks) else functools.reduce(operator.and_, masks)


def _numbers_of(form: tree.Tree, value: Any) -> tuple[Any, ...] | None:
    """The numbers of a value that has the form of the elements: a number, or a tuple of numbers; None of others."""
    if form == tree.LEAF:
        return (value,)
    if not isinstance(form, tree.Branch) or form.kind is not tuple or any(one != tree.LEAF for one in form.children):
        return None
    return value if type(value) is tuple and len(value) == len(form.children) else None


def _equal_numbers(column: Any, value: Any) -> Any:
    kind = entry_type(value)
    if not isinstance(column, Column) or column.doubts is not None:
        return None
    if column.array.ndim != 1 or not isinstance(kind, EntryType) or not kind.is_number or kind.doubtful is not None:
        return None
    if kind.dtype != column.array.dtype or kind.dtype.kind not in "bif" or not _is_exact(value):
        return None
    if isinstance(value, TracedValue):
        demand_no_nan([value])  # Python finds a NaN by its place in memory
    return column.array == value


def has_element(found: Gathered, value: Any) -> Any:
    """Return whether a list has an element that equals a value; None where only Python knows."""
    mask = _equal(found, value)
    return None if mask is None else mask.any()


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
