"""The caches of compiled kernels: in memory and on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xjit import config, jobs

if TYPE_CHECKING:
    from pathlib import Path


def clear() -> None:
    """Removes all compiled kernels from memory and from disk, and hands recycled memory back.

    Programs that are in use keep their kernels, and shipped ones stay where they are.
    """
    jobs.run(_clear)


def _clear() -> None:
    from xjit.programs.kernels import shared_kernels
    from xjit.runtime import allocator
    from xjit.runtime.configured_cache import configured_cache

    shared_kernels().clear()
    configured_cache().clear()
    allocator.clear()


def directory() -> Path:
    """Return the folder of compiled kernels."""
    return config.cache_directory()
