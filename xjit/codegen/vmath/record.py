"""What is known of a vector function: its error, and which of its variants are quick or cheap to compile."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """An elementary function of one or two arguments.

    ``error`` is a bound, found by trial, on the distance to the true value in units of the last place of that
    value.  ``near`` names the variant that is right where ``fabs(x) <= bound`` of the first argument and ``rare``
    the one that is called instead of inlined; where there are none both are the function itself and the bound is
    infinite.
    """

    name: str
    error: float
    near: str
    rare: str
    bound: float = math.inf


def everywhere(name: str, error: float) -> VectorFunction:
    """A function without variants."""
    return VectorFunction(name, error, name, name)


def reduced(name: str, error: float, bound: float) -> VectorFunction:
    """A function with the variants ``name_near`` and ``name_rare``."""
    return VectorFunction(name, error, f"{name}_near", f"{name}_rare", bound)
