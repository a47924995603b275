"""The limit on threads, for the BLAS library behind NumPy's matrix products.

OpenBLAS has one number of threads per process. A step of a compiled program that may call it lowers that number to
the limit of its Python thread; the last of the steps that run at once puts back what it was before the first, so the
tightest of their limits holds for all and none is exceeded. Native code keeps count, for products in a run of kernels
as for library calls from Python, so that no signal handler can run halfway.

The functions are those that NumPy's own extension module is linked to, asked for by name: OpenBLAS under the prefixes
and suffixes that it is built with. Another library, or a system that does not find names this way, is left alone.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from xjit.dataclass import dataclass
from xjit.runtime.native import native_code, native_parts
from xjit.runtime.native.blas_limits_native import LIMITS_TEXT
from xjit.runtime.once import Once
from xjit.runtime.parallel.threads import own_limit

_PREFIXES, _SUFFIXES = ("scipy_", ""), ("64_", "", "_64", "64")

_Begin = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
_End = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))
_Forget = ctypes.CFUNCTYPE(None)


class NativeLimits:
    """The limits in force on a library whose number of threads is read and set by the functions at two addresses.

    ``begin(limit, held)`` and ``end(held)`` do what :mod:`xjit.runtime.native.blas_limits_native` says, and native
    code may call them at ``begin_address`` and ``end_address``.
    """

    def __init__(self, ask: int, tell: int) -> None:
        native = native_code.NativeModule(native_parts.SPIN_LOCK_TEXT + LIMITS_TEXT)
        native.bind(blas_get_threads=ask, blas_set_threads=tell)
        self.begin_address, self.end_address = native.function("blas_begin"), native.function("blas_end")
        self.begin, self.end = _Begin(self.begin_address), _End(self.end_address)
        self.forget = _Forget(native.function("blas_forget"))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)


class PythonLimits:
    """The same where native code is not supported; ``ask`` and ``tell`` read and set the number of threads."""

    def __init__(self, ask: Callable[[], int], tell: Callable[[int], object]) -> None:
        self._ask = ask
        self._tell = tell
        self._before: int | None = None  # what to go back to, until it has been
        self._count = 0
        self._generation = 1
        self._lock = threading.RLock()  # a signal handler may run products of its own in the middle
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def begin(self, limit: int, held: ctypes.c_int64) -> None:
        """From here on no product uses more than ``limit`` threads; a smaller number that was set already stays."""
        with self._lock:
            now = self._ask()
            if self._before is None:
                self._before = now
            self._count += 1
            held.value = self._generation
            self._tell(min(now, limit))

    def end(self, held: ctypes.c_int64) -> None:
        """Up to here, for a limit that began in this process."""
        began, held.value = held.value, 0
        with self._lock:
            if began == self._generation:
                self._count -= 1
                if not self._count:
                    self._go_back()

    def forget(self) -> None:
        """Start afresh in a forked child, where the steps of other threads do not go on."""
        self._lock = threading.RLock()
        self._generation += 1
        self._count = 0
        self._go_back()

    def _go_back(self) -> None:
        before = self._before
        if before is not None:
            self._tell(before)
            self._before = None


BlasLimits: TypeAlias = NativeLimits | PythonLimits


@dataclass(frozen=True, slots=True)
class BlasLibrary:
    """OpenBLAS, with what its names begin and end with."""

    handle: ctypes.CDLL
    prefix: str
    suffix: str

    @property
    def long(self) -> bool:
        """Return whether its integers have 64 bits, which is what a suffix says."""
        return bool(self.suffix)

    def cblas(self, routine: str) -> str:
        """The name of a routine, such as ``dgemm``, in the interface for C."""
        return f"{self.prefix}cblas_{routine}{self.suffix}"

    def lapack(self, routine: str) -> str:
        """The name of a routine of LAPACK, such as ``dpotrf``, in the interface for Fortran."""
        return f"{self.prefix}{routine}_{self.suffix}"

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


def _found() -> BlasLimits | None:
    """The limits on that library."""
    library = blas_library()
    if library is None:
        return None
    ask, tell = library.function("get_num_threads"), library.function("set_num_threads")
    if native_code.supported():
        return NativeLimits(*(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (ask, tell)))
    tell.restype, tell.argtypes = None, [ctypes.c_int]
    return PythonLimits(ask, tell)


blas_limits: Once[BlasLimits | None] = Once(_found)
"""The limits on the BLAS library of NumPy; None if its threads cannot be limited."""


def limited(function: Callable[..., Any], *operands: Any, **keywords: Any) -> Any:
    """The result of a function in which products obey the calling thread's own limit, if it has one."""
    limit = own_limit()
    limits = blas_limits() if limit else None
    if limits is None:
        return function(*operands, **keywords)
    # A signal handler that raises after either call finds in `held` whether there is something to end.
    held = ctypes.c_int64()
    try:
        limits.begin(limit, held)
        return function(*operands, **keywords)
    finally:
        limits.end(held)
