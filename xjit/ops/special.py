"""Special functions of floats: error functions, gamma functions, and functions of probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.ir.opdef import Parity
from xjit.ops.references import Array
from xjit.ops.rows import primitive, unary


def _scipy(name: str) -> Callable[..., Array]:
    """A function of SciPy, which is imported when it is called for the first time."""

    def reference(*arrays: Any) -> Array:
        import scipy.special

        function: Callable[..., Array] = getattr(scipy.special, name)
        return function(*arrays)

    return reference


erf = unary(
    "erf",
    "Erf",
    "F",
    _scipy("erf"),
    {"F": primitive("erf")},
    parity=(Parity.ODD,),
    example="np.float32([0, np.inf]) -> [0. 1.]",
    doc="Error function.",
)
