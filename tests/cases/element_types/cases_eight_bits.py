"""Cases of functions of floats of eight bits: every number, and every pair of two."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.helpers.case_values import EIGHT_BIT, every, float_pairs, nan, through_single
from tests.helpers.harness import Case, array
from xjit import ops


def _lgamma(x: Any) -> Any:
    return np.where(np.isinf(x), np.inf, scipy.special.gammaln(x))


def _digamma(x: Any) -> Any:
    return np.where(x == 0, nan, scipy.special.digamma(x))


def _following(x: Any, y: Any) -> Any:
    """The numbers next to x on the way to y, found among all of the type."""
    wide, goal = x.astype(np.float64), y.astype(np.float64)
    numbers = every(x.dtype.name.replace("float8_", "f8")).astype(np.float64)
    numbers = np.unique(numbers[~np.isnan(numbers)])
    place = np.searchsorted(numbers, np.where(np.isnan(wide), 0, wide))
    found = numbers[np.clip(place + np.where(goal > wide, 1, -1), 0, len(numbers) - 1)]
    found = np.where(found == 0, np.copysign(0, wide), found)
    found = np.where(wide == goal, goal, found)
    return array(x.dtype.name.replace("float8_", "f8"), np.where(np.isnan(wide) | np.isnan(goal), nan, found))


def _cases() -> list[Case]:
    found = []
    for dtype in EIGHT_BIT:
        x = every(dtype)
        first, second = float_pairs(x)
        found.append(Case("nextafter", ops.nextafter, (first, second), _following(first, second)))
        for name, rule in (("erfc", scipy.special.erfc), ("lgamma", _lgamma), ("digamma", _digamma)):
            found.append(Case(name, getattr(ops, name), (x,), through_single(dtype, rule, x), 1))
        for name, rule in (("atan2", np.arctan2), ("pow", np.power)):
            expected = through_single(dtype, rule, first, second)
            found.append(Case(name, getattr(ops, name), (first, second), expected, 1))
    return found


CASES = _cases()
