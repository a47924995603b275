"""Long programs end early when a signal handler raises, as after Ctrl-C."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.runtime.parallel.test_runtime_pool import NativeLaunch, PythonKernel, native_kernels
from xjit.runtime.calls import entry
from xjit.runtime.calls.records import ArraySpec, FastProgram, KernelCall
from xjit.runtime.native import native_code
from xjit.runtime.once import Once
from xjit.runtime.parallel import pool, threads
from xjit.runtime.parallel.pool import Pool

Stop = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

KERNELS = r"""
$PAUSE_DECLARATION

; table: counter (int64).  Counts the elements of the range; each takes about a millisecond.
define void @count_slowly(i64 %low, i64 %high, ptr %table) {
entry:
  %counter = load ptr, ptr %table
  br label %wait
wait:
  %i = phi i64 [ 0, %entry ], [ %i1, %wait ]
  $PAUSE
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 30000
  br i1 %more, label %wait, label %done
done:
  %size = sub i64 %high, %low
  %old = atomicrmw add ptr %counter, i64 %size monotonic
  ret void
}

; table: a function of one int, its argument.
define void @call_it(i64 %low, i64 %high, ptr %table) {
entry:
  %function = load ptr, ptr %table
  %place = call ptr @place(ptr %table, i64 1)
  %argument = load i32, ptr %place
  %ignored = call i32 %function(i32 %argument)
  ret void
}
"""

# So many that a test would be stuck for minutes.
ENDLESS = 1_000_000
OWN_FLOAT = np.dtype(np.float64, copy=True)


class Signalled(Exception):
    """Raised by a signal handler of these tests."""


@pytest.fixture(scope="module")
def count_slowly() -> int:
    return native_kernels(KERNELS).function("count_slowly")


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"], autouse=True)
def limit(request: pytest.FixtureRequest) -> Iterator[int]:
    with threads.threads(request.param):
        yield request.param


@pytest.mark.parametrize("sleep_in_python", [False, True])
def test_a_launch_is_given_up(limit: int, sleep_in_python: bool) -> None:
    """No chunk is begun after that, and the pool can be used again."""
    pool = Pool(sleep_in_python=sleep_in_python)
    launch = NativeLaunch(pool.launcher)
    chunks: list[int] = []
    asked: list[int] = []

    def stop(watch: int) -> int:
        asked.append(watch)
        return int(len(asked) == 4)

    kernel, function = PythonKernel(lambda low, high, table: chunks.append(low)), Stop(stop)
    watch = np.array([ctypes.cast(function, ctypes.c_void_p).value, 0])
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    for _ in range(3):
        chunks.clear()
        asked.clear()
        assert launch(address, ENDLESS, 1, None, watch.ctypes.data) == 1
        assert asked == [watch.ctypes.data] * 4
        assert len(chunks) == len(set(chunks)) < ENDLESS
        assert limit > 1 or chunks == [0, 1, 2, 3]
    chunks.clear()
    asked[:] = [0] * 10
    assert launch(address, 50, 3, None, watch.ctypes.data) == 0
    assert sorted(chunks) == list(range(0, 50, 3))


def program(kernel: int, counter: np.ndarray[Any, Any], extent: int) -> FastProgram:
    """Two outputs, one temporary, and the kernel called over a range in chunks of one."""
    spec = ArraySpec(OWN_FLOAT, (3,), (8,))
    call = KernelCall(kernel, extent, 1, (counter.ctypes.data,), ())
    return FastProgram((), (spec, spec), (64,), (call,), False, True)


@contextmanager
def signal_during(counter: np.ndarray[Any, Any], handler: Any) -> Iterator[None]:
    """Sends this process a signal as soon as the counter moves."""

    def send() -> None:
        while not counter[0]:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handler)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)


def raising(number: int, frame: object) -> None:
    raise Signalled


needs_signals = pytest.mark.skipif(
    os.name != "posix" or entry.native_entries() is None, reason="only the native entry looks for signals"
)


@needs_signals
def test_a_program_is_given_up_when_a_handler_raises(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter = np.zeros(1, np.int64)
    run = native.make(program(count_slowly, counter, ENDLESS))
    before = sys.getrefcount(OWN_FLOAT)
    for _ in range(2):
        counter[:] = 0
        with pytest.raises(Signalled), signal_during(counter, raising):
            run()
        assert 0 < counter[0] < ENDLESS
        ended = counter[0]
        assert sys.getrefcount(OWN_FLOAT) == before  # the outputs are gone
    time.sleep(0.01)
    assert counter[0] == ended


@needs_signals
def test_a_program_goes_on_when_the_handler_returns(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter, seen, extent = np.zeros(1, np.int64), [], 400
    with signal_during(counter, lambda number, frame: seen.append(int(counter[0]))):
        results = native.make(program(count_slowly, counter, extent))()
    assert isinstance(results, tuple) and len(results) == 2
    assert counter[0] == extent
    assert len(seen) == 1 and seen[0] < extent


@needs_signals
@pytest.mark.parametrize("lasts", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("sleep_in_python", [False, True])
def test_a_signal_before_the_first_launch_is_heard(
    lasts: bool, sleep_in_python: bool, count_slowly: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers are started and woken without running a handler, whose exception nobody could catch there."""
    native = entry.native_entries()
    assert native is not None
    counter, extent = np.zeros(1, np.int64), 400 if lasts else 20
    raise_signal = native_code.c_function_address(ctypes.CDLL(None), "raise")
    call_it = native_kernels(KERNELS).function("call_it")
    signals = KernelCall(call_it, 1, 1, (raise_signal, signal.SIGINT), ())
    slow = KernelCall(count_slowly, extent, 1, (counter.ctypes.data,), ())
    before = signal.signal(signal.SIGINT, raising)
    try:
        for calls in ((signals, slow), (slow, signals, slow)):
            monkeypatch.setattr(pool, "shared_pool", Once(lambda: Pool(sleep_in_python=sleep_in_python)))
            run = native.make(FastProgram((), (), (), calls, False, True))
            with pytest.raises(Signalled):
                run()
    finally:
        signal.signal(signal.SIGINT, before)
        monkeypatch.undo()
        native.make(FastProgram((), (), (), (slow,), False, True))  # with the pool of the process again


@needs_signals
def test_a_signal_between_kernels_without_chunks_is_heard(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter = np.zeros(1, np.int64)
    call = KernelCall(count_slowly, 1, 1, (counter.ctypes.data,), ())
    run = native.make(FastProgram((), (), (), (call,) * 500, False, True))
    with pytest.raises(Signalled), signal_during(counter, raising):
        run()
    assert 0 < counter[0] < 500


@needs_signals
@pytest.mark.parametrize("extent", [1, 200])
@pytest.mark.parametrize("in_code", [False, True], ids=["calls", "code"])
def test_kernels_that_write_to_arguments_run_to_their_end(count_slowly: int, extent: int, in_code: bool) -> None:
    native = entry.native_entries()
    assert native is not None
    counter = np.zeros(1, np.int64)
    call = KernelCall(count_slowly, extent, 1, (counter.ctypes.data,), (), final=True)
    calls = (call,) * (200 // extent + 1)
    run = native.make(FastProgram((), (), (), () if in_code else calls, False, True, code=calls if in_code else ()))
    with pytest.raises(Signalled), signal_during(counter, raising):
        run()
    assert counter[0] == extent * len(calls)


@needs_signals
def test_nobody_looks_behind_kernels_that_are_over_at_once(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter = np.zeros(1, np.int64)
    call = KernelCall(count_slowly, 1, 1, (counter.ctypes.data,), (), light=True)
    run = native.make(FastProgram((), (), (), (call,) * 500, False, True))
    with pytest.raises(Signalled), signal_during(counter, raising):
        run()
    assert counter[0] == 500


@needs_signals
def test_chunks_of_light_kernels_are_given_up(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter = np.zeros(1, np.int64)
    call = KernelCall(count_slowly, 1000, 1, (counter.ctypes.data,), (), light=True)
    run = native.make(FastProgram((), (), (), (call,), False, True))
    with pytest.raises(Signalled), signal_during(counter, raising):
        run()
    assert 0 < counter[0] < 1000


@needs_signals
def test_a_loop_in_turn_is_given_up_and_runs_on_the_calling_thread_only(count_slowly: int) -> None:
    native = entry.native_entries()
    assert native is not None
    counter, idents = np.zeros(1, np.int64), set()
    kernel = PythonKernel(lambda low, high, table: idents.add((threading.get_ident(), high - low)))
    address = ctypes.cast(kernel, ctypes.c_void_p).value or 0
    native.make(FastProgram((), (), (), (KernelCall(address, 40, 2, (), (), in_turn=True),), False, True))()
    assert idents == {(threading.get_ident(), 2)}
    call = KernelCall(count_slowly, ENDLESS, 1, (counter.ctypes.data,), (), in_turn=True)
    run = native.make(FastProgram((), (), (), (call,), False, True))
    with pytest.raises(Signalled), signal_during(counter, raising):
        run()
    assert 0 < counter[0] < ENDLESS


@needs_signals
def test_other_threads_do_not_look(count_slowly: int) -> None:
    """Handlers run in the main thread only, which is free here."""
    native = entry.native_entries()
    assert native is not None
    counter, extent, finished = np.zeros(1, np.int64), 300, threading.Event()
    run = native.make(program(count_slowly, counter, extent))
    worker = threading.Thread(target=lambda: (run(), finished.set()))
    with pytest.raises(Signalled), signal_during(counter, raising):
        worker.start()
        finished.wait(60)
    assert finished.wait(60)
    assert counter[0] == extent
