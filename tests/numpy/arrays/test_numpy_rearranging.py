"""Functions that move elements, against NumPy over layouts: values, memory order, views, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit as jit
from xjit.errors import CaptureError

VIEWS = """
rollaxis(a, 0)
rollaxis(a, -1)
rollaxis(a, 1, 0)
rollaxis(a, 0, 2)
rollaxis(a, 0, 1)
rollaxis(a, 1, -1)
rollaxis(a, 0, 5)
rollaxis(a, 7)
flip(a)
flip(a, 0)
flip(a, -1)
flip(a, (0, 1))
flip(a, (0, 0))
flip(a, 4)
flip(a, ())
fliplr(a)
flipud(a)
rot90(a)
rot90(a, 2)
rot90(a, 3)
rot90(a, -5)
rot90(a, 0)
rot90(a, 1, (1, 0))
rot90(a, 1, (-1, 0))
rot90(a, 1, (0, 0))
rot90(a, 1, (0, 3))
rot90(a, 1, (0, 1, 2))
split(a, 1)
split(a, 2)
split(a, 3)
split(a, 0)
split(a, -1)
split(a, [1])
split(a, (1, 1, 2))
split(a, [-1, 9])
split(a, [])
split(a, [1.5])
split(a, 2, axis=1)
split(a, 2, axis=-1)
split(a, 2, axis=3)
array_split(a, 2)
array_split(a, 4)
array_split(a, 5, 1)
array_split(a, 0)
array_split(a, [3, 1])
hsplit(a, 1)
hsplit(a, [1])
vsplit(a, [1])
dsplit(a, 2)
dsplit(a, [1])
unstack(a)
unstack(a, axis=-1)
unstack(a, axis=3)
diagonal(a)
diagonal(a, 1)
diagonal(a, -1)
diagonal(a, 9)
diagonal(a, -9)
diagonal(a, 0, 1, 0)
diagonal(a, 1, -1, 0)
diagonal(a, 0, 0, 0)
diagonal(a, 0, 0, 3)
diagonal(a, 0, 1, 2)
diag(a)
diag(a, 1)
diag(a, -2)
meshgrid(a, copy=False)
meshgrid(a, a, copy=False)
meshgrid(a, [1, 2], copy=False, sparse=True)
broadcast_arrays(a, a)
broadcast_arrays(a, a[..., None])
broadcast_arrays(a, a[..., None, :2])
ix_(a)
ix_(a, [1, 2])
"""

COPIES = """
roll(a, 1)
roll(a, -2)
roll(a, 0)
roll(a, 100)
roll(a, 1.5)
roll(a, 1, axis=0)
roll(a, 2, axis=-1)
roll(a, (1, 2), axis=(0, 1))
roll(a, 1, axis=(0, 1))
roll(a, (1, 2), axis=0)
roll(a, (1, 2))
roll(a, [[1]], axis=0)
roll(a, 0, axis=0)
roll(a, 1, axis=3)
tile(a, 2)
tile(a, (2, 3))
tile(a, (1, 2, 1))
tile(a, (2, 1, 1, 3))
tile(a, 1)
tile(a, ())
tile(a, 0)
tile(a, (1, 1, 1, 1))
tile(a, -1)
tile(a, 2.0)
repeat(a, 2)
repeat(a, 0)
repeat(a, 3, axis=0)
repeat(a, 2, axis=-1)
repeat(a, [2], axis=0)
repeat(a, [1, 2], axis=0)
repeat(a, [0, 3, 1], axis=1)
repeat(a, [2, 0, 1])
repeat(a, -1)
repeat(a, True, axis=0)
repeat(a, 2, axis=3)
repeat(a, [[1]])
resize(a, 7)
resize(a, (2, 2))
resize(a, (5, 7))
resize(a, (0, 2))
resize(a, -1)
resize(a, ())
append(a, a)
append(a, a, axis=0)
append(a, [1, 2])
append(a, 3)
append(a, 3, axis=0)
append(a, a[:1], axis=0)
append(a, a, axis=4)
dstack([a, a])
dstack(a)
dstack([a, a[:1]])
tril(a)
tril(a, 1)
tril(a, -1)
triu(a)
triu(a, 1)
triu(a, -2)
diagflat(a)
diagflat(a, 1)
diagflat(a, -2)
block(a)
block([a, a])
block([[a, a], [a, a]])
block([[a], [a]])
block([[a, 2 * a], [[1, 2]]])
block([a, [a]])
block([a, []])
block([])
block((a, a))
block([a, 1])
meshgrid(a)
meshgrid(a, [1, 2, 3])
meshgrid(a, [1, 2, 3], 4)
meshgrid(a, [1, 2], indexing="ij")
meshgrid(a, [1, 2], sparse=True)
meshgrid(a, indexing="no")
delete(a, 0)
delete(a, -1)
delete(a, 100)
delete(a, 1, axis=0)
delete(a, 0, axis=1)
delete(a, -1, axis=-1)
delete(a, [0], axis=0)
delete(a, [0, 1], axis=-1)
delete(a, [], axis=0)
delete(a, slice(1, None))
delete(a, slice(None, None, 2), axis=1)
delete(a, slice(5, 1, -1), axis=0)
delete(a, slice(2, 1), axis=0)
delete(a, 0, axis=3)
delete(a, [True, False], axis=0)
delete(a, [0, 7], axis=0)
insert(a, 0, 5)
insert(a, 1, [1, 2, 3])
insert(a, -1, 2.7, axis=0)
insert(a, 1, 5, axis=1)
insert(a, 0, [1, 2], axis=0)
insert(a, [0], [1, 2, 3], axis=-1)
insert(a, [0, 1], 7, axis=0)
insert(a, [1, 1], 7)
insert(a, slice(0, 2), 7, axis=1)
insert(a, [], 7, axis=0)
insert(a, 100, 7)
insert(a, 0, 7, axis=5)
insert(a, [0, 1], [1, 2, 3])
compress([True, False], a)
compress([False, True], a, axis=0)
compress([True, False, True], a, axis=1)
compress([False], a, axis=-1)
compress([0, 0, 0, 0, 0, 0, 0, 0, 1], a, axis=0)
compress([[True]], a)
compress([True], a, axis=4)
extract([True, False, True], a)
extract([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], a)
"""

METHODS = """
a.repeat(2)
a.repeat(2, axis=0)
a.diagonal()
a.diagonal(1, 0, 1)
a.trace()
a.trace(1, dtype=np.float64)
a.compress([True, False], axis=0)
"""

TRACES = """
trace(a)
trace(a, 1)
trace(a, -1, 1, 0)
trace(a, 7)
trace(a, dtype=np.float32)
trace(a, 0, 0, 0)
"""

CONSTANTS = """
broadcast_arrays(a, 1)
broadcast_arrays(a, [[1], [2]])
broadcast_arrays(a, np.ones(7))
"""

DTYPES = ["?", "i1", "u4", "i8", "f2", "f4", "c16"]
SHAPES: list[tuple[int, ...]] = [(), (1,), (4,), (0,), (2, 3), (4, 4), (1, 3), (3, 0), (2, 3, 4), (2, 2, 2)]


def grid() -> list[Any]:
    """Every shape in one type, in packed layouts; some types in one shape."""
    found = [one for shape in SHAPES for one in layouts(array("f8", *shape))]
    return found + [array(dtype, 2, 3) for dtype in DTYPES]


def packed(arrays: list[Any]) -> list[Any]:
    """Those whose elements fill their memory."""
    return [one for one in arrays if one.flags.forc]


def test_views() -> None:
    check_lines(VIEWS, packed(grid()), views=True)
    check_lines(VIEWS, [one for one in grid() if not one.flags.forc])


def test_broadcasts_of_constants() -> None:
    check_lines(CONSTANTS, [array("f8", 4), array("f8", 3, 1), array("i2", 3, 7)])


def test_copies() -> None:
    check_lines(COPIES, packed(grid()), views=True)
    check_lines(COPIES, [one for one in grid() if not one.flags.forc])


def test_traces_and_methods() -> None:
    check_lines(TRACES, [array(dtype, 3, 3) for dtype in DTYPES], ulp=1)
    check_lines(TRACES + METHODS, [array("i4", 2, 3), array("i2", 2, 3, 4), array("u1", 4), array("i8")])


def test_scalars() -> None:
    check_lines(VIEWS + COPIES, [np.float32(2.5)])


def test_without_a_trace() -> None:
    check_eager(VIEWS + COPIES, array("f8", 2, 3))


@pytest.mark.parametrize(
    "operand",
    [array("f8", 4, 4), np.asfortranarray(array("i4", 2, 3)), array("c8", 2, 3, 4)[:, ::-1, ::2], array("u1", 5)],
    ids=lambda one: f"{one.dtype}-{one.shape}",
)
def test_compiled(operand: Any) -> None:
    check_compiled(VIEWS, operand)
    check_compiled(COPIES, operand)


def test_methods_compiled() -> None:
    check_compiled(METHODS + TRACES, array("i4", 2, 3))


COUNTS = np.array([2, 0, 1])


def test_small_arrays_from_outside_may_steer_shapes() -> None:
    x = array("f8", 2, 3)
    got = jit(lambda a: np.repeat(a, COUNTS, axis=1))(x)
    np.testing.assert_array_equal(got, np.repeat(x, COUNTS, axis=1))


@pytest.mark.parametrize(
    "copy",
    [
        lambda a: np.compress([True, False], a, axis=-1),
        lambda a: np.delete(a, 0, axis=0),
        lambda a: np.repeat(a, 2),
        lambda a: np.tile(a, 2),
        lambda a: np.resize(a, 4),
        lambda a: np.pad(a, 0),
        lambda a: np.roll(a, 1),
        lambda a: np.choose(0, [a]),
    ],
)
def test_views_of_copies_share_memory_with_the_copies(copy: Any) -> None:
    x = array("f8", 3, 4)
    whole, part = jit(lambda a: (lambda c: (c, c[:-1]))(copy(a)))(x)
    assert np.shares_memory(whole, part) and not np.shares_memory(x, whole) and not np.shares_memory(x, part)


SCATTERED = """
delete(a, slice(None, None, 3))
delete(a, slice(None, None, 3), axis=0)
delete(a, [1, 2, 5, 9, 10, 14, 17, 21, 25, 28], axis=0)
insert(a, slice(None, None, 2), 7)
insert(a, [1, 5, 9, 13, 17, 21, 25, 29, 3, 7], [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10]], axis=0)
repeat(a, np.arange(30) % 3, axis=0)
compress(np.arange(30) % 3, a, axis=0)
extract(np.arange(90) % 7 > 3, a)
"""


def test_scattered_positions_are_looked_up() -> None:
    check_lines(SCATTERED, [*layouts(array("f4", 30, 3)), array("i1", 30, 3)])
    check_compiled(SCATTERED, np.asfortranarray(array("f8", 30, 3)))


def test_a_triangle_of_ones_may_be_large() -> None:
    got = jit(lambda a: np.tri(40, 50, 3) * a)(np.float32(2))
    np.testing.assert_array_equal(got, np.tri(40, 50, 3) * np.float32(2), strict=True)


def test_refusals() -> None:
    x = array("i8", 200)
    for words, call in {
        "repeats: the shape": lambda xp, a: xp.repeat(a, a),
        "trim_zeros: the shape": lambda xp, a: xp.trim_zeros(a),
        "shift: values known": lambda xp, a: xp.roll(a, a[0] * 1.5),
        "out= is not supported": lambda xp, a: xp.trace(a.reshape(20, 10), out=np.zeros(())),
    }.items():
        with pytest.raises(CaptureError, match=words):
            Traced(call, [x])
