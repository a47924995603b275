"""Shapes, joins and indices over layouts against NumPy: values, memory order, views, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit.numpy as xnp
from tests.helpers.oracles.numpy_oracle import Program, Traced, check
from xjit.errors import CaptureError, IndexOutOfBoundsError
from xjit.ir.context import TracedValue


def layouts(shape: tuple[int, ...]) -> dict[str, Any]:
    """Arrays of one shape in several memory orders, all packed, so that NumPy's views are those of the types."""
    base = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    found = {"C": base, "F": np.asfortranarray(base)}
    if len(shape) == 3:
        found["middle"] = np.ascontiguousarray(base.transpose(1, 0, 2)).transpose(1, 0, 2)
    return found


def same_views(program: Program, *arrays: Any) -> None:
    """Checks a program, and that exactly those results are marked as views that share memory in NumPy."""
    traced = check(program, *arrays)
    if traced is None:
        return
    result = program(np, *arrays)
    for value, want in zip(traced.values, result if isinstance(result, tuple | list) else [result], strict=True):
        is_argument = any(value is one for one in traced.arguments)
        assert is_argument == any(want is array for array in arrays)
        shares = any(np.may_share_memory(want, array) for array in arrays) and want.size > 0
        if isinstance(want, np.ndarray) and want.size and not is_argument:
            assert value.is_view == shares, (value.is_view, shares)


RESHAPES = [
    (24,),
    (-1,),
    (2, 12),
    (4, 6),
    (2, 3, 4),
    (3, -1, 2),
    (2, 3, 2, 2),
    (1, 2, 1, 3, 4),
    (6, 4),
    (8, 3),
    (24, 1),
]


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("layout", ["C", "F", "middle"])
def test_reshape(layout: str, order: str) -> None:
    x = layouts((2, 3, 4))[layout]
    for shape in RESHAPES:
        same_views(lambda xp, a: xp.reshape(a, shape, order=order), x)  # noqa: B023
        same_views(lambda xp, a: a.reshape(*shape, order=order), x)  # noqa: B023
    for shape in [(5,), (-1, -1), (7, -1), (0, -1), (-2,), (2.5,), ()]:
        check(lambda xp, a: xp.reshape(a, shape, order=order), x)  # noqa: B023


def test_reshape_of_empty_and_rank_zero() -> None:
    for shape, targets in {
        (0,): [(0,), (3, 0), (-1, 3), (0, -1)],
        (): [(), (1,), (1, 1), (-1,)],
        (3, 0): [(0,), (0, 7), (-1,)],
    }.items():
        for target in targets:
            check(lambda xp, a: xp.reshape(a, target), np.zeros(shape))  # noqa: B023
            check(lambda xp, a: xp.reshape(a, target, order="F"), np.zeros(shape))  # noqa: B023
    check(lambda xp, a: a.reshape(()), np.float64(3))
    check(lambda xp, a: a.reshape(1), np.float64(3))


@pytest.mark.parametrize("layout", ["C", "F", "middle"])
def test_ravel_and_flatten(layout: str) -> None:
    x = layouts((2, 3, 4))[layout]
    for order in ("C", "F", "A", "K"):
        same_views(lambda xp, a: xp.ravel(a, order), x)  # noqa: B023
        same_views(lambda xp, a: a.flatten(order), x) if order != "K" else None  # noqa: B023
        same_views(lambda xp, a: a.copy(order), x)  # noqa: B023
        same_views(lambda xp, a: xp.copy(a, order), x)  # noqa: B023


@pytest.mark.parametrize("layout", ["C", "F", "middle"])
def test_axes(layout: str) -> None:
    x = layouts((2, 3, 4))[layout]
    for axes in itertools.permutations(range(3)):
        same_views(lambda xp, a: xp.transpose(a, axes), x)  # noqa: B023
        same_views(lambda xp, a: a.transpose(*axes), x)  # noqa: B023
    for bad in [(0, 0, 1), (0, 1), (0, 1, 3), (-1, 0, 1)]:
        check(lambda xp, a: xp.transpose(a, bad), x)  # noqa: B023
    for pair in [(0, 1), (-1, 0), (1, 1), (0, 3)]:
        same_views(lambda xp, a: xp.swapaxes(a, *pair), x)  # noqa: B023
        check(lambda xp, a: xp.moveaxis(a, *pair), x)  # noqa: B023
    check(lambda xp, a: xp.moveaxis(a, [0, 1], [-1, -2]), x)
    check(lambda xp, a: xp.moveaxis(a, [0, 1], [-1]), x)
    same_views(lambda xp, a: (a.T, a.transpose(), a.mT), x)
    check(lambda xp, a: a.mT, np.ones(3))


def test_axes_of_size_one() -> None:
    x = np.asfortranarray(np.arange(6.0).reshape(2, 1, 3, 1))
    for axis in (None, 1, -1, (1, 3), 0, 4):
        same_views(lambda xp, a: xp.squeeze(a, axis), x)  # noqa: B023
        same_views(lambda xp, a: a.squeeze(axis), x)  # noqa: B023
    for axis in (0, -1, (0, 2), (1, 1), 7):
        same_views(lambda xp, a: xp.expand_dims(a, axis), x)  # noqa: B023
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for shape in ((), (3,), (2, 3), (1, 2, 3)):
            same_views(lambda xp, a: getattr(xp, name)(a), np.zeros(shape))  # noqa: B023
        check(lambda xp, a, b: getattr(xp, name)(a, b), np.zeros(3), np.zeros(()))  # noqa: B023


def test_scalars_stay_scalars_in_methods() -> None:
    for value in (np.float64(3), np.array(3.0)):
        for program in (
            lambda xp, a: a.T,
            lambda xp, a: a.squeeze(),
            lambda xp, a: a.copy(),
            lambda xp, a: a.conj(),
            lambda xp, a: a.astype(np.float32),
            lambda xp, a: a.ravel(),
            lambda xp, a: a.real,
            lambda xp, a: a.imag,
            lambda xp, a: a[()],
            lambda xp, a: a[...],
            lambda xp, a: a[None],
            lambda xp, a: a.clip(0, 1),
            lambda xp, a: a.sum(),
            lambda xp, a: a.round(),
            lambda xp, a: xp.copy(a),
            lambda xp, a: xp.squeeze(a),
            lambda xp, a: xp.transpose(a),
            lambda xp, a: xp.where(a, a, a),
            lambda xp, a: xp.asarray(a),
            lambda xp, a: xp.array(a),
            lambda xp, a: xp.zeros_like(a),
            lambda xp, a: xp.broadcast_to(a, ()),
            lambda xp, a: xp.expand_dims(a, 0),
            lambda xp, a: xp.ascontiguousarray(a),
            lambda xp, a: xp.real(a),
            lambda xp, a: xp.round(a),
            lambda xp, a: -a,
            lambda xp, a: a + 1,
        ):
            check(program, value)


@pytest.mark.parametrize("layout", ["C", "F", "middle"])
def test_broadcast_to(layout: str) -> None:
    x = layouts((2, 3, 1))[layout] if layout != "middle" else np.arange(3.0)
    for shape in [(2, 3, 4), (5, 2, 3, 4), (2, 3, 1), (3, 3, 3), (3,), (-1,), 3]:
        same_views(lambda xp, a: xp.broadcast_to(a, shape), x)  # noqa: B023
        check(lambda xp, a: xp.broadcast_to(a, shape) + 1, x)  # noqa: B023
        check(lambda xp, a: xp.broadcast_to(a, shape).copy(), x)  # noqa: B023
        check(lambda xp, a: xp.copy(xp.broadcast_to(a, shape)), x)  # noqa: B023


def test_concatenate_takes_the_common_type_and_order() -> None:
    kinds = [np.dtype(code) for code in "?bLefF"]
    for one, other in itertools.product(kinds, kinds):
        x, y = np.ones((2, 3), one), np.ones((2, 2), other)
        check(lambda xp, a, b: xp.concatenate([a, b], axis=1), x, y)
        check(lambda xp, a, b: xp.concatenate((a, b), axis=None), x, y)
    grids = [layouts((2, 3, 4))[name] for name in ("C", "F", "middle")]
    for parts in itertools.product(grids, grids):
        for axis in (0, 1, -1, 3, None):
            check(lambda xp, *p: xp.concatenate(p, axis=axis), *parts)  # noqa: B023
        for axis in (0, 2, -1, 4):
            check(lambda xp, *p: xp.stack(p, axis=axis), *parts)  # noqa: B023


def test_stacks_and_their_errors() -> None:
    row, other, grid = np.arange(3.0), np.arange(3), np.arange(6.0).reshape(2, 3)
    for name in ("hstack", "vstack", "column_stack", "stack", "concatenate"):
        for parts in (
            [row, other],
            [grid, grid],
            [row, row[:2]],
            [grid, row],
            [grid, grid[:, :2]],
            [np.array(1.0)] * 2,
        ):
            check(lambda xp, *p: getattr(xp, name)(list(p)), *parts)  # noqa: B023
    check(lambda xp, a: xp.concatenate(a), grid)
    check(lambda xp, a: xp.stack(a), grid)
    check(lambda xp, a: xp.concatenate([a, [1, 2]]), row)
    check(lambda xp, a: xp.concatenate([a, a], dtype=np.int64), row)
    check(lambda xp, a: xp.concatenate([a, a], dtype=np.int64, casting="unsafe"), row)
    check(lambda xp, a: xp.concatenate([a, a], dtype=np.float32), row)
    check(lambda xp, a: xp.stack([a, 1.0, 2]), np.float32(3))
    check(lambda xp, a: xp.array([a[0], 2, a[1] + 1]), row)
    check(lambda xp, a: xp.array([[a[0], 2.0], [3, a[1]]]), other)
    check(lambda xp, a: xp.array([a, [1, 2, 3]]), row)
    check(lambda xp, a: xp.add(a, [1, 2, 3]), row)


INDICES: list[Any] = [
    *(0, -1, 2, 5, -3, np.int64(1), np.array(1), None, Ellipsis, (), slice(None), slice(1, None), slice(None, -1)),
    *(slice(None, None, -1), slice(None, None, 2), slice(3, 0, -2), slice(10, 20), slice(-100, 100, 3), slice(2, 1)),
    *(
        (0, 0),
        (0, 1, 2),
        (0, 1, 2, 3),
        (..., 0),
        (0, ...),
        (0, 1, 2, ...),
        (..., 0, 1, 2),
        (..., ...),
        (None, 0, None),
    ),
    *(
        (slice(None), 0),
        (slice(None, None, -1), None, slice(1, 3)),
        (slice(None), slice(None), slice(None, None, -2)),
    ),
    *(
        (slice(None), None, slice(None), 1),
        (None, ..., None),
        (0, slice(0, 0), slice(None)),
        slice(None, None, 0),
        1.5,
    ),
]


@pytest.mark.parametrize("layout", ["C", "F", "middle"])
def test_basic_indexing(layout: str) -> None:
    x = layouts((2, 3, 4))[layout]
    for index in INDICES:
        if isinstance(index, np.ndarray):
            check(lambda xp, a: a[index], x)  # noqa: B023
        else:
            same_views(lambda xp, a: a[index], x)  # noqa: B023


def test_index_errors_say_what_numpy_says() -> None:
    x = np.zeros((2, 3))
    for index in (2, (0, -4), (0, 0, 0), (..., ...), "a", 1.5):
        with pytest.raises(IndexError) as numpys:
            x[index]
        with pytest.raises(IndexOutOfBoundsError) as own:
            Traced(lambda xp, a: a[index], [x])  # noqa: B023
        assert str(numpys.value) in str(own.value)
    with pytest.raises(CaptureError, match="the shape of the result depends on the elements"):
        Traced(lambda xp, a: a[a > 0], [x])


def test_results_are_new_objects_unless_numpy_returns_the_operand() -> None:
    x = np.arange(3.0)

    def program(xp: Any, a: Any) -> Any:
        return xp.asarray(a), a.astype(float, copy=False), xp.ascontiguousarray(a), xp.atleast_1d(a), a.real, a.conj()

    for value in Traced(program, [x]).values:
        assert isinstance(value, TracedValue) and not value.is_view
    traced = Traced(program, [x])
    assert all(value is traced.arguments[0] for value in traced.values)

    def copies(xp: Any, a: Any) -> Any:
        return xp.array(a), a.copy(), a.astype(float), +a, xp.positive(a), a[:], a.T, xp.copy(a), a.flatten()

    traced = Traced(copies, [x])
    assert not any(value is traced.arguments[0] for value in traced.values)
    assert [value.is_view for value in traced.values] == [False] * 5 + [True, True, False, False]


def test_eager_calls_compute_at_once() -> None:
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(xnp.concatenate([x, x], axis=1), np.concatenate([x, x], axis=1))
    assert xnp.sum(x) == 15 and isinstance(xnp.sum(x), np.int64)
    assert xnp.transpose(x).shape == (3, 2) and not np.may_share_memory(xnp.transpose(x), x)
    assert "sum" in dir(xnp)
    with pytest.raises(AttributeError, match="no_such_name"):
        xnp.no_such_name  # noqa: B018
