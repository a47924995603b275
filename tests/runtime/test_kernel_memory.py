"""Kernels are unloaded when nothing can run them any more, and not before."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import xjit
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.programs import kernels
from xjit.programs.kernels import KernelStore
from xjit.runtime.loading.loader import load_object
from xjit.runtime.tally import KernelTally

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600

MANY_FUNCTIONS = """
import gc
import numpy as np
from xjit import xjit
from xjit.programs import kernels

kernels.RECENT = 8
line = np.ones(100)

def compiled_and_dropped(numbers):
    for number in numbers:
        space = {"np": np}
        exec(f"def f(x): return x * x + np.sqrt(x + {number}.5) * {number}.25", space)
        assert xjit(space["f"])(line)[0] == 1.0 + (number + 1.5) ** 0.5 * (number + 0.25)
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * 4096 >> 20, len(open("/proc/self/maps").readlines())

before = compiled_and_dropped(range(1, 40))
after = compiled_and_dropped(range(40, 190))
print(*(b - a for a, b in zip(before, after)))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="memory is read as on Linux")
def test_memory_of_dropped_functions_is_given_back(tmp_path: Path) -> None:
    environment = {**os.environ, "XJIT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", MANY_FUNCTIONS]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert run.returncode == 0, run.stderr
    mebibytes, mappings = map(int, run.stdout.split())
    assert mebibytes < 8  # 20 if each kept what it took
    assert mappings < 60  # 300


def texts(count: int) -> list[str]:
    return [f"def kernel(lo, hi, table):\n    st(ptr_f64(table, 0), lo, f64({n}.5))\n" for n in range(count)]


def test_the_last_kernels_stay_and_older_ones_live_as_long_as_they_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "RECENT", 3)
    store, tally = KernelStore(), KernelTally()
    used = store.load(texts(1)[0], tally)
    others = [weakref.ref(store.load(text, tally)) for text in texts(6)[1:]]
    gc.collect()
    assert [other() is not None for other in others] == [False, False, True, True, True]
    hits = tally.cache_hits
    assert store.load(texts(1)[0], tally) is used
    assert tally.cache_hits == hits + 1


def test_a_function_that_is_in_use_keeps_its_kernels(rng: np.random.Generator) -> None:
    compiled = xjit.jit(lambda x: x * 3.0 + 0.25)
    x = rng.standard_normal(50)
    before = compiled(x)
    kernels.shared_kernels().clear()
    gc.collect()
    for text in texts(5):
        kernels.shared_kernels().load(text, KernelTally())
    assert np.array_equal(compiled(x), before)


def test_the_next_load_unmaps_what_was_dropped() -> None:
    module = compile_kernel(texts(1)[0])
    kernel = [load_object(module.object_code, module.symbol)]
    engine = weakref.ref(kernel[0]._engine)
    dropper = threading.Thread(target=kernel.clear)  # any thread, which may not use LLVM at any time
    dropper.start()
    dropper.join()
    assert engine() is not None
    load_object(module.object_code, module.symbol)
    assert engine() is None
