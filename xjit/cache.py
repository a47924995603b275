"""The caches of compiled kernels: in memory and on disk."""

from __future__ import annotations

from pathlib import Path

from xjit import config, jobs


def clear() -> None:
    """Removes all compiled kernels from memory and from disk, and hands recycled memory back.

    Programs that are in use keep their kernels, and shipped ones stay where they are.
    """
    jobs.run(_clear)


def _clear() -> None:
    from xjit.runtime import allocator
    from xjit.runtime.kernels import configured_disk_cache, shared_kernels

    shared_kernels().clear()
    configured_disk_cache().clear()
    allocator.clear()


def directory() -> Path:
    """Return the folder of compiled kernels."""
    return config.cache_directory()
