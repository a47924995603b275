"""Data-dependent results: results whose shape, or type, depends on the elements of traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xjit.errors import DataDependentError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.rules.static import static_array
from xjit.ops.define.core import Array

FILL = "use np.where(mask, x, fill_value), or where=mask in a reduction, which keep the shape"
_SORTED = "sort the array and compare neighbours, or use np.isin, which keep the shape"
_LEFT = "without strict=True NumPy runs the call"


def depends(subject: str, what: str, fix: str) -> NoReturn:
    """Raises DataDependentError: ``what`` of a result depends on elements.

    >>> depends("numpy.roots", "the shape of the result", "give the coefficients as numbers")
    Traceback (most recent call last):
    ...
    xjit.errors.DataDependentError: numpy.roots: the shape of the result depends on the elements of a traced array
      fix: give the coefficients as numbers; without strict=True NumPy runs the call
    """
    raise DataDependentError(f"{subject}: {what} depends on the elements of a traced array", fix=f"{fix}; {_LEFT}")


def is_unknown(value: Any) -> bool:
    """Return whether only the run knows the elements of an argument."""
    return isinstance(value, TracedValue) and value.node.op is not CONSTANT and not hasattr(value, "known")


def known_array(value: Any, name: str, argument: str, fix: str) -> Array:
    """The elements of an argument that decides the shape of a result; DataDependentError for a traced one."""
    if is_unknown(value):
        depends(f"numpy.{name}: {argument}", "the shape of the result", fix)
    return static_array(value, name, argument)


def _refused(name: str, fix: str, what: str = "the shape of the result") -> Callable[..., NoReturn]:
    """The row of a function that has no compiled form whatever its arguments are."""

    def function(*arguments: Any, **options: Any) -> NoReturn:
        depends(f"numpy.{name}", what, fix)

    return function


unique_all = _refused("unique_all", _SORTED)
unique_counts = _refused("unique_counts", _SORTED)
unique_inverse = _refused("unique_inverse", _SORTED)
unique_values = _refused("unique_values", _SORTED)
trim_zeros = _refused("trim_zeros", FILL)
roots = _refused(
    "roots",
    "build the companion matrix as a complex one for np.linalg.eigvals",
    "the shape of the result, and its type,",
)
polydiv = _refused(
    "polydiv", "divide step by step with slices", "the length of the remainder, without leading zeros,"
)
