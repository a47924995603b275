"""``ndarray.view`` with another element type, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xjit import xjit as jit
from xjit.errors import CaptureError

NAMES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64")
DTYPES = [*map(np.dtype, NAMES), np.dtype(np.complex128), np.dtype(ml_dtypes.bfloat16)]
Array = np.ndarray[Any, Any]


def grid(dtype: np.dtype[Any]) -> Array:
    """Three rows of 64 bytes that mean something under every type."""
    if dtype == np.bool_:
        return np.arange(192).reshape(3, 64) % 3 == 0
    return np.random.default_rng(3).integers(0, 256, (3, 64), np.uint8).view(dtype)


def result(function: Any, x: Array) -> Any:
    """The shape, type and bytes of a result, or the type of the error."""
    try:
        found = function(x)
    except ValueError:
        return ValueError
    return found.shape, found.dtype, found.tobytes()


@pytest.mark.parametrize("wanted", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bytes_are_those_of_numpy(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    def read(x: Any) -> Any:
        return x.view(wanted)

    plain = grid(dtype)
    # Any byte but zero is a true one, which NumPy tells from its neighbours only if it is asked for the bytes.
    known = wanted == dtype or wanted != np.bool_
    layouts = (plain, plain[0], plain[:0], np.asfortranarray(plain), plain[0, :1].reshape(()), plain[:, :1].copy())
    for x in layouts:
        expected = result(read if known else lambda one: one.view(np.uint8) != 0, x)
        assert result(jit(read), x) == expected, (x.shape, x.strides)


def test_views_inside_of_programs() -> None:
    z = np.array([1 + 2j, -3 + 0.5j], np.complex64)
    assert jit(lambda z: z.view(np.float32) * 2)(z).tolist() == [2.0, 4.0, -6.0, 1.0]
    assert jit(lambda x: x.view(np.complex128)[0] * 1j)(np.array([1.0, 2.0])) == -2 + 1j
    x = np.array([1.0, -0.0, np.nan], np.float32)
    assert jit(lambda x: x.view(np.int32) < 0)(x).tolist() == [False, True, False]
    assert jit(lambda x: (x.view("u4") >> 23 & 255).astype(int) - 127)(np.array([8.0], np.float32)).tolist() == [3]
    assert jit(lambda x: x.view()[1:] + 1)(np.arange(3)).tolist() == [2, 3]
    assert jit(lambda x: x.view(np.ndarray) + 1)(np.arange(3)).tolist() == [1, 2, 3]
    found = jit(lambda x: x.sum().view(np.uint64))(np.array([1.0]))
    assert type(found) is np.uint64 and found == 0x3FF0000000000000


def test_what_is_written_through_a_view_is_refused_rather_than_lost() -> None:
    def flipped(x: Any) -> Any:
        y = x + 0
        bits = y.view(np.uint32)
        bits ^= np.uint32(1 << 31)
        return y

    x = np.array([1.0, -2.0], np.float32)
    with pytest.raises(CaptureError, match="shares its memory with a view"):
        jit(flipped)(x)


def test_rows_that_wait_do_not_lie_where_bytes_of_results_are() -> None:
    def shares(x: Any) -> Any:
        levels = np.exp(x).astype(np.uint8)
        return (levels / levels.max(axis=1)[:, None]).view(np.uint8)

    x = np.random.default_rng(0).random((200, 64)) * 5
    np.testing.assert_allclose(jit(shares)(x).view(float), shares(x).view(float), rtol=1e-15)


@pytest.mark.parametrize("wanted", ["u2", "i4", "f8", "c16", "?"])
@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 0, 2)])
def test_memory_order_is_that_of_numpy(axes: tuple[int, ...], wanted: str) -> None:
    x = np.arange(3 * 5 * 8, dtype=np.int32).reshape(3, 5, 8).transpose(axes)
    found = jit(lambda a: a.view(wanted))(x)
    assert found.strides == x.view(wanted).strides
    assert wanted == "?" or found.tobytes() == x.view(wanted).tobytes()
