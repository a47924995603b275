"""Reductions over axes × element types × layouts against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Program, check

DTYPES = [np.dtype(code) for code in "?bhilBHILefdFD"] + [np.dtype(ml_dtypes.bfloat16)]
NAMES = ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin")
EXACT = ("max", "min", "any", "all", "argmax", "argmin")


def numbers(dtype: np.dtype, shape: tuple[int, ...], seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape) == 1
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -5, 12, shape).astype(dtype)
    values = rng.normal(size=shape) + 2
    if dtype.kind == "c":
        return (values + 1j * rng.normal(size=shape)).astype(dtype)
    return values.astype(dtype)


def run(name: str, program: Program, *arrays: Any) -> None:
    """Checks a reduction: exactly, or within some units in the last place of NumPy's own rounding."""
    kind = np.result_type(arrays[0])
    exact = name in EXACT or (kind.kind in "biu" and name in ("sum", "prod"))
    loose = 48.0 if kind.itemsize <= 2 else 12.0
    check(program, *arrays, ulp=0.0 if exact else loose)


def supported(name: str, dtype: np.dtype) -> bool:
    return not (name.startswith("arg") and dtype.kind == "c")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_types_and_axes(name: str, dtype: np.dtype) -> None:
    x = numbers(dtype, (3, 4, 5))
    if not supported(name, dtype):
        return
    axes: list[Any] = [None, 0, -1, 1, 3]
    if not name.startswith("arg"):
        axes += [(0, 2), (-1, 0, 1), (), (0, 0)]
    for axis in axes:
        run(name, lambda xp, a: getattr(xp, name)(a, axis=axis), x)  # noqa: B023
        run(name, lambda xp, a: getattr(xp, name)(a, axis=axis, keepdims=True), x)  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_layouts(name: str) -> None:
    base = numbers(np.dtype(np.float64), (4, 6, 5))
    layouts = {
        "fortran": np.asfortranarray(base),
        "strided": base[::2, ::-3, 1:],
        "transposed": base.transpose(1, 2, 0),
        "one": base[:1, :1, :1],
    }
    for array in layouts.values():
        for axis in (None, 0, 1, 2) if name.startswith("arg") else (None, 0, 1, 2, (0, 1), (1, 2)):
            run(name, lambda xp, a: getattr(xp, name)(a, axis), array)  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_empty_and_rank_zero(name: str) -> None:
    for shape in ((0,), (0, 3), (3, 0), (0, 0), ()):
        x = numbers(np.dtype(np.float32), shape)
        for axis in (None, 0, 1, -1):
            for keepdims in (False, True):
                run(name, lambda xp, a: getattr(xp, name)(a, axis=axis, keepdims=keepdims), x)  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_nan_infinities_and_ties(name: str) -> None:
    rows = [
        [1.0, np.nan, 3.0, np.nan],
        [np.inf, 1.0, np.inf, -np.inf],
        [-np.inf, -np.inf, -np.inf, -np.inf],
        [2.0, 2.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
    for dtype in ("f2", "f4", "f8"):
        x = np.array(rows, dtype)
        for axis in (None, 0, 1):
            run(name, lambda xp, a: getattr(xp, name)(a, axis=axis), x)  # noqa: B023


def test_complex_extremes() -> None:
    z = np.array([[1 + 2j, 1 + 3j, 0 + 9j], [2 - 1j, np.nan + 0j, 2 + 1j], [-np.inf + 0j, 1 + np.nan * 1j, 5 + 0j]])
    for name in ("max", "min"):
        for axis in (None, 0, 1):
            check(lambda xp, a: getattr(xp, name)(a, axis=axis), z)  # noqa: B023
            check(lambda xp, a: getattr(xp, name)(a, axis=axis), z[:2, ::2])  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
@pytest.mark.parametrize("name", ("sum", "prod", "mean", "var", "std"))
def test_dtype_argument(name: str, dtype: np.dtype) -> None:
    x = numbers(dtype, (3, 5))
    targets = ["f4", "f8", "c16"] + (["i4", "u1", "?"] if name in ("sum", "prod") else [])
    for target in targets:
        if dtype.kind == "c" and np.dtype(target).kind in "fiu":
            continue  # NumPy warns that the imaginary part goes
        check(lambda xp, a: getattr(xp, name)(a, axis=0, dtype=target), x, ulp=12.0)  # noqa: B023


def test_initial_values() -> None:
    for dtype in ("i1", "i4", "f4", "f8"):
        x = numbers(np.dtype(dtype), (3, 4))
        for initial in (5, 2.5, 300, None):
            for name in ("sum", "prod", "max", "min"):
                ulp = 12.0 if name in ("sum", "prod") else 0.0
                check(lambda xp, a: getattr(xp, name)(a, axis=0, initial=initial), x, ulp=ulp)  # noqa: B023
    check(lambda xp, a: xp.max(a, axis=0, initial=2), np.zeros((0, 3)))
    check(lambda xp, a: xp.max(a, initial=2), np.zeros((0, 3)))
    check(lambda xp, a: xp.min(a, axis=0, initial=2, keepdims=True), np.zeros((0, 3), np.int16))


def test_degrees_of_freedom() -> None:
    x = numbers(np.dtype(np.float32), (4, 3))
    for ddof in (0, 1, 1.5, 4, 10):
        check(lambda xp, a: xp.var(a, axis=0, ddof=ddof), x, ulp=8.0)  # noqa: B023
        check(lambda xp, a: xp.std(a, ddof=ddof), x, ulp=8.0)  # noqa: B023
    check(lambda xp, a: xp.var(a, axis=0, correction=1), x, ulp=8.0)
    check(lambda xp, a: xp.var(a, axis=0, mean=xp.mean(a, axis=0, keepdims=True)), x, ulp=8.0)


def test_reduce_methods_of_ufuncs() -> None:
    x = numbers(np.dtype(np.int16), (4, 3))
    for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"):
        check(lambda xp, a: getattr(xp, name).reduce(a), x)  # noqa: B023
        check(lambda xp, a: getattr(xp, name).reduce(a, axis=None), x)  # noqa: B023
        check(lambda xp, a: getattr(xp, name).reduce(a, axis=-1, keepdims=True), x)  # noqa: B023
    check(lambda xp, a: xp.add.reduce(a, axis=0, dtype=np.int16), x)


def test_methods() -> None:
    x = numbers(np.dtype(np.float64), (4, 3))
    for name in NAMES:
        run(name, lambda xp, a: getattr(a, name)(), x)  # noqa: B023
        run(name, lambda xp, a: getattr(a, name)(axis=1), x)  # noqa: B023


def test_variance_of_large_offsets_takes_two_passes() -> None:
    x = (np.arange(12.0).reshape(3, 4) / 8 + 1e9).astype(np.float64)
    check(lambda xp, a: xp.var(a, axis=1), x, ulp=2.0)


def test_refusals_name_the_option() -> None:
    from tests.helpers.oracles.numpy_oracle import Traced
    from xjit.errors import CaptureError

    x = np.ones(3)
    with pytest.raises(CaptureError, match=r"numpy\.max: out="):
        Traced(lambda xp, a: xp.max(a, out=np.zeros(())), [x])
    with pytest.raises(CaptureError, match=r"numpy\.cumsum: out="):
        Traced(lambda xp, a: np.cumsum(a, out=np.zeros(3)), [x])


def test_mean_of_half_floats_does_not_overflow() -> None:
    check(lambda xp, a: xp.mean(a), np.full(8, 60000, np.float16))
    check(lambda xp, a: xp.mean(a, axis=0), np.full((8, 2), 60000, np.float16))


def test_means_divide_as_numpy_does() -> None:
    for count in (3, 7, 10, 49):
        check(lambda xp, a: xp.mean(a), np.full(count, 0.1, np.float64), ulp=1.0)
        check(lambda xp, a: xp.mean(a), np.arange(count, dtype=np.int64))
        check(lambda xp, a: xp.mean(a, axis=0), np.arange(2 * count, dtype=np.float32).reshape(count, 2))
