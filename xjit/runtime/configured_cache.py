"""The cache on disk that the settings ask for, and kernels from it."""

from __future__ import annotations

import functools

from xjit import config
from xjit.runtime.loading.disk_cache import DiskCache, Shelf
from xjit.runtime.loading.loader import LoadedKernel, load_object, unpack
from xjit.runtime.native import native_code
from xjit.runtime.notices import shared_notices


def configured_cache() -> DiskCache:
    """The cache that the settings ask for."""
    return disk_cache(config.cache_path(), config.shipped_paths())


@functools.lru_cache(maxsize=8)
def disk_cache(directory: str, shipped: tuple[str, ...] = ()) -> DiskCache:
    """The cache in a directory and in folders that are only read; one object for each choice of them.

    From then on it also keeps what the runtime makes for itself.
    """
    disk = DiskCache(directory, shipped, notices=shared_notices())
    native_code.use_store(disk.shelf("runtime"))
    return disk


def from_disk(disk: Shelf, key: str) -> LoadedKernel | None:
    """The kernel that is kept under a key; None if there is none that can be loaded."""
    data = disk.get(key)
    if data is None:
        return None
    try:
        stored = unpack(data)
        return load_object(stored.object_code, stored.symbol, externals=stored.externals)
    except (ValueError, RuntimeError):
        disk.reject(key)
        return None
