"""Adaptors to NumPy's own BLAS: products of matrices within a run of kernels, with no Python in between."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.native import native_code
from xjit.runtime.native.blas_native import products_text
from xjit.runtime.once import Once
from xjit.runtime.parallel.blas_limits import NativeLimits, blas_library, blas_limits
from xjit.runtime.parallel.threads import limit_words

ROUTINES = ("gemm", "syrk", "gemv", "dot", "trsm")
LETTERS = {
    np.dtype(np.float32): ("s", "f32"),
    np.dtype(np.float64): ("d", "f64"),
    np.dtype(np.complex64): ("c", "c64"),
    np.dtype(np.complex128): ("z", "c128"),
}
"""By element type what BLAS calls it, and what kernels do."""

_WIDE = (np.dtype(np.float64), np.dtype(np.complex128))
SOLVED = {"potrf": _WIDE[:1], "getrf": _WIDE[:1], "gesv": _WIDE, "trsm": tuple(LETTERS)}
"""By routine the element types that it computes among kernels: NumPy takes F32 through F64 for LAPACK."""


class Products:
    """Adaptors to routines of BLAS; ``routines`` are addresses by the names of the adaptors.

    ``long`` says that the integers of BLAS have 64 bits.
    """

    def __init__(self, routines: Mapping[str, int], long: bool) -> None:
        self.routines = routines
        self.long = long
        self._native = Once(lambda: _native(long))

    def kernel(self, name: str) -> LoadedKernel:
        """The adaptor of this name; the first word of its table is the address of the routine."""
        native = self._native()
        return LoadedKernel(native.function(name), name, native)


def _native(long: bool) -> native_code.NativeModule:
    """The adaptors, which know where the limit of a thread stands and whom to tell of it."""
    native = native_code.NativeModule(products_text(long))
    library = ctypes.CDLL(None)
    native.bind(**{f"c_{name}": native_code.c_function_address(library, name) for name in ("exp", "log")})
    limits = blas_limits()
    if isinstance(limits, NativeLimits):
        native.bind(blas_begin=limits.begin_address, blas_end=limits.end_address, **limit_words())
    return native


def _found() -> Products | None:
    """Those of the BLAS library that NumPy is linked to; None where it is not known or answers wrongly."""
    library = blas_library()
    if library is None or not native_code.supported():
        return None
    routines = {
        f"{routine}_{name}": native_code.c_function_address(
            library.handle, library.cblas(f"{letter}{_symbol(routine, name)}")
        )
        for routine in ROUTINES
        for letter, name in LETTERS.values()
    }
    routines |= {
        f"{routine}_{name}": native_code.c_function_address(library.handle, library.lapack(f"{letter}{routine}"))
        for routine in ("potrf", "getrf", "gesv")
        for letter, name in (LETTERS[one] for one in SOLVED[routine])
    }
    return Products(routines, library.long) if all(routines.values()) else None


def _symbol(routine: str, name: str) -> str:
    return "dotu_sub" if routine == "dot" and name.startswith("c") else routine


blas_products: Once[Products | None] = Once(_found)
"""Products through NumPy's BLAS library; None if that cannot be called by itself."""
