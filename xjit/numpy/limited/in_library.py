"""Functions of limited arrays that NumPy computes between kernels: sorts, order statistics, searches, counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit.numpy.limited.arrays import LimitedArray, Sizes, limited, made, number_of, sizes_of, value_of
from xjit.numpy.limited.bin_counts import bincount
from xjit.numpy.limited.functions import refused
from xjit.numpy.limited.joined_arrays import array_of
from xjit.numpy.rules.values import as_scalar, shape_of
from xjit.ops.dynamic.library_calls import limited_call


def _called(name: str, arrays: Sequence[Any], options: Mapping[str, Any], like: int | None, dims: Any = ()) -> Any:
    """A function of NumPy, whose result has the sizes of one of the arrays, or those of ``dims``."""
    values = [array_of(one, name) for one in arrays]
    ends = [_ends(sizes_of(one)) for one in values]
    dims = dims if like is None else shape_of(value_of(values[like]))
    found = limited_call(name, [value_of(one) for one in values], ends, options, dims)
    if like is None:
        return as_scalar(found)
    sizes: Sizes = sizes_of(values[like])
    return made(limited(found, sizes), sizes)


def _ends(sizes: Sizes) -> dict[int, Any]:
    """The sizes that only the run knows, by their axes."""
    return {axis: number_of(size) for axis, size in enumerate(sizes) if size.known is None}


def _plain(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, all of them numbers and text."""
    found = {key: one for key, one in options.items() if one is not None and one is not np._NoValue}
    for key, one in found.items():
        if not isinstance(one, bool | int | float | str):
            raise refused(f"numpy.{name} with {key}=")
    return found


def _sorting(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        if axis is None:
            raise refused(f"numpy.{name} without an axis")
        return _called(name, [a], _plain(name, {"axis": axis, "kind": kind, "order": order, "stable": stable}), 0)

    return call


def _statistic(name: str) -> Callable[..., Any]:
    """A number of all elements."""

    def call(a: Any, *args: Any, **options: Any) -> Any:
        if options.pop("axis", None) is not None or len(args) > 1 or options.pop("keepdims", False) is True:
            raise refused(f"numpy.{name} with an axis")
        if args and (name.endswith("median") or not isinstance(args[0], int | float)):
            raise refused(f"numpy.{name} with positional options")
        return _called(name, [a], _plain(name, options | ({"q": args[0]} if args else {})), None)

    return call


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if sorter is not None:
        raise refused("numpy.searchsorted with sorter=")
    return _number_or_array(_called("searchsorted", [a, v], {"side": side}, 1))


def _isin(element: Any, test_elements: Any, **options: Any) -> Any:
    return _called("isin", [element, test_elements], _plain("isin", options), 0)


def _interp(x: Any, xp: Any, fp: Any, **options: Any) -> Any:
    return _number_or_array(_called("interp", [x, xp, fp], _plain("interp", options), 0))


def _number_or_array(found: Any) -> Any:
    """A result of a function that returns scalars for operands of rank 0."""
    return found if isinstance(found, LimitedArray) else as_scalar(found)


_STATISTICS = ("median", "percentile", "quantile", "nanmedian", "nanpercentile", "nanquantile")
_WITHOUT_NAN = ("nansum", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar", "nanprod")

IN_LIBRARY: dict[Any, Callable[..., Any]] = {
    np.sort: _sorting("sort"),
    np.argsort: _sorting("argsort"),
    **{getattr(np, name): _statistic(name) for name in (*_STATISTICS, *_WITHOUT_NAN)},
    np.searchsorted: _searchsorted,
    np.bincount: bincount,
    np.isin: _isin,
    np.interp: _interp,
}
"""Functions of limited arrays, by NumPy's."""
