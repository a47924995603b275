"""Arguments that no compiler likes: NumPy's exact answer or a clear error, never a wrong answer or a crash."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import declared, refused_then_run
from xjit import XjitError
from xjit.errors import CaptureError, FallbackWarning

ROWS = np.arange(12.0).reshape(3, 4)


class Tagged(np.ndarray):
    """A subclass with nothing of its own."""


def unaligned(values: Any) -> Any:
    block = np.zeros(values.nbytes + 1, np.uint8)
    found = block[1:].view(values.dtype).reshape(values.shape)
    found[...] = values
    assert not found.flags.aligned
    return found


def read_only(values: Any) -> Any:
    found = values.copy()
    found.flags.writeable = False
    return found


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: x * 2 + x,
    "exponential": lambda x: np.exp(x),
    "rows": lambda x: (x - x.max(axis=-1, keepdims=True)).sum(axis=-1),
    "total": lambda x: np.sum(x),
    "turned": lambda x: x.T[::-1],
    "chosen": lambda x: np.where(x > 1, x, 0),
    "itself": lambda x: x,
}

# Arrays that are compiled for: the answer is NumPy's, strict or not.
FINE = {
    "byte-swapped": ROWS.astype(ROWS.dtype.newbyteorder()),
    "byte-swapped integers": np.arange(6).astype(">i2"),
    "unaligned": unaligned(ROWS),
    "read-only": read_only(ROWS),
    "zero-size": np.zeros((0, 4)),
    "zero-size rows": np.zeros((3, 0, 2))[:, :0],
    "0-d": np.array(2.5),
    "NumPy scalar": np.float32(2.5),
    "Python float": 2.5,
    "Python integer": -7,
    "large integer": 2**62,
    "bool": True,
    "negative strides": ROWS[::-1, ::-2],
    "Fortran": np.asfortranarray(ROWS),
    "broadcast": np.broadcast_to(ROWS[0], (5, 4)),
    "step": ROWS[:, 1::2],
    "overlapping windows": np.lib.stride_tricks.sliding_window_view(np.arange(9.0), 4),
    "special": np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -1e-310, 1.7e308]),
    "special float32": np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38], np.float32),
    "half": np.array([1.5, 6e4, 6e-8, -0.0], np.float16),
    "complex": np.array([1 + 2j, -1j, 3.5]),
}

# Arguments that are not compiled for: NumPy's answer with a warning, an error under strict.
FOREIGN = {
    "object": np.array([1, 2.5, 10**30], dtype=object),
    "text": np.array(["a", "bc"]),
    "bytes": np.array([b"a", b"bc"]),
    "dates": np.array(["2024-01-01", "2024-02-01"], dtype="datetime64[D]"),
    "time spans": np.array([1, 2], dtype="timedelta64[s]"),
    "structured": np.zeros(3, dtype=[("x", "f8"), ("y", "i4")]),
    "long double": np.ones(3, np.longdouble),
    "masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "subclass": ROWS.view(Tagged),
    "matrix": ROWS.view(Tagged).view(np.recarray),
    "ragged list": [[1.0, 2.0], [3.0]],
    "list": [1.0, 2.0],
    "dict": {"x": ROWS},
    "text itself": "abc",
    "None": None,
    "set": {1, 2},
}


@contextmanager
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def outcome(function: Callable[[Any], Any], argument: Any) -> Any:
    """The result, or the exception that took its place."""
    with quiet():
        try:
            return function(argument)
        except Exception as error:
            return error


def assert_same(made: Any, expected: Any) -> None:
    """The same types and values; NaN equals NaN, zeros agree in sign, the same built-in exceptions."""
    if isinstance(expected, Exception):
        kinds = (type(expected), TypeError) if isinstance(expected, np.exceptions.AxisError) else (type(expected),)
        assert isinstance(made, (*kinds, XjitError)), repr(made)
        return
    assert not isinstance(made, Exception), repr(made)
    assert type(made) is type(expected), f"{type(made)} for {type(expected)}"
    if isinstance(expected, np.ndarray | np.generic):
        assert made.dtype == expected.dtype and made.shape == expected.shape
    if isinstance(expected, np.ma.MaskedArray):
        np.testing.assert_array_equal(made.mask, expected.mask)
    if getattr(expected, "dtype", np.dtype(object)).kind == "f":
        signs = [np.signbit(one) & ~np.isnan(one) for one in (made, expected)]
        np.testing.assert_array_equal(*signs)
    np.testing.assert_equal(made, expected)


@pytest.mark.parametrize("strict", ["0", "1"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FINE)
def test_arrays_of_every_kind(kind: str, name: str, strict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", strict)
    function, argument = FUNCTIONS[name], FINE[kind]
    if name == "exponential":
        gap = declared("exp", [np.asarray(argument)]) if strict == "1" else None
        compiled = xjit.jit(np.exp)
        with quiet():
            made = compiled(argument) if gap is None else refused_then_run(gap, lambda: compiled(argument))
        assert_near_exponential(made, argument)
        return
    assert_same(outcome(xjit.jit(function), argument), outcome(function, argument))


def assert_near_exponential(made: Any, argument: Any) -> None:
    """As exact as promised: the last bits of functions like this one are free."""
    with quiet():
        expected = np.exp(argument)
    assert type(made) is type(expected) and made.dtype == expected.dtype and made.shape == expected.shape
    precision = {2: 2e-3, 4: 1e-6}.get(expected.real.dtype.itemsize, 1e-14)
    np.testing.assert_allclose(made, expected, rtol=precision)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_arguments_get_numpys_answer(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function, argument = FUNCTIONS[name], FOREIGN[kind]
    assert_same(outcome(xjit.jit(function), argument), outcome(function, argument))


@pytest.mark.parametrize("kind", ["object", "text", "dates", "structured", "masked", "subclass", "long double"])
def test_foreign_arguments_are_errors_under_strict(kind: str) -> None:
    with pytest.raises(XjitError) as caught:
        xjit.jit(FUNCTIONS["arithmetic"], strict=True)(FOREIGN[kind])
    assert isinstance(caught.value, TypeError)
    assert len(str(caught.value).splitlines()) <= 12


def test_foreign_arguments_warn_once_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    function = xjit.jit(FUNCTIONS["total"])
    with pytest.warns(FallbackWarning) as caught:
        assert function(FOREIGN["object"]) == 10**30 + 3.5
    assert len(caught) == 1 and caught[0].filename == __file__


# ---- integers


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("operator", ["//", "%", "divmod", "fmod", "/"])
def test_integer_division(dtype: str, operator: str) -> None:
    """By zero, and of the least integer by -1."""
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, 0, 1, 2, 7, info.max, info.max - 1] + [info.max // 2] * 9, dtype)
    first, second = (one.ravel() for one in np.meshgrid(values, np.array([0, 1, 2, 3, info.max, info.min], dtype)))
    if info.min:
        second = np.where(second == 3, -1, second).astype(dtype)
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "//": lambda a, b: a // b,
        "%": lambda a, b: a % b,
        "divmod": lambda a, b: np.divmod(a, b),
        "fmod": lambda a, b: np.fmod(a, b),
        "/": lambda a, b: a / b,
    }
    function = functions[operator]
    with quiet():
        expected = function(first, second)
    made = xjit.jit(function)(first, second)
    for one, other in zip(made, expected, strict=True) if operator == "divmod" else [(made, expected)]:
        assert_same(one, other)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
def test_the_least_integer(dtype: str) -> None:
    least = np.full(20, np.iinfo(dtype).min, dtype)
    for function in (lambda x: -x, lambda x: np.abs(x), lambda x: x * x, lambda x: x - 1, lambda x: x * -1):
        with quiet():
            assert_same(xjit.jit(function)(least), function(least))


# ---- memory


def test_overlapping_arguments() -> None:
    x = np.arange(20.0)
    for first, second in [(x[1:], x[:-1]), (x[::2], x[:10]), (x, x), (x[::-1], x), (x[:10], x[10:])]:
        made = xjit.jit(lambda a, b: a * 2.0 + b)(first, second)
        np.testing.assert_array_equal(made, first * 2.0 + second)
    np.testing.assert_array_equal(x, np.arange(20.0))


def test_read_only_arguments_stay_as_they_are() -> None:
    x = read_only(ROWS)
    np.testing.assert_array_equal(xjit.jit(lambda a: (a + 1.0, a.sum()))(x)[0], ROWS + 1.0)
    np.testing.assert_array_equal(x, ROWS)


def test_results_can_be_written_to() -> None:
    made = xjit.jit(lambda x: (x + 1.0, x.sum(axis=0)))(read_only(ROWS))
    for one in made:
        one += 1.0


@pytest.mark.parametrize("name", ["arithmetic", "turned", "itself"])
def test_results_of_swapped_arrays_share_memory_as_numpys_do(name: str) -> None:
    function = FUNCTIONS[name]
    for kind in ("byte-swapped", "unaligned"):
        x = FINE[kind].copy() if kind == "byte-swapped" else unaligned(ROWS)
        made, expected = xjit.jit(function)(x), function(x)
        assert np.shares_memory(made, x) == np.shares_memory(expected, x)


@pytest.mark.parametrize("kind", ["byte-swapped", "unaligned"])
def test_views_without_elements_can_be_written_to_as_numpys_can(kind: str) -> None:
    made = xjit.jit(lambda x: x[2:0:2])(FINE[kind])
    assert made.shape == (0, *FINE[kind].shape[1:])
    assert made.flags.writeable
    assert made.dtype == FINE[kind].dtype


# ---- mistakes of the caller


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, y: x + y, (np.ones(3), np.ones(4))),
        (lambda x: x.sum(axis=2), (ROWS,)),
        (lambda x: x.reshape(5, 5), (ROWS,)),
        (lambda x: x[7], (ROWS,)),
        (lambda x: x[0, 0, 0], (ROWS,)),
        (lambda x: x.transpose(0, 0), (ROWS,)),
        (lambda x: np.concatenate([x, x[0]]), (ROWS,)),
        (lambda x: np.stack([x, x[:2]]), (ROWS,)),
        (lambda x: x[:0].max(axis=0), (ROWS,)),
        (lambda x: x & 1, (ROWS,)),
        (lambda x: ~x, (ROWS,)),
        (lambda x: -(x > 1), (ROWS,)),
        (lambda x: np.squeeze(x, axis=0), (ROWS,)),
        (lambda x: np.broadcast_to(x, (2, 4)), (ROWS,)),
        (lambda x: x + 300, (np.ones(3, np.uint8),)),
        (lambda x: x.astype("nonsense"), (ROWS,)),
        (lambda x: x.nothing, (ROWS,)),
        (lambda x: x(), (ROWS,)),
    ],
    ids=range(18),
)
@pytest.mark.parametrize("strict", ["0", "1"])
def test_mistakes_raise_what_numpy_raises(
    function: Any, arguments: Any, strict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", strict)
    with quiet(), pytest.raises(Exception) as expected:
        function(*arguments)
    kinds = (ValueError, IndexError, TypeError, AttributeError, OverflowError)
    with quiet(), pytest.raises(next(kind for kind in kinds if isinstance(expected.value, kind))):
        xjit.jit(function)(*arguments)


# ---- what NumPy computes for arrays that kernels cannot read


def _in_place(x: Any, y: Any) -> Any:
    x += y
    np.multiply.at(x, 0, 2.0)
    return x.sum()


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("kind", ["byte-swapped", "unaligned"])
def test_writes_in_place_reach_the_callers_array(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(_in_place)
    for times in range(1, 4):
        mine, numpys = (FINE[kind].copy() if kind == "byte-swapped" else unaligned(ROWS) for _ in range(2))
        for _ in range(times):
            np.testing.assert_array_equal(compiled(mine, 1.0), _in_place(numpys, 1.0))
        np.testing.assert_array_equal(mine, numpys)


def test_a_casting_rule_that_numpy_cannot_answer_for_numbers_is_refused() -> None:
    for kind in (float, int):
        with pytest.raises(CaptureError, match="casting='equiv'"):
            xjit.jit(lambda x, n: np.add(x, n, dtype=np.float32, casting="equiv"), strict=True)(ROWS, kind(3))
