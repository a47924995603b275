"""Kernels by content: equal source is compiled once per process and once per cache directory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from xjit import config, jobs
from xjit.codegen import numba_compat
from xjit.codegen.source import without_comments
from xjit.runtime import native_code
from xjit.runtime.disk_cache import DiskCache
from xjit.runtime.loader import LoadedKernel, StoredObject, load_object, pack, unpack


@dataclass(eq=False)
class KernelTally:
    """What loading kernels cost one decorated function."""

    compiles: int = 0
    cache_hits: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class KernelStore:
    """Loaded kernels of one process. Threads that want the same kernel first share one compilation, a job."""

    _loaded: dict[tuple[str, bool, str], LoadedKernel] = field(default_factory=dict)

    def load(self, source: str, tally: KernelTally, *, contract: bool = False) -> LoadedKernel:
        """The kernel of this source text: from memory, from disk, or compiled now."""
        return jobs.run(lambda: self._load(without_comments(source), tally, contract))

    def clear(self) -> None:
        """Forgets all kernels; programs that are alive keep theirs."""
        jobs.run(self._loaded.clear)

    def _load(self, text: str, tally: KernelTally, contract: bool) -> LoadedKernel:
        variant = (text, contract, config.text("XJIT_VECTOR_BITS"))
        found = self._loaded.get(variant)
        if found is not None:
            tally.cache_hits += 1
            return found
        found = self._loaded[variant] = _find(text, tally, contract)
        return found


def _find(text: str, tally: KernelTally, contract: bool) -> LoadedKernel:
    disk = disk_cache(config.cache_directory())
    key = numba_compat.object_key(text, contract=contract)
    kernel = _from_disk(disk, key)
    if kernel is not None:
        tally.cache_hits += 1
        return kernel
    module = numba_compat.compile_kernel(text, contract=contract)
    tally.compiles += 1
    tally.seconds += module.seconds
    disk.put(key, pack(StoredObject(module.object_code, module.symbol, module.externals)))
    return load_object(module.object_code, module.symbol, externals=module.externals)


def _from_disk(disk: DiskCache, key: str) -> LoadedKernel | None:
    data = disk.get(key)
    if data is None:
        return None
    try:
        stored = unpack(data)
        return load_object(stored.object_code, stored.symbol, externals=stored.externals)
    except (ValueError, RuntimeError):
        return None  # a foreign or damaged entry is compiled anew and replaced


@functools.lru_cache(maxsize=8)
def disk_cache(directory: Path) -> DiskCache:
    """The cache in a directory; one object per directory, so that it warns once.

    From then on it also keeps what the compiler and the runtime make for themselves.
    """
    disk = DiskCache(directory)
    numba_compat.use_store(disk)
    native_code.use_store(disk)
    return disk


@functools.cache
def shared_kernels() -> KernelStore:
    """The kernels of this process."""
    return KernelStore()


Loader = Callable[[str], LoadedKernel]
