"""The limit on threads for matrix products."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gaps import lenient, operation_of

import xjit
from xjit.runtime import blas
from xjit.runtime.blas import BlasThreads, blas_limit, blas_threads
from xjit.runtime.threads import threads

SQUARE = np.arange(9.0).reshape(3, 3)


class Library:
    """A BLAS library with the number of threads that it was told."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.control = BlasThreads(lambda: self.count, self.tell)

    def tell(self, count: int) -> None:
        self.count = count


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Eight threads, in place of what NumPy uses."""
    made = Library(8)
    monkeypatch.setattr(blas, "blas_threads", lambda: made.control)
    with threads(None):
        yield made


def test_a_limit_holds_inside_and_ends_with_the_block(library: Library) -> None:
    with threads(3), blas_limit():
        assert library.count == 3
    assert library.count == 8
    with threads(30), blas_limit():
        assert library.count == 8
    with blas_limit():
        assert library.count == 8


def test_a_limit_ends_when_a_step_fails(library: Library) -> None:
    with pytest.raises(ZeroDivisionError), threads(3), blas_limit():
        raise ZeroDivisionError
    assert library.count == 8


def test_the_tightest_of_several_limits_holds(library: Library) -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with threads(2), blas_limit():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with threads(5), blas_limit():
        thread.start()
        assert inside.wait(60)
        assert library.count == 2
        leave.set()
        thread.join()
        assert library.count == 5
    assert library.count == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_child_is_free_of_the_limits_of_others(library: Library) -> None:
    with threads(2), blas_limit():
        library.control._forget()
        assert library.count == 8
        with library.control.limited(3):
            assert library.count == 3
    assert library.count == 8


def test_steps_of_programs_obey(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    product = np.matmul

    def noted(operand: Any) -> Any:
        seen.append(library.count)
        return product(operand, operand)

    function = xjit.jit(operation_of("squared", "made up", reference=noted))
    with lenient(), pytest.warns(xjit.errors.FallbackWarning, match="made up"):
        np.testing.assert_array_equal(function(SQUARE), SQUARE @ SQUARE)
    with threads(1):
        function(SQUARE)
    function(SQUARE)
    assert seen == [8, 1, 8]


def test_systems_without_such_functions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_PREFIXES", ("no_such_",))
    assert blas._library() is None
    monkeypatch.setattr(blas, "blas_library", lambda: None)
    assert blas._found() is None
    monkeypatch.setattr(blas, "blas_threads", lambda: None)
    with threads(1), blas_limit():
        np.testing.assert_array_equal(xjit.jit(lambda x: x @ x)(SQUARE), SQUARE @ SQUARE)


@pytest.mark.skipif(blas_threads() is None, reason="the library behind NumPy's products is not known")
def test_the_library_of_numpy_obeys() -> None:
    control = blas_threads()
    assert control is not None
    before = control._ask()
    assert before >= 1
    with threads(1), blas_limit():
        assert control._ask() == 1
    assert control._ask() == before
