"""NumPy's order statistics and histograms on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError
from xjit.ir.opdef import Params
from xjit.ops.define.core import Array
from xjit.ops.define.library_op import Types, library, named, packed_type, run_quietly
from xjit.ops.for_numpy.quantiles import places_of
from xjit.types import BOOL, FLOAT64, INT64, ArrayType, TupleType

# ---- order statistics


def _requested(types: Types, params: Params) -> ArrayType:
    found: ArrayType = params["type"]
    return found


def _quantile(type: ArrayType, function: str, q: Array, **arguments: Any) -> Any:
    return np.quantile(q=_in_range(q, function), **arguments)


def _in_range(q: Array, function: str) -> Array:
    """The shares of a call of one of NumPy's functions, of which two take percentages."""
    if not np.all((q >= 0) & (q <= 1)):
        limits = "Percentiles must be in the range [0, 100]", "Quantiles must be in the range [0, 1]"
        raise ArgumentError(f"numpy.{function}: {limits['quantile' in function]}")
    return q


def _nanmedian(a: Array, type: ArrayType) -> Array:
    """The median along the last axis of what is no NaN; NaNs are sorted to the end."""
    line = np.sort(a, -1)
    count = np.sum(~np.isnan(line), -1)
    low, high = (_picked(line, np.maximum(place, 0)) for place in ((count - 1) // 2, count // 2))
    middle = np.mean(np.stack([low, high]), 0, dtype=type.dtype if type.dtype.kind == "c" else None)
    result: Array = np.asarray(np.where((count % 2 == 1) | (count == 0), low, middle))
    return result.astype(type.dtype)


def _picked(line: Array, places: Array) -> Array:
    """One element of each line along the last axis."""
    found: Array = np.take_along_axis(line, places[..., None], -1)
    return found[..., 0]


def _nanquantile(a: Array, q: Array, method: str, weak: bool, function: str, type: ArrayType) -> Array:
    """Quantiles along the last axis of what is no NaN; those of several q come first."""
    q, line = _in_range(q, function), np.sort(a, -1)
    count = np.sum(~np.isnan(line), -1)
    spread = q.reshape(q.shape + (1,) * count.ndim)
    places = places_of(method, np.maximum(count, 1), spread)
    lines = np.broadcast_to(line, (*np.shape(places.before), line.shape[-1]))
    before, after = (_picked(lines, place) for place in (places.before, places.after))
    result = before if places.share is None else _mixed(before, after, places.share, weak)
    found: Array = np.asarray(np.where(count == 0, np.nan, result))
    return found.astype(type.dtype)


def _mixed(before: Array, after: Array, share: Array, weak: bool) -> Array:
    """Between two elements, from the nearer one, as NumPy rounds it."""
    if weak and before.dtype.kind == "f":
        share = share.astype(before.dtype)
    distance: Array = after - before
    result: Array = np.where(share >= 0.5, after - distance * (1 - share), before + distance * share)
    return result


QUANTILE = library("quantile", named(_quantile), _requested, "Quantiles along an axis.", raises=(ValueError,))
NANMEDIAN = library("nanmedian", _nanmedian, _requested, "The middle of the numbers along an axis that are no NaN.")
NANQUANTILE = library(
    "nanquantile", _nanquantile, _requested, "Quantiles of lines from which NaNs are left out.", raises=(ValueError,)
)


# ---- histograms


def _histogram(
    a: Array, bins: Any, density: bool, range_low: Any = None, range_high: Any = None, weights: Array | None = None
) -> Any:
    """NumPy's histogram, with edges in memory of their own."""
    ends = None if range_low is None or range_high is None else (range_low, range_high)
    counts, edges = np.histogram(a, bins, ends, density, weights)
    return counts, np.array(edges)


def _infer_histogram(types: Types, params: Params) -> TupleType:
    """Counts and edges; NumPy tells their element types from a few elements."""
    operands = dict(zip(params["names"], types, strict=True))
    few: dict[str, Any] = {name: np.ones(1, type.dtype) for name, type in operands.items()}
    count = operands["bins"].shape[0] - 1 if "bins" in operands else params["bins"]
    few["bins"] = np.arange(2).astype(operands["bins"].dtype) if "bins" in operands else 1
    for k, end in enumerate(("range_low", "range_high")):
        if end in operands:
            few[end] = np.asarray(k, operands[end].dtype)
        elif end in params:
            few[end] = type(params[end])(k)
    counts, edges = run_quietly(_histogram, **few, density=params["density"])
    return TupleType((packed_type(counts.dtype, (count,)), packed_type(edges.dtype, (count + 1,))))


def _histogramdd(
    sample: Array,
    counts: tuple[int | None, ...],
    range: Any,
    density: bool,
    weights: Array | None = None,
    **edges: Array,
) -> Any:
    """NumPy's histogram over several axes, with edges in memory of their own; ``edges_<axis>`` where no count is."""
    bins: Any = [edges[f"edges_{axis}"] if count is None else count for axis, count in enumerate(counts)]
    found, ends = np.histogramdd(sample, bins, range, density, weights)
    return found, *(np.array(one) for one in ends)


def _infer_histogramdd(types: Types, params: Params) -> TupleType:
    """Counts and the edges along each axis; NumPy tells their element types from one point."""
    operands = dict(zip(params["names"], types, strict=True))
    few: dict[str, Any] = {
        name: np.arange(2).astype(type.dtype) if name.startswith("edges") else np.ones(1, type.dtype)
        for name, type in operands.items()
    }
    given = params["counts"]
    few["sample"] = np.ones((1, len(given)), operands["sample"].dtype)
    few["counts"] = tuple(count and 1 for count in given)
    found, *ends = run_quietly(_histogramdd, **few, range=params["range"], density=params["density"])
    sizes = tuple(operands[f"edges_{axis}"].shape[0] - 1 if n is None else n for axis, n in enumerate(given))
    edges = (packed_type(one.dtype, (size + 1,)) for one, size in zip(ends, sizes, strict=True))
    return TupleType((packed_type(found.dtype, sizes), *edges))


def _infer_bincount(types: Types, params: Params) -> TupleType:
    counts = packed_type(INT64 if len(types) == 1 else FLOAT64, (params["minlength"],))
    return TupleType((counts, packed_type(BOOL, ())))


def _bincount(x: Array, *weights: Array, minlength: int) -> tuple[Array, Array]:
    result = np.bincount(x, weights[0] if weights else None, minlength)
    return result[:minlength], np.array(len(result) <= minlength)


_UNFIT: dict[str, Any] = {"raises": (ValueError,)}  # edges that do not increase, ranges that are not finite
HISTOGRAM = library(
    "histogram", named(_histogram), _infer_histogram, "How many elements lie between edges.", **_UNFIT
)
HISTOGRAMDD = library("histogramdd", named(_histogramdd), _infer_histogramdd, "How many points lie where.", **_UNFIT)
BINCOUNT = library(
    "bincount",
    _bincount,
    _infer_bincount,
    "How often each number below a bound occurs, and whether all numbers are below it.",
    silent=True,
    **_UNFIT,
)
