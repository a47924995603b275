"""Every ufunc of the table × element types against NumPy: result type, shape, scalar-ness, order, values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Program, check
from xjit.numpy.ufuncs import ROWS

OTHERS = [np.dtype(code) for code in "?bLefF"]
NATIVE = [np.dtype(code) for code in "?bhilBHILefdFD"]
NARROW = [
    np.dtype(getattr(ml_dtypes, name)) for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz")
]
# What is not bit-identical, in units in the last place. Complex numbers: of the modulus.
LOOSE = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "cbrt", "hypot", "power", "float_power"),
    *("arcsin", "arccos", "arctan", "arctan2"),
}
# Sums of two terms that may cancel, in NumPy as well: near zero both are off.
CANCELLING = {"logaddexp", "logaddexp2"}
# NumPy returns either zero of two that differ in sign, by the width of its vector loops.
EITHER_ZERO = {"maximum", "minimum", "fmax", "fmin"}
UFUNCS = sorted(ROWS, key=lambda ufunc: ufunc.__name__)
UNARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 1]
BINARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 2]


def sample(dtype: np.dtype, shape: tuple[int, ...] = (2, 9), seed: int = 0) -> np.ndarray:
    """Numbers with zeros, ones, limits, and NaN, infinities and negative zeros where the type has them."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return (rng.integers(0, 2, size) == 1).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = [0, 1, 2, info.max, info.min, info.min // 2, 3]
        values = np.array(special, dtype=object)
        mixed = [*values, *rng.integers(max(info.min, -9), 10, size).tolist()][:size]
        return np.array(rng.permutation(np.array(mixed, dtype=object)), dtype).reshape(shape)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        found = np.empty(shape, dtype)
        found.real, found.imag = sample(part, shape, seed + 10)[::-1], sample(part, shape, seed + 20)
        found[..., 0] = 0
        return found
    special = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, 2.0])
    normal = rng.normal(size=size) * 4
    mixed = rng.permutation(np.concatenate([special, normal])[:size])
    with np.errstate(all="ignore"):
        return mixed.astype(np.float32).astype(dtype).reshape(shape)


def run(ufunc: np.ufunc, program: Program, *operands: Any) -> None:
    """Checks one call with the tolerance of its ufunc and the types of its operands."""
    name, types = ufunc.__name__, [np.result_type(operand) for operand in operands]
    if name == "power" and may_fail(types):
        check(program, *operands)  # raises as NumPy does
        operands = operands[0], np.maximum(operands[1], 0)
    ulp = 8.0 if any(dtype.kind == "c" for dtype in types) else 4.0 if name in LOOSE else 0.0
    ulp = 16.0 if name in CANCELLING else ulp
    check(program, *operands, ulp=ulp, zeros=name not in EITHER_ZERO)


def may_fail(types: list[np.dtype]) -> bool:
    """Return whether a power may be NumPy's error of negative integer powers, as only the run tells."""
    return len(types) == 2 and types[1].kind == "i" and np.result_type(*types).kind in "iu"


@pytest.mark.parametrize("dtype", [*NATIVE, *NARROW], ids=str)
@pytest.mark.parametrize("ufunc", UNARY, ids=lambda ufunc: ufunc.__name__)
def test_unary(ufunc: np.ufunc, dtype: np.dtype) -> None:
    run(ufunc, lambda xp, x: getattr(xp, ufunc.__name__)(x), sample(dtype))


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("dtype", [*NATIVE, *NARROW], ids=str)
def test_binary(ufunc: np.ufunc, dtype: np.dtype) -> None:
    for other in [*OTHERS, *NARROW[:2], dtype]:
        x, y = sample(dtype), sample(other, (9,), seed=1)
        run(ufunc, lambda xp, a, b: getattr(xp, ufunc.__name__)(a, b), x, y)


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("dtype", [*NATIVE, *NARROW], ids=str)
def test_python_scalars_promote_weakly(ufunc: np.ufunc, dtype: np.dtype) -> None:
    name, x = ufunc.__name__, sample(dtype)
    for number in (True, 3, 2.5, 1 + 2j, -1, 300):
        run(ufunc, lambda xp, a: getattr(xp, name)(a, number), x)  # noqa: B023
        if name != "power":
            run(ufunc, lambda xp, a: getattr(xp, name)(number, a), x)  # noqa: B023


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("dtype", [one for one in [*NATIVE, *NARROW] if one.kind not in "bcui"], ids=str)
def test_pairs_of_special_numbers(ufunc: np.ufunc, dtype: np.dtype) -> None:
    """Zeros and infinities of both signs, NaN, and numbers among them, each with each."""
    finite = np.array([0, 1, 3, 0.5], dtype)
    special = np.concatenate([finite, -finite, np.array([np.nan, np.inf, -np.inf]).astype(dtype)])
    x, y = (one.ravel() for one in np.meshgrid(special, special))
    run(ufunc, lambda xp, a, b: getattr(xp, ufunc.__name__)(a, b), x, y)
