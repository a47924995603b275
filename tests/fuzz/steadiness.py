"""Test of whether last bits of the arguments decide what NumPy does: rounding then tells nothing of the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.comparing import Difference, call, same_outcome
from tests.fuzz.text_program import TextProgram

FACTORS = (1 + 2.0**-44, 1 - 2.0**-44)
"""All floats are multiplied by the same number, so that equal ones stay equal while sums of them round otherwise."""


def is_steady(program: TextProgram) -> bool:
    """Return whether NumPy's outcome stays when the floats among the arguments change by some last bits."""
    return all(_stays(program, factor) for factor in FACTORS)


def _stays(program: TextProgram, factor: float) -> bool:
    plain, moved = program.module(), program.module()
    arguments = moved.arguments
    moved.__dict__["arguments"] = lambda k, r: [_moved(one, factor) for one in arguments(k, r)]
    for k, r in program.calls:
        try:
            pair = (call(one, one.f, k, r, program.watched) for one in (moved, plain))
            same_outcome(program, "", *pair)
        except Difference:
            return False
    return True


def _moved(value: Any, factor: float) -> Any:
    """Return an argument times a number near one; an array in its place, where that can be written to."""
    if isinstance(value, float):
        return type(value)(value * factor)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and value.flags.writeable:
        value *= factor
    return value
