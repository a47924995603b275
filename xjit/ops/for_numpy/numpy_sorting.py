"""NumPy's sorts, partitions and searches, as they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from xjit.dataclass import replace
from xjit.ir.opdef import Algorithm, LineSort, Params
from xjit.ops.define.core import Array
from xjit.ops.define.library_op import Types, library, packed_type
from xjit.types import BOOL, INT64, ArrayType


def _copied(types: Types, params: Params) -> ArrayType:
    """A copy in K order, which puts repeated axes last."""
    operand = types[0]
    repeated = (axis for axis in range(operand.rank) if axis not in operand.order)
    return ArrayType(operand.dtype, operand.dims, (*operand.order, *repeated))


def _members(types: Types, params: Params) -> ArrayType:
    return packed_type(BOOL, types[0].shape)


def _positions(types: Types, params: Params) -> ArrayType:
    return packed_type(INT64, types[0].shape)


def _found(types: Types, params: Params) -> ArrayType:
    return packed_type(INT64, types[1].shape)


def _searchsorted(a: Array, v: Array, *sorter: Array, side: Any) -> Any:
    return np.searchsorted(a, v, side, *sorter)


def _partition(a: Array, kth: tuple[int, ...], axis: int) -> Any:
    return np.partition(a, np.asarray(kth, np.intp), axis)


def _argpartition(a: Array, kth: tuple[int, ...], axis: int) -> Any:
    return np.argpartition(a, np.asarray(kth, np.intp), axis)


def _lexsort(*keys: Array, axis: int) -> Any:
    return np.lexsort(keys, axis)


ALGORITHMS: dict[str | None, Algorithm] = {
    None: "quick",
    "quicksort": "quick",
    "mergesort": "stable",
    "stable": "stable",
}


def _line_sort(params: Params) -> LineSort | None:
    """The algorithm by NumPy's name of it."""
    kind = ALGORITHMS.get(params["kind"])
    return None if kind is None else LineSort(params["axis"], kind)


def _line_order(params: Params) -> LineSort | None:
    """The same of a sort of positions."""
    found = _line_sort(params)
    return None if found is None else replace(found, positions=True)


# None of them does arithmetic, so none has anything to warn of.
_searching = functools.partial(library, silent=True, fresh=True)

SORT = _searching("sort", np.sort, _copied, "Lines along an axis in ascending order.", line_sort=_line_sort)
ARGSORT = _searching(
    "argsort", np.argsort, _positions, "Where the elements of a sorted line come from.", line_sort=_line_order
)
PARTITION = _searching("partition", _partition, _copied, "Lines with some elements where a sort would put them.")
ARGPARTITION = _searching(
    "argpartition", _argpartition, _positions, "Where the elements of a partitioned line come from."
)
SEARCHSORTED = _searching("searchsorted", _searchsorted, _found, "Where elements belong in a sorted line.")
LEXSORT = _searching("lexsort", _lexsort, _positions, "Positions in the order of several keys, the last one first.")
DIGITIZE = _searching("digitize", np.digitize, _positions, "The numbers of the bins that elements lie in.")
ISIN = _searching("isin", np.isin, _members, "Which elements occur in another array.")
