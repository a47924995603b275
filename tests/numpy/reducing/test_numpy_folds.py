"""Masks, initial values, folds of ufuncs, reductions without NaN, averages: against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced, check
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts, lines
from xjit import xjit as jit
from xjit.errors import CaptureError

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]
INTEGERS = [dtype for dtype in DTYPES if np.dtype(dtype).kind in "biu"]
FLOATS = [dtype for dtype in DTYPES if np.dtype(dtype).kind in "fc"]

EXACT = """
max(a, where=b, initial=1)
min(a, axis=0, where=b, initial=3)
max(a, where=b)
min(a, axis=(), where=b, initial=1)
max(a, axis=1, where=False, initial=2, keepdims=True)
amax(a)
amin(a, axis=0, keepdims=True)
any(a, where=b)
any(a, axis=0, where=b, keepdims=True)
all(a, axis=-1, where=b)
all(a, where=[True, False, True])
all(a, where=np.array([1, 0, 1]))
all(a, axis=(), where=b)
any(a, where=np.ones((5, 2, 3), bool))
any(a, where=np.ones((2, 2), bool))
maximum.reduce(a)
maximum.reduce(a, axis=None, keepdims=True)
maximum.reduce(a, axis=1, initial=2, where=b)
maximum.reduce(a, -1, np.float64)
minimum.reduce(a, axis=(0, 1))
fmax.reduce(a)
fmax.reduce(a, axis=None)
fmax.reduce(a, axis=1, initial=2)
fmin.reduce(a, axis=0, where=b, initial=7)
fmin.reduce(a, axis=-1, keepdims=True)
fmin.reduce(a, where=b)
fmin.reduce(a, axis=())
logical_and.reduce(a)
logical_and.reduce(a, axis=None, initial=False)
logical_or.reduce(a, axis=1, where=b)
logical_or.reduce(a, axis=1, dtype=float)
logical_xor.reduce(a)
logical_xor.reduce(a, axis=None)
logical_xor.reduce(a, axis=1, initial=True, where=b)
logical_xor.reduce(a, axis=())
bitwise_and.reduce(a)
bitwise_and.reduce(a, axis=None)
bitwise_or.reduce(a, axis=1, keepdims=True)
bitwise_or.reduce(a, axis=0, initial=5)
bitwise_xor.reduce(a)
bitwise_xor.reduce(a, axis=None, where=b)
bitwise_xor.reduce(a, axis=())
bitwise_xor.reduce(a, axis=1, dtype=np.int64)
count_nonzero(a)
count_nonzero(a, axis=1)
count_nonzero(a, axis=(0, 1), keepdims=True)
count_nonzero(a, axis=4)
nanmax(a)
nanmax(a, axis=0)
nanmax(a, axis=-1, keepdims=True)
nanmin(a, axis=1, initial=1)
nanmin(a, axis=1, where=b, initial=9)
nanmin(a, where=b)
ptp(a)
ptp(a, axis=0)
ptp(a, axis=1, keepdims=True)
ptp(a, axis=7)
a.max(where=b, initial=0)
a.any(axis=0, where=b)
"""

POSITIONS = """
nanargmax(a)
nanargmax(a, axis=0)
nanargmax(a, axis=1, keepdims=True)
nanargmin(a)
nanargmin(a, axis=-1)
nanargmin(a, axis=5)
"""

ROUNDED = """
sum(a, where=b)
sum(a, axis=0, where=b, initial=2)
sum(a, axis=1, where=b, keepdims=True)
sum(a, axis=(), where=b)
sum(a, where=False)
sum(a, initial=None)
sum(a, where=b, initial=None)
prod(a, axis=0, where=b)
prod(a, axis=(0, 1), where=b, initial=3)
add.reduce(a, axis=0, where=b)
add.reduce(a, 1, np.float32)
multiply.reduce(a, axis=None, where=b)
mean(a, where=b)
mean(a, axis=0, where=b)
mean(a, axis=1, where=b, keepdims=True)
mean(a, axis=0, where=False)
mean(a, where=np.ones((5, 2, 3), bool))
var(a, where=b)
var(a, axis=1, where=b, ddof=1)
var(a, axis=1, where=b, correction=1, keepdims=True)
var(a, axis=0, where=[True, False, True], mean=np.mean(a))
std(a, axis=0, where=b)
hypot.reduce(a)
hypot.reduce(a, axis=1, initial=2)
hypot.reduce(a, axis=(0, 1))
hypot.reduce(a, axis=(), where=b)
logaddexp.reduce(a)
logaddexp.reduce(a, axis=1, initial=1, where=b)
logaddexp.reduce(a, axis=None)
logaddexp2.reduce(a, axis=1, keepdims=True)
logaddexp2.reduce(a, axis=())
nansum(a)
nansum(a, axis=0, initial=1)
nansum(a, axis=1, where=b, keepdims=True)
nansum(a, dtype=np.float64)
nanprod(a, axis=0)
nanprod(a, axis=(0, 1), where=b)
nanmean(a)
nanmean(a, axis=0)
nanmean(a, axis=1, keepdims=True)
nanmean(a, axis=1, where=b)
nanmean(a, axis=9)
nanvar(a)
nanvar(a, axis=0, ddof=1)
nanvar(a, axis=1, ddof=2, keepdims=True)
nanvar(a, axis=1, correction=1, where=b)
nanvar(a, ddof=1, correction=1)
nanstd(a, axis=0)
nanstd(a, axis=1, keepdims=True)
average(a)
average(a, axis=0)
average(a, axis=(0, 1), keepdims=True)
average(a, axis=1, returned=True)
average(a, returned=True)
average(a, weights=[1, 2])
average(a, axis=0, weights=[1, 2])
average(a, axis=-1, weights=[1.5, 2, 3], returned=True)
average(a, axis=-1, weights=[1, -1, 0])
average(a, axis=0, weights=[1, 2, 3])
average(a, axis=0, weights=np.float32([3, 1]), keepdims=True, returned=True)
average(a, axis=5)
average(a, axis=(1, 0), weights=np.arange(1, 7).reshape(3, 2))
a.mean(where=b)
a.std(axis=0, where=b)
a.sum(axis=1, where=b)
"""

OUTER = """
add.outer(a, b)
multiply.outer(a, 2)
subtract.outer(1.5, a)
less.outer(a, b)
maximum.outer(a, [1, 2])
power.outer(a, 2)
divmod.outer(a, b)
add.outer(a, b, dtype=np.float64)
sin.outer(a, b)
matmul.outer(a, b)
equal.outer(a, b)
"""


def numbers(dtype: str, *shape: int) -> Any:
    """Numbers, some of them NaN in types that have it, one row nothing but NaN."""
    x = array(dtype, *shape)
    if np.dtype(dtype).kind in "fc" and x.size:
        x[..., ::2] = np.where(x[..., ::2].real > 2, np.nan, x[..., ::2])
    return x


def masks(x: Any) -> Any:
    return array("?", *x.shape, seed=8)


def operands(shape: tuple[int, ...] = (2, 3), dtypes: list[str] = DTYPES) -> list[Any]:
    found = [array(dtype, *shape) for dtype in dtypes]
    return [(x, masks(x)) for x in found]


def test_exact_folds() -> None:
    check_lines(EXACT, operands(), zeros=False)
    check_lines(EXACT, [(x, masks(x)) for x in layouts(array("f8", 2, 3))], zeros=False)
    check_lines(EXACT, operands((0, 3), ["f4", "i4", "?"]) + operands((2, 0), ["f4"]), zeros=False)
    check_lines(EXACT, [(x, masks(x)) for x in (numbers(dtype, 2, 3) for dtype in FLOATS)], zeros=False)


def test_rounded_folds() -> None:
    real = [dtype for dtype in DTYPES if np.dtype(dtype).kind != "c"]
    check_lines(ROUNDED, operands(dtypes=[dtype for dtype in real if dtype not in ("f2", "?", "i1", "u1")]), ulp=6)
    check_lines(ROUNDED, operands(dtypes=["c8", "c16"]), ulp=16)
    check_lines(ROUNDED, operands(dtypes=["f2", "?", "i1", "u1"]), ulp=40)
    check_lines(ROUNDED, [(x, masks(x)) for x in layouts(array("f8", 2, 3))], ulp=6)
    check_lines(ROUNDED, [(x, masks(x)) for x in (numbers(dtype, 2, 3) for dtype in ("f4", "f8", "c16"))], ulp=32)
    check_lines(ROUNDED, operands((0, 3), ["f4", "i4"]) + operands((2, 0), ["f4"]), ulp=6)


def test_means_of_other_types() -> None:
    check_lines("nanmean(a, dtype=np.int64)", [array("i4", 3), array("f4", 3)])
    cubes = [(x, masks(x)) for x in layouts(array("f4", 2, 3, 4))]
    check_lines(ROUNDED, cubes, ulp=6)
    check_lines("max(a, axis=0, where=b, initial=1)\nsum(a, axis=1, where=b)\nany(a, axis=(), where=b)", cubes, ulp=4)


def test_rank_zero() -> None:
    pairs = [(np.array(2.5), np.array(True)), (np.float32(3), np.bool_(False)), (np.array(3), np.array(False))]
    check_lines(ROUNDED + EXACT, pairs, ulp=2)


def test_positions() -> None:
    check_lines(POSITIONS, [array(dtype, 2, 3) for dtype in DTYPES if dtype[0] != "c"])
    holed = [np.array([[1, np.nan, 3], [np.nan, 5, 5]], dtype) for dtype in ("f2", "f4", "f8")]
    check_lines(POSITIONS, [*holed, np.array([[-np.inf, np.nan]]), np.zeros((0, 3)), np.array([[np.nan], [1.0]])])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("function", [np.nanargmin, np.nanargmax])
def test_positions_among_complex_numbers_leave_nan_out(function: Any, dtype: Any) -> None:
    n, inf = np.nan, np.inf
    for numbers in (
        [n, 1 + 1j, 2],
        [complex(1, n), 3 - 1j, 3 + 1j],
        [complex(inf, n), 1],
        [n, -inf],
        [n, inf],
        [2, n],
    ):
        line = np.array(numbers, dtype)
        assert jit(lambda a: function(a))(line) == function(line)
        square = np.array([line, line[::-1]])
        np.testing.assert_array_equal(jit(lambda a: function(a, axis=1))(square), function(square, axis=1))
    with pytest.raises(ValueError, match="All-NaN slice"):
        jit(lambda a: function(a))(np.array([n, n], dtype))


def test_positions_among_nothing_but_nan() -> None:
    x = np.array([[np.nan, np.nan], [1.0, 2.0]])
    best = jit(lambda a: np.nanargmax(a, axis=1))
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        best(x)
    np.testing.assert_array_equal(best(x[1:]), [1])
    x[0, 1] = 3
    np.testing.assert_array_equal(best(x), [1, 1])
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        best(np.full((2, 2), np.nan))


def test_weights_that_sum_to_zero() -> None:
    mean = jit(lambda a, w: np.average(a, weights=w))
    x = array("f8", 3)
    assert mean(x, np.array([1.0, 2.0, 1.0])) == np.average(x, weights=[1.0, 2.0, 1.0])
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        mean(x, np.array([1.0, -2.0, 1.0]))
    assert mean(x, np.array([1.0, -2.0, 2.0])) == np.average(x, weights=[1.0, -2.0, 2.0])


def test_averages_with_traced_weights() -> None:
    table = """
    average(a, weights=b)
    average(a, axis=0, weights=b, returned=True)
    average(a, axis=1, weights=b[0], keepdims=True)
    """
    pairs = [
        (array(dtype, 2, 3), np.abs(array(other, 2, 3)) + 1)
        for dtype in ("i4", "f4", "c8")
        for other in ("i8", "f4", "f8")
    ]
    check_lines(table, pairs, ulp=8)
    check_compiled(table, *pairs[1], ulp=8)


def test_products_of_all_pairs() -> None:
    for one, other in (("i4", "i4"), ("f4", "i2"), ("u1", "f8"), ("?", "?"), ("c8", "c8")):
        check_lines(OUTER, [(array(one, 3), array(other, 2, 2))], ulp=2)
    check_lines(OUTER, [(np.asfortranarray(array("f8", 2, 3)), array("f8", 2)), (array("f8"), array("f8", 0))], ulp=2)


def test_without_a_trace() -> None:
    x = array("f8", 2, 3)
    check_eager("\n".join(line for line in lines(EXACT + ROUNDED) if not line.startswith("a.")), x, masks(x), ulp=6)


def test_compiled() -> None:
    x, y, z = (numbers(dtype, 2, 3) for dtype in ("f4", "i2", "f8"))
    check_compiled(ROUNDED, x, masks(x), ulp=16)
    check_compiled(EXACT, y, masks(y))
    check_compiled(EXACT, np.asfortranarray(z), masks(z))
    check_compiled(OUTER, array("f4", 3), array("f8", 2), ulp=2)


def test_masks_choose_before_large_sums() -> None:
    x, mask = array("f4", 40, 1000), array("?", 40, 1000)
    for axis in (None, 0, 1):
        want = np.sum(x.astype(np.float64), axis=axis, where=mask)
        got = jit(lambda a, m, axis=axis: np.sum(a, axis=axis, where=m))(x, mask)
        np.testing.assert_allclose(got, want, rtol=2e-6)


def test_refusals() -> None:
    x = np.ones(3)
    for words, call in {
        r"numpy\.nansum: out=": lambda xp, a: xp.nansum(a, out=np.zeros(())),
    }.items():
        with pytest.raises(CaptureError, match=words):
            Traced(call, [x])


def test_all_nan_of_complex_numbers() -> None:
    z = np.array([complex(np.nan, 1), complex(2, np.nan), complex(3, 0)])
    for count in (1, 2, 3):
        check(lambda xp, a: (xp.nanmax(a), xp.nanmin(a), xp.fmax.reduce(a)), z[:count])


# ---- folds that NumPy runs between kernels

WITHOUT_KERNELS = sorted(
    {
        *(np.subtract, np.divide, np.floor_divide, np.remainder, np.fmod, np.power, np.float_power, np.arctan2),
        *(np.gcd, np.lcm, np.copysign, np.heaviside, np.nextafter, np.left_shift, np.right_shift),
    },
    key=lambda ufunc: ufunc.__name__,
)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("ufunc", WITHOUT_KERNELS, ids=lambda ufunc: ufunc.__name__)
def test_folds_without_kernels(ufunc: np.ufunc, method: str) -> None:
    whole = np.array([[40, 2, 3, 1], [7, 1, 2, 2], [9, 3, 1, 5]])
    value = whole if ufunc.types[0][0] not in "efd" else whole.astype(np.float32)
    for one in (value, value.T, value[::-1, ::2]):
        check(lambda xp, x: getattr(getattr(np, ufunc.__name__), method)(x), one)
        check(lambda xp, x: getattr(getattr(np, ufunc.__name__), method)(x, axis=-1), one)
    check(lambda xp, x: getattr(getattr(np, ufunc.__name__), method)(x, 0), value[0])


def test_arguments_of_folds_without_kernels() -> None:
    x = np.arange(1.0, 13.0).reshape(3, 4)
    check(lambda xp, x: np.subtract.reduce(x, axis=1, keepdims=True, dtype=np.float32), x)
    check(lambda xp, x: np.subtract.reduce(x, axis=0, initial=100.0) + 1, x)
    check(lambda xp, x: np.gcd.reduce(x, axis=0), np.empty((0, 3), np.int64))
    check(lambda xp, x: np.subtract.reduce(x, axis=0), x[:0])
    check(lambda xp, x: np.subtract.reduce(x, axis=5), x)
    with pytest.raises(CaptureError, match="where"):
        jit(lambda x: np.subtract.reduce(x, where=x > 2, initial=0.0), strict=True)(x)
    with pytest.raises(CaptureError, match="initial must be known"):
        jit(lambda x: np.subtract.reduce(x, initial=x[0, 0]), strict=True)(x)
    own = np.frompyfunc(lambda a, b: a + b, 2, 1)
    with pytest.raises(CaptureError, match="is not supported"):
        jit(lambda x: own.reduce(x), strict=True)(x)
