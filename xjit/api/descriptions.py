"""Arrays described by shape and element type, for compiling without data."""

from __future__ import annotations

import math
import mmap
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from xjit.dataclass import dataclass
from xjit.errors import ArgumentError

# Up to this size a stand-in is an ordinary array.
_SMALL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class ShapeDtype:
    """An array as far as the compiler looks at it: shape, element type, and ``order``, "C" or "F" in memory.

    In the place of an array ``f.warmup``, ``f.explain``, ``f.source`` and ``f.graph`` take one, or anything else that
    has a ``shape`` and a ``dtype``, such as ``jax.ShapeDtypeStruct``. Raises ArgumentError for other orders and for
    negative sizes.

    >>> import numpy as np
    >>> from xjit import ShapeDtype, xjit
    >>> @xjit
    ... def weighted(x, weights):
    ...     return (x * weights).sum(axis=1)
    >>> weighted.warmup(ShapeDtype((1000, 3)), ShapeDtype(3, np.float32))
    >>> weighted.stats().traces
    1
    >>> weighted(np.ones((1000, 3)), np.ones(3, np.float32))[:2]
    array([3., 3.])
    >>> weighted.stats().traces
    1
    """

    shape: Any
    dtype: Any = np.float64
    order: str = "C"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _sizes(self.shape))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if self.order not in ("C", "F"):
            raise ArgumentError(f"ShapeDtype: order: 'C' or 'F' is required; got {self.order!r}")
        if min(self.shape, default=0) < 0:
            raise ArgumentError(f"ShapeDtype: shape: sizes of at least 0 are required; got {self.shape}")


def _sizes(shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    return tuple(map(operator.index, shape if isinstance(shape, Sequence) else (shape,)))


def example(leaf: Any) -> Any:
    """The leaf of an argument itself; for a description an array like that, which takes no memory to speak of."""
    if not isinstance(leaf, ShapeDtype):
        if not _describes(leaf):
            return leaf
        leaf = ShapeDtype(leaf.shape, leaf.dtype)
    return _stand_in(leaf.shape, leaf.dtype.newbyteorder("="), leaf.order)


def _describes(leaf: Any) -> bool:
    """Return whether a leaf has the shape and the type of an array, and no elements: a call may have such an array in
    its place, but not where it is an array of a library, or an object with attributes of its own.
    """
    if not isinstance(getattr(leaf, "shape", None), tuple) or not hasattr(leaf, "dtype"):
        return False
    if any(hasattr(leaf, name) for name in ("__array__", "__array_interface__", "to_numpy", "toarray")):
        return False
    return set(getattr(leaf, "__dict__", ())) <= {"shape", "dtype", "order"}


def _stand_in(shape: tuple[int, ...], dtype: np.dtype[Any], order: Any) -> np.ndarray[Any, Any]:
    size = math.prod(shape) * dtype.itemsize
    if size <= _SMALL_BYTES or dtype.hasobject or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(shape, dtype, order)
    # Pages that are only ever read are all the one page of zeros, and do not count as memory.
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    return np.ndarray(shape, dtype, buffer=pages, order=order)
