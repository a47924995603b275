"""Codes of keys: integers of 64 bits that are equal where Python takes two keys for one.

1, True, np.int64(1)     1
0.5, -0.0                the bits of 0.5 and of 0.0
(2, 3)                   2 and 3
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.recording.container_entries import EntryType, RecordType, parts_of
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import eq
from xjit.ops.elements.convert import bitcast_convert_type, convert_element_type
from xjit.ops.elements.elementwise import add
from xjit.types import FLOAT64, INT64

_WHOLE = "bi"
_UNSIGNED = "u"
_NARROW = 4
"""Bytes of unsigned integers that have a code of their own among those of 64 bits."""


def can_be_key(kind: EntryType | RecordType) -> bool:
    """Return whether entries of a type may be keys of a dict whose keys only the run tells."""
    if has_list(kind):
        return False
    return all(
        one.is_number and one.doubtful is None and (_is_whole(one) or one.dtype == FLOAT64) for one in parts_of(kind)
    )


def have_codes_of(kind: EntryType | RecordType, other: EntryType | RecordType) -> bool:
    """Return whether codes tell if a key of one type is one of another type."""
    forms = [one.form if isinstance(one, RecordType) else tree.LEAF for one in (kind, other)]
    if forms[0] != forms[1] or not can_be_key(kind) or not can_be_key(other):
        return False
    pairs = zip(parts_of(kind), parts_of(other), strict=True)
    return all(_is_whole(one) == _is_whole(another) for one, another in pairs)


def codes_of(numbers: Iterable[Any]) -> list[Any]:
    """The codes of the numbers of a key."""
    return list(map(_code, numbers))


def demand_no_nan(numbers: Iterable[Any]) -> None:
    """Lets NumPy do the call if a number is NaN, which is equal to itself by its place in memory alone."""
    for one in numbers:
        value = in_graph(one)
        if value.dtype == FLOAT64:
            demand(eq(value, value), goes_on=True)


def _code(number: Any) -> Any:
    value = in_graph(number)
    if value.dtype == FLOAT64:
        value = bitcast_convert_type(add(value, np.float64(0.0)), INT64)  # which makes 0.0 of -0.0
    return value if value.dtype == INT64 else convert_element_type(value, INT64)


def _is_whole(one: EntryType) -> bool:
    return one.dtype.kind in _WHOLE or (one.dtype.kind in _UNSIGNED and one.dtype.itemsize <= _NARROW)


def has_list(kind: EntryType | RecordType) -> bool:
    """Return whether there is a list in an entry: it has no hash, and other names may change it."""
    return isinstance(kind, RecordType) and _is_list(kind.form)


def _is_list(form: tree.Tree) -> bool:
    return isinstance(form, tree.Branch) and (form.kind is list or any(map(_is_list, form.children)))


def in_graph(value: Any) -> Any:
    """A value of the graph, or one that is known, as one of the trace under way."""
    trace = current()
    assert trace is not None
    return TracedValue(lift(trace, value), trace)


def scalar(value: Any) -> Any:
    """The same as a number of NumPy's."""
    trace = current()
    assert trace is not None
    return TracedArray(lift(trace, value), trace, scalar=True)
