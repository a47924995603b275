"""Recycled memory: arrays are ordinary, never share memory while alive, and what is held stays within limits."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from xjit.alignment import SMALLEST_BYTES
from xjit.runtime import allocator
from xjit.runtime.allocator import Allocator
from xjit.runtime.calls import entry
from xjit.runtime.calls.records import ArraySpec, FastProgram

MEGABYTE = 1 << 20
BYTES = np.dtype(np.uint8)


class Direct:
    """An allocator of its own, called at its native functions."""

    def __init__(self, limit: int) -> None:
        self.own = Allocator(limit)
        self.take = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(self.own.take)
        self.give = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.own.give)
        capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        capsule_pointer.restype = ctypes.c_void_p
        capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        self.handler = int(capsule_pointer(self.own.handler, b"mem_handler"))

    def function(self, index: int) -> int:
        """Address of malloc, calloc, realloc or free in the handler structure."""
        return ctypes.c_int64.from_address(self.handler + 136 + 8 * index).value


@pytest.fixture
def direct() -> Iterator[Direct]:
    made = Direct(64 * MEGABYTE)
    yield made
    made.own.clear()


def new(count: int) -> np.ndarray:
    return entry.allocate(ArraySpec(BYTES, (count,), (1,)))


def handler_name(array: np.ndarray) -> str | None:
    return np._core.multiarray.get_handler_name(array)


# ------------------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize("count", [SMALLEST_BYTES, 3 * MEGABYTE + 17, 4 * MEGABYTE, 9 * MEGABYTE + 1])
def test_large_arrays_are_ordinary(count: int) -> None:
    array = new(count)
    assert handler_name(array) == "xjit"
    assert array.ctypes.data % 64 == 0
    assert array.flags.owndata and array.flags.writeable and array.base is None
    array[:] = np.arange(count, dtype=np.uint8)
    np.testing.assert_array_equal(array.copy(), array)
    assert handler_name(array.copy()) == "default_allocator"


def test_small_arrays_come_from_numpy() -> None:
    assert handler_name(new(SMALLEST_BYTES - 1)) == "default_allocator"


def test_numpy_keeps_its_handler() -> None:
    before = np._core.multiarray.get_handler_name()
    new(MEGABYTE)
    assert np._core.multiarray.get_handler_name() == before


def test_memory_of_a_dead_array_serves_the_next() -> None:
    gc.collect()
    allocator.clear()
    array = new(5 * MEGABYTE)
    address = array.ctypes.data
    assert allocator.shared_allocator().held_bytes == 0
    del array
    assert allocator.shared_allocator().held_bytes == 5 * MEGABYTE
    assert new(5 * MEGABYTE - 1000).ctypes.data == address
    allocator.clear()
    assert allocator.shared_allocator().held_bytes == 0


def test_living_arrays_never_share_memory() -> None:
    arrays = [new(MEGABYTE + 4096 * k) for k in range(12)]
    del arrays[::3]
    arrays += [new(MEGABYTE + 5000 * k) for k in range(8)]
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


@pytest.mark.parametrize("count", [100, 2 * MEGABYTE, 7 * MEGABYTE])
def test_resizing_in_place(count: int) -> None:
    array = new(3 * MEGABYTE)
    array[:] = pattern = np.arange(3 * MEGABYTE, dtype=np.uint8)
    array.resize(count, refcheck=False)
    kept = min(count, pattern.size)
    np.testing.assert_array_equal(array[:kept], pattern[:kept])
    assert not array[kept:].any()


def test_temporaries_are_recycled() -> None:
    gc.collect()
    allocator.clear()
    run = entry.make_entry(FastProgram((), (), (MEGABYTE, 3 * MEGABYTE), (), False))
    run()
    held = allocator.shared_allocator().held_bytes
    assert held >= 4 * MEGABYTE
    run()
    assert allocator.shared_allocator().held_bytes == held


def test_threads_never_get_each_others_memory() -> None:
    wrong: list[int] = []

    def hammer(mark: int) -> None:
        sizes = np.random.default_rng(mark).integers(SMALLEST_BYTES, 2 * SMALLEST_BYTES, 150)
        kept: list[np.ndarray] = []
        for size in sizes.tolist():
            array = new(size)
            array[::512] = mark
            kept.append(array)
            if len(kept) > 3:
                oldest = kept.pop(0)
                if not (oldest[::512] == mark).all():
                    wrong.append(mark)

    callers = [threading.Thread(target=hammer, args=(mark,)) for mark in range(1, 13)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


# ------------------------------------------------------------------------------------------- holding


def test_the_best_fit_is_taken_and_never_wastes_more_than_a_quarter(direct: Direct) -> None:
    sizes = [2 * MEGABYTE, 3 * MEGABYTE, 6 * MEGABYTE]
    blocks = dict(zip(sizes, [direct.take(size) for size in sizes], strict=True))
    for block in blocks.values():
        direct.give(block)
    assert direct.take(2 * MEGABYTE - 5) == blocks[2 * MEGABYTE]
    assert direct.take(5 * MEGABYTE) == blocks[6 * MEGABYTE]
    assert direct.take(2 * MEGABYTE + 5) not in blocks.values()
    assert direct.own.held_bytes == 3 * MEGABYTE


def test_the_block_given_back_last_is_taken_first(direct: Direct) -> None:
    first, second, third = (direct.take(MEGABYTE) for _ in range(3))
    for block in (third, first, second):
        direct.give(block)
    assert [direct.take(MEGABYTE) for _ in range(3)] == [second, first, third]


def test_what_was_held_longest_makes_room(direct: Direct) -> None:
    direct.own.limit = 10 * MEGABYTE
    blocks = [direct.take(size * MEGABYTE) for size in (3, 4, 5, 20)]
    for block in blocks:
        direct.give(block)
    assert direct.own.held_bytes == 9 * MEGABYTE
    assert direct.take(4 * MEGABYTE) == blocks[1]
    assert direct.take(5 * MEGABYTE) == blocks[2]


def test_the_table_of_held_blocks_is_bounded(direct: Direct) -> None:
    blocks = [direct.take(SMALLEST_BYTES) for _ in range(100)]
    for block in blocks:
        direct.give(block)
    assert direct.own.held_bytes == 64 * SMALLEST_BYTES
    assert [direct.take(SMALLEST_BYTES) for _ in range(64)] == blocks[:-65:-1]


def test_a_limit_of_nothing_holds_nothing(direct: Direct) -> None:
    direct.give(direct.take(MEGABYTE))
    direct.own.limit = 0
    assert direct.own.held_bytes == 0
    direct.give(direct.take(MEGABYTE))
    assert direct.own.held_bytes == 0


def test_blocks_are_aligned(direct: Direct) -> None:
    for size in (0, 1, 63, 1000, MEGABYTE, 4 * MEGABYTE, 33 * MEGABYTE):
        block = direct.take(size)
        assert block % 64 == 0
        direct.give(block)


def test_handler_functions(direct: Direct) -> None:
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    malloc = ctypes.CFUNCTYPE(pointer, pointer, size)(direct.function(0))
    calloc = ctypes.CFUNCTYPE(pointer, pointer, size, size)(direct.function(1))
    realloc = ctypes.CFUNCTYPE(pointer, pointer, pointer, size)(direct.function(2))
    free = ctypes.CFUNCTYPE(None, pointer, pointer, size)(direct.function(3))
    dirty = malloc(None, MEGABYTE)
    ctypes.memset(dirty, 7, MEGABYTE)
    free(None, dirty, MEGABYTE)
    clean = calloc(None, MEGABYTE // 8, 8)
    assert clean == dirty
    assert not any(ctypes.string_at(clean, MEGABYTE))
    assert calloc(None, 2**33, 2**33) is None
    assert malloc(None, 2**62) is None
    assert malloc(None, 2**64 - 10) is None
    ctypes.memset(clean, 9, MEGABYTE)
    larger = realloc(None, clean, 2 * MEGABYTE)
    assert ctypes.string_at(larger, MEGABYTE) == b"\x09" * MEGABYTE
    smaller = realloc(None, larger, 10)
    assert ctypes.string_at(smaller, 10) == b"\x09" * 10
    free(None, realloc(None, None, 100), 100)
    free(None, smaller, 10)
    free(None, None, 0)


def test_an_allocation_that_fails_gives_up_what_is_held(direct: Direct) -> None:
    direct.give(direct.take(MEGABYTE))
    assert direct.own.held_bytes == MEGABYTE
    assert direct.take(2**62) is None
    assert direct.own.held_bytes == 0


# ------------------------------------------------------------------------------------------- processes

ALIVE_AT_EXIT = """
import numpy as np, sys
from xjit.runtime.calls import entry
from xjit.runtime.calls.records import ArraySpec
array = entry.allocate(ArraySpec(np.dtype(np.uint8), (9_000_000,), (1,)))
array[:] = 1
np.kept = [array, array[5:]]
sys.kept = array
dead = entry.allocate(ArraySpec(np.dtype(np.uint8), (9_000_000,), (1,)))
del dead
"""

FORK = """
import numpy as np, os, warnings
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # meant
from xjit.runtime.calls import entry
from xjit.runtime.calls.records import ArraySpec
spec = ArraySpec(np.dtype(np.uint8), (2_000_000,), (1,))
kept = [entry.allocate(spec) for _ in range(3)]
kept[0][:] = 5
del kept[1:]
child = os.fork()
if child == 0:
    for _ in range(10):
        entry.allocate(spec)[:] = 6
    assert (kept.pop() == 5).all()
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert (kept[0] == 5).all()
"""


@pytest.mark.parametrize("script", [ALIVE_AT_EXIT, FORK], ids=["exit", "fork"])
def test_in_a_process(script: str) -> None:
    if script is FORK and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{script}"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
