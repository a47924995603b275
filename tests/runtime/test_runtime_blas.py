"""The limit on threads for matrix products."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.gaps import lenient, operation_of
from xjit.ir.context import PROJECT
from xjit.ir.opdef import OpDef
from xjit.runtime.native import native_code
from xjit.runtime.parallel import blas_limits as blas
from xjit.runtime.parallel.blas_limits import NativeLimits, PythonLimits, blas_limits, limited
from xjit.runtime.parallel.threads import threads
from xjit.runtime.spec import CallStep
from xjit.runtime.steps import program

SQUARE = np.arange(9.0).reshape(3, 3)
Ask, Tell = ctypes.CFUNCTYPE(ctypes.c_int32), ctypes.CFUNCTYPE(None, ctypes.c_int32)

needs_library = pytest.mark.skipif(blas_limits() is None, reason="the library behind NumPy's products is not known")
needs_signals = pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")


class Library:
    """A BLAS library with the number of threads that it was told."""

    def __init__(self, count: int, native: bool) -> None:
        self.count = count
        self.functions = Ask(lambda: self.count), Tell(self.tell)
        self.limits = NativeLimits(*map(address, self.functions)) if native else PythonLimits(*self.functions)

    def tell(self, count: int) -> None:
        self.count = count


def address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@pytest.fixture(params=["native", "Python"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Eight threads, in place of what NumPy uses."""
    if request.param == "native" and not native_code.supported():
        pytest.skip("native code is not supported")
    importlib.import_module("xjit.runtime.steps.blas_steps")  # now, so that products know NumPy's library
    made = Library(8, request.param == "native")
    monkeypatch.setattr(blas, "blas_limits", lambda: made.limits)
    with threads(None):
        yield made


def test_a_limit_holds_inside_and_ends_with_the_step(library: Library) -> None:
    with threads(3):
        assert limited(lambda: library.count) == 3
    assert library.count == 8
    with threads(2**40):
        assert limited(lambda: library.count) == 8
    assert limited(lambda: library.count) == 8


def test_a_limit_ends_when_a_step_fails(library: Library) -> None:
    with pytest.raises(ZeroDivisionError), threads(3):
        limited(lambda: 1 // 0)
    assert library.count == 8


def test_the_tightest_of_several_limits_holds(library: Library) -> None:
    """Whichever of them ends first; the last one puts the number back."""
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with threads(2):
            limited(lambda: (inside.set(), leave.wait(60)))

    def step() -> None:
        thread.start()
        assert inside.wait(60)
        assert library.count == 2
        assert limited(lambda: library.count) == 2
        if this_first:
            return
        leave.set()
        thread.join()
        assert library.count <= 5

    for this_first in (False, True):
        inside.clear()
        leave.clear()
        thread = threading.Thread(target=other)
        with threads(5):
            limited(step)
        if this_first:
            assert library.count == 2
            leave.set()
            thread.join()
        assert library.count == 8


@pytest.mark.parametrize("name", ["pinv", "svdvals", "eigvalsh"])
def test_steps_that_call_lapack_obey(name: str, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    begin = library.limits.begin

    def noted(limit: int, held: Any) -> None:
        begun.append(limit)
        begin(limit, held)

    monkeypatch.setattr(library.limits, "begin", noted)
    function = xjit.jit(lambda x: getattr(np.linalg, name)(x))
    function(SQUARE + np.eye(3))
    with threads(1):
        function(SQUARE + np.eye(3))
    assert set(begun) == {1}


def test_many_threads_leave_the_number_as_it_was(library: Library) -> None:
    above: list[int] = []

    def steps(limit: int) -> None:
        with threads(limit):
            for _ in range(200):
                seen = limited(lambda: library.count)
                if seen > limit:
                    above.append(seen)

    workers = [threading.Thread(target=steps, args=(limit,)) for limit in (1, 2, 3, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert library.count == 8 and not above


def test_what_did_not_begin_does_not_end(library: Library) -> None:
    """As when a signal handler raises before the limit is told."""
    first, second = ctypes.c_int64(), ctypes.c_int64()
    library.limits.begin(3, first)
    library.limits.end(second)
    assert library.count == 3
    library.limits.end(first)
    library.limits.end(first)
    assert library.count == 8
    with threads(2):
        assert limited(lambda: library.count) == 2
    assert library.count == 8


def test_a_forked_child_is_free_of_the_limits_of_others(library: Library) -> None:
    def child() -> None:
        library.limits.forget()
        assert library.count == 8
        own.append(ctypes.c_int64())
        library.limits.begin(3, own[0])
        assert library.count == 3

    own: list[ctypes.c_int64] = []
    with threads(2):
        limited(child)
    assert library.count == 3, "the limit of the child goes on when the step that forked ends"
    library.limits.end(own[0])
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


STEPS: dict[str, Callable[[Any], Any]] = {
    "det": np.linalg.det,
    "eigh": lambda a: np.linalg.eigh(a)[1],
    "inv": np.linalg.inv,
    "lstsq": lambda a: np.linalg.lstsq(a, a[0])[0],
    "pinv": np.linalg.pinv,
    "qr": lambda a: np.linalg.qr(a)[1],
    "solve": lambda a: np.linalg.solve(a, a[0]),
    "svd": lambda a: np.linalg.svd(a)[1],
}


@pytest.mark.parametrize("name", STEPS)
def test_library_steps_obey(name: str, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that NumPy's own code for linear algebra runs, as it may call BLAS: of matrices that are not small."""
    seen: list[int] = []

    def noted(step: CallStep, record: OpDef) -> Callable[..., Any]:
        def run(*operands: Any, **keywords: Any) -> Any:
            seen.append(library.count)
            return function(*operands, **keywords)

        function = made(step, record)
        return function if record is PROJECT else run

    made = program.called_function
    monkeypatch.setattr(program, "called_function", noted)
    matrix = np.diag(np.arange(1.0, 66.0)) + 0.1
    function = xjit.jit(STEPS[name])
    for _ in range(2):
        np.testing.assert_allclose(function(matrix), STEPS[name](matrix), rtol=1e-9, atol=1e-12)
    assert set(seen) == {8}
    seen.clear()
    with threads(1):
        function(matrix)
    assert set(seen) == {1}
    assert library.count == 8


def test_systems_without_such_functions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_PREFIXES", ("no_such_",))
    assert blas._library() is None
    monkeypatch.setattr(blas, "blas_library", lambda: None)
    assert blas._found() is None
    monkeypatch.setattr(blas, "blas_limits", lambda: None)
    with threads(1):
        np.testing.assert_array_equal(limited(lambda: xjit.jit(lambda x: x @ x)(SQUARE)), SQUARE @ SQUARE)


def count() -> int:
    """Return the number of threads that NumPy's library may use."""
    library = blas.blas_library()
    assert library is not None
    return int(library.function("get_num_threads")())


@needs_library
@pytest.mark.parametrize("native", [True, False])
def test_the_library_of_numpy_obeys(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_code, "supported", lambda: native)
    limits, before = blas._found(), count()
    assert type(limits) is (NativeLimits if native else PythonLimits)
    monkeypatch.setattr(blas, "blas_limits", lambda: limits)
    assert before >= 1
    with threads(1):
        assert limited(count) == 1
    assert count() == before


class Signalled(Exception):
    """Raised by a signal handler of these tests."""


@pytest.fixture
def raising() -> Iterator[None]:
    """SIGALRM raises."""

    def handler(number: int, frame: object) -> None:
        raise Signalled

    before = signal.signal(signal.SIGALRM, handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@needs_library
@needs_signals
def test_a_signal_during_a_product_reaches_the_caller(raising: None) -> None:
    function, operand, before = xjit.jit(lambda x: x @ x), np.ones((1000, 1000)), count()
    with threads(1):
        function(operand)
        for _ in range(3):
            with pytest.raises(Signalled):
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                for _ in range(1000):
                    function(operand)
            assert count() == before


@needs_library
@needs_signals
@pytest.mark.skipif(not native_code.supported(), reason="Python code can be interrupted anywhere")
def test_signals_around_a_step_leave_the_number_as_it_was(raising: None) -> None:
    before = count()
    with threads(1):
        for part in range(200):
            with pytest.raises(Signalled):
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (part + 1))
                while True:
                    limited(int)
            assert count() == before
