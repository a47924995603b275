"""Scans: running values, what reads them, and how far behind."""

from __future__ import annotations

import numpy as np

from tests.codegen.golden_programs.record import Array, golden, numbers
from tests.helpers import formulas

ROWS = numbers(64, 100)
LINE = numbers(100, seed=1)


@golden(LINE)
def running_sum(x: Array) -> Array:
    """One loop: every step stores what there is so far."""
    return np.cumsum(x)


@golden(ROWS)
def running_sums_of_rows(x: Array) -> Array:
    """Two rows at a time: one adds while the other waits for its sum."""
    return np.cumsum(x, axis=1)


@golden(ROWS)
def running_sums_of_columns(x: Array) -> Array:
    """Down columns a scan has an accumulator for each: the inner loop is vector code."""
    return np.cumsum(x, axis=0)


@golden(ROWS)
def running_largest(x: Array) -> Array:
    """An extreme so far is a scan as well."""
    return np.maximum.accumulate(x, axis=1)


@golden((LINE * 0.1 + 0.9).astype(np.float16))
def running_product_of_halves(x: Array) -> Array:
    """Half precision rounds after every step."""
    return np.cumprod(x)


@golden(ROWS)
def running_hypotenuse(x: Array) -> Array:
    """Other ufuncs accumulate as well; where one has no identity, the first element is taken as it is."""
    return np.hypot.accumulate(x, axis=1)


@golden(ROWS)
def two_rolling_means(x: Array) -> tuple[Array, Array]:
    """Two readers run behind one scan, each its own number of steps."""
    total = np.cumsum(x, axis=1)
    return (total[:, 20:] - total[:, :-20]) / 20.0, (total[:, 5:] - total[:, :-5]) / 5.0


@golden(ROWS)
def running_sums_of_exponentials(x: Array) -> Array:
    """Blocks of 512: exponentials as vector code into scratch, then the scan."""
    return np.cumsum(np.exp(x), axis=1)


golden(
    ROWS,
    shows="The mean of the last twenty runs twenty steps behind the scan, whose last twenty values are kept.",
)(formulas.rolling_mean)


@golden(ROWS)
def shares_so_far(x: Array) -> Array:
    """Return what needs the last value reads it at another position: that is another kernel."""
    total = np.cumsum(x, axis=1)
    return total / total[:, -1:]


@golden(ROWS)
def relative_to_the_largest_so_far(x: Array) -> Array:
    """Return what needs a reduction of a scan comes in a later pass; the running sums wait in scratch."""
    total = np.cumsum(x, axis=1)
    return total / total.max(axis=1, keepdims=True)


@golden(ROWS)
def running_sums_of_running_sums(x: Array) -> Array:
    """The second scan takes what the first one has just made."""
    return np.cumsum(np.cumsum(x, axis=1), axis=1)


@golden(ROWS)
def sums_of_rectangles(x: Array) -> Array:
    """Scans along two axes are two kernels: rows, then columns."""
    return np.cumsum(np.cumsum(x, axis=1), axis=0)


@golden(ROWS)
def largest_running_sum(x: Array) -> Array:
    """A reduction of a scan takes its values as they are made; they are not stored."""
    return np.cumsum(x, axis=1).max(axis=1)


@golden(ROWS)
def rolling_deviation(x: Array) -> Array:
    """Two scans in one loop, and what reads both of them behind."""
    total, squares = np.cumsum(x, axis=1), np.cumsum(x * x, axis=1)
    mean = (total[:, 8:] - total[:, :-8]) / 8.0
    return np.sqrt((squares[:, 8:] - squares[:, :-8]) / 8.0 - mean * mean)
