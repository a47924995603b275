"""The thread pool that runs parallel kernels.

Workers are Python daemon threads that spend their life in native code
(:mod:`xjit.runtime.native.pool.pool_native`) with the interpreter lock released.
Idle workers spin for a moment, then sleep.  One job runs at a time; whoever finds
the pool busy runs the whole range alone, so any number of Python threads may launch at once.  Workers are started
by the first launch that wants them, and again in a forked child.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import itertools
import os
import queue
import sys
import threading
import time

from xjit.llvm.processor import machine
from xjit.runtime.native import native_code
from xjit.runtime.native.pool.pool_native import POOL_TEXT
from xjit.runtime.once import Once
from xjit.runtime.parallel.threads import default_threads, limit_words

_SPIN_SECONDS = 20e-6
_MAXIMUM_WORKERS = 255
_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221}

_PYTHON = {
    "pool_thread": "PyThread_get_thread_ident",
    "python_ensure": "PyGILState_Ensure",
    "python_leave": "PyGILState_Release",
    "python_call": "PyObject_CallObject",
    "python_drop": "Py_DecRef",
    "python_clear": "PyErr_Clear",
}
_AFFINITY = {
    "pool_get_processor": "sched_getcpu",
    "pool_get_affinity": "sched_getaffinity",
    "pool_set_affinity": "sched_setaffinity",
}

_Worker = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)
_Launch = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    *(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p),  # kernel, extent, chunk, table
    *(ctypes.c_void_p, ctypes.c_int64),  # watch, limit
)
_Act = ctypes.CFUNCTYPE(None)
_PauseLoop = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Pool:
    """One set of workers and the native code they run.

    ``sleep_in_python`` makes idle workers wait on a Python condition, as they do on systems without a futex.
    """

    def __init__(self, *, sleep_in_python: bool = False) -> None:
        self._native = native_code.NativeModule(POOL_TEXT, WORKERS=_MAXIMUM_WORKERS)
        self._worker = _Worker(self._native.function("pool_worker"))
        self._launch = _Launch(self._native.function("pool_launch_limited"))
        self.launcher = self._native.function("pool_launch")
        """Address of ``int32 launch(int64 kernel, int64 extent, int64 chunk, int64 table, int64 watch)``, which obeys
        the calling thread's limit and may be called with or without the interpreter lock.  ``watch`` is 0 or the
        address of a word with the address of ``int32 stop(int64 watch)``, asked after each chunk of the calling
        thread; the launch returns 1 if that did, else 0."""
        self.lone_launcher = self._native.function("pool_launch_alone")
        """Address of the same for a launch on the calling thread only."""
        self._workers = self._native.word("pool_workers")
        self._generation = self._native.half_word("pool_generation")
        self._sleepers = self._native.half_word("pool_sleepers")
        self._forget = _Act(self._native.function("pool_forget"))
        self._bind(sleep_in_python)
        self._begin()
        if hasattr(os, "register_at_fork"):
            hold, resume = (_Act(self._native.function(name)) for name in ("pool_hold", "pool_resume"))
            os.register_at_fork(before=hold, after_in_parent=resume, after_in_child=self._begin_in_child)

    @property
    def worker_count(self) -> int:
        """The number of workers that have been started in this process."""
        return self._workers.value

    @property
    def sleeps_in_python(self) -> bool:
        """Return whether workers need the interpreter lock to wake up, so that launchers should release it."""
        return self._native.word("pool_futex_call").value == 0

    def launch(self, kernel: int, extent: int, chunk: int, table: int, threads: int) -> None:
        """Run a kernel over ``range(extent)``; see :func:`launch`."""
        if chunk < 1:
            raise ValueError(f"launch needs a chunk of at least 1, got {chunk}")
        self._launch(kernel, extent, chunk, table, None, threads)

    def _bind(self, sleep_in_python: bool) -> None:
        """Store what the native code needs to know about this process."""
        libc = ctypes.CDLL(None) if os.name == "posix" else None
        futex_number = _FUTEX_NUMBERS.get(machine(), 0)
        has_futex = sys.platform == "linux" and futex_number and libc is not None and not sleep_in_python
        self._native.bind(
            pool_maximum=_MAXIMUM_WORKERS,
            pool_default_limit=default_threads(),
            pool_spin=self._pauses_per(_SPIN_SECONDS),
            pool_futex_call=native_code.c_function_address(libc, "syscall") if has_futex and libc else 0,
            pool_futex_number=futex_number,
            pool_yield=native_code.c_function_address(libc, "sched_yield") if libc else 0,
            **{word: native_code.c_function_address(ctypes.pythonapi, name) for word, name in _PYTHON.items()},
            **limit_words(),
        )
        if has_futex and libc:
            affinity = {word: native_code.c_function_address(libc, name) for word, name in _AFFINITY.items()}
            if all(affinity.values()):
                self._native.bind(**affinity)

    def _pauses_per(self, seconds: float) -> int:
        """The number of pause instructions of this processor that take about ``seconds``."""
        pause_loop = _PauseLoop(self._native.function("pool_pause_loop"))
        count = 1000
        pause_loop(count)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            pause_loop(count)
            times.append(time.perf_counter() - start)
        return max(10, int(count * seconds / max(min(times), 1e-9)))

    def _work(self) -> None:
        """Life of one worker; native code comes back only to sleep where there is no futex."""
        number = next(self._numbers)
        while True:
            handled = self._worker(number, threading.get_native_id())
            with self._parking:
                self._sleepers.value += 1
            while self._generation.value == handled:
                self._calls.get()
            with self._parking:
                self._sleepers.value -= 1

    def _begin(self) -> None:
        """Be ready to start workers, of which there are none."""
        self._numbers = itertools.count()
        self._parking = threading.Lock()
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._start_worker = functools.partial(_thread.start_new_thread, self._work, ())
        self._wake_worker = functools.partial(self._calls.put, None)
        self._native.bind(pool_start_object=id(self._start_worker), pool_wake_object=id(self._wake_worker))

    def _begin_in_child(self) -> None:
        """Start afresh in a forked child, where no worker exists."""
        self._forget()
        self._begin()


shared_pool = Once(Pool)
"""The pool of this process, made on first use."""


def launch(kernel_address: int, extent: int, chunk: int, table_address: int, threads: int) -> None:
    """Run ``void kernel(int64 lo, int64 hi, int64 *table)`` over ``range(extent)`` in pieces of ``chunk``.

    The ranges are ``[k * chunk, min((k + 1) * chunk, extent))``.  The calling thread takes part; at most
    ``threads`` threads work, and only the caller when ``extent <= chunk`` (one piece) or the pool is busy.
    Returns when all of it is done.  The interpreter lock is released meanwhile.

    Raises ``ValueError`` when ``chunk`` is less than one.
    """
    shared_pool().launch(kernel_address, extent, chunk, table_address, threads)
