"""Arrays from nothing against NumPy, bit by bit: fills, sequences, conversions."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced, as_numpy_since, check
from xjit import jit
from xjit.errors import CaptureError

DTYPES = [np.dtype(code) for code in "?bhilBHILefdFD"]
NARROW = [np.dtype(getattr(ml_dtypes, name)) for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn")]


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_fills(name: str) -> None:
    for shape in (3, (2, 3), (), (0, 2), [2, 1]):
        for options in ({}, {"dtype": np.int8}, {"dtype": "f4"}, {"order": "F"}, {"dtype": None}, {"dtype": int}):
            check(lambda xp: getattr(xp, name)(shape, **options))  # noqa: B023
            check(lambda xp: getattr(xp, name)(shape, **options) + 1)  # noqa: B023
    check(lambda xp: getattr(xp, name)((2, -1)))
    check(lambda xp: getattr(xp, name)((2, 1.5)))
    # The memory of a filled array has an order of its own, which decides that of a sum.
    check(lambda xp, a: getattr(xp, name)((3, 4)) + a, np.asfortranarray(np.ones((3, 4))))
    check(lambda xp, a: getattr(xp, name)((3, 4), order="F") + a, np.asfortranarray(np.ones((3, 4))))


def test_shapes_come_from_traced_arrays() -> None:
    x = np.ones((2, 3), np.float32)
    check(lambda xp, a: xp.zeros(a.shape, a.dtype), x)
    check(lambda xp, a: xp.arange(a.shape[1]) * a, x)


@as_numpy_since("2.1.0")
def test_full_and_its_relatives() -> None:
    for value in (1, 2.5, True, 1j, np.float32(3), np.int8(-1), [1, 2, 3]):
        for dtype in (None, "f4", "c8"):
            check(lambda xp: xp.full((2, 3), value, dtype))  # noqa: B023
    check(lambda xp: xp.full((2,), 300, np.int8))
    check(lambda xp: xp.full((2,), 2.7, np.int8))
    check(lambda xp, a: xp.full((2, 3), a), np.float32(7))
    check(lambda xp, a: xp.full((2, 3), a), np.arange(3))
    for name in ("zeros_like", "ones_like"):
        for x in (np.zeros((2, 3), "f4"), np.asfortranarray(np.ones((2, 3), "i2")), np.ones((2, 3))[:, ::2]):
            for options in ({}, {"dtype": "c16"}, {"order": "C"}, {"order": "F"}, {"shape": (4,)}, {"shape": (5, 2)}):
                check(lambda xp, a: getattr(xp, name)(a, **options), x)  # noqa: B023
    check(lambda xp, a: xp.full_like(a, 2.5), np.asfortranarray(np.ones((2, 3))))
    check(lambda xp, a: xp.full_like(a, 300), np.ones((2, 3), np.int8))
    for a, order in itertools.product((np.ones(6), np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))), "CFAK"):
        for shape in ((), (4,), (4, 5), (4, 5, 6)):
            check(lambda xp, a: xp.ones_like(a, shape=shape, order=order), a)  # noqa: B023
    check(lambda xp, a, b: xp.full_like(a, b), np.ones((2, 3)), np.float32(2))


def test_empty_has_the_shape_and_type() -> None:
    (value,) = Traced(lambda xp: xp.empty((2, 3), "i2", "F"), []).values
    assert value.shape == (2, 3) and value.dtype == np.int16 and value.node.aval.order == (1, 0)
    (value,) = Traced(lambda xp, a: xp.empty_like(a), [np.ones((2, 3), "f4")]).values
    assert value.shape == (2, 3) and value.dtype == np.float32


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_that_do_not_fit_the_type_asked_for(dtype: np.dtype) -> None:
    numbers = (300, -1, 2**40, 2**63, 2**64 - 1, 2**64, 2.5, 1e300, float("nan"), 1j, "a", None)
    for number in (*numbers, *([number, 1] for number in numbers), np.int64(300), [np.array([300, -1])]):
        for name in ("array", "asarray", "ascontiguousarray", "asfortranarray"):
            check(lambda xp: getattr(xp, name)(number, dtype=dtype))  # noqa: B023


BOUNDS: list[tuple[Any, ...]] = [
    *((5,), (0,), (-3,), (2, 7), (7, 2), (7, 2, -1), (0, 10, 3), (3.0,), (0, 1, 0.1), (1, 2, 0.3), (0.5, 8.25)),
    *(
        (0, 1, 1e-3),
        (1e-20, 5, 1),
        (1, -1, -0.07),
        (10, 0, 0.5),
        (0, 5, 1j),
        (1.0, 1.0 + 1e-15, 1e-16),
        (2**40, 2**40 + 3),
    ),
    *((np.float32(3),), (np.int8(3), np.int16(9)), (True,), (0, 2.5, True), (1e300, 3e300, 7e299), (0.1, 0.1)),
    *((0, 10, 0), (0, float("nan")), (0, float("inf")), (0, 3, None), (None, 3)),
]


@as_numpy_since("2.1.0")
@pytest.mark.parametrize("dtype", [None, *DTYPES, *NARROW], ids=str)
def test_arange(dtype: Any) -> None:
    for bounds in BOUNDS:
        if dtype is not None and np.dtype(dtype).kind in "b" and len(np.arange(*_plain(bounds))) > 2:
            continue
        if any(isinstance(bound, complex) for bound in bounds) and dtype is not None:
            continue
        check(lambda xp: xp.arange(*bounds, dtype=dtype))  # noqa: B023


def _plain(bounds: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        np.arange(*bounds)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return (0,)
    return bounds


@pytest.mark.parametrize("dtype", [None, np.float32, np.float16])
def test_arange_keeps_the_signs_of_zeros(dtype: Any) -> None:
    for start, stop, step in ((-0.0, 2000.0, 1.0), (-0.0, -2000.0, -1.0), (0.0, -2000.0, -1.0), (-1.0, 2000.0, 1.0)):
        check(lambda xp: xp.arange(start, stop, step, dtype=dtype))  # noqa: B023
        check(lambda xp: xp.signbit(xp.arange(start, stop, step, dtype=dtype)))  # noqa: B023
    check(lambda xp: xp.signbit(xp.arange(complex(-0.0, -0.0), 9 + 9j, 1 + 1j).imag))


def test_arange_takes_names_and_refuses_traced_bounds() -> None:
    check(lambda xp: xp.arange(start=1, stop=5, step=2))
    check(lambda xp: xp.arange(1, stop=5))
    check(lambda xp: xp.arange(1, 5, dtype="u1"))
    check(lambda xp: xp.arange())
    with pytest.raises(CaptureError, match=r"numpy\.arange"):
        Traced(lambda xp, a: xp.arange(a), [np.array(3)])


@pytest.mark.parametrize("dtype", DTYPES[:-2], ids=str)
def test_bounds_that_are_numpys_numbers(dtype: Any) -> None:
    """They are known while tracing, as Python's are; whole ones give int64, but those of uint64 floats."""
    number = dtype.type(3) if dtype.kind != "b" else dtype.type(1)
    for function in (np.arange, lambda n: np.arange(0, n), lambda n: np.arange(0, 4, n)):
        found, expected = jit(lambda n: function(n))(number), function(number)  # noqa: B023
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    if dtype.kind in "iu" and dtype != np.uint64:
        np.testing.assert_array_equal(jit(lambda n: np.eye(n, 2 * n, n))(number), np.eye(3, 6, 3))


def test_linspace() -> None:
    ends: list[tuple[Any, Any]] = [(0, 1), (1, 5), (0.1, 0.7), (-3, 3), (5, 1), (0, 0), (0, 5e-324), (1e-300, 1e300)]
    ends += [
        (np.float32(0.1), np.float32(0.7)),
        (0, 1j),
        (1 + 2j, 3 - 1j),
        (np.int8(1), np.int64(9)),
        (np.float16(0), 1),
    ]
    for (start, stop), num, endpoint in itertools.product(ends, (0, 1, 2, 5, 50, 101), (True, False)):
        check(lambda xp: xp.linspace(start, stop, num, endpoint))  # noqa: B023
    for dtype in (np.float32, np.int64, np.int8, complex, np.float16):
        check(lambda xp: xp.linspace(-2.5, 7, 13, dtype=dtype))  # noqa: B023
    check(lambda xp: xp.linspace(0, 1, -1))
    check(lambda xp: xp.linspace(0, 1, 5, retstep=True)[0])
    check(lambda xp, a, b: xp.linspace(a, b, 7), np.float64(0.3), np.float64(0.9))
    check(lambda xp, a, b: xp.linspace(a, b, 7), 0.3, 4.0)


def test_eye() -> None:
    for arguments in ((3,), (3, 4), (4, 3, 1), (3, 3, -2), (0,), (2, 5, 4), (3, 3, 9)):
        for options in ({}, {"dtype": np.int8}, {"dtype": bool}, {"order": "F"}, {"dtype": complex}):
            check(lambda xp: xp.eye(*arguments, **options))  # noqa: B023
    check(lambda xp: xp.identity(3))
    check(lambda xp: xp.identity(3, np.float32))


def test_arrays_of_what_is_known() -> None:
    for thing in ([1, 2, 3], [[1.5, 2], [3, 4]], 3, 2.5, (True, False), [], [[]], np.float32(1), 1j, range(3)):
        check(lambda xp: xp.array(thing))  # noqa: B023
        check(lambda xp: xp.asarray(thing))  # noqa: B023
        check(lambda xp: xp.array(thing, dtype=complex, ndmin=2))  # noqa: B023
        check(lambda xp: xp.ascontiguousarray(thing))  # noqa: B023
        check(lambda xp, a: a + xp.array(thing), np.float32(1))  # noqa: B023
    check(lambda xp: xp.array([[1, 2], [3, 4]], order="F"))
    check(lambda xp: xp.asfortranarray([[1, 2], [3, 4]]))
    for bad in (["a", "b"], [[1, 2], [3]], np.array(["2020-01-01"], "M8[D]"), [None], object()):
        with pytest.raises((TypeError, ValueError)):
            Traced(lambda xp: xp.array(bad), [])  # noqa: B023


@pytest.mark.parametrize("source", [*DTYPES, *NARROW], ids=str)
def test_astype_in_range(source: np.dtype) -> None:
    values = np.array([0, 1, 2, 3, 5, 7, 13, 100], np.float32)
    if source.kind == "f":
        values = np.array([0.0, -0.0, 1.5, 2.25, 0.1, 3.0, np.inf, np.nan], np.float32)
    for target in [*DTYPES, *NARROW]:
        x = values.astype(source)
        if target.kind in "iu" and source.kind in "fc":
            x = np.array([0.0, 1.0, 2.75, 3.0, 100.5], source)
        for order in ("K", "C", "F"):
            check(lambda xp, a: a.reshape(-1, 1).astype(target, order=order), x)  # noqa: B023


def test_astype_rounds_as_numpy_does() -> None:
    rng = np.random.default_rng(5)
    for source in ("f8", "f4", "i8", "u8"):
        x = (
            (rng.normal(size=4000) * 3).astype(source)
            if source[0] == "f"
            else rng.integers(0, 2**62, 4000).astype(source)
        )
        ties = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-9, 1 + 3 * 2.0**-9, 2.0**24 + 1, 1 + 2.0**-3 + 2.0**-30])
        for target in ("f4", "f2", *NARROW):
            check(lambda xp, a: a.astype(target), x)  # noqa: B023
            check(lambda xp, a: a.astype(target), ties.astype(source))  # noqa: B023
    z = np.array([0j, 1j, 1 + 0j, np.nan + 0j, 0 - 0j])
    check(lambda xp, a: a.astype(bool), z)
    check(lambda xp, a: a.astype(np.complex64), z)


def test_astype_rules() -> None:
    x = np.asfortranarray(np.ones((2, 3)))
    for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
        for target in (np.float64, np.float32, np.int64, complex):
            check(lambda xp, a: a.astype(target, casting=casting), x)  # noqa: B023
    check(lambda xp, a: a.astype("no such type"), x)
    for order in ("C", "F", "A", "K", "Z"):
        check(lambda xp, a: a.astype(np.float32, order=order), x)  # noqa: B023
    with pytest.raises(TypeError):
        Traced(lambda xp, a: a.astype(object), [x])


def nested(x: Any) -> Any:
    return (
        np.array([[x[0], 1, True], [2.5, x[1], x[2]]]),
        np.array([[x, x * 2], [x, x + 1]]),
        np.array([[[x[0]], [x[1]]]]),
        np.asarray([(x[0],), (3,)]),
    )


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64", "bool"])
def test_nested_sequences_are_one_line_of_elements(dtype: str) -> None:
    x = np.arange(3).astype(dtype)
    compiled = jit(nested, strict=True)
    for found, wanted in zip(compiled(x), nested(x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_many_rows_of_a_nested_sequence_are_one_kernel() -> None:
    def table(x: Any) -> Any:
        return np.array([[x[0] + k, x[1] * k] for k in range(40)])

    x = np.array([1.0, 2.0])
    compiled = jit(table, strict=True)
    np.testing.assert_array_equal(compiled(x), table(x))
    assert compiled.stats().compiles + compiled.stats().cache_hits <= 2
