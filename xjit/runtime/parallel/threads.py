"""The number of threads that a parallel kernel may use.

The default is what the process is really granted: the smallest of its processor affinity, its control-group quota
and what its environment asks for (:data:`LIMITS`).  :class:`threads` overrides it for the calling Python thread.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import SupportsIndex

from xjit.ir.boundary import at_boundary


class _ThreadLimit(threading.local):
    """The calling thread's own limit; 0 means that it follows the default."""

    value: int = 0


_limit = _ThreadLimit()


class threads:
    """Limit what this Python thread runs compiled to ``count`` threads, the caller included.

    Takes effect at once, up or down, for the calling Python thread only, and lasts until the next call.  Used
    in a ``with`` statement the earlier limit returns at the end of the block.  ``threads(None)`` returns to
    :func:`default_threads`.

    Kernels obey, and matrix products inside of compiled functions where NumPy uses OpenBLAS (on Linux and macOS).
    Products elsewhere do not, and other BLAS libraries follow their own settings (``threadpoolctl`` changes them).

    Raises ``TypeError`` when ``count`` is neither an integer nor None, ``ValueError`` when it is below one.

    >>> with threads(1):
    ...     current_threads()
    1
    """

    @at_boundary
    def __init__(self, count: SupportsIndex | None) -> None:
        wanted = 0 if count is None else operator.index(count)
        if count is not None and wanted < 1:
            raise ValueError(f"threads(count) needs a count of at least 1, got {wanted}")
        self._before = _limit.value
        _set_limit(wanted)

    def __enter__(self) -> threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set_limit(self._before)


def current_threads() -> int:
    """The number of threads a parallel kernel launched now by this Python thread may use."""
    return _limit.value or default_threads()


def own_limit() -> int:
    """The limit that this Python thread has set for itself; 0 when it follows the default."""
    return _limit.value


@functools.cache
def default_threads() -> int:
    """The number of threads granted to this process: by affinity, control-group quota and environment.

    Read once per process; always at least one.
    """
    from xjit.runtime.parallel.control_groups import ControlGroups

    quota = ControlGroups().processors()
    limits = (_affinity(), None if quota is None else math.ceil(quota), environment_limit(os.environ))
    return max(1, min(limit for limit in limits if limit is not None))


LIMITS = ("XJIT_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the threads of a process; the first that holds a number counts.

Those who start several processes, such as joblib, dask and job schedulers, set one or all of the last four in each,
so that together they take no more processors than there are. The more particular name comes first: who limits BLAS
alone and wants more threads here sets the first. Lists of OpenMP have the number for the outermost level in front.
"""


def environment_limit(environment: Mapping[str, str]) -> int | None:
    """The number of threads that an environment asks for; None where it says nothing that makes sense.

    >>> environment_limit({"OMP_NUM_THREADS": "4,2", "MKL_NUM_THREADS": "1"})
    4
    """
    for name in LIMITS:
        count = environment.get(name, "").partition(",")[0].strip()
        if count.isascii() and count.isdigit() and int(count) > 0:
            return int(count)
    return None


def _affinity() -> int:
    """Processors this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows do not offer it
        return os.cpu_count() or 1


@functools.cache
def limit_key() -> int:
    """Address of the interpreter's thread-specific-storage key that holds each thread's limit; 0 without one.

    Native code reads the limit of the thread it runs on through this key, with no Python involved.
    """
    return new_key()


def new_key() -> int:
    """Address of a new key of the interpreter's thread-specific storage; 0 without one."""
    try:
        create = ctypes.pythonapi.PyThread_tss_create
        allocate = ctypes.pythonapi.PyThread_tss_alloc
    except AttributeError:
        return 0
    allocate.restype = ctypes.c_void_p
    create.argtypes = [ctypes.c_void_p]
    key = allocate()
    return int(key) if key and create(key) == 0 else 0


def limit_words() -> dict[str, int]:
    """The words that tell native code this limit: the globals of ``native_parts.OWN_LIMIT_TEXT``."""
    key = limit_key()
    get = ctypes.cast(ctypes.pythonapi.PyThread_tss_get, ctypes.c_void_p).value if key else 0
    return {"limit_key": key, "tss_get": get or 0}


def _set_limit(count: int) -> None:
    """Store the limit where Python reads it and where native code reads it."""
    _limit.value = count
    store_for_thread(limit_key(), count)


def store_for_thread(key: int, word: int) -> None:
    """Store a word of this thread under such a key."""
    if key:
        store = ctypes.pythonapi.PyThread_tss_set
        store.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        store(key, word)
