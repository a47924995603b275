"""Operations over windows as loops written from their index equations, element after element."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Pairs = Sequence[tuple[int, int]]


def spans(dims: Sequence[int], base: Sequence[int]) -> list[int]:
    """The extents of a base-dilated array."""
    return [0 if n == 0 else (n - 1) * d + 1 for n, d in zip(dims, base, strict=True)]


def pairs_of(
    padding: Any,
    dims: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
) -> Pairs:
    """Padding as (low, high) for each dimension."""
    if not isinstance(padding, str):
        found: Pairs = padding
        return found
    rows = []
    for n, k, s, d in zip(spans(dims, base), window, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) if padding == "SAME" else 0
        rows.append((total // 2, total - total // 2))
    return rows


def counts_of(
    dims: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pairs: Pairs
) -> tuple[int, ...]:
    """The number of windows over arrays of these (dilated) extents."""
    found = []
    for n, k, s, d, (low, high) in zip(dims, window, strides, dilations, pairs, strict=True):
        p, span = low + n + high, (k - 1) * d + 1
        found.append(0 if p <= 0 or span > p else (p - span) // s + 1)
    return tuple(found)


def positions(
    at: Sequence[int],
    dims: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
    pairs: Pairs,
) -> Iterator[tuple[int, ...] | None]:
    """The elements of one window in row-major order; None in padding and holes."""
    extents = spans(dims, base)
    for k in itertools.product(*map(range, window)):
        q = [o * s + one * d - low for o, s, one, d, (low, _) in zip(at, strides, k, dilations, pairs, strict=True)]
        inside = all(0 <= p < n and p % b == 0 for p, n, b in zip(q, extents, base, strict=True))
        yield tuple(p // b for p, b in zip(q, base, strict=True)) if inside else None


def reduce_window(
    operands: Sequence[Array],
    inits: Sequence[Any],
    fold: Callable[..., tuple[Any, ...]],
    window: Sequence[int],
    strides: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
    padding: Any,
) -> tuple[Array, ...]:
    """``fold(*accumulators, *elements)`` over every window."""
    dims = operands[0].shape
    pairs = pairs_of(padding, dims, window, strides, base, dilations)
    counts = counts_of(spans(dims, base), window, strides, dilations, pairs)
    results = tuple(np.empty(counts, one.dtype) for one in operands)
    for at in np.ndindex(*counts):
        state = tuple(inits)
        for q in positions(at, dims, window, strides, base, dilations, pairs):
            elements = inits if q is None else [one[q] for one in operands]
            state = fold(*state, *elements)
        for result, value in zip(results, state, strict=True):
            result[at] = value
    return results


def select_and_scatter(
    operand: Array,
    select: Callable[[Any, Any], Any],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Any,
    source: Array,
    init: Any,
    scatter: Callable[[Any, Any], Any],
) -> Array:
    """``scatter(result, source)`` at the element that ``select`` keeps of every window."""
    ones = [1] * operand.ndim
    pairs = pairs_of(padding, operand.shape, window, strides, ones, ones)
    result = np.full(operand.shape, init)
    for at in np.ndindex(*source.shape):
        best: tuple[int, ...] | None = None
        for q in positions(at, operand.shape, window, strides, ones, ones, pairs):
            if q is not None and (best is None or not select(operand[best], operand[q])):
                best = q
        if best is not None:
            result[best] = scatter(result[best], source[at])
    return result
