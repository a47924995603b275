"""``correlate`` and ``convolve`` of an array of a length that only the run knows: sums of few shifted products."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray, number_of, part_at, picked, sizes_of
from xjit.numpy.limited.functions import call_ufunc, refused
from xjit.numpy.limited.run_time_integers import Integer
from xjit.numpy.rules.values import as_value, shape_of
from xjit.numpy.selecting import indexing
from xjit.ops.dynamic.limited_windows import number
from xjit.types import dtype_class

_MOST_TERMS = 64
"""Products of a sum that are written out."""


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Sums of products of the array and of elements that are shifted along it, all of which take part."""
    return _slid(a, v, mode, "correlate", 1)


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """The same with the elements in reverse order."""
    return _slid(a, v, mode, "convolve", -1)


def _slid(a: Any, v: Any, mode: Any, name: str, step: int) -> Any:
    if not isinstance(a, LimitedArray) or isinstance(v, LimitedArray) or a.ndim != 1 or mode != "valid":
        raise refused(f"numpy.{name} but of it by an array of known size, with mode='valid',")
    terms = as_value(v, name, "v")
    rank, size = len(shape_of(terms)), int(np.prod(shape_of(terms)))
    if rank != 1 or not 0 < size <= _MOST_TERMS or dtype_class(terms.dtype) not in "FI":
        raise refused(f"numpy.{name} by other than a few numbers")
    line, result = _at_least(a, size, name), None
    for place in reversed(range(size)):
        part = picked(part_at(line, (slice(place, place + 1 - size or None),)))
        factor = indexing.getitem(terms, place if step > 0 else size - 1 - place)
        term = call_ufunc(np.multiply, "__call__", (part, factor), {})
        result = term if result is None else call_ufunc(np.add, "__call__", (result, term), {})
    return result


def _at_least(a: LimitedArray, count: int, name: str) -> LimitedArray:
    """The array, which has so many elements: NumPy does the call where it has fewer, as it exchanges both then."""
    (size,), trace = sizes_of(a), current()
    if size.low < count:
        if trace is None or trace.lengths is None:
            raise refused(f"numpy.{name}")
        trace.lengths.expect(ops.ge(number_of(size), number(count)), grows=False)
        size = Integer(size.constant, size.terms, count, max(size.high, count))
    return LimitedArray(None if a.part is not None else a.value, (size,), a.part)
