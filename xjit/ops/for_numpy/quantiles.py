"""Positions of quantiles in a sorted line, by the methods of Hyndman and Fan (1996) and those that NumPy adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.ops.define.core import Array

Rule = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Places:
    """Positions on both sides of each quantile, and how far it is from the first to the second; None if at it."""

    before: Array
    after: Array
    share: Array | None


def _plotting(alpha: float, beta: float) -> Rule:
    """Positions by the two parameters of a plotting position."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _upper(index: Array, stays: Array) -> Array:
    """The next position, or the one below where that is to stay; none is below the first."""
    below = np.floor(index)
    return np.maximum(np.where(stays, below, below + 1), 0)


def _inverted(n: Any, q: Any) -> Array:
    index = np.asarray(n * q - 1)
    return _upper(index, index == np.floor(index))


def _closest(n: Any, q: Any) -> Array:
    index = np.asarray(n * q - 1 - 0.5)
    below = np.floor(index)
    return _upper(index, (index == below) & (below % 2 == 1))


# Whole positions: no element is mixed with its neighbour.
_WHOLE: dict[str, Rule] = {
    "inverted_cdf": _inverted,
    "closest_observation": _closest,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
}
_BETWEEN: dict[str, Rule] = {
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "interpolated_inverted_cdf": _plotting(0, 1),
    "hazen": _plotting(0.5, 0.5),
    "weibull": _plotting(0, 0),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": _plotting(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _plotting(3 / 8.0, 3 / 8.0),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
}


def places_of(method: str, n: Any, q: Any) -> Places:
    """Return the positions of the quantiles ``q`` in sorted lines of ``n`` elements; the two broadcast. KeyError for
    no method.

    >>> places_of("linear", 4, np.float64(0.5))
    Places(before=array(1), after=array(2), share=array(0.5))
    """
    if method in _WHOLE:
        whole = np.asarray(_WHOLE[method](n, q)).astype(np.intp)
        return Places(whole, whole, None)
    index = np.asarray(_BETWEEN[method](n, q))
    if method == "linear" and index.dtype.kind in "iu":
        return Places(index, index, None)
    below = np.floor(index)
    share = _share(method, index, np.asarray(index - below)).astype(index.dtype)
    above, under = index >= n - 1, index < 0
    before = np.where(above, n - 1, np.where(under, 0, below)).astype(np.intp)
    after = np.where(above, n - 1, np.where(under, 0, below + 1)).astype(np.intp)
    return Places(before, after, share)


def _share(method: str, index: Array, rest: Array) -> Array:
    if method == "averaged_inverted_cdf":
        return np.where(rest == 0, 0.5, 1.0)
    return np.where(index % 1 == 0, 0.0, 0.5) if method == "midpoint" else rest
