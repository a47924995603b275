"""Lists and tuples times numbers of NumPy's: repeated by integers, errors of Python's for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import outcome

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": lambda y, q: [1, 2] * q,
    "rows": lambda y, q: np.vstack([y] * q),
    "from the left": lambda y, q: q * [y],
    "a tuple": lambda y, q: (y, 1) * q,
    "the sum of a list": lambda y, q: np.array([1, 2]) * q + [3, 4],
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "counts", [(2, 1), (np.int64(2), np.int64(1), np.int64(3)), (np.uint8(2), np.int32(1)), (np.float64(2),)]
)
def test_numbers_among_the_arguments(name: str, counts: Any) -> None:
    compiled = xjit.jit(FUNCTIONS[name])
    for count in counts:
        given = np.arange(3), count
        assert outcome(compiled, given) == outcome(FUNCTIONS[name], given)


def test_numbers_of_the_run() -> None:
    def repeated(y: Any) -> Any:
        return [1, 2] * y.sum()

    with pytest.raises(xjit.CaptureError, match="a list meets a number"):
        xjit.jit(repeated)(np.arange(3))
