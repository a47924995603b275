"""Is a result right? Type, dtype, shape and values against NumPy's result of the same call."""

from __future__ import annotations

from typing import Any

import numpy as np

from perf.programs import Program, Tolerance

# A peer may contract multiply-adds and sum in its own order; it is checked for doing the same work, not
# for bits.
PEER_SLACK = 50
PEER_EPSILONS = 64


class WrongResult(AssertionError):
    """A candidate computed something else than NumPy; nothing of it is timed."""


def peer_tolerance(own: Tolerance, dtype: np.dtype[Any]) -> Tolerance:
    """Return what a peer is held to where xjit is held to `own`."""
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
    found, wanted = np.asarray(result), np.asarray(expected)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        raise WrongResult(
            f"{program.name}: {who} returned {found.dtype}{found.shape}, NumPy {wanted.dtype}{wanted.shape}"
        )
    tolerance = program.tolerance if strict else peer_tolerance(program.tolerance, wanted.dtype)
    if not close(found, wanted, tolerance):
        worst = float(np.max(np.abs(found.astype(np.float64) - wanted.astype(np.float64))))
        raise WrongResult(f"{program.name}: {who} differs from NumPy by up to {worst:g}, allowed {tolerance}")


def close(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], tolerance: Tolerance) -> bool:
    """Return whether two arrays of one dtype and shape agree."""
    if tolerance.exact:
        return found.tobytes() == wanted.tobytes()
    return bool(np.allclose(found, wanted, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True))
