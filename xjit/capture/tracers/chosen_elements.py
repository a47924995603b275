"""``x[mask]`` while tracing: the elements that a mask chooses, whose number only the run knows.

What is computed of them one by one is computed everywhere, what is reduced leaves the others out, and what is stored
where the same mask holds becomes a select. Anything else needs their number.

    x[mask] *= 2             select mask (mul x 2) x
    (x[mask] ** 2).sum()     reduce add (select mask (mul x x) 0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from xjit.capture.tracers.numpy_call import call_function, call_ufunc
from xjit.capture.tracers.operators import Operators
from xjit.capture.tracers.provenance import noted, position
from xjit.errors import DataDependentError, DTypeError, XjitError
from xjit.ir.context import TracedValue
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.runtime_check import require

_FOLDS: dict[Any, str] = {np.add: "sum", np.multiply: "prod", np.logical_and: "all", np.logical_or: "any"}
_REDUCED = frozenset({np.sum, np.prod, np.any, np.all, np.mean, np.var, np.std})
_EXTREMES: dict[Any, Any] = {np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum}
_METHODS: dict[str, Any] = {
    one.__name__: one for one in (np.sum, np.prod, np.any, np.all, np.mean, np.var, np.std, np.max, np.min)
}


class ChosenElements(Operators):
    """The elements of ``values`` where ``mask``, of its leading dimensions, holds."""

    __slots__ = ("mask", "values", "where")
    chooses = True
    __array_priority__ = 1001.0

    def __init__(self, values: Any, mask: Any) -> None:
        self.values = values
        self.mask = mask
        self.where = position()

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.values.ndim - self.mask.ndim + 1)

    @property
    def size(self) -> Any:
        """The number of elements: an integer that only the run knows."""
        if self.ndim > 1:
            self.refuse()
        count = call_function(np.count_nonzero, (self.mask,), {})
        count.bounds = (0, self.values.size)
        count.weak, count.scalar = int, True
        return count

    def refuse(self) -> NoReturn:
        """Raises DataDependentError: the number of elements is needed."""
        try:
            depends("numpy.ndarray.__getitem__: boolean mask", "the shape of the result", FILL)
        except DataDependentError as error:
            error.located(self.where)
            raise noted(error, self.values, self.mask) from None

    # NumPy's protocols

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.refuse()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "reduce" and ufunc in _FOLDS and len(inputs) == 1:
            return self._reduced(getattr(np, _FOLDS[ufunc]), kwargs)
        if method == "reduce" and ufunc in (np.maximum, np.minimum) and len(inputs) == 1:
            return self._extreme(ufunc, kwargs)
        if method != "__call__" or kwargs or ufunc.signature is not None:
            self.refuse()
        return self._each(lambda *values: call_ufunc(ufunc, "__call__", values, {}), inputs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and args[0] is self:
            if func in _REDUCED:
                return self._reduced(func, kwargs)
            if func in _EXTREMES:
                return self._extreme(_EXTREMES[func], kwargs)
        self.refuse()

    def _each(self, call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """A function of one element each: of this array, of others that the same mask chose, and of numbers."""
        result = call(*(self._beside(one) for one in inputs))
        if isinstance(result, tuple):
            return tuple(ChosenElements(one, self.mask) for one in result)
        if result.shape != self.values.shape or result.node.op.failure is not None:
            self.refuse()
        return ChosenElements(result, self.mask)

    def _beside(self, other: Any) -> Any:
        if isinstance(other, ChosenElements):
            if other.mask.node is not self.mask.node or other.values.shape != self.values.shape:
                self.refuse()
            return other.values
        if isinstance(other, TracedValue | np.ndarray):
            if np.ndim(other) if isinstance(other, np.ndarray) else other.ndim:
                self.refuse()
        elif not isinstance(other, bool | int | float | complex | np.generic):
            self.refuse()
        return other

    def _check_axis(self, options: dict[str, Any]) -> None:
        axis = options.pop("axis", None)
        rest = {key: one for key, one in options.items() if one is not None and one is not np._NoValue}
        if self.ndim > 1 or axis not in (None, 0, -1) or not rest.keys() <= {"dtype", "ddof"}:
            self.refuse()

    def _reduced(self, function: Any, options: dict[str, Any]) -> Any:
        self._check_axis(options)
        return call_function(function, (self.values,), {**options, "where": self.mask})

    def _extreme(self, ufunc: Any, options: dict[str, Any]) -> Any:
        self._check_axis(options)
        kind = self.dtype.kind
        if options or kind not in "iuf":
            self.refuse()
        info: Any = np.finfo(self.dtype) if kind == "f" else np.iinfo(self.dtype)
        worst = info.min if ufunc is np.maximum else info.max
        if kind == "f":
            worst = -np.inf if ufunc is np.maximum else np.inf
        neutral = broadcast_to_shape(np.asarray(worst, self.dtype), self.values.shape)
        found = call_ufunc(ufunc, "reduce", (select(self.mask, self.values, neutral),), {"axis": None})
        message = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        result = require(found, call_function(np.any, (self.mask,), {}), "value", message)
        result.scalar = True
        return result

    # Python's operators

    def _unary(self, ufunc: Any) -> Any:
        return self._each(lambda value: call_ufunc(ufunc, "__call__", (value,), {}), (self,))

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        if ufunc is np.matmul:
            self.refuse()
        return self._each(lambda *values: call_ufunc(ufunc, "__call__", values, {}), (left, right))

    def _inplace(self, ufunc: Any, other: Any) -> Any:
        if ufunc is np.matmul:
            self.refuse()
        found = self._binary(ufunc, self, other)
        if not np.can_cast(found.dtype, self.dtype, "same_kind"):
            raise noted(_cast_error(ufunc, found.dtype, self.dtype), self.values)
        self.values = found.values.astype(self.dtype)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            function = _METHODS[name]
            return lambda **options: self.__array_function__(function, (), (self,), options)
        if name == "astype":
            return lambda dtype: ChosenElements(self.values.astype(dtype), self.mask)
        if name == "copy":
            return lambda: ChosenElements(self.values, self.mask)
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()

    def __len__(self) -> int:
        self.refuse()

    def __iter__(self) -> NoReturn:
        self.refuse()

    def __getitem__(self, index: Any) -> NoReturn:
        self.refuse()

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        self.refuse()

    def __bool__(self) -> bool:
        self.refuse()

    def __float__(self) -> float:
        self.refuse()

    def __int__(self) -> int:
        self.refuse()

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'numpy.ndarray'")


def _cast_error(ufunc: Any, found: Any, wanted: Any) -> XjitError:
    return DTypeError(
        f"numpy.{ufunc.__name__}: cannot cast the result from {found} to the output's type {wanted}",
        fix=f"use astype, or a new array of type {found}",
    )
