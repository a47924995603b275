"""Arrays whose elements lie at any address and any distance: fields of records, of every element type.

The distance between two elements need not be a whole number of elements, nor an address a multiple of anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_oracle import assert_close
from tests.helpers.oracles.numpy_tables import array
from xjit import tree
from xjit.types import BOOL, DTYPES, DType

SHAPE = (3, 4)
NARROW = [BOOL, *(dtype for name, dtype in DTYPES.items() if name.startswith("f8"))]

# Bytes before and after each element in its record.
GAPS = {"before": (4, 0), "after": (0, 4), "one byte": (1, 0), "around": (8, 12), "three": (1, 2)}


def records(values: Any, before: int, after: int) -> Any:
    """The same values as a field of records, with so many bytes before and after it."""
    size = before + values.dtype.itemsize + after
    kind = np.dtype({"names": ["x"], "formats": [values.dtype], "offsets": [before], "itemsize": size})
    found = np.zeros(values.shape, kind)["x"]
    found[...] = values
    return found


PLACES: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda x: x,
    "turned": lambda x: x.T,
    "backwards": lambda x: x[:, ::-1],
    "every other": lambda x: x[:, ::2],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "one row": lambda x: x[1],
    "one element": lambda x: x[:1, :1],
    "none": lambda x: x[:0],
}


def everything(x: Any) -> Any:
    """Read arrays in different ways: kernels, products, libraries, look-ups, copies, views."""
    return {
        "arithmetic": x * x + x,
        "copy": x.copy(),
        "sum": x.sum(axis=0),
        "total": x.sum(),
        "product": np.matmul(x, x.T),
        "vector": np.matmul(x, np.ones(x.shape[-1], x.dtype)),
        "where": np.where(x == x, x, 0),
        "take": np.take(x, [0, -1, 0], axis=-1),
        "cumsum": np.cumsum(x, axis=-1),
        "concatenate": np.concatenate([x, x], axis=-1),
        "astype": x.astype(np.complex128),
        "sort": np.sort(x, axis=-1),
        "parts": (x.real + 1, np.imag(x) + 1),
        "reversed": x[::-1] + 1,
        "broadcast": x + np.ones((2, 1, 1), x.dtype),
    }


def moved(x: Any) -> Any:
    """Read arrays of any element type, be it no number."""
    return {"copy": x.copy(), "where": np.where(x == x, x, x), "concatenate": np.concatenate([x, x])}


def views(x: Any) -> Any:
    """Return results that may be views, and some that are none."""
    return {"turned": x.T, "line": np.ravel(x), "real": x.real, "imaginary": x.imag, "sum": x.sum()}


def check(function: Callable[[Any], Any], x: Any) -> None:
    wants, structure = tree.flatten(function(x))
    gots, found = tree.flatten(xjit.jit(function)(x))
    assert found == structure
    for got, want in zip(gots, wants, strict=True):
        native = want.dtype.newbyteorder("=")  # of results that are no views
        assert (type(got), got.dtype.newbyteorder("="), got.shape) == (type(want), native, want.shape)
        assert_close(np.asarray(got), np.asarray(want), 4)
        if isinstance(want, np.ndarray) and want.size:
            steps = [[s for s, n in zip(one.strides, one.shape, strict=True) if n > 1] for one in (got, want)]
            assert steps[0] == steps[1]
            assert np.shares_memory(got, x) == np.shares_memory(want, x)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_fields_of_records(dtype: DType, gap: str) -> None:
    x = records(array(dtype, *SHAPE), *GAPS[gap])
    check(moved if dtype in NARROW else everything, x)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("code", ["<c8", "<c16", ">c16", "<f4"])
def test_parts_of_fields(code: str, place: str) -> None:
    x = PLACES[place](records(array(np.dtype(code), *SHAPE), 4, 0))
    check(everything, x)
    check(views, x)
