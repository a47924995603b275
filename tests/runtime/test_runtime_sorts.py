"""Sorts of lines, which run among the kernels: the elements are those of NumPy's stable sort."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.native_entries import is_native
from xjit import ops
from xjit.runtime.native.native_code import NativeModule
from xjit.runtime.native.sorts_native import sorts_text
from xjit.runtime.steps import program, sort_steps
from xjit.runtime.steps.sort_steps import SORTED_TYPES, numpy_sorts

TYPES = tuple(dtype for dtype in SORTED_TYPES if dtype != np.float16)
needs_sorts = pytest.mark.skipif(numpy_sorts() is None, reason="NumPy's sorts cannot be called by themselves")


def numbers(dtype: Any, *shape: int) -> Any:
    values = np.random.default_rng([*shape]).standard_normal(shape) * 20
    return values.astype(dtype)


def assert_sorted(function: Any, x: Any) -> None:
    expected = np.sort(x, kind="stable")
    for _ in range(2):
        got = function(x)
        assert got.dtype == x.dtype and got.shape == x.shape and got.tobytes() == expected.tobytes()


@needs_sorts
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_lines_of_every_type(dtype: Any) -> None:
    for shape in ((300,), (7, 5), (3, 4, 1), (2, 3, 50), (400, 90)):
        function = xjit.jit(ops.sort)
        assert_sorted(function, numbers(dtype, *shape))
        assert is_native(function)


@needs_sorts
@pytest.mark.parametrize("type", ["f4", "f8"])
def test_zeros_keep_their_order(type: str) -> None:
    rng, function = np.random.default_rng(5), xjit.jit(ops.sort)
    assert_sorted(function, rng.choice(np.array([0.0, -0.0, 1, -1, np.inf]), (200, 37)).astype(type))
    for line in (
        [0.0, -0.0],
        [-0.0, 0.0],
        [-1, -0.0, -2, 0.0],
        [0.0, 0.0],
        [-0.0, -0.0],
        [np.nan, -0.0, 0.0],
        [1, -1],
    ):
        assert_sorted(function, np.array([line, line[::-1]], type))


@needs_sorts
def test_nans_are_last() -> None:
    x = numbers("f4", 40, 30)
    x[::3, 4:9] = np.nan
    np.testing.assert_array_equal(xjit.jit(ops.sort)(x), np.sort(x))


@pytest.fixture
def no_library_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(step: Any, record: Any) -> Any:
        raise AssertionError(f"{record.name} is called by Python")

    monkeypatch.setattr(program, "called_function", called)


@needs_sorts
@pytest.mark.usefixtures("no_library_steps")
def test_views_and_kernels_around() -> None:
    x = numbers("f8", 30, 20)
    function = xjit.jit(lambda x: ops.sort(x[3:] * 2.0) + ops.sort(x[3:]))
    for _ in range(2):
        np.testing.assert_array_equal(function(x), np.sort(x[3:] * 2.0) + np.sort(x[3:]))


@needs_sorts
@pytest.mark.usefixtures("no_library_steps")
@pytest.mark.parametrize("kind", [None, "quicksort", "mergesort", "stable"])
@pytest.mark.parametrize("type", ["f2", "f4", "i8", "u2"])
def test_sorts_of_numpy_by_its_algorithms(kind: Any, type: str) -> None:
    x = numbers(type, 30, 70)
    x[:, ::7], x[:, 1::7] = 0, (-0.0 if type[0] == "f" else 0)
    function = xjit.jit(functools.partial(np.sort, kind=kind))
    for _ in range(2):
        got, expected = function(x), np.sort(x, kind=kind)
        assert got.dtype == x.dtype and got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("layout", ["columns", "gaps", "by columns", "complex", "descending"])
def test_others_are_left_to_numpy(layout: str) -> None:
    x = numbers("f8", 12, 10)
    if layout == "columns":
        got, expected = xjit.jit(lambda x: ops.sort(x, None, 0))(x), np.sort(x, 0)
    elif layout == "descending":
        got, expected = xjit.jit(lambda x: ops.sort(x, ops.gt))(x), -np.sort(-x)
    else:
        x = {"gaps": x[:, ::2], "by columns": np.asfortranarray(x), "complex": x + 1j * x[::-1]}[layout]
        got, expected = xjit.jit(ops.sort)(x), np.sort(x)
    np.testing.assert_array_equal(got, expected)


@needs_sorts
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_lines(threads: int) -> None:
    with xjit.threads(threads):
        assert_sorted(xjit.jit(ops.sort), numbers("f4", 5000, 60))


@needs_sorts
@pytest.mark.usefixtures("no_library_steps")
def test_loops_with_sorts_need_no_python() -> None:
    def function(x: Any) -> Any:
        return xjit.fori_loop(0, 3, lambda i, y: ops.sort(y * -1.5), x)

    x = numbers("f8", 50, 40)
    compiled, expected = xjit.jit(function), x
    for _ in range(3):
        expected = np.sort(expected * -1.5)
    np.testing.assert_array_equal(compiled(x), expected)
    assert "native" in compiled.explain(x).steps[0]


def test_without_its_routines_numpy_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort_steps, "numpy_sorts", lambda: None)
    function, x = xjit.jit(ops.sort), numbers("f8", 20, 30)
    np.testing.assert_array_equal(function(x), np.sort(x))
    assert not is_native(function)


def test_another_c_api_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort_steps, "_VERSION", 0x03000000)
    assert sort_steps._found() is None


def test_a_routine_that_does_not_sort_is_not_used() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    lazy = kind(lambda line, count, array: 0)
    address = ctypes.cast(lazy, ctypes.c_void_p).value or 0
    assert not sort_steps._sort(np.dtype("f8"), (address,) * 3)
    assert not sort_steps._sort(np.dtype("f8"), (0, 0, 0))


def test_lines_that_a_routine_leaves_are_sorted_by_the_other() -> None:
    """A routine that spoils each line and says that memory is short."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    calls: list[str] = []

    def spoil(line: int, count: int, array: int) -> int:
        calls.append("spoil")
        ctypes.memset(line, 0, 8 * count)
        return -1

    def sort(line: int, count: int, array: int) -> int:
        calls.append("sort")
        np.frombuffer((ctypes.c_int64 * count).from_address(line), np.int64).sort()
        return 0

    routines = kind(spoil), kind(sort)
    first, other = (ctypes.cast(routine, ctypes.c_void_p).value or 0 for routine in routines)
    lines, result = np.array([[3, 1, 2], [6, 5, 4], [9, 8, 7]]), np.zeros((3, 3), np.int64)
    table = (ctypes.c_int64 * 6)(lines.ctypes.data, result.ctypes.data, first, other, 24, 3)
    adaptor = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    adaptor(NativeModule(sorts_text()).function("sort_lines"))(1, 3, ctypes.addressof(table))
    assert result.tolist() == [[0, 0, 0], [4, 5, 6], [7, 8, 9]] and calls == ["spoil", "sort"] * 2
