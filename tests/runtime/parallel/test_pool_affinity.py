"""Sleeping workers are woken on other processors than those of their wakers, and may run anywhere again at once."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.parallel.test_runtime_pool import PythonKernel
from xjit.runtime.parallel import pool
from xjit.runtime.parallel.pool import Pool

pytestmark = pytest.mark.skipif(Pool().sleeps_in_python, reason="workers sleep in Python here")

Words = ctypes.POINTER(ctypes.c_uint64)
GetProcessor = ctypes.CFUNCTYPE(ctypes.c_int32)
Affinity = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_size_t, Words)


class System:
    """A system with one worker, whose affinity is noted, and a caller on a processor of choice."""

    def __init__(self, processor: int, allowed: set[int]) -> None:
        self.processor, self.allowed, self.before = processor, allowed, allowed
        self.steps: list[tuple[bool, set[int]]] = []
        self.refuses = self.hides = False
        self.functions = GetProcessor(lambda: self.processor), Affinity(self.get), Affinity(self.set)
        self.pool = Pool()
        words = ("pool_get_processor", "pool_get_affinity", "pool_set_affinity")
        addresses = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in self.functions)
        self.pool._native.bind(**dict(zip(words, addresses, strict=True)))

    def get(self, thread: int, size: int, words: Any) -> int:
        assert size == 128
        for number in range(16):
            words[number] = sum(1 << one % 64 for one in self.allowed if one // 64 == number)
        return -int(self.hides)

    def set(self, thread: int, size: int, words: Any) -> int:
        assert size == 128
        if not self.refuses:
            self.allowed = {one for one in range(1024) if words[one // 64] >> one % 64 & 1}
            self.steps.append((thread == 0, self.allowed))
        return -int(self.refuses)

    def launch(self, count: int = 1) -> None:
        """Launches with the worker asleep, which takes part, and lets it fall asleep again."""
        for _ in range(count):
            meeting = threading.Barrier(2)
            kernel = PythonKernel(lambda low, high, table, meeting=meeting: meeting.wait(60) and None)
            self.pool.launch(ctypes.cast(kernel, ctypes.c_void_p).value or 0, 2, 1, 0, 2)
            end = time.monotonic() + 60
            while self.pool._sleepers.value != 1:
                assert time.monotonic() < end
                time.sleep(0.001)

    def start(self) -> None:
        """Start the worker. On a busy machine it falls asleep before its first job is open, and has to be woken."""
        self.launch()
        self.steps.clear()


@pytest.mark.parametrize(
    ("processor", "allowed", "kept"),
    [(5, {3, 5, 70}, {3, 70}), (70, {3, 5, 70}, {3, 5}), (63, {63, 1023}, {1023}), (1023, {0, 1023}, {0})],
)
def test_a_worker_is_kept_off_while_it_is_woken(processor: int, allowed: set[int], kept: set[int]) -> None:
    system = System(processor, allowed)
    system.start()
    system.launch(3)
    assert system.steps == [(False, kept), (True, allowed)] * 3


@pytest.mark.parametrize(("processor", "allowed"), [(5, {5}), (5, {3, 4}), (-1, {3, 5}), (2000, {3, 5})])
def test_nothing_is_set_when_it_would_not_help(processor: int, allowed: set[int]) -> None:
    system = System(processor, allowed)
    system.launch(4)
    assert system.steps == []


def test_an_affinity_that_somebody_sets_meanwhile_stays() -> None:
    system = System(5, {3, 5})
    system.start()
    get = system.get

    def intervene(thread: int, size: int, words: Any) -> int:
        if thread == 0:
            system.allowed = {5, 6}
        return get(thread, size, words)

    system.functions = (system.functions[0], Affinity(intervene), system.functions[2])
    system.pool._native.bind(pool_get_affinity=ctypes.cast(system.functions[1], ctypes.c_void_p).value or 0)
    system.launch()
    assert system.steps == [(False, {3})]
    assert system.allowed == {5, 6}


def test_systems_that_refuse_are_left_alone() -> None:
    system = System(5, {3, 5})
    system.refuses = True
    system.launch(3)
    assert system.steps == []
    system.refuses, system.hides = False, True
    system.launch(3)
    assert system.steps == []


AFFINITIES = """
import os, threading, time
marks, launches = Marks(64), 0
before = os.sched_getaffinity(0)
def settled(expected):
    end = time.monotonic() + 60
    while any(os.sched_getaffinity(int(one)) != expected(int(one)) for one in os.listdir("/proc/self/task")):
        assert time.monotonic() < end
        time.sleep(0.001)
for _ in range(200):
    pool.launch(mark, 64, 1, marks.address, 4)
    time.sleep(0.0005)
settled(lambda thread: before)
worker = max(int(one) for one in os.listdir("/proc/self/task") if int(one) != os.getpid())
os.sched_setaffinity(worker, {min(before)})
for _ in range(200):
    pool.launch(mark, 64, 1, marks.address, 4)
    time.sleep(0.0005)
settled(lambda thread: {min(before)} if thread == worker else before)
marks.check(64, 1, launches=400)
"""


def test_no_affinity_outlives_the_waking() -> None:
    """Neither the caller's nor, once they run, the workers'; what the user sets for a worker stays."""
    folder = Path(__file__).resolve().parents[3]
    prelude = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    prelude += "from tests.runtime.parallel.test_runtime_pool import Marks, native_kernels\n"
    prelude += "from xjit.runtime.parallel import pool\n"
    prelude += "mark = native_kernels().function('mark')\n"
    command = [sys.executable, "-c", prelude + AFFINITIES]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system knows no affinity")
def test_linux_offers_what_it_takes() -> None:
    words = ("pool_get_processor", "pool_get_affinity", "pool_set_affinity")
    assert all(pool.shared_pool()._native.word(word).value for word in words)
