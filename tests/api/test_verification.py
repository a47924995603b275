"""Every call compared with NumPy: what counts as rounding, what does not, and that comparing says nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from xjit import jit
from xjit.api.verification import are_alike, check
from xjit.capture.capture import capture
from xjit.errors import TargetError
from xjit.ops.define.core import registry
from xjit.tree import flatten

# An error that rounding explains, and one that it does not, as parts of the largest element.
ALLOWED = {"f2": (2e-3, 5e-2), "f4": (1e-6, 5e-5), "f8": (1e-15, 1e-12), "c8": (1e-6, 5e-5), "c16": (1e-15, 1e-12)}


def compared(dtype: str, difference: float) -> None:
    wanted = np.array([1.0, 0.5, 0.0], dtype)
    leaves, in_tree = flatten(((wanted,), {}))
    graph = capture(lambda x: x * x, leaves, in_tree, name="square").graph
    check(graph, [wanted + np.array(difference, dtype)], [wanted])


@pytest.mark.parametrize("dtype", ALLOWED)
def test_rounding_is_told_from_errors(dtype: str) -> None:
    rounding, error = ALLOWED[dtype]
    compared(dtype, rounding)
    with pytest.raises(TargetError, match="differs from NumPy"):
        compared(dtype, error)


@pytest.mark.parametrize("dtype", ["i8", "?"])
def test_whole_numbers_are_compared_exactly(dtype: str) -> None:
    compared(dtype, 0)
    with pytest.raises(TargetError, match="differs from NumPy"):
        compared(dtype, 1)


def test_what_narrow_floats_make_is_as_precise_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    x = np.random.default_rng(21).normal(size=(40, 1500)).astype(np.float32)

    def means(x: Any) -> Any:
        found = np.zeros(len(x))
        for i in range(len(x)):
            found[i] = x[i][x[i] > -3.0].mean()
        return found

    np.testing.assert_allclose(jit(means)(x), means(x), atol=1e-6)


def numbered(x: Any) -> Any:
    return {k: value for k, value in enumerate(x) if value > 0.5}


def list_of_sums(x: Any) -> Any:
    sums = []
    for k in range(len(x)):
        sums.append(x[k : k + 2].sum())
    return sums


def largest_eigenvalue(x: Any) -> Any:
    return np.abs(np.linalg.eig(np.outer(x, x))[0]).max()


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [numbered, list_of_sums, largest_eigenvalue])
def test_objects_of_python_are_compared(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    monkeypatch.setenv("XJIT_STRICT", "0")
    x = np.random.default_rng(5).random(6)
    found, wanted = jit(function)(x), function(x)
    assert type(found) is type(wanted)
    np.testing.assert_allclose([*map(float, flatten(found)[0])], [*map(float, flatten(wanted)[0])], rtol=1e-12)


@pytest.mark.parametrize(
    ("found", "is_alike"),
    [
        ([1, (2.0 + 1e-15, np.ones(2))], True),
        ([1, (2.0 + 1e-9, np.ones(2))], False),
        ([1, [2.0, np.ones(2)]], False),
        ([1, (2.0, np.ones(3))], False),
        ([1], False),
    ],
)
def test_objects_are_alike_as_far_as_rounding_allows(found: Any, is_alike: bool) -> None:
    assert are_alike(found, [1, (2.0, np.ones(2))], 1e-13) == is_alike


def test_comparing_gives_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    x = np.array([0.0, -1.0])
    found: Any = jit(lambda x: (1.0 / x, np.sqrt(x)))(x)
    np.testing.assert_array_equal(found[0], [np.inf, -1.0])
    np.testing.assert_array_equal(found[1], [0.0, np.nan])


@pytest.fixture
def wrong_square_root() -> Iterator[None]:
    """NumPy's square root of 9 is taken for 4, so that what is compiled differs."""
    record = registry["sqrt"]
    right = record.reference
    object.__setattr__(record, "reference", lambda x: np.where(x == 9.0, 4.0, right(x)))
    yield
    object.__setattr__(record, "reference", right)


@pytest.mark.usefixtures("wrong_square_root")
def test_the_first_operation_that_differs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")

    def stored(x: Any, out: Any) -> Any:
        y = x + 2.0
        out[1:] = np.sqrt(y[1:])
        return (out * 3.0).sum() + y

    words = r"sqrt differs from NumPy's: element \[2\] is .*3\.0.*, and should be .*4\.0"
    with pytest.raises(TargetError, match=words) as caught:
        jit(stored)(np.array([0.0, 2.0, 3.0, 7.0]), np.zeros(4))
    where = caught.value.where
    assert where is not None
    assert where.line == stored.__code__.co_firstlineno + 2


@pytest.mark.usefixtures("wrong_square_root")
def test_loops_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")

    def looped(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total = total + np.sqrt(x[i]) * 2.0
        return total + 1.0

    with pytest.raises(TargetError, match=r"sqrt differs from NumPy's in turn 9 of a loop: .*3\.0.*4\.0"):
        jit(looped)(np.arange(300.0))


def test_a_program_that_fails_tells_of_it_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    monkeypatch.setenv("XJIT_STRICT", "0")

    def doubled(x: Any, stop: Any) -> None:
        k = 0
        while k < stop:
            x[k] *= 2.0
            k += 1

    x = np.ones(4)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        jit(doubled)(x, np.int64(5))
    assert x.tolist() == [2.0] * 4
