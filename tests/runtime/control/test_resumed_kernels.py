"""Kernels of loops are called again until the loop ends, and signals are looked at in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xjit
from tests.api.test_interrupts import Signalled, needs_signals, raising
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit import ops
from xjit.runtime.calls import entry
from xjit.runtime.once import Once

# So many turns that a test would be stuck for days.
ENDLESS = np.int64(2**60)
ONE = np.int64(1)


def counted(x: Any, count: Any) -> Any:
    return ops.while_loop(
        lambda state: ops.lt(state[0], count),
        lambda state: (ops.add(state[0], ONE), ops.add(state[1], ops.broadcast(np.float64(1), x.shape))),
        (np.int64(0), x),
    )


def inside(count: Any, turns: Any) -> Any:
    """A loop of one kernel inside of a loop of steps."""

    def turn(state: Any) -> Any:
        number, total = state
        inner = ops.while_loop(lambda i: ops.lt(i, number), lambda i: ops.add(i, ONE), np.int64(0))
        return ops.add(number, turns), ops.add(total, inner)

    return ops.while_loop(lambda state: ops.lt(state[0], count), turn, (np.int64(0), np.int64(0)))


@pytest.fixture(params=["native", "python"])
def way(request: pytest.FixtureRequest) -> Any:
    """Programs are run by the native entry, or by that in Python."""
    none: Once[Any] = Once(lambda: None)
    with mock.patch.object(entry, "native_entries", none if request.param == "python" else entry.native_entries):
        yield


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("work", [1.0, 10.0, 1e6])
def test_pieces_of_any_length(way: None, count: int, work: float) -> None:
    program = xjit.jit(counted, target=on(replace(PROCESSOR, piece_work=work)))
    number, x = program(np.zeros(5), np.int64(count))
    assert number == count
    np.testing.assert_array_equal(x, np.full(5, count))


@pytest.mark.parametrize("work", [1.0, 1e6])
def test_kernels_of_loops_inside_of_loops(way: None, work: float) -> None:
    program = xjit.jit(inside, target=on(replace(PROCESSOR, piece_work=work)))
    assert program(np.int64(50), ONE)[1] == sum(range(50))


@needs_signals
@pytest.mark.parametrize("arguments", [(np.zeros(5), ENDLESS), (np.float64(0), ENDLESS)])
def test_an_endless_loop_is_given_up(arguments: tuple[Any, ...]) -> None:
    assert seconds_until_given_up(counted, *arguments) < 5.0


@needs_signals
def test_an_endless_loop_inside_of_another_is_given_up() -> None:
    assert seconds_until_given_up(inside, ENDLESS, np.int64(2**59)) < 5.0


def seconds_until_given_up(function: Any, *arguments: Any) -> float:
    """The time from a signal to the exception of its handler."""
    program, sent = xjit.jit(function), list[float]()
    program(*arguments[:-2], *(np.minimum(one, 1) for one in arguments[-2:]))

    def send() -> None:
        time.sleep(0.2)
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, raising)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(Signalled):
            program(*arguments)
        return time.perf_counter() - sent[0]
    finally:
        signal.signal(signal.SIGINT, before)
        sender.join()


def test_threads_run_their_loops_side_by_side() -> None:
    """The interpreter's lock is released."""
    program, found = xjit.jit(counted), list[Any]()
    program(np.zeros(5), np.int64(1))

    def run(count: int) -> None:
        found.append((count, program(np.zeros(5), np.int64(count))[1]))

    threads = [threading.Thread(target=run, args=(count,)) for count in (1000, 2000, 3000)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all((x == count).all() for count, x in found) and len(found) == len(threads)


SORTED = """
import numpy as np, xjit

def moved(x):
    moves = 0
    for i in range(1, len(x)):
        value, j = x[i], i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = value
    return moves

print(xjit.jit(moved).source(np.ones(50)))
"""


def test_every_process_writes_the_same_text(tmp_path: Path) -> None:
    """Registers that wait in memory between calls have an order that no hash of a name decides."""
    file = tmp_path / "sorted_by_moves.py"
    file.write_text(SORTED)
    texts = set()
    for seed in ("0", "1", "2", "3"):
        settings = os.environ | {"PYTHONHASHSEED": seed, "XJIT_CACHE_DIR": str(tmp_path / "cache")}
        made = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=settings, check=True)
        texts.add(made.stdout)
    (text,) = texts
    assert "ldw(" in text
