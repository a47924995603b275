"""Programs with steps besides kernels: what they return, what they keep, and when they are entered."""

from __future__ import annotations

import functools
import math
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient, operation_of
from xjit import ops
from xjit.api.specialisation import Specialisation
from xjit.errors import FallbackWarning
from xjit.machine import processor
from xjit.programs.kernel_runs import piece_size
from xjit.runtime.miss import MISS

X = np.array([[2.0, 1.0, 4.0], [3.0, 1.0, 0.5]])


def entry_of(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Return the entry of the next call with such arguments."""
    function(*arguments)
    assert function._entries, "there is a way past the dispatcher"
    entry: Callable[..., Any] = function._entries[0]
    return entry


def test_library_steps_are_entered_without_the_dispatcher(monkeypatch: pytest.MonkeyPatch) -> None:
    function = xjit.jit(lambda x: np.sort(x, axis=1) * 2)
    function(X)
    monkeypatch.setattr(Specialisation, "run", None)
    np.testing.assert_array_equal(function(X), [[2.0, 4.0, 8.0], [1.0, 2.0, 6.0]])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((X[:, :2],), id="shape"),
        pytest.param((np.asfortranarray(X),), id="strides"),
        pytest.param((X.astype(np.float32),), id="type"),
        pytest.param((X.tolist(),), id="no array"),
        pytest.param((X, X), id="too many"),
        pytest.param((), id="none"),
    ],
)
def test_other_arguments_are_missed(other: tuple[Any, ...]) -> None:
    with_guard = entry_of(xjit.jit(lambda x: np.sort(x, axis=1)), X)
    without = entry_of(xjit.jit(lambda x: (x.T, x + 1.0)), X)
    assert with_guard(*other) is MISS and without(*other) is MISS


def test_a_changed_global_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SHIFT", 1)
    entry = entry_of(xjit.jit(lambda x: np.sort(x, axis=1) + SHIFT), X)  # noqa: F821
    np.testing.assert_array_equal(entry(X), np.sort(X, axis=1) + 1)
    monkeypatch.setitem(globals(), "SHIFT", 2)
    assert entry(X) is MISS


def test_results_have_the_form_of_the_function() -> None:
    array, scalar, pair = (
        entry_of(xjit.jit(function), X[0])
        for function in (
            lambda v: np.sort(v),
            lambda v: np.sort(v)[1],
            lambda v: {"largest": np.sort(v)[-1], "all": (np.sort(v), v[::-1])},
        )
    )
    assert type(array(X[0])) is np.ndarray
    assert type(scalar(X[0])) is np.float64 and scalar(X[0]) == 2.0
    found = pair(X[0])
    assert list(found) == ["largest", "all"] and found["largest"] == 4.0
    assert type(found["all"]) is tuple and found["all"][1].base is X


@pytest.mark.parametrize("number", [3.5, 3, True, 1j, np.float32(3.5)], ids=repr)
def test_views_of_arrays_made_of_numbers(number: Any) -> None:
    @xjit.jit
    def function(x: Any) -> Any:
        array = np.asarray(x)
        return array.reshape(1), array[None, None], array[...]

    for _ in range(2):
        for result, shape in zip(function(number), ((1,), (1, 1), ()), strict=True):
            assert type(result) is np.ndarray and result.dtype == np.asarray(number).dtype
            np.testing.assert_array_equal(result, np.full(shape, number))


def test_what_no_later_step_reads_is_given_back() -> None:
    kept: list[Any] = []

    def remembered(operand: Any) -> Any:
        result = operand + 1.0
        kept.append(weakref.ref(result))
        return result

    def living(operand: Any) -> Any:
        kept.append(kept[0]() is not None)
        return operand + 1.0

    first, last = (
        operation_of("first", "made up", reference=remembered),
        operation_of("last", "made up", reference=living),
    )
    with lenient(), pytest.warns(FallbackWarning):
        result = xjit.jit(lambda x: last(np.sqrt(first(x))))(X)
    np.testing.assert_array_equal(result, np.sqrt(X + 1.0) + 1.0)
    assert kept[1:] == [False]


def test_a_result_is_laid_out_as_its_type_says() -> None:
    turned = operation_of("turned", "made up", reference=lambda operand: np.asfortranarray(operand))
    with lenient(), pytest.warns(FallbackWarning):
        result = xjit.jit(lambda x: turned(x))(X)
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, X)


def test_errors_of_steps_pass_and_the_program_still_works() -> None:
    function = xjit.jit(lambda x: np.linalg.inv(x))
    square = np.array([[2.0, 0.0], [0.0, 4.0]])
    function(square)
    with pytest.raises(np.linalg.LinAlgError):
        function(np.zeros((2, 2)))
    np.testing.assert_array_equal(function(square), [[0.5, 0.0], [0.0, 0.25]])


def test_warnings_of_libraries_are_left_out() -> None:
    function = xjit.jit(lambda x: np.fft.fft(x))
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        for _ in range(2):
            assert np.isnan(function(np.array([np.inf, np.inf]))).any()
        assert np.geterr()["invalid"] == "warn"


def test_threads_share_a_program() -> None:
    function = xjit.jit(lambda x: np.sort(x)[::-1] * 2.0)
    rows = [np.random.default_rng(seed).random(64) for seed in range(8)]
    results: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        results[number] = [function(rows[number]) for _ in range(50)]

    function(rows[0])
    threads = [threading.Thread(target=functools.partial(work, number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, row in enumerate(rows):
        assert all(np.array_equal(one, np.sort(row)[::-1] * 2.0) for one in results[number])


def test_pieces_read_in_another_width_begin_at_whole_elements_of_their_own() -> None:
    @xjit.xjit
    def halves(x: Any) -> Any:
        return ops.bitcast_convert_type(np.stack([x, x + 1], -1), "u16")

    x = np.array([[1.5]], np.float32)
    assert halves(x).tolist() == [[[[0, 0x3FC0], [0, 0x4020]]]]
    wide = np.array([[1.5, -1.0]], np.float32)
    assert halves(wide)[0, 1].tolist() == [[0, 0xBF80], [0, 0]]


def test_what_kernels_have_stored_is_read_behind_a_library() -> None:
    def function(x: Any) -> Any:
        rows, columns = np.sin(x).sum(axis=1), np.cos(x).sum(axis=0)
        ranked = np.sort(rows)
        shifted = np.sort(np.exp(columns) + ranked[:1])
        return (rows + ranked).sum() + columns + shifted, rows

    x = np.random.default_rng(0).random((40, 50))
    for found, expected in zip(xjit.jit(function)(x), function(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("extent", [1, 2, 1000, 12_345, 10**6, 10**9 + 7])
@pytest.mark.parametrize("work", [1.0, 1e5, 1e7, 1e12])
def test_pieces_are_few_and_long_ones_whole_lines(extent: int, work: float) -> None:
    machine = processor()
    size = piece_size(extent, work, machine)
    most = max(machine.most_pieces, math.ceil(work / machine.lasting_work))
    assert 1 <= size <= extent + 63 and -(-extent // size) <= most
    assert size <= 1024 or size % 64 == 0 or size == extent
