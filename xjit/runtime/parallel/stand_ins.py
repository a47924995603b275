"""Programs that last, called from the main thread: another thread runs them, so that signals need not wait.

Python's signal handlers run in the main thread. It can look for signals between chunks, but not within a product of
large matrices or a running sum over one long row. It therefore lets a stand-in run such a program and waits for it in
Python. When a handler raises, nobody waits any more: the stand-in ends the chunk it is at, begins no other, and drops
what it has made. Until then it keeps the arrays alive that it reads and writes.

A fork waits for the programs that the forking thread waits for: the child has no stand-in.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import functools
import os
import threading
from collections.abc import Callable
from typing import TypeAlias

from xjit.runtime.calls.records import Result
from xjit.runtime.once import Once
from xjit.runtime.parallel.threads import new_key, own_limit, store_for_thread, threads

Entry: TypeAlias = "Callable[..., Result]"

_LOOK_SECONDS = 0.05


@functools.cache
def flag_key() -> int:
    """Address of the key under which a stand-in finds the address of the word that tells it to give up."""
    return new_key()


class LastingEntry:
    """The entry of a program that lasts."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def __call__(self, *arguments: object) -> Result:
        """Run the program; what it raises passes through."""
        if threading.current_thread() is not threading.main_thread():
            return self._entry(*arguments)
        return stand_ins().run(self._entry, arguments)


class StandIn:
    """One run of a program by another thread."""

    def __init__(self, entry: Entry, arguments: tuple[object, ...]) -> None:
        self._entry = functools.partial(contextvars.copy_context().run, entry, *arguments)
        self._limit = own_limit() or None
        self._given_up = ctypes.c_int64()
        self._ended = threading.Lock()
        self._ended.acquire()
        self._threads: list[int] = []
        self._results: list[Result] = []
        self._errors: list[BaseException] = []

    @property
    def begun(self) -> bool:
        """Return whether there is a thread that runs the program, or has run it."""
        return bool(self._threads)

    @property
    def ended(self) -> bool:
        """Return whether there is a result or an error."""
        return not self._ended.locked()

    def begin(self) -> bool:
        """Run the program in a new thread; false when there is none to be had.

        One call of a builtin starts the thread and notes that: no signal handler, which may fork, runs in between.
        """
        try:
            self._threads.extend(map(_thread.start_new_thread, (self._run,), ((),)))
        except RuntimeError:
            return False
        return True

    def wait(self) -> None:
        """Return when the program has ended. Signal handlers may run meanwhile, and raise."""
        while not self._ended.acquire(timeout=_LOOK_SECONDS):
            pass
        self._ended.release()

    def give_up(self) -> None:
        """Let the program end early: nobody asks for its results."""
        self._given_up.value = 1

    def result(self) -> Result:
        """Return the program's result, or raise its error."""
        if self._errors:
            raise self._errors.pop().with_traceback(None)
        return self._results.pop()

    def _run(self) -> None:
        threads(self._limit)
        store_for_thread(flag_key(), ctypes.addressof(self._given_up))
        try:
            self._results.append(self._entry())
        except BaseException as error:
            self._errors.append(error)
        finally:
            del self._entry
            if self._given_up.value:
                self._results.clear()
            self._ended.release()


class StandIns:
    """Those that the main thread waits for: several when signal handlers call lasting programs."""

    def __init__(self) -> None:
        self._running: list[StandIn] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._wait, after_in_child=self._forget)

    def run(self, entry: Entry, arguments: tuple[object, ...]) -> Result:
        """The result of a program, run by another thread if there is one to be had."""
        run = StandIn(entry, arguments)
        self._running.append(run)
        try:
            if run.begin():
                run.wait()
                return run.result()
        except BaseException:
            run.give_up()
            raise
        finally:
            self._running.remove(run)
        return entry(*arguments)

    def _wait(self) -> None:
        """Before a fork: a child of the main thread goes on as if its programs had just ended."""
        if threading.current_thread() is threading.main_thread():
            for run in filter(lambda run: run.begun, self._running):
                run.wait()

    def _forget(self) -> None:
        """In a child of another thread: what the main thread of the parent waits for runs nowhere."""
        self._running = [run for run in self._running if run.ended]


stand_ins = Once(StandIns)
"""The stand-ins of this process."""
