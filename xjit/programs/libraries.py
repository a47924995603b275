"""Which routines besides kernels programs of this process may call between kernels."""

from __future__ import annotations

from collections.abc import Callable

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Libraries:
    """``blas`` says whether the integers of BLAS have 64 bits, None where it cannot be called, ``sorts`` whether
    NumPy's sorts can, ``routines`` whether those of the runtime over blocks can, ``draws`` whether NumPy's that draw
    random numbers can. Each is asked when needed.
    """

    blas: Callable[[], bool | None]
    sorts: Callable[[], bool]
    routines: Callable[[], bool]
    draws: Callable[[], bool]


NO_LIBRARIES = Libraries(lambda: None, lambda: False, lambda: False, lambda: False)
"""For programs that run uncompiled: NumPy computes what libraries would."""


def _has_sorts() -> bool:
    """Return whether NumPy's sorts can be called by themselves."""
    from xjit.runtime.steps.sort_steps import numpy_sorts

    return numpy_sorts() is not None


def _has_routines() -> bool:
    from xjit.runtime.steps.compaction_steps import compactions

    return compactions() is not None


def _has_draws() -> bool:
    """Return whether NumPy's routines that draw random numbers can be called by themselves."""
    from xjit.runtime.steps.draw_steps import numpy_draws

    return numpy_draws() is not None


def _long_integers_of_blas() -> bool | None:
    """Return whether the integers of NumPy's BLAS have 64 bits; None if it cannot be called by itself."""
    from xjit.runtime.steps.blas_steps import blas_products

    products = blas_products()
    return None if products is None else products.long


LIBRARIES = Libraries(_long_integers_of_blas, _has_sorts, _has_routines, _has_draws)
"""Those of this process."""
