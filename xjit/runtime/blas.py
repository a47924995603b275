"""The limit on threads, for the BLAS library behind NumPy's matrix products.

OpenBLAS has one number of threads per process. A step of a compiled program that may call it lowers that number to
the limit of its Python thread and puts it back afterwards; while several such steps run at once, the tightest of
their limits holds for all, so that none is exceeded.

The functions are those that NumPy's own extension module is linked to, asked for by name: OpenBLAS under the prefixes
and suffixes that it is built with. Another library, or a system that does not find names this way, is left alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from xjit.runtime.once import Once
from xjit.runtime.threads import own_limit

_PREFIXES, _SUFFIXES = ("scipy_", ""), ("64_", "", "_64", "64")
_UNLIMITED = contextlib.nullcontext()


class BlasThreads:
    """The number of threads of one BLAS library, under the limits of the steps that run now.

    ``ask`` and ``tell`` read and set the number of the process.
    """

    def __init__(self, ask: Callable[[], int], tell: Callable[[int], object]) -> None:
        self._ask = ask
        self._tell = tell
        self._before = 0
        self._limits: list[int] = []
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    @contextlib.contextmanager
    def limited(self, count: int) -> Iterator[None]:
        """In here no product uses more than ``count`` threads; a smaller number that was set already stays."""
        limits = self.begin(count)
        try:
            yield
        finally:
            self.end(count, limits)

    def begin(self, count: int) -> list[int]:
        """From here on no product uses more than ``count`` threads; the limits that this one is now among."""
        with self._lock:
            limits = self._limits
            if not limits:
                self._before = self._ask()
            limits.append(count)
            self._obey()
            return limits

    def end(self, count: int, limits: list[int] | None = None) -> None:
        """Up to here; ``limits`` are those that `begin` gave, which are others than now in a forked child."""
        with self._lock:
            limits = self._limits if limits is None else limits
            if count in limits:
                limits.remove(count)
            self._obey()

    def _obey(self) -> None:
        self._tell(min([self._before, *self._limits]))

    def _forget(self) -> None:
        """Start afresh in a forked child, where the steps of other threads do not go on."""
        self._lock = threading.Lock()
        if self._limits:
            self._limits = []
            self._obey()


@dataclass(frozen=True, slots=True)
class BlasLibrary:
    """OpenBLAS, with what its names begin and end with."""

    handle: ctypes.CDLL
    prefix: str
    suffix: str

    @property
    def long(self) -> bool:
        """Whether its integers have 64 bits, which is what a suffix says."""
        return bool(self.suffix)

    def cblas(self, routine: str) -> str:
        """The name of a routine, such as ``dgemm``, in the interface for C."""
        return f"{self.prefix}cblas_{routine}{self.suffix}"

    def function(self, name: str) -> Any:
        """A function of OpenBLAS's own, None if there is no such function."""
        return getattr(self.handle, f"{self.prefix}openblas_{name}{self.suffix}", None)


def _library() -> BlasLibrary | None:
    """The library that NumPy is linked to, None if it is not known."""
    try:
        extension = importlib.import_module("numpy._core._multiarray_umath")
        handle = ctypes.CDLL(str(extension.__file__))
    except (ImportError, OSError):
        return None
    for prefix, suffix in itertools.product(_PREFIXES, _SUFFIXES):
        library = BlasLibrary(handle, prefix, suffix)
        if library.function("get_num_threads") is not None and library.function("set_num_threads") is not None:
            return library
    return None


blas_library: Once[BlasLibrary | None] = Once(_library)
"""The BLAS library behind NumPy's products; None if it is not known."""


def _found() -> BlasThreads | None:
    """The number of threads of that library."""
    library = blas_library()
    if library is None:
        return None
    ask, tell = library.function("get_num_threads"), library.function("set_num_threads")
    tell.restype, tell.argtypes = None, [ctypes.c_int]
    return BlasThreads(ask, tell)


blas_threads: Once[BlasThreads | None] = Once(_found)
"""The BLAS library of NumPy; None if its threads cannot be limited."""


def blas_limit() -> AbstractContextManager[None]:
    """In here products obey the calling thread's own limit, if it has one."""
    limit = own_limit()
    library = blas_threads() if limit else None
    return _UNLIMITED if library is None else library.limited(limit)
