"""Work of the compiler: jobs, of which one at a time is done, in a thread where nothing interrupts it.

To import the compiler, to plan, to compile and to load are jobs, and so is all that is made once for the process. No
job runs code of the user or a compiled program. What follows from that:

* A signal handler runs in the main thread, which only waits: it may call compiled functions, which need not wait in
  turn, as NumPy can answer, and what it raises interrupts the waiting. No import stays half done, and no exception of
  a handler is taken for one of the compiler.
* A fork waits for the job at hand, as LLVM could never be used again in a child that is forked inside of it. In the
  child nothing is half made, nobody is waited for that does not exist there, and what was waiting begins anew.
* The stack is a fresh one, however deep the caller's is.

A job may be shared (:func:`in_turns`) by threads of which one runs at a time, but for what is done aside, such as
the long calls of LLVM. They are part of the job, and end before it does.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import sys
import threading
import warnings
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Generic, TypeVar

from xjit.dataclass import dataclass
from xjit.errors import CacheWarning, TargetError
from xjit.ir.handlers import interrupts_import
from xjit.ir.source_location import stack_level

Value = TypeVar("Value")

PAUSE = 0.05
"""Seconds between two calls of what a caller does while it waits for a job."""


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """Exception of a job."""

    error: BaseException


class _Jobs:
    """Who does a job, and who waits for one.

    ``lock`` is held by the thread that does a job, and by one that forks. ``waiting`` are the jobs that callers wait
    for. ``workers`` are the threads among which a job is shared, by number from 1 on; who has the ``turn`` runs.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.waiting: set[_Job[Any]] = set()
        self.job: _Job[Any] | None = None
        self.thread = 0
        self.workers: dict[int, int] = {}
        self.turn = allocate_lock()
        if hasattr(os, "register_at_fork"):
            # Methods of the lock itself: no signal handler comes in their middle, which would leave it locked.
            os.register_at_fork(
                before=self.lock.acquire, after_in_parent=self.lock.release, after_in_child=self.begin_anew
            )

    def begin_anew(self) -> None:
        """In a child, where no other thread exists: a job that is still waited for was never begun."""
        renew_lock(self.lock)
        self.job, self.thread = None, 0
        left, self.waiting = self.waiting, set()
        for job in left:
            job.wake()


class _Job(Generic[Value]):
    """A function to call; then ``made`` holds its value or what it raised. ``warnings`` are for the caller, who calls
    ``meanwhile`` now and then as long as the job is not done.
    """

    def __init__(self, function: Callable[[], Value], meanwhile: Callable[[], object] | None = None) -> None:
        self.function = function
        self.meanwhile = meanwhile
        self.caller = get_ident()
        self.made: list[Value | Failure] = []
        self.warnings: list[tuple[str, type[Warning]]] = []
        # Bare locks and threads: those of the module threading take locks of Python's own, in the middle of which a
        # signal handler may run and ask for a job itself.
        self.awake = allocate_lock()
        self.awake.acquire()

    def finish(self) -> None:
        """Waits until the job has been done by a thread of its own, or does it where there cannot be one."""
        try:
            while not self.made:  # nothing is when this is a forked child now
                _jobs.waiting.add(self)
                try:
                    start_new_thread(self.do, ())
                except (RuntimeError, MemoryError):  # no more threads to be had, or the interpreter is shutting down
                    self.do()
                self.wait()
        finally:
            _jobs.waiting.discard(self)

    def wait(self) -> None:
        """Waits until the job is done, or a child has been forked that has yet to do it."""
        if self.meanwhile is None:
            self.awake.acquire()
            return
        while not self.awake.acquire(timeout=PAUSE):
            self.meanwhile()

    def do(self) -> None:
        jobs = _jobs
        with jobs.lock:
            before = jobs.job, jobs.thread
            jobs.job, jobs.thread = self, get_ident()
            made = [_called(self.function)]
            jobs.job, jobs.thread = before
            self.made += made
            self.wake()

    def wake(self) -> None:
        if self.awake.locked():
            self.awake.release()


def attempt(function: Callable[[], Value], meanwhile: Callable[[], object] | None = None) -> Value | Failure:
    """The result of a function that is called as a job, or what it raised; inside of a job it is called right here.

    The waiting thread calls ``meanwhile`` now and then: code of the user, which no job may run. What is raised here
    is not the job's: a signal handler raised it, or ``meanwhile``. The job goes on without the caller then, and what
    it makes is there for the next one.
    """
    if inside():
        return _called(function)
    if interrupts_import():
        reason = "xjit: a signal handler that interrupted an import asks for what has yet to be compiled"
        raise TargetError(reason, fix="ask for it once before")
    job = _Job(function, meanwhile)
    job.finish()
    for text, category in job.warnings:
        warn(text, category)
    return job.made.pop()


def run(function: Callable[[], Value], meanwhile: Callable[[], object] | None = None) -> Value:
    """The result of a function that is called as a job; what the function raises is raised."""
    if inside():
        return function()
    outcome = attempt(function, meanwhile)
    try:
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome
    finally:
        del outcome  # which the traceback would keep, and with it all that the job knew


def inside() -> bool:
    """Return whether this thread does a job."""
    thread = get_ident()
    return _jobs.thread == thread or thread in _jobs.workers


def in_turns(functions: Iterable[Callable[[], object]], threads: int) -> None:
    """Calls functions in so many threads, that of the job at hand among them; what one of them raises is raised.

    They need not know of each other: one runs at a time, but for what it does aside.
    """
    assert inside() and not worker(), "a job is shared once"
    left, failures, ended = deque(functions), deque[BaseException](), []

    def work(number: int) -> None:
        with _jobs.turn:
            _jobs.workers[get_ident()] = number
            try:
                while left:
                    left.popleft()()
            except BaseException as error:
                left.clear()
                failures.append(error)
            finally:
                del _jobs.workers[get_ident()]

    def help_out(number: int, end: Any) -> None:
        work(number)
        end.release()

    for number in range(2, threads + 1):
        end = allocate_lock()
        end.acquire()
        try:
            start_new_thread(help_out, (number, end))
        except (RuntimeError, MemoryError):  # no more threads to be had
            break
        ended.append(end)
    work(1)
    for end in ended:
        end.acquire()
    if failures:
        raise failures.popleft()


def worker() -> int:
    """The number of this thread among those that share a job; 0 for any other."""
    return _jobs.workers.get(get_ident(), 0)


def aside(function: Callable[[], Value]) -> Value:
    """The result of a function that neither needs what others of the job use nor changes it."""
    if not worker():
        return function()
    _jobs.turn.release()
    try:
        return function()
    finally:
        _jobs.turn.acquire()


def available() -> bool:
    """Return whether jobs are to be asked for here: not in the middle of one, or in a handler that came in its
    middle.

    Nor in a handler that interrupted an import, which the job might wait for.
    """
    thread = get_ident()
    waits = any(job.caller == thread for job in tuple(_jobs.waiting))
    return not (inside() or waits or interrupts_import())


def module(name: str) -> ModuleType:
    """A module, imported by a job if need be, so that no signal handler sees it or leaves it half imported."""
    found = sys.modules.get(name)
    if found is None or getattr(found.__spec__, "_initializing", False):
        found = run(lambda: importlib.import_module(name))
    return found


def warn(text: str, category: type[Warning]) -> None:
    """Warns the user whose line called this package; a job lets whoever waits for it do so.

    A filter may turn warnings into errors, but no trouble of the cache is one.
    """
    job = _jobs.job if inside() else None
    if job is not None:
        job.warnings.append((text, category))
        return
    with contextlib.suppress(CacheWarning):
        warnings.warn(text, category, stacklevel=stack_level())


def renew_lock(lock: Any) -> None:
    """Unlocks a lock of the module threading in a forked child, whichever thread of the parent's held it."""
    lock._at_fork_reinit()


def _called(function: Callable[[], Value]) -> Value | Failure:
    try:
        return function()
    except BaseException as error:
        return Failure(error)


def _wait() -> None:
    """Lets the job at hand end before the interpreter does, which would be in the way of LLVM otherwise."""
    with _jobs.lock:
        pass


_jobs = _Jobs()
atexit.register(_wait)
