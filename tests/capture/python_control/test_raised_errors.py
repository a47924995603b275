"""Errors of the user's own that only the run tells: NumPy does the call again, and raises them."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.python_control.raising_functions import CASES, fine, guarded
from xjit import CaptureError, xjit


def outcome(function: Callable[..., Any], call: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The result of a call, or the error with its lines, and what it has left of its arguments."""
    arguments = [one() if callable(one) else one for one in call]
    try:
        found = function(*arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [(frame.name, frame.lineno) for frame in frames if "raising_functions" in frame.filename]
        return (type(error), error.args, type(error.__cause__), error.__suppress_context__, lines), arguments
    return found, arguments


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_errors_are_pythons(function: Callable[..., Any], calls: tuple[Any, ...]) -> None:
    compiled = xjit(strict=True)(function)
    for call in (*calls, *calls):
        np.testing.assert_equal(outcome(compiled, call), outcome(function, call))
    assert compiled.stats().fallbacks == 0


def test_a_condition_shares_the_loop_of_what_follows() -> None:
    x = np.ones(10_000)
    kernels = xjit(guarded).explain(x).kernels
    assert any("lt" in str(one) and "sqrt" in str(one) for one in kernels), xjit(guarded).explain(x)


def test_errors_beside_effects_are_refused() -> None:
    from xjit import ops

    def transferred(x: Any) -> Any:
        if x.min() < 0:
            raise ValueError("negative")
        return ops.rng_uniform(np.float64(0.0), np.float64(1.0), "f64[399]") + x

    with pytest.raises(CaptureError, match="beside effects"):
        xjit(strict=True)(transferred)(fine())
