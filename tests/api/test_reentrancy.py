"""Calls in the middle of other calls: from signal handlers, from other threads, and with hardly any stack left."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.children import run_script
from xjit import compile
from xjit.api import dispatcher
from xjit.capture.guarding import guards
from xjit.codegen.front_end import numba_compat
from xjit.errors import FallbackWarning, is_lasting
from xjit.ir.handlers import from_handler, interrupts_import

LINE = np.arange(6.0)
needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no such signal")

HANDLED = """
inner = xjit(lambda x: np.cos(x) * 3.0 - x)
outer = xjit(lambda x: np.exp(x) * 2.0 + np.sort(x))
seen = []

class Finder:
    '''Sends a signal when each module is looked for that the compiler needs.'''

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("xjit", "numba", "llvmlite"):
            seen.append(name)
            os.kill(os.getpid(), signal.SIGUSR1)

sys.meta_path.insert(0, Finder())

def check():
    assert np.allclose(outer(x), np.exp(x) * 2.0 + x)
    assert np.allclose(inner(x), np.cos(x) * 3.0 - x)
    assert np.allclose(outer(x[:20]), np.exp(x[:20]) * 2.0 + x[:20])
    assert len(seen) > 100
    assert outer.stats().fallbacks == inner.stats().fallbacks == 0
"""

CALLING = """
def handle(number, frame):
    assert np.allclose(inner(x), np.cos(x) * 3.0 - x)

signal.signal(signal.SIGUSR1, handle)
check()
"""

RAISING = """
class Limit(Exception):
    pass

limits = 0

def handle(number, frame):
    raise Limit

signal.signal(signal.SIGUSR1, handle)
while True:
    try:
        check()
        break
    except Limit:
        limits += 1
assert limits
"""

# The import goes on when the handler returns, and never if it waited for what the import holds.
IMPORTING = """
def handle(number, frame):
    assert np.allclose(inner(x), np.cos(x) * 3.0 - x)

signal.signal(signal.SIGUSR1, handle)
import numba
check()
"""


@needs_signals
@pytest.mark.parametrize("handler", [CALLING, RAISING, IMPORTING], ids=["calling", "raising", "importing"])
def test_signals_during_the_first_call(handler: str, tmp_path: Path) -> None:
    run_script(HANDLED + handler, tmp_path)


# ---- what signal handlers raise


class Limit(ValueError):
    """Exception of the handlers of these tests."""


def handle(number: int, frame: object) -> None:
    raise Limit


def handle_and_forget(number: int, frame: object) -> None:
    del frame
    raise Limit


class Handler:
    def handle(self, number: int, frame: object) -> None:
        raise Limit

    def __call__(self, *arguments: object) -> None:
        raise Limit


def handle_with(word: str, number: int, frame: object) -> None:
    raise Limit(word)


HANDLERS: dict[str, Callable[..., None]] = {
    "function": handle,
    "function that drops the frame": handle_and_forget,
    "method": Handler().handle,
    "object": Handler(),
    "partial": functools.partial(handle_with, "late"),
}


@pytest.fixture(params=HANDLERS)
def interrupt(request: pytest.FixtureRequest) -> Any:
    """Makes the main thread take a signal whose handler raises Limit."""
    before = signal.signal(signal.SIGUSR1, HANDLERS[request.param])
    yield lambda: os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


@needs_signals
def test_handlers_are_found_in_tracebacks(interrupt: Callable[[], None]) -> None:
    with pytest.raises(Limit) as caught:
        interrupt()
    assert from_handler(caught.value) is caught.value
    try:
        try:
            interrupt()
        except Limit as limit:
            raise RuntimeError from limit
    except RuntimeError as error:
        assert from_handler(error) is error
    own = xjit.ArgumentError("made of it")
    own.__cause__ = caught.value
    assert from_handler(own) is caught.value


def test_other_errors_are_not_taken_for_those_of_handlers() -> None:
    def fails(number: int, frame: object) -> None:
        raise Limit

    with pytest.raises(Limit) as caught:
        fails(3, object())
    assert from_handler(caught.value) is None
    assert not interrupts_import()


def again(function: Any, x: Any) -> None:
    """The function is compiled at the next call as if nothing had happened."""
    for _ in range(2):
        np.testing.assert_allclose(function(x), np.exp(x) * 2.25 + 1.0, rtol=1e-14)
    stats = function.stats()
    assert (stats.traces, stats.fallbacks) == (1, 0)


@pytest.fixture
def function() -> Any:
    return xjit.jit(lambda x: np.exp(x) * 2.25 + 1.0)


@needs_signals
@pytest.mark.parametrize("strict", ["0", "1"])
@pytest.mark.parametrize("place", ["trace", "plan"])
def test_what_a_handler_raises_passes(
    place: str, strict: str, interrupt: Callable[[], None], function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name = {"trace": (dispatcher, "capture"), "plan": (compile, "lower_graph")}[place]
    plainly = getattr(owner, name)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        interrupt()
        return plainly(*arguments, **options)

    monkeypatch.setenv("XJIT_STRICT", strict)
    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(Limit):
        function(LINE)
    monkeypatch.setattr(owner, name, plainly)
    again(function, LINE)


class Settings:
    """State that the function below reads."""

    factor = 2.5


SETTINGS = Settings()


@needs_signals
@pytest.mark.parametrize("count", [1, 9])
def test_what_a_handler_raises_while_guards_are_checked_passes(
    count: int, interrupt: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    armed: list[bool] = []
    same = guards.same

    def interrupted(value: Any, expected: Any) -> bool:
        if armed:
            armed.clear()
            interrupt()
        return same(value, expected)

    monkeypatch.setattr(guards, "same", interrupted)
    function = xjit.jit(lambda *arrays: arrays[0] * SETTINGS.factor)
    arguments = [LINE] * count
    function(*arguments)
    monkeypatch.setattr(SETTINGS, "factor", float("2.5"), raising=False)
    armed.append(True)
    with pytest.raises(Limit):
        function(*arguments)
    np.testing.assert_array_equal(function(*arguments), LINE * 2.5)
    assert function.stats().traces == 1


# ---- what passes is not remembered


@pytest.mark.parametrize("error", [MemoryError, RecursionError, OSError], ids=lambda error: error.__name__)
def test_failures_that_pass_are_forgotten(
    error: type[Exception], function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again after one call, then after two, and so on."""
    tried: list[int] = []

    def failing(*arguments: Any, **options: Any) -> Any:
        tried.append(function.stats().fallbacks)
        raise error("for now")

    monkeypatch.setenv("XJIT_STRICT", "0")
    with monkeypatch.context() as patch, pytest.warns(FallbackWarning, match="for now") as caught:
        patch.setattr(compile, "lower_graph", failing)
        for _ in range(12):
            np.testing.assert_allclose(function(LINE), np.exp(LINE) * 2.25 + 1.0, rtol=1e-14)
    assert tried == [0, 2, 5, 10]
    assert len(caught) == 1
    assert "report" not in str(caught[0].message)
    for _ in range(10):
        np.testing.assert_allclose(function(LINE), np.exp(LINE) * 2.25 + 1.0, rtol=1e-14)
    assert function.stats().traces == 1
    assert function.stats().fallbacks == 12 + 7


def test_failures_that_stay_are_remembered(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    tried: list[int] = []

    def failing(*arguments: Any, **options: Any) -> Any:
        tried.append(1)
        raise xjit.TargetError("for good")

    monkeypatch.setattr(compile, "lower_graph", failing)
    with pytest.warns(FallbackWarning, match="for good"):
        for _ in range(12):
            function(LINE)
    assert len(tried) == 1


def test_want_of_memory_does_not_condemn_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    from xjit.codegen.front_end.numba_frontend import Frontend

    text = "def kernel(lo, hi, table):\n    x = ptr_f64(table, 0)\n    st(x, lo, f64(1.0))\n"

    def starved(*arguments: Any) -> Any:
        raise MemoryError

    numba_compat.compile_kernel(text)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(Frontend, "translate", starved)
        numba_compat.compile_kernel(text)
    numba_compat.compile_kernel(text)
    assert numba_compat._works(numba_compat.host())


def test_lasting_causes() -> None:
    assert is_lasting(TypeError()) and is_lasting(ModuleNotFoundError(name="no_such_module"))
    wrapped = RuntimeError("lowering failed")
    wrapped.__cause__ = MemoryError()
    assert not is_lasting(wrapped)


DEEP = """
sys.setrecursionlimit(600)
warnings.simplefilter("ignore")

def at_depth(depth, call):
    return at_depth(depth - 1, call) if depth else call()

failed = 0
for depth in range(300, 590, 3):
    def plain(x):
        return np.exp(x) * 2.0 + np.median(x)
    function = xjit(plain)
    try:
        at_depth(depth, lambda: plain(x))
    except RecursionError:
        break
    try:
        assert np.allclose(at_depth(depth, lambda: function(x)), plain(x))
    except RecursionError:
        pass
    failed += function.stats().traces == 0
    for _ in range(4):
        assert np.allclose(function(x), plain(x))
    assert function.stats().traces == 1, depth
assert failed > 3
"""


def test_a_call_with_hardly_any_stack_left(tmp_path: Path) -> None:
    run_script(DEEP, tmp_path, strict=False)


# ---- threads

HALVES = """
from concurrent.futures import ThreadPoolExecutor
warnings.simplefilter("ignore")

@xjit
def total(x, unknown):
    if unknown:
        np.unique(x)
    if len(x) < 10:
        return np.exp(x).sum()
    half = len(x) // 2
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(total, (x[:half], x[half:]), (unknown, unknown))
    return first + second

for unknown in (False, True):
    for _ in range(2):
        assert np.isclose(total(x, unknown), np.exp(x).sum())
        assert np.isclose(total(x[:40], unknown), np.exp(x[:40]).sum())
"""

# The worker's call has the very arguments of the call that waits for it.
SAME = """
import threading
warnings.simplefilter("ignore")
inside = []

@xjit
def twice(x):
    np.unique(x)
    if inside:
        return x + 1.0
    inside.append(True)
    made = []
    worker = threading.Thread(target=lambda: made.append(twice(x)))
    worker.start()
    worker.join()
    inside.clear()
    return made[0] * 2.0

for _ in range(3):
    assert np.array_equal(twice(x), (x + 1.0) * 2.0)
"""

WAITING = """
from xjit.runtime.steps import program
begun, go, function = threading.Event(), threading.Event(), program.called_function

def slow(step, record):
    run = function(step, record)
    def slowly(array, *rest, **options):
        if array.size == 1000:
            begun.set()
            assert go.wait(60)
        return run(array, *rest, **options)
    return slowly

program.called_function = slow
ordered = xjit(lambda x: np.partition(x, 0) + 1.0)
worker = threading.Thread(target=ordered, args=(np.zeros(1000),))
worker.start()
assert begun.wait(60)
assert np.array_equal(ordered(x[:7]), x[:7] + 1.0)
assert worker.is_alive() and not go.is_set()
go.set()
worker.join()
"""


@pytest.mark.parametrize("script", [HALVES, SAME, WAITING], ids=["halves", "same", "waiting"])
def test_threads_do_not_wait_for_what_others_run(script: str, tmp_path: Path) -> None:
    run_script(script, tmp_path, strict=False)
