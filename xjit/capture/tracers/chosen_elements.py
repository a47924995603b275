"""``x[mask]`` while tracing: the elements that a mask chooses, whose number only the run knows.

What is computed of them one by one is computed everywhere, what is reduced leaves the others out, and what is stored
where the same mask holds becomes a select. Anything else needs their number.

    x[mask] *= 2             select mask (mul x 2) x
    (x[mask] ** 2).sum()     reduce add (select mask (mul x x) 0)
    table[k[mask]]           take table (select mask k 0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from xjit.capture.tracers.known_values import plain
from xjit.capture.tracers.numpy_call import call_function, call_getitem, call_method, call_ufunc
from xjit.capture.tracers.operators import Operators
from xjit.capture.tracers.provenance import noted, position
from xjit.errors import DataDependentError, DTypeError, XjitError
from xjit.ir.context import TracedValue
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import broadcast_in_dim

_FOLDS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.logical_and: np.all, np.logical_or: np.any}
_REDUCED = frozenset({np.sum, np.prod, np.any, np.all, np.mean, np.var, np.std})
_EXTREMES: dict[Any, Any] = {np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum}
_METHODS: dict[str, Any] = {
    one.__name__: one for one in (np.sum, np.prod, np.any, np.all, np.mean, np.var, np.std, np.max, np.min)
}
_CHOICES = frozenset({np.where, np.clip})


class ChosenElements(Operators):
    """The elements of ``values`` where ``mask`` holds, whose dimensions are those from ``axis`` on.

    They are one dimension of the result, in the place of those of the mask.
    """

    __slots__ = ("axis", "mask", "values", "where")
    chooses = True
    __array_priority__ = 1001.0

    def __init__(self, values: Any, mask: Any, axis: int = 0) -> None:
        self.values = values
        self.mask = mask
        self.axis = axis
        self.where = position()

    def like(self, values: Any) -> ChosenElements:
        """Other elements that the same mask chooses."""
        return ChosenElements(values, self.mask, self.axis)

    def chosen_by(self, mask: Any, axis: int) -> bool:
        """Return whether a mask at this place in an index has chosen the elements."""
        return bool(self.mask.node is mask.node and self.axis == axis)

    @property
    def every(self) -> Any:
        """The mask, for each of the values."""
        axes = tuple(range(self.axis, self.axis + self.mask.ndim))
        return broadcast_in_dim(self.mask, self.values.shape, axes)

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
            return self._reduced(_FOLDS[ufunc], {"axis": 0, **kwargs})
        if method == "reduce" and ufunc in (np.maximum, np.minimum) and len(inputs) == 1:
            return self._extreme(ufunc, {"axis": 0, **kwargs})
        if method != "__call__" or kwargs:
            self.refuse()
        return self._of_elements(ufunc, inputs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func in _CHOICES and not kwargs:
            return self._each(lambda *values: call_function(func, values, {}), args)
        if args and args[0] is self and len(args) <= 2:
            options = {**kwargs, "axis": args[1]} if len(args) == 2 else kwargs
            if func in _REDUCED:
                return self._reduced(func, options)
            if func in _EXTREMES:
                return self._extreme(_EXTREMES[func], options)
        self.refuse()

    def _of_elements(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return self._product(*inputs)
        if ufunc.signature is not None:
            self.refuse()
        return self._each(lambda *values: call_ufunc(ufunc, "__call__", values, {}), inputs)

    def _product(self, left: Any, right: Any) -> Any:
        """Rows times a matrix or a vector, each by itself."""
        if left is not self or isinstance(right, ChosenElements) or self.axis or self.ndim != 2:
            self.refuse()
        if self.mask.ndim != 1 or np.ndim(plain(right)) not in (1, 2):
            self.refuse()
        return self.like(call_ufunc(np.matmul, "__call__", (self.values, right), {}))

    def _each(self, call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """A function of one element each: of this array, of others that the same mask chose, and of what is repeated
        for each of them.
        """
        result = call(*(self._beside(one) for one in inputs))
        if isinstance(result, tuple):
            return tuple(map(self.like, result))
        if result.node.op.failure is not None or not self._fits(result.shape):
            self.refuse()
        return self.like(result)

    def _fits(self, shape: tuple[int, ...]) -> bool:
        return bool(shape[self.axis : self.axis + self.mask.ndim] == self.mask.shape)

    def _beside(self, other: Any) -> Any:
        if isinstance(other, ChosenElements):
            if not self.chosen_by(other.mask, other.axis) or other.values.ndim != self.values.ndim:
                self.refuse()
            return other.values
        if isinstance(other, TracedValue | np.ndarray):
            if len(other.shape) > self.values.ndim - self.mask.ndim - self.axis:
                self.refuse()  # it would be repeated along other dimensions than it seems
        elif not isinstance(other, bool | int | float | complex | np.generic):
            self.refuse()
        return other

    def _axes(self, options: dict[str, Any]) -> tuple[int, ...]:
        """The dimensions of the values that a reduction along an axis of the elements is over."""
        axis = options.pop("axis", None)
        rest = {key: one for key, one in options.items() if one is not None and one is not np._NoValue}
        if not rest.keys() <= {"dtype", "ddof"}:
            self.refuse()
        if axis is None:
            return tuple(range(self.values.ndim))
        if type(axis) is not int or not -self.ndim <= axis < self.ndim or axis % self.ndim != self.axis:
            self.refuse()
        return tuple(range(self.axis, self.axis + self.mask.ndim))

    def _reduced(self, function: Any, options: dict[str, Any]) -> Any:
        options = dict(options)
        axes = self._axes(options)
        return call_function(function, (self.values,), {**options, "axis": axes, "where": self.every})

    def _extreme(self, ufunc: Any, options: dict[str, Any]) -> Any:
        options = dict(options)
        axes, kind = self._axes(options), self.dtype.kind
        if options or kind not in "iuf":
            self.refuse()
        info: Any = np.finfo(self.dtype) if kind == "f" else np.iinfo(self.dtype)
        worst = info.min if ufunc is np.maximum else info.max
        if kind == "f":
            worst = -np.inf if ufunc is np.maximum else np.inf
        neutral = broadcast_to_shape(np.asarray(worst, self.dtype), self.values.shape)
        found = call_ufunc(ufunc, "reduce", (select(self.every, self.values, neutral),), {"axis": axes})
        message = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        some = call_function(np.any, (self.mask,), {})
        result = require(found, broadcast_to_shape(some, found.shape) if found.shape else some, "value", message)
        result.scalar = not found.shape
        return result

    # Indexing

    def __getitem__(self, index: Any) -> Any:
        if type(index) is tuple and not self.axis and self._keeps_all(index[:1]) and self._adds_axes(index[1:]):
            whole = (*(slice(None),) * self.mask.ndim, *index[1:])
            return self.like(call_getitem(self.values, whole))
        if not self.axis or type(index) is tuple or isinstance(index, ChosenElements) or index is None:
            self.refuse()
        values = call_getitem(self.values, index)
        kept = values.ndim - self.values.ndim + self.axis
        if index is Ellipsis or kept < 0:
            self.refuse()
        return ChosenElements(values, self.mask, kept)

    @staticmethod
    def _keeps_all(index: tuple[Any, ...]) -> bool:
        return len(index) == 1 and type(index[0]) is slice and index[0] == slice(None)

    @staticmethod
    def _adds_axes(index: tuple[Any, ...]) -> bool:
        return all(one is None or type(one) in (int, slice) for one in index)

    def taken_from(self, array: Any) -> Any:
        """``array[elements]``: the rows of another array at positions that the mask chooses."""
        if self.axis or self.ndim != 1 or self.dtype.kind not in "iu":
            self.refuse()
        zero = broadcast_to_shape(np.asarray(0, self.dtype), self.values.shape)
        return self.like(call_getitem(array, select(self.mask, self.values, zero)))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        self.refuse()

    # Python's operators

    def _unary(self, ufunc: Any) -> Any:
        return self._of_elements(ufunc, (self,))

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        return self._of_elements(ufunc, (left, right))

    def _inplace(self, ufunc: Any, other: Any) -> Any:
        found = self._binary(ufunc, self, other)
        if not np.can_cast(found.dtype, self.dtype, "same_kind"):
            raise noted(_cast_error(ufunc, found.dtype, self.dtype), self.values)
        self.values = call_method("astype", found.values, (self.dtype,), {})
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            function = _METHODS[name]
            return lambda *args, **options: self.__array_function__(function, (), (self, *args), options)
        if name == "astype":
            return lambda dtype: self.like(call_method("astype", self.values, (dtype,), {}))
        if name == "copy":
            return lambda: self.like(self.values)
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()

    def __len__(self) -> int:
        self.refuse()

    def __iter__(self) -> NoReturn:
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
