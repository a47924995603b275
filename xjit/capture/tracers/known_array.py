"""Arrays that the function makes while it is traced: plain for Python and NumPy, tables for traced positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.tracers.provenance import located, refuse
from xjit.ir.context import TracedValue
from xjit.numpy.selecting import gathering, indexing


class KnownArray(np.ndarray[Any, Any]):
    """An array whose elements are known, which a traced index turns into a traced value: ``np.arange(10)[rows]``."""

    def __getitem__(self, index: Any) -> Any:
        entries = index if type(index) is tuple else (index,)
        traced = [entry for entry in entries if _is_traced(entry)]
        if not traced:
            return super().__getitem__(index)
        with located(traced):
            return indexing.getitem(plain(self), index)

    def __setitem__(self, index: Any, value: Any) -> None:
        entries = index if type(index) is tuple else (index,)
        for one in (*entries, value):
            if _is_traced(one):
                refuse(
                    "elements of an array that was made while tracing are assigned to",
                    one,
                    fix="build the array from its parts with np.where, np.concatenate or np.stack",
                )
        super().__setitem__(index, value)

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        """``ndarray.take``, also at traced positions."""
        if not _is_traced(indices):
            return super().take(indices, axis, out, mode)
        with located((indices,)):
            return gathering.take(plain(self), indices, axis, out, mode)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else known(array)


def _is_traced(value: Any) -> bool:
    """Return whether only the run will tell the value; one that is known may become a constant instead."""
    return isinstance(value, TracedValue) and value.weak is None and not hasattr(value, "known")


def known(value: Any) -> Any:
    """Results of NumPy's functions, arrays among them as arrays that take traced positions."""
    if type(value) in (tuple, list):
        return type(value)(map(known, value))
    return value.view(KnownArray) if type(value) is np.ndarray else value


def plain(value: Any) -> Any:
    """The array as code outside of the trace knows it; anything else as it is."""
    return value.view(np.ndarray) if type(value) is KnownArray else value
