"""Compilation of the loops: on all cores, without permission to change results, kept on disk."""

from __future__ import annotations

import numba

from perf.program import Function


def parallel(function: Function) -> Function:
    """Return `function` compiled by Numba for all cores."""
    compiled: Function = numba.njit(parallel=True, fastmath=False, error_model="numpy", cache=True)(function)
    return compiled


def serial(compiled: Function) -> Function:
    """Return what `parallel` made compiled anew for one core: what one uses on arrays too small for threads.

    It is not kept on disk, where Numba does not tell the two apart.
    """
    alone: Function = numba.njit(fastmath=False, error_model="numpy")(vars(compiled)["py_func"])
    return alone


def inline(function: Function) -> Function:
    """Return `function` compiled by Numba, for use in others."""
    compiled: Function = numba.njit(fastmath=False, error_model="numpy", cache=True)(function)
    return compiled
