"""Index arrays: NumPy's elements, shapes, memory order and errors; in one kernel with what surrounds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled, run_unrolled

CUBE = np.arange(60.0).reshape(3, 4, 5)
ROWS = np.array([0, 2, 1])
PAIRS = np.array([[1, -1], [0, 3]])
LARGE = np.random.default_rng(0).normal(size=20_000)
PLACES = np.random.default_rng(1).integers(-20_000, 20_000, 10_000)

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "rows": (lambda x, i: x[i], (CUBE, ROWS)),
    "computed on": (lambda x, i: np.sqrt(x[i]) * 2, (CUBE, ROWS)),
    "middle axis": (lambda x, j: x[:, j], (CUBE, PAIRS)),
    "last axis": (lambda x, i: x[..., i], (CUBE, ROWS)),
    "two axes apart": (lambda x, i: x[i, :, i], (CUBE, ROWS)),
    "two axes together": (lambda x, i: x[:, i, i], (CUBE, ROWS)),
    "with a number": (lambda x, i: x[1:, i, 2], (CUBE, ROWS)),
    "with a number apart": (lambda x, i: x[1, :, i], (CUBE, ROWS)),
    "with a new axis": (lambda x, i: x[:, None, i], (CUBE, ROWS)),
    "broadcast": (lambda x, i: x[i[:, None], i], (CUBE, ROWS)),
    "a list": (lambda x: x[[0, 2]], (CUBE,)),
    "an empty list of positions": (lambda x: np.take(x, [], axis=1) + np.take(x, range(0), axis=1), (CUBE,)),
    "an array known before": (lambda x: x[:, ROWS], (CUBE,)),
    "fortran": (lambda x, i: x[i] + 1, (np.asfortranarray(CUBE), ROWS)),
    "transposed": (lambda x, i: x.T[i], (CUBE, ROWS)),
    "strided": (lambda x, i: x[::-1, ::2][:, i % 2], (CUBE, ROWS)),
    "reversed": (lambda x, i: x[::-1][i], (CUBE, ROWS)),
    "sliced after": (lambda x, i: x[i][1:, ::2].sum(axis=0), (CUBE, ROWS)),
    "of what was gathered": (lambda x, i: x[i][i[:2]], (CUBE, ROWS)),
    "narrow positions": (lambda t, k: t[k] + 1, (np.arange(10), np.array([1, 2, -3], np.int8))),
    "unsigned positions": (lambda t, k: t[k], (np.arange(10), np.array([1, 9], np.uint64))),
    "no positions": (lambda x, i: x[i], (CUBE, np.zeros((0, 2), np.int64))),
    "computed positions": (
        lambda t, x: t[(x * 9).astype(np.int64)],
        (np.arange(10.0), np.random.default_rng(0).random((5, 7))),
    ),
    "half": (lambda x, i: x[i], (CUBE.astype(np.float16), ROWS)),
    "complex": (lambda x, i: x[i] * 1j, (CUBE + 1j, ROWS)),
    "truth": (lambda x, i: x[i], (CUBE > 7, ROWS)),
    "scalar": (lambda x, k: x[k], (np.arange(5.0), np.array(3))),
    "take": (lambda x, j: np.take(x, j, axis=1), (CUBE, PAIRS)),
    "take of all": (lambda x, i: np.take(x, i), (CUBE, np.array([59, -1, 3]))),
    "take clipped": (lambda x, i: np.take(x, i, axis=0, mode="clip"), (CUBE, np.array([5, -9]))),
    "take wrapped": (lambda x, i: x.take(i, axis=0, mode="wrap"), (CUBE, np.array([5, -9]))),
    "take of a number": (lambda x: np.take(x.sum(), [0, 0], axis=0), (CUBE,)),
    "take one": (lambda x: np.take(x, 3), (CUBE,)),
    "along": (lambda x, i: np.take_along_axis(x, i, axis=1), (CUBE, np.argsort(CUBE, axis=1)[:, ::-1])),
    "along, broadcast": (lambda x, i: np.take_along_axis(x, i, axis=2), (CUBE, np.array([[[0, 4]]]))),
    "largest": (lambda x: np.take_along_axis(x, x.argmax(axis=1)[:, None], axis=1), (CUBE,)),
    "reduced": (lambda x, i: x[i].sum(axis=(0, 2)), (CUBE, ROWS)),
    "short axis": (lambda x, i: x[i].sum(axis=1), (np.arange(30.0).reshape(10, 3), np.array([3, 4, 9]))),
    "many": (lambda x, i: np.tanh(x[i]).sum(), (LARGE, PLACES)),
    "many from computed": (lambda x, i: np.exp(x)[i[:10]] * 2, (LARGE, PLACES)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "run", [run_unrolled, run_uncompiled, run_serial, run_parallel], ids=lambda run: str(run.__name__)
)
def test_results_are_numpys(name: str, run: Any) -> None:
    function, arguments = PROGRAMS[name]
    if run in (run_unrolled, run_uncompiled) and name.startswith("many"):
        arguments = tuple(one[:400] % 400 if one.dtype.kind == "i" else one[:400] for one in arguments)
    found, expected = run(function, arguments), function(*arguments)
    assert type(found) is type(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    long = [axis for axis, size in enumerate(expected.shape) if size != 1]
    if expected.size and isinstance(expected, np.ndarray):
        assert [found.strides[axis] for axis in long] == [expected.strides[axis] for axis in long]


def test_gathering_joins_what_surrounds_it() -> None:
    """One kernel says whether all positions are right, gathers, computes and adds."""
    explained = xjit.jit(lambda x, i: np.sqrt(x[i] * 2).sum(axis=1)).explain(CUBE[0], ROWS)
    (kernel,) = explained.kernels
    assert all(word in kernel.operations for word in ("require", "look_up", "sqrt", "reduce add"))
    assert len(xjit.jit(lambda x: np.sqrt(x[[0, 2]] * 2)).explain(CUBE).kernels) == 1


def test_costly_values_are_not_computed_for_every_reader() -> None:
    twice = np.concatenate([PLACES, PLACES, PLACES])
    plan = xjit.jit(lambda x, i: np.exp(x)[i]).explain(LARGE, twice)
    assert any("exp" in text and "stored" in text for text in plan.reasons)


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (lambda x, i: x[i], [0, 3]),
        (lambda x, i: x[i], [-4]),
        (lambda x, i: x[:, i], [4]),
        (lambda x, i: np.take(x, i, axis=2), [-6]),
        (lambda x, i: np.take(x, i), [60]),
        (lambda x, i: np.take_along_axis(x, i[None, None], axis=0), [3, 0, 0, 0, 0]),
    ],
)
def test_positions_out_of_range_are_errors(function: Any, index: list[int]) -> None:
    places = np.array(index)
    with pytest.raises(IndexError):
        function(CUBE, places)
    compiled = xjit.jit(function)
    with pytest.raises(IndexError, match="out of bounds for axis"):
        compiled(CUBE, places)
    good = np.zeros_like(places)
    np.testing.assert_array_equal(compiled(CUBE, good), function(CUBE, good))
    with pytest.raises(IndexError, match="out of bounds for axis"):
        compiled(CUBE, places)  # the program for the good ones notices too


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [
        (lambda x: x[[0.5]], (CUBE,), IndexError),
        (lambda x, i, j: x[i, j], (CUBE, ROWS, np.array([0, 1])), IndexError),
        (lambda x, i: x[i, i, i, i], (CUBE, ROWS), IndexError),
        (lambda x, i: np.take(x, i, axis=3), (CUBE, ROWS), ValueError),
        (lambda x, i: np.take(x, i, mode="round"), (CUBE, ROWS), ValueError),
        (lambda x, i: np.take_along_axis(x, i, axis=0), (CUBE, ROWS), ValueError),
    ],
)
def test_wrong_arguments_are_errors_as_in_numpy(function: Any, arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        function(*arguments)
    with pytest.raises(error):
        xjit.jit(function)(*arguments)


def test_ranges_are_index_arrays() -> None:
    def picked(a: Any) -> Any:
        n = len(a)
        a[range(n), range(n)] = 7
        a[range(1, 3)] += 1
        return a[range(n - 1, 0, -1)], a[:, range(0)], a[range(2), 1], np.take(a, range(2), axis=0)

    x = np.arange(25.0).reshape(5, 5)
    y = x.copy()
    np.testing.assert_equal((xjit.jit(strict=True)(picked)(y), y), (picked(x), x))


def one_and_another(x: Any, number: Any) -> Any:
    return x[[number & 3, number]]


def small_and_others(x: Any, places: Any) -> Any:
    return x[np.concatenate([np.minimum(np.maximum(places, 0), 5), places])]


@pytest.mark.parametrize(("function", "good", "bad"), [(one_and_another, 9, 10), (small_and_others, ROWS, ROWS + 10)])
def test_positions_put_together_are_looked_at_one_by_one(function: Callable[..., Any], good: Any, bad: Any) -> None:
    compiled, x = xjit.jit(function), np.arange(10.0)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(x, good), function(x, good))
        for one in (compiled, function):
            with pytest.raises(IndexError):
                one(x, bad)
