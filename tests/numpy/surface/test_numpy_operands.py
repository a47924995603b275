"""Operands, the options of ufuncs, and powers."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import xjit.numpy
from tests.helpers.oracles.numpy_oracle import Traced, as_numpy_since, check
from xjit.errors import CaptureError, DTypeError, ShapeError, XjitError
from xjit.numpy.rules.values import AxisError

FEW = [np.dtype(code) for code in "?bBHlLefdFD"]


@pytest.mark.parametrize("dtype", [np.dtype(code) for code in "?bhilBHILefd"], ids=str)
def test_comparisons_take_integers_of_any_size(dtype: np.dtype) -> None:
    x = np.array([0, 1, 1], dtype) if dtype.kind != "i" else np.array([-1, 0, np.iinfo(dtype).max], dtype)
    for number in (-1, 0, 127, 255, 256, -129, 2**31, 2**63 - 1, 2**63, 2**64, -(2**70)):
        if (dtype.kind in "f" and abs(number) >= 2**63) or (dtype.kind == "b" and abs(number) > 2**62):
            continue
        for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            check(lambda xp, a: getattr(xp, name)(a, number), x)  # noqa: B023
            check(lambda xp, a: getattr(xp, name)(number, a), x)  # noqa: B023


def test_comparisons_of_signed_with_unsigned_are_exact() -> None:
    signed = np.array([-1, 0, 1, 2**63 - 1, -(2**63)])
    unsigned = np.array([2**64 - 1, 0, 1, 2**63 - 1, 2**63], np.uint64)
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        check(lambda xp, a, b: getattr(xp, name)(a[:, None], b), signed, unsigned)  # noqa: B023
        check(lambda xp, a, b: getattr(xp, name)(b[:, None], a), signed, unsigned)  # noqa: B023


def test_python_integers_out_of_range_overflow() -> None:
    for dtype, number in ((np.int8, 128), (np.uint8, -1), (np.uint16, 65536), (np.int64, 2**63), (np.uint64, -1)):
        x = np.ones(2, dtype)
        with pytest.raises(OverflowError, match=r"out of bounds|too large"):
            Traced(lambda xp, a: a + number, [x])  # noqa: B023
        check(lambda xp, a: number * a, x)  # noqa: B023
        check(lambda xp, a: xp.maximum(a, number), x)  # noqa: B023


def test_python_scalars_that_are_traced_stay_weak() -> None:
    for dtype in ("e", "f", "d", "F", "l"):
        x = np.array([1, 2, 3], dtype)
        check(lambda xp, a, n: a + n, x, 3)
        check(lambda xp, a, n: n - a, x, 2**40 + 1 if dtype != "e" else 3)
        check(lambda xp, a, n: a * n, x, True)
        if dtype != "l":
            check(lambda xp, a, n: a * n, x, 0.1)
            check(lambda xp, a, n: xp.where(a > 1, n, a), x, 0.1)
    check(lambda xp, a, n: a * n, np.arange(3), 0.5)
    check(lambda xp, a, n: a + n, np.arange(3, dtype=np.int8), 1.5)
    check(lambda xp, a, n: a + n, np.arange(3, dtype=np.float32), 1.5 + 2j)
    for dtype in ("b", "B", "L", "l", "?"):
        check(lambda xp, a, n: (a < n, n <= a, a == n), np.array([0, 1, 1], dtype), 1)
    # A large integer reaches float32 through float64, as NumPy's Python integers do.
    check(lambda xp, a, n: a + n, np.zeros(1, np.float32), 2**54 + 2**30 + 1)


def test_numpy_scalars_are_strong() -> None:
    x = np.ones(3, np.float32)
    check(lambda xp, a: a + np.float64(1), x)
    check(lambda xp, a, b: a + b, x, np.float64(1))
    check(lambda xp, a, b: a + b, x, np.int8(1))
    check(lambda xp, a, b: a + b, np.float32(1), np.float16(2))
    check(lambda xp, a: a + np.array(1.0), x)
    check(lambda xp, a, b: a + b, np.array(1), np.float32(2))


def test_options_of_ufuncs() -> None:
    x, y = np.arange(3, dtype=np.float64), np.arange(3, dtype=np.int32)
    for dtype in (np.float32, np.float64, np.int64, complex, bool, "f2"):
        check(lambda xp, a, b: xp.add(a, b, dtype=dtype), x, y)  # noqa: B023
        check(lambda xp, a, b: xp.add(b, b, dtype=dtype), x, y)  # noqa: B023
        check(lambda xp, a: xp.sin(a, dtype=dtype), y)  # noqa: B023
        for casting in ("safe", "same_kind", "unsafe", "no"):
            check(lambda xp, a: xp.add(a, 1, dtype=dtype, casting=casting), x)  # noqa: B023
    check(lambda xp, a: xp.add(a, 1, where=True, order="K", subok=True, out=None), x)
    for option, value in {"where": np.array([True, False, True]), "out": np.zeros(3), "order": "F"}.items():
        with pytest.raises(CaptureError, match=rf"numpy\.add: {option}="):
            Traced(lambda xp, a: xp.add(a, 1, **{option: value}), [x])  # noqa: B023
    with pytest.raises(TypeError):
        Traced(lambda xp, a: xp.add(a), [x])


def test_what_is_not_supported_is_refused_by_name() -> None:
    x = np.arange(3.0)
    for program, name in (
        (lambda xp, a: np.array2string(a), "numpy.array2string"),
        (lambda xp, a: np.add.at(a, 0, 1), "numpy.add.at"),
        (lambda xp, a: np.trim_zeros(a), "numpy.trim_zeros"),
        (lambda xp, a: a.item(), "item"),
        (lambda xp, a: a.tolist(), "tolist"),
    ):
        with pytest.raises(CaptureError, match=name):
            Traced(program, [x])


def test_operands_of_other_kinds() -> None:
    x = np.arange(3.0)
    swapped = np.arange(3.0).astype(">f8")
    assert Traced(lambda xp, a: xp.add(a, swapped), [x]).results[0].tolist() == [0.0, 2.0, 4.0]
    for bad in (
        np.array(["a"]),
        np.array([None]),
        np.array([1], "M8[s]"),
        np.longdouble(1),
        "a",
        None,
        [[1], [2, 3]],
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            Traced(lambda xp, a: xp.add(a, bad), [x])  # noqa: B023
        assert isinstance(caught.value, XjitError) or isinstance(bad, list)
    for subclass in (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.array([1.0, 2.0, 3.0]).view(np.recarray)):
        with pytest.raises(CaptureError, match=type(subclass).__name__):
            Traced(lambda xp, a: xp.add(a, subclass), [x])  # noqa: B023


def test_errors_are_of_the_family_and_of_numpys_type() -> None:
    x = np.zeros((2, 3))
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda xp, a: a + np.zeros(4), ShapeError, "could not be broadcast together with shapes (2,3) (4,)"),
        (lambda xp, a: xp.sum(a, axis=2), AxisError, "axis 2 is out of bounds for array of dimension 2"),
        (lambda xp, a: xp.sum(a, axis=2), np.exceptions.AxisError, "numpy.sum"),
        (lambda xp, a: xp.sum(a, axis=2), IndexError, "numpy.sum"),
        (lambda xp, a: xp.subtract(a > 1, a > 1), DTypeError, "boolean subtract"),
        (lambda xp, a: -(a > 1), TypeError, "boolean negative"),
        (lambda xp, a: a @ a, ShapeError, "mismatch in its core dimension"),
        (lambda xp, a: xp.reshape(a, (4, 2)), ShapeError, "cannot reshape array of size 6 into shape (4,2)"),
        (lambda xp, a: xp.less(a + 1j, 1) << 2.0, TypeError, "left_shift"),
        (lambda xp, a: xp.bitwise_and(a, 1), DTypeError, "bitwise_and"),
    ]
    for program, kind, text in cases:
        check(program, x)
        with pytest.raises(kind) as caught:
            Traced(program, [x])
        assert text in str(caught.value)


@as_numpy_since("2.3.0")
@pytest.mark.parametrize("dtype", FEW, ids=str)
def test_constant_powers(dtype: np.dtype) -> None:
    x = np.array([0, 1, 2, 3, 5, 7]).astype(dtype)
    if dtype.kind in "fc":
        x = np.concatenate([x, -x, np.array([0.5, -0.25, 1.75, np.nan, np.inf, -np.inf], dtype)])
    ulp = 0.0 if dtype.kind in "biu" else 4.0
    for exponent in (0, 1, 2, 3, 4, 5, 7, 8, 11, -1, -2, -3, 0.5, 2.0, 1.5, np.float32(2), np.array(3), 63):
        loose = 8.0 if isinstance(exponent, float) else ulp
        check(lambda xp, a: xp.power(a, exponent), x, ulp=loose)  # noqa: B023
        check(lambda xp, a: a**exponent, x, ulp=loose, namespace=np)  # noqa: B023
    for exponent in (2, 0.5, -1) if dtype.kind in "fc" else (2,):
        check(lambda xp, a: xp.power(a, exponent), x, ulp=8.0 if dtype.kind == "c" else 0.0)  # noqa: B023


def test_powers_by_arrays_made_while_tracing_are_products() -> None:
    x = np.array([1.5, -2.5])
    square = xjit.jit(lambda a: a ** np.full_like(a, 2, shape=()))
    np.testing.assert_array_equal(square(x), x * x)
    assert " = pow " not in square.graph(x)


def test_powers_near_the_limits_of_the_range() -> None:
    x = np.array([1e-160, 1e160, 1e-100, 1e100, 4e-324, 1.7e308, 3e-103])
    for exponent in (2, 3, 4, -1, -2, -3, -4, 7):
        check(lambda xp, a: xp.power(a, exponent), x, ulp=4.0)  # noqa: B023


def test_integer_powers_of_arrays() -> None:
    base, exponent = np.array([2, 3, -2, 0], np.int32), np.array([3, 2, 5, 0])
    check(lambda xp, a: xp.power(a, exponent), base)
    check(lambda xp, a: xp.power(a, -exponent), base)
    check(lambda xp, a, e: xp.power(a, e), base, exponent.astype(np.uint8))
    check(lambda xp, a, e: xp.power(a, e), base.astype(float), exponent, ulp=4.0)
    check(lambda xp, a, e: xp.power(a, e > 2), base, exponent)
    check(lambda xp, a, e: xp.power(a, e), base, exponent)
    check(lambda xp, a, e: xp.power(2, e), base, exponent)
    check(lambda xp, a, e: xp.power(a[:0], e[:1]), base, -exponent)


@pytest.mark.parametrize(
    "name", ["xjit.numpy", *sorted(one.name for one in pkgutil.walk_packages(xjit.numpy.__path__, "xjit.numpy."))]
)
def test_examples_in_the_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
