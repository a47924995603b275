"""Is a result right? Type, dtype, shape and values against NumPy's result of the same call."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.programs import Array, Program, Tolerance

# A peer may contract multiply-adds and sum in its own order; it is checked for doing the same work, not
# for bits.
PEER_SLACK = 50
PEER_EPSILONS = 64
# Of whole numbers that follow from floats by comparing or rounding, a peer may have this share different.
PEER_MISFITS = 1e-3
LEAST_FOR_MISFITS = 16


class WrongResult(AssertionError):
    """A candidate computed something else than NumPy; nothing of it is timed."""


def peer_tolerance(own: Tolerance, dtype: np.dtype[Any]) -> Tolerance:
    """Return what a peer is held to where xjit is held to `own`; `dtype` is floating or complex."""
    epsilon = PEER_EPSILONS * float(np.finfo(dtype).eps)
    return Tolerance(max(PEER_SLACK * own.relative, epsilon), max(PEER_SLACK * own.absolute, epsilon))


def check(program: Program, who: str, result: Any, expected: Any, strict: bool) -> None:
    """Raise `WrongResult` unless `result` agrees with `expected`.

    `strict` is for xjit: equal types and the program's own tolerance. Otherwise values and dtypes are
    compared, with the tolerance of peers.
    """
    if isinstance(expected, tuple):
        if len(result) != len(expected):
            raise WrongResult(f"{program.name}: {who} returned {len(result)} results, not {len(expected)}")
        for part, wanted in zip(result, expected, strict=True):
            check(program, who, part, wanted, strict)
        return
    if strict and type(result) is not type(expected):
        raise WrongResult(f"{program.name}: {who} returned {type(result)}, NumPy {type(expected)}")
    if not strict and isinstance(result, int | float | complex):
        # Numba hands single numbers out as those of Python.
        result = np.asarray(result, dtype=expected.dtype)
    found, wanted = np.asarray(result), np.asarray(expected)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        raise WrongResult(
            f"{program.name}: {who} returned {found.dtype}{found.shape}, NumPy {wanted.dtype}{wanted.shape}"
        )
    agrees, allowed = judged(program.tolerance, found, wanted, strict)
    if not agrees:
        double = np.result_type(wanted.dtype, np.float64)
        worst = float(np.max(np.abs(found.astype(double) - wanted.astype(double))))
        raise WrongResult(f"{program.name}: {who} differs from NumPy by up to {worst:g}, allowed {allowed}")


def judged(own: Tolerance, found: Array, wanted: Array, strict: bool) -> tuple[bool, str]:
    """Return whether two arrays of one dtype and shape agree, and what is allowed, in words."""
    if strict:
        return close(found, wanted, own), str(own)
    if np.issubdtype(wanted.dtype, np.inexact):
        tolerance = peer_tolerance(own, wanted.dtype)
        return close(found, wanted, tolerance), str(tolerance)
    allowed = max(1.0, PEER_MISFITS * wanted.size) if wanted.size >= LEAST_FOR_MISFITS else 0.0
    return bool(np.count_nonzero(found != wanted) <= allowed), f"{allowed:.0f} of {wanted.size} elements"


def close(found: Array, wanted: Array, tolerance: Tolerance) -> bool:
    """Return whether two arrays of one dtype and shape agree."""
    if tolerance.exact:
        return found.tobytes() == wanted.tobytes()
    return bool(np.allclose(found, wanted, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True))
