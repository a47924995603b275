"""Calls of compiled functions by native code: the same results, errors and lifetimes as by Python's."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import sys
import traceback
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.api.function import JitFunction
from xjit.ir.boundary import COMES_FIRST
from xjit.runtime.calls.native_dispatch import native_dispatch
from xjit.runtime.miss import MISS

X = np.linspace(0.5, 3.0, 5)


@pytest.fixture
def compiled() -> Iterator[Any]:
    """A compiled function whose entries a test may replace."""
    function: Any = xjit.jit(lambda x, y=1.0: x + y)
    function(X, 2.0)
    yield function


def misses(*arguments: Any) -> Any:
    return MISS


def test_calls_are_native_here(compiled: Any) -> None:
    assert type(vars(JitFunction)["__call__"]) is types.MethodDescriptorType
    assert len(compiled._entries) == 1


def test_entries_are_asked_in_turn(compiled: Any) -> None:
    asked: list[int] = []

    def entry(number: int, answer: Any) -> Any:
        def ask(*arguments: Any) -> Any:
            asked.append(number)
            return answer

        return ask

    compiled._entries = (entry(0, MISS), entry(1, None), entry(2, 5))
    assert compiled(X, 2.0) is None and asked == [0, 1]


def test_all_entries_miss(compiled: Any) -> None:
    compiled._entries = (misses, misses)
    np.testing.assert_array_equal(compiled(X, 2.0), X + 2.0)
    assert misses not in compiled._entries


def test_named_arguments(compiled: Any) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(compiled(x=X, y=2.0), X + 2.0)
        np.testing.assert_array_equal(compiled(X, y=3.0), X + 3.0)
        np.testing.assert_array_equal(compiled(X), X + 1.0)
    with pytest.raises(TypeError, match="unexpected"):
        compiled(X, z=1)


def test_names_of_the_next_parameters_are_taken_like_others() -> None:
    function: Any = xjit.jit(lambda a, b=2, c=3, *, d=4: a + b + c + d)
    function(X)
    function._entries = (lambda *given: given,)
    assert function(1, b=5) == (1, 5) and function(1, b=5, c=6) == (1, 5, 6) and function(a=1) == (1,)
    assert function(1, **{"".join("b"): 5}) == (1, 5)
    np.testing.assert_array_equal(function(X, c=5), X + 11)
    np.testing.assert_array_equal(function(X, c=5, b=6), X + 15)
    np.testing.assert_array_equal(function(X, b=6, d=5), X + 14)
    for wrong in ({"a": 1}, {"e": 1}):
        with pytest.raises(TypeError):
            function(X, **wrong)


def test_very_many_arguments() -> None:
    function: Any = xjit.jit(lambda *numbers: len(numbers))
    function(X)
    function._entries = (misses, lambda *numbers: len(numbers))
    assert function(*range(1_000_000)) == 1_000_000


def test_an_entry_may_exchange_the_entries(compiled: Any) -> None:
    def exchange(*arguments: Any) -> Any:
        compiled._entries = ()
        gc.collect()
        return MISS

    compiled._entries = (exchange, lambda *arguments: "the next one of those before")
    assert compiled(X, 2.0) == "the next one of those before" and compiled._entries == ()


def test_an_error_of_an_entry_is_raised(compiled: Any) -> None:
    def fail(*arguments: Any) -> Any:
        raise KeyError("unlucky")

    compiled._entries = (fail,)
    with pytest.raises(KeyError, match="unlucky") as caught:
        compiled(X, 2.0)
    assert [one.name for one in traceback.extract_tb(caught.value.__traceback__)][-1] == "fail"
    assert caught.value.__context__ is None and sys.exc_info() == (None, None, None)
    try:
        raise OSError("before")
    except OSError as before:
        with pytest.raises(KeyError, match="unlucky") as caught:
            compiled(X, 2.0)
        assert caught.value.__context__ is before


def test_frames_of_the_package_are_no_part_of_the_traceback(compiled: Any) -> None:
    def fail(x: Any, y: Any) -> Any:
        return np.linalg.inv(x)

    function: Any = xjit.jit(fail)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            function(np.zeros((2, 2)), 1)
        files = [one.filename for one in traceback.extract_tb(caught.value.__traceback__)]
        assert not [one for one in files if "/xjit/" in one and "/tests/" not in one and "numpy" not in one]


def test_numpy_does_what_comes_first(compiled: Any) -> None:
    def fail(*arguments: Any) -> Any:
        error = ValueError("the program's")
        setattr(error, COMES_FIRST, True)
        raise error

    compiled._entries = (fail,)
    np.testing.assert_array_equal(compiled(X, 2.0), X + 2.0)
    compiled._entries = (fail,)
    with pytest.raises(ValueError, match="broadcast") as caught:
        compiled(X, np.ones(4))
    assert caught.value.__context__ is None


def test_interrupts_pass(compiled: Any) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    compiled._entries = (interrupt,)
    with pytest.raises(KeyboardInterrupt):
        compiled(X, 2.0)


def test_recursion_ends_in_an_error(compiled: Any) -> None:
    compiled._entries = (lambda *arguments: compiled(*arguments),)
    with pytest.raises(RecursionError):
        compiled(X, 2.0)


def test_no_reference_is_lost_or_left(compiled: Any) -> None:
    class Unlucky(Exception):
        pass

    def fail(*arguments: Any) -> Any:
        raise Unlucky

    result, x = object(), X.copy()
    entries: list[tuple[Any, ...]] = [(misses, lambda *arguments: result), (misses,), (fail,)]
    counted = (result, x, misses, fail, MISS, compiled, Unlucky)

    def once() -> None:
        for one in entries:
            compiled._entries = one
            with contextlib.suppress(Unlucky):
                compiled(x, 2.0)
        compiled._entries = ()

    once()
    before = [sys.getrefcount(one) for one in counted]
    for _ in range(50):
        once()
    assert [sys.getrefcount(one) for one in counted] == before


def test_functions_are_collected() -> None:
    function: Any = xjit.jit(lambda x: x + 1.0)
    function(X)
    function(X)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_what_is_not_a_function_of_the_class_is_refused() -> None:
    call: Any = vars(JitFunction)["__call__"]
    with pytest.raises(TypeError, match="for 'JitFunction' objects"):
        call(object(), X)


def test_signatures_and_copies(compiled: Any) -> None:
    assert str(inspect.signature(compiled)) == "(x, y=1.0)"
    assert str(inspect.signature(compiled.__call__)) == "(*args, **kwargs)"
    assert compiled.__call__.__doc__ == "The result of the function."
    assert copy.deepcopy(compiled) is compiled
    np.testing.assert_array_equal(compiled.__call__(X, 2.0), X + 2.0)


def test_an_object_without_entries_is_called_in_python() -> None:
    blank = object.__new__(JitFunction)
    with pytest.raises(AttributeError, match="_entries"):
        blank(X)


def test_a_class_whose_entries_are_not_found_keeps_its_call() -> None:
    class Other:
        def __call__(self) -> int:
            return 1

    assert native_dispatch(Other, "entries", "names", Other.__call__, lambda own, error: None) is None
