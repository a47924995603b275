"""Programs that last run in a thread that stands in for the main one, so that signals reach the caller at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.api.test_interrupts import Signalled, needs_signals, raising
from tests.runtime.parallel.test_runtime_pool import native_kernels
from xjit.machine import processor
from xjit.runtime.calls import entry
from xjit.runtime.calls.records import ArraySpec, FastProgram, KernelCall
from xjit.runtime.miss import MISS
from xjit.runtime.parallel import stand_ins
from xjit.runtime.parallel.stand_ins import LastingEntry, StandIns
from xjit.runtime.parallel.threads import current_threads, threads
from xjit.runtime.steps.blas_steps import blas_products
from xjit.target import cpu

KERNELS = r"""
$PAUSE_DECLARATION

; table: begun, go on, ended (int64 each).  Waits in the middle until it is told to go on.
define void @wait_for_it(i64 %low, i64 %high, ptr %table) {
entry:
  %begun = load ptr, ptr %table
  %go_on_place = call ptr @place(ptr %table, i64 1)
  %go_on = load ptr, ptr %go_on_place
  %ended_place = call ptr @place(ptr %table, i64 2)
  %ended = load ptr, ptr %ended_place
  store atomic i64 1, ptr %begun seq_cst, align 8
  br label %wait
wait:
  $PAUSE
  %told = load atomic i64, ptr %go_on seq_cst, align 8
  %more = icmp eq i64 %told, 0
  br i1 %more, label %wait, label %done
done:
  %old = atomicrmw add ptr %ended, i64 1 seq_cst
  ret void
}
"""


class Waiting:
    """A program of two such kernels."""

    def __init__(self) -> None:
        self.words = np.zeros(4, np.int64)
        begun, go_on, first, second = (int(self.words[i:].ctypes.data) for i in range(4))
        kernel = native_kernels(KERNELS).function("wait_for_it")
        calls = tuple(KernelCall(kernel, 1, 1, (begun, go_on, ended), ()) for ended in (first, second))
        self.result = np.dtype(np.float64, copy=True)
        outputs = (ArraySpec(self.result, (3,), (8,)),)
        self.run = entry.make_entry(FastProgram((), outputs, (), calls, True, heavy=True, lasting=True))

    def wait(self, number: int) -> None:
        while not self.words[number]:
            time.sleep(0.001)


@needs_signals
def test_a_handler_that_raises_is_heard_within_a_kernel() -> None:
    """The kernel goes on alone; the one after it does not begin, and the result is dropped."""
    waiting = Waiting()

    def send() -> None:
        waiting.wait(0)
        signal.raise_signal(signal.SIGINT)

    references = sys.getrefcount(waiting.result)
    before = signal.signal(signal.SIGINT, raising)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(Signalled):
            waiting.run()
    finally:
        signal.signal(signal.SIGINT, before)
    sender.join()
    assert list(waiting.words) == [1, 0, 0, 0]
    waiting.words[1] = 1
    waiting.wait(2)
    while sys.getrefcount(waiting.result) > references:
        time.sleep(0.001)
    assert list(waiting.words) == [1, 1, 1, 0]


def test_a_program_that_nobody_interrupts_ends() -> None:
    waiting = Waiting()
    waiting.words[1] = 1
    assert isinstance(waiting.run(), np.ndarray)
    assert list(waiting.words) == [1, 1, 1, 1]


def test_other_threads_run_their_programs_themselves() -> None:
    seen: list[object] = []
    run = LastingEntry(lambda: seen.append(threading.get_ident()) or MISS)
    own = threading.Thread(target=run)
    own.start()
    own.join()
    run()
    assert seen[0] == own.ident
    assert seen[1] != threading.main_thread().ident


def test_results_errors_and_arguments_pass() -> None:
    def check(*arguments: object) -> Any:
        if arguments == (3,):
            raise IndexError("three")
        return arguments

    run = LastingEntry(check)
    assert run(1, 2) == (1, 2)
    with pytest.raises(IndexError, match="three"):
        run(3)


def test_the_stand_in_has_the_limit_of_the_caller() -> None:
    def limit() -> Any:
        return current_threads()

    run = LastingEntry(limit)
    with threads(7):
        assert run() == 7
    with threads(None):
        assert run() == current_threads()


def test_a_program_runs_where_no_thread_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*arguments: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(stand_ins._thread, "start_new_thread", none)

    def same(*values: object) -> Any:
        return values

    assert StandIns().run(same, (4, 5)) == (4, 5)


LASTING: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "running sum of one row": (lambda x: np.cumsum(x[0]), True),
    "running sum of few rows": (lambda x: np.cumsum(x, axis=1), True),
    "sum of one row": (lambda x: np.sum(x[0]), False),
    "elements": (lambda x: np.sqrt(x) + 1.0, False),
    "product": (lambda x: x[:, :64] @ x[:, :64].T, True),
    "stack of small products": (lambda x: x.reshape(-1, 2, 2) @ x.reshape(-1, 2, 2), False),
}


@pytest.mark.parametrize("name", LASTING)
def test_what_lasts_is_what_has_long_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = dict.fromkeys(("parallel_work", "piece_work", "lasting_work"), 50_000.0)
    machine = replace(processor(), lasting_products=1000, **limits)
    function, lasts = LASTING[name]
    if "product" in name and blas_products() is None:
        pytest.skip("the library behind NumPy's products is not known")
    seen: list[object] = []
    run = StandIns.run
    monkeypatch.setattr(StandIns, "run", lambda *given: seen.append(given) or run(*given))
    x = np.random.default_rng(0).random((4, 100_000))
    compiled = xjit.jit(function, target=replace(cpu(), machine=machine))
    for count in (1, 2):
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)
        assert len(seen) == (count if lasts else 0)


# ------------------------------------------------------------------------------------------- child processes


def _run(script: str) -> subprocess.CompletedProcess[str]:
    folder = Path(__file__).resolve().parents[2]
    prelude = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    command = [sys.executable, "-c", prelude + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


FORK_IN_A_HANDLER = """
import os, signal, threading, time
import numpy as np
from tests.runtime.test_lasting_programs import Waiting
waiting = Waiting()
children = []
def fork(number, frame):
    threading.Timer(0.2, lambda: waiting.words.__setitem__(1, 1)).start()
    children.append(os.fork())
signal.signal(signal.SIGALRM, fork)
threading.Thread(target=lambda: (waiting.wait(0), signal.raise_signal(signal.SIGALRM))).start()
waiting.run()
assert list(waiting.words) == [1, 1, 1, 1], waiting.words
if not children[0]:
    waiting.run()
    assert list(waiting.words) == [1, 1, 2, 2], waiting.words
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
"""

FORK_IN_ANOTHER_THREAD = """
import os, threading
from tests.runtime.test_lasting_programs import Waiting
waiting = Waiting()
codes = []
def fork():
    waiting.wait(0)
    child = os.fork()
    if not child:
        grandchild = os.fork()
        if not grandchild:
            os._exit(5)
        os._exit(2 + os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    waiting.words[1] = 1
threading.Thread(target=fork).start()
waiting.run()
assert codes == [7], codes
"""

INTERRUPTED_PRODUCTS = """
import signal
import numpy as np
import xjit
signal.signal(signal.SIGALRM, signal.default_int_handler)
function, a = xjit.jit(lambda a: np.tanh(a @ a) + 1.0), np.ones((600, 600))
function.warmup(a)
for _ in range(12):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        for _ in range(100_000):
            function(a)
    except KeyboardInterrupt:
        continue
    raise AssertionError("a signal was lost")
"""

EXIT_MEANWHILE = """
import signal, threading
from tests.runtime.test_lasting_programs import Waiting
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in a background job
waiting = Waiting()
threading.Thread(target=lambda: (waiting.wait(0), signal.raise_signal(signal.SIGINT))).start()
try:
    waiting.run()
except KeyboardInterrupt:
    print("heard")
"""


@needs_signals
def test_a_fork_in_a_handler_waits_for_the_program() -> None:
    result = _run(FORK_IN_A_HANDLER)
    assert result.returncode == 0, result.stderr


@needs_signals
def test_a_child_of_another_thread_waits_for_nothing() -> None:
    result = _run(FORK_IN_ANOTHER_THREAD)
    assert result.returncode == 0, result.stderr


@needs_signals
def test_signals_during_products_of_a_new_process_are_heard() -> None:
    """Every one of them, whatever comes after the product."""
    result = _run(INTERRUPTED_PRODUCTS)
    assert result.returncode == 0, result.stderr


@needs_signals
def test_a_program_that_was_given_up_does_not_keep_the_process_alive() -> None:
    result = _run(EXIT_MEANWHILE)
    assert (result.returncode, result.stdout) == (0, "heard\n"), result.stderr
