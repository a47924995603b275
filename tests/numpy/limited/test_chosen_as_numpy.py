"""Functions on elements that masks choose: element types, errors and shapes are NumPy's, also where there are few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import split
from tests.numpy.limited.test_masked_elements import check_same

SIZE = 1100
RNG = np.random.default_rng(11)
VALUES = {
    "x": RNG.standard_normal(SIZE),
    "f": RNG.standard_normal(SIZE).astype(np.float32),
    "i": RNG.integers(1, 9, SIZE).astype(np.int16),
    "h": (RNG.random(SIZE) + 100).astype(np.float16),
    "A": RNG.integers(0, 5, (SIZE, 3)),
}
LINES = (
    "np.ediff1d(f[m], to_begin=0)",
    "np.ediff1d(i[m], to_end=99)",
    "np.ediff1d(x[m], to_end=99, to_begin=[1, 2])",
    "np.ediff1d(i[m], to_end=0.5)",
    "np.ediff1d(x[m] > 0)",
    "np.average(i[m], weights=f[m])",
    "np.average(i[m], weights=i[m])",
    "np.average(f[m], weights=i[m])",
    "np.average(f[m])",
    "np.average(i[m])",
    "np.average(x[m], weights=x[m] * 0)",
    "np.concatenate((x[m], x), dtype=np.float32)",
    "np.concatenate((x[m], x), dtype=np.int64)",
    "np.concatenate((i[m], i), dtype=np.float32)",
    "h[m].mean()",
    "np.mean(h[m], keepdims=True)",
    "np.unique(A[m], return_inverse=True)",
    "np.unique(A[:0], return_inverse=True)",
    "np.unique(A[m])",
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("density", [0.4, 1.0, 0.0, 0.001])
def test_as_numpy(line: str, density: float) -> None:
    function = eval(f"lambda {', '.join(VALUES)}, m: {line}", {"np": np})
    arguments = (*VALUES.values(), np.random.default_rng(3).random(SIZE) < density)
    compiled = xjit.jit(function)
    with split(), np.errstate(all="ignore"):
        for _ in range(2):
            wanted, found = outcome(function, arguments), outcome(compiled, arguments)
            if isinstance(wanted, type):
                assert isinstance(found, type) and issubclass(found, wanted)
            else:
                assert _types(found) == _types(wanted)
                check_same(_wide(found), _wide(wanted))


def _types(found: Any) -> list[Any]:
    return [np.asarray(one).dtype for one in (found if isinstance(found, tuple) else (found,))]


def _wide(found: Any) -> Any:
    """A result as doubles, without last digits that depend on the order of a sum."""
    if isinstance(found, np.floating | np.ndarray) and found.dtype.itemsize < 8 and found.dtype.kind == "f":
        return np.round(np.float64(found), 4 if found.dtype == np.float32 else 1)
    return found


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The result of a call, or the class of its error."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)
