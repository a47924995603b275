"""Images in memory and on disk: rights of their pages, forks, damage, and the same answers as through LLVM."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import random
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tests.codegen.golden_programs import GOLDENS
from xjit.codegen.front_end import numba_compat
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.errors import CacheWarning
from xjit.programs import kernels
from xjit.runtime import configured_cache
from xjit.runtime.loading import image, linking, loader
from xjit.runtime.loading.disk_cache import DiskCache
from xjit.runtime.loading.image import Image, LoadedImage

pytestmark = pytest.mark.skipif(not image.can_load(), reason="images are loaded on Linux, on two kinds of processors")

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 300
TEXT = """def kernel(lo, hi, table):
    a = ptr_f64(table, 0)
    for i in range(lo, hi):
        st(a, i, ld(a, i) * 1.5 + 0.25)
"""
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@functools.cache
def kernel_image() -> bytes:
    code = linking.linked(compile_kernel(TEXT).object_code)
    assert image.is_image(code)
    return code


def run(address: int, count: int) -> list[float]:
    values = np.arange(float(count))
    table = np.array([values.ctypes.data])
    KERNEL(address)(0, count, table.ctypes.data)
    made: list[float] = values.tolist()
    return made


EXPECTED = [i * 1.5 + 0.25 for i in range(20)]

# The same answers


def answers(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[np.ndarray[Any, Any]]:
    """The results of a golden program whose kernels are loaded anew."""
    monkeypatch.setenv("XJIT_CACHE_DIR", str(folder))
    kernels.shared_kernels().clear()
    one = GOLDENS[name]
    found = xjit.jit(one.function)(*(np.array(argument) for argument in one.arguments))
    return [np.asarray(array) for array in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", GOLDENS)
def test_images_compute_what_objects_do(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each kernel is compiled once, and loaded both ways."""
    made: list[bytes] = []
    linked = linking.linked
    monkeypatch.setattr(numba_compat, "compile_kernel", functools.cache(compile_kernel))
    monkeypatch.setattr(linking, "linked", lambda code: made.append(linked(code)) or made[-1])
    by_image = answers(name, monkeypatch, tmp_path / "images")
    assert all(map(image.is_image, made))
    count = len(made)
    monkeypatch.setattr(image, "can_load", lambda: False)
    by_object = answers(name, monkeypatch, tmp_path / "objects")
    assert count
    assert made[count:]
    assert not any(map(image.is_image, made[count:]))
    for one, other in zip(by_image, by_object, strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


# Memory


def rights(address: int) -> str:
    """The rights of a page, as in ``r-xp``."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, found = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= address < end:
            return found
    return ""


WITH_ALL_PARTS = Image(
    machine=image._machine(),
    page=1 << 16,
    code=b"\xc3" * 100,
    constants=b"c" * 10,
    data=b"d" * 10,
    zeros=100_000,
    functions={"f": 3},
    variables={"v": 1 << 17},
    externals=("memcpy",),
    patches=((1 << 17, 8, 0, image.WORD), ((1 << 16) + 2, 5, image.ITSELF, image.WORD)),
)


def test_nothing_can_be_written_and_run() -> None:
    loaded = LoadedImage(WITH_ALL_PARTS)
    places = (0, 1 << 16, 1 << 17, (1 << 17) + 99_999)
    assert [rights(loaded.address + place) for place in places] == ["r-xp", "r--p", "rw-p", "rw-p"]
    assert ctypes.string_at(loaded.functions["f"], 4) == b"\xc3" * 4
    assert ctypes.string_at(loaded.variables["v"] + 8, 4) == b"dd\0\0"
    memcpy = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value
    assert ctypes.c_uint64.from_address(loaded.variables["v"]).value == (memcpy or 0) + 8
    assert ctypes.c_uint64.from_address(loaded.address + (1 << 16) + 2).value == loaded.address + 5


def test_memory_is_given_back() -> None:
    loaded = LoadedImage(WITH_ALL_PARTS)
    address = loaded.address
    del loaded
    gc.collect()
    assert rights(address) != "r-xp"


def test_code_stays_in_memory_when_the_process_ends() -> None:
    """Threads may be in it."""
    loaded = LoadedImage(WITH_ALL_PARTS)
    address, size = loaded.address, loaded.size
    loaded.__del__(lambda: True)
    assert rights(address) == "r-xp"
    assert loaded.size == size


def test_a_forked_child_runs_what_was_loaded() -> None:
    kernel = loader.load_object(kernel_image(), "kernel")
    assert run(kernel.address, 20) == EXPECTED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if run(kernel.address, 20) == EXPECTED else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert run(kernel.address, 20) == EXPECTED


LEAVES = """
import _thread, ctypes, os, time
from xjit.codegen.cpu import llvm_pipeline
from xjit.runtime.loading import image, loader

target = llvm_pipeline.host()
text = "define void @leave(ptr %exit) { call void %exit(ptr null) ret void }"
code, externals = llvm_pipeline.emit_object(llvm_pipeline.parse(text, target), target)
kernel = loader.load_object(code, "leave", externals=externals)
assert isinstance(kernel._engine, image.LoadedImage)
leave = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(kernel.address)
before = os.listdir("/proc/self/task")
_thread.start_new_thread(leave, (ctypes.cast(ctypes.CDLL(None).pthread_exit, ctypes.c_void_p),))
while set(os.listdir("/proc/self/task")).difference(before):
    time.sleep(0.001)
os._exit(0)  # the thread has gone with its state, which the interpreter would look for
"""


def test_threads_may_end_in_the_middle_of_an_image() -> None:
    """So do daemon threads that want the interpreter's lock when the process ends."""
    subprocess.run([sys.executable, "-c", LEAVES], check=True, cwd=ROOT, timeout=SECONDS)


# Damage


@pytest.mark.parametrize("code", [kernel_image, lambda: image.to_bytes(WITH_ALL_PARTS)], ids=["kernel", "parts"])
def test_a_part_of_an_image_is_none(code: Any) -> None:
    data = code()
    image.from_bytes(data)
    for size in (*range(0, len(data), 7), len(data) - 1):
        with pytest.raises(ValueError, match="damaged image"):
            image.from_bytes(data[:size])
    with pytest.raises(ValueError, match="damaged image"):
        image.from_bytes(data + b"\0")


def test_changed_images_are_refused_or_stay_within_their_memory() -> None:
    """No change of a bit makes loading write to other memory, whatever the code then does."""
    data, numbers = image.to_bytes(WITH_ALL_PARTS), random.Random(3)
    for _ in range(2000):
        changed = bytearray(data)
        changed[numbers.randrange(len(changed))] ^= 1 << numbers.randrange(8)
        try:
            found = image.from_bytes(bytes(changed))
        except ValueError:
            continue
        end = found.starts[2] + len(found.data)
        assert all(place + 8 <= end and kind <= 4 for place, _, _, kind in found.patches)
        assert all(place < found.starts[3] for place in (*found.functions.values(), *found.variables.values()))


WRONG = {
    "page": {"page": 1 << 17},
    "no page": {"page": 0},
    "patch outside": {"patches": (((1 << 17) + 3, 0, image.ITSELF, image.WORD),)},
    "unknown symbol": {"patches": ((0, 0, 1, image.WORD),)},
    "unknown kind": {"patches": ((0, 0, 0, 5),)},
    "function outside": {"functions": {"f": 1 << 20}},
    "variable outside": {"variables": {"v": 1 << 20}},
}


@pytest.mark.parametrize("name", WRONG)
def test_images_that_contradict_themselves(name: str) -> None:

    with pytest.raises(ValueError, match="damaged image"):
        image.from_bytes(image.to_bytes(replace(WITH_ALL_PARTS, **WRONG[name])))


def test_images_for_another_machine_are_refused() -> None:

    other = image.X86_64 + image.AARCH64 - WITH_ALL_PARTS.machine
    with pytest.raises(ValueError, match="another machine"):
        LoadedImage(replace(WITH_ALL_PARTS, machine=other))


def test_images_are_looked_at_as_objects_are() -> None:
    with pytest.raises(ValueError, match="no function other"):
        loader.load_object(kernel_image(), "other")

    stranger = image.to_bytes(replace(WITH_ALL_PARTS, externals=("system",)))
    with pytest.raises(RuntimeError, match="system"):
        loader.load_object(stranger, "f")


def test_a_kept_image_that_is_cut_off_is_no_kernel(tmp_path: Path) -> None:
    shelf = DiskCache(tmp_path / "cache").shelf("kernel")
    shelf.put("0a1b", loader.pack(loader.StoredObject(kernel_image(), "kernel", ())))
    assert configured_cache.from_disk(shelf, "0a1b") is not None
    (file,) = (tmp_path / "cache").glob("*.xjc")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.warns(CacheWarning):
        assert configured_cache.from_disk(shelf, "0a1b") is None
    assert not file.exists()
    shelf.put("0a1b", loader.pack(loader.StoredObject(kernel_image()[:-20], "kernel", ())))
    assert configured_cache.from_disk(shelf, "0a1b") is None
