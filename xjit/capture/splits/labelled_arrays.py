"""Arrays with labels, of pandas and xarray: their libraries work with them by steps in Python, of known types.

s.to_numpy()            array of the graph, as a copy of s tells its type
np.sin(s)               Series, of which another example is kept
s.rolling(3).mean()     the same, by way of an object that is made of the example
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.capture.splits.purity import CHANGING
from xjit.dataclass import dataclass

_METHODS_TEXT = """
    to_numpy mean sum min max std var median prod count any all abs round clip shift diff pct_change cumsum cumprod
    cummax cummin rolling ewm expanding fillna dropna astype copy isna notna isnull notnull interpolate rank quantile
    head tail corr cov dot sort_values sort_index reset_index where mask between isin add sub mul div truediv pow radd
    rsub rmul rdiv item tolist ffill bfill first last resample groupby sem skew kurt argmin argmax idxmin idxmax
    nlargest nsmallest squeeze transpose isel sel to_frame to_series to_dict to_list assign drop drop_duplicates
    duplicated set_index rename value_counts unique nunique describe merge join replace assign_coords expand_dims
"""
_METHODS = frozenset(_METHODS_TEXT.split())
_LIBRARIES = frozenset({"pandas", "xarray"})


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an object as a function; nobody notices another call of it."""

    name: str
    repeats = True

    @property
    def __name__(self) -> str:
        """The name of the method."""
        return self.name

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(owner, self.name)(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator as a function of arrays, such as those with labels; nobody notices another call of it."""

    function: Callable[..., Any]
    repeats = True

    @property
    def __name__(self) -> str:
        """The name of the operator."""
        return str(self.function.__name__)

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


def as_operation(function: Any) -> Any:
    """The function, or an operator as one that may be called again: of arrays, and of lists and tuples of them."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    known = (module == "_operator" and name not in CHANGING) or name == "unpacked"
    return Operation(function) if known else function


def is_known_method(name: str, kwargs: dict[str, Any]) -> bool:
    """Return whether a method changes nothing, and has results whose types those of its arguments decide."""
    return name in _METHODS and not kwargs.get("inplace")


def is_of_library(value: Any) -> bool:
    """Return whether an object is one of a library of arrays with labels."""
    return type(value).__module__.partition(".")[0] in _LIBRARIES
