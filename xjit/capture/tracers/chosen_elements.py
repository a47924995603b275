"""``x[mask]`` while tracing: the elements that a mask chooses, whose number only the run knows.

What is computed of them one by one is computed everywhere, what is reduced leaves the others out, and what is stored
where the same mask holds becomes a select. For anything else they are packed, and so is what they were computed of.

    x[mask] *= 2             select mask (mul x 2) x
    (x[mask] ** 2).sum()     reduce add (select mask (mul x x) 0)
    table[k[mask]]           take table (select mask k 0)
    np.sort(x[mask] ** 2)    sort (pow (compact x mask) 2)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from xjit.capture.memory.stores import unlinked
from xjit.capture.tracers import limited_calls
from xjit.capture.tracers.known_values import plain
from xjit.capture.tracers.numpy_call import (
    call_function,
    call_getitem,
    call_method,
    call_ufunc,
)
from xjit.capture.tracers.operators import Operators
from xjit.capture.tracers.provenance import noted, refuse
from xjit.capture.tracers.traced_window import TracedWindow
from xjit.errors import DTypeError, XjitError
from xjit.ir.context import TracedValue
from xjit.ir.current import current, tracing
from xjit.numpy.rules.broadcasting import broadcast_to_shape
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


class _NotLazyError(Exception):
    """Says that something needs the elements next to each other."""


def _not_lazy() -> NoReturn:
    raise _NotLazyError


def packed(value: Any) -> Any:
    """The value, chosen elements in it as arrays of a size that only the run knows."""
    if type(value) in (tuple, list):
        return type(value)(map(packed, value))
    if type(value) is dict:
        return {key: packed(item) for key, item in value.items()}
    return value.packed() if isinstance(value, ChosenElements) else value


def _kept(value: Any) -> Any:
    """An operand as it is now: arrays may be written to before the elements are packed."""
    if isinstance(value, ChosenElements):
        return value.now()
    if isinstance(value, np.ndarray):
        return value.copy()
    return unlinked(value) if isinstance(value, TracedValue) and value.ndim else value


class _Packing:
    """Makes elements an array, once for all that have them; each has an array of its own, to be written to."""

    __slots__ = ("_found", "_pack")

    def __init__(self, pack: Callable[[], Any]) -> None:
        self._pack = pack
        self._found: Any = None

    def __call__(self) -> Any:
        if self._found is None:
            self._found = self._pack()
        found = self._found
        is_own = isinstance(found, TracedWindow) and found.part is None and not getattr(found, "frozen", False)
        return TracedWindow.of(found) if is_own else found


class ChosenElements(Operators):
    """The elements of ``values`` where ``mask`` holds, whose dimensions are those from ``axis`` on.

    They are one dimension of the result, in the place of those of the mask. ``pack`` makes them an array of a size
    that only the run knows; what is written into it is theirs, which are packed for good then. Views of other such
    elements know their ``base``, which may be written to as well.
    """

    __slots__ = ("__weakref__", "_base", "_look", "_pack", "_packed", "_seen", "_whole", "axis", "mask", "values")
    chooses = True
    __array_priority__ = 1001.0

    def __init__(self, values: Any, mask: Any, axis: int = 0, pack: Callable[[], Any] | None = None) -> None:
        self.values = values
        self.mask = mask
        self.axis = axis
        pack = pack or functools.partial(limited_calls.chosen_elements, values, mask, axis)
        self._pack = pack if isinstance(pack, _Packing) else _Packing(pack)
        self._packed: Any = None
        self._whole: Any = None
        self._base: ChosenElements | None = None
        self._look: Callable[[Any], Any] | None = None
        self._seen: Any = None

    def _view(self, values: Any, axis: int, look: Callable[[Any], Any]) -> ChosenElements:
        """A view of the elements: ``look`` takes it of them once they are packed."""
        found = ChosenElements(values, self.mask, axis, lambda: look(self.packed()))
        found._base, found._look, found._seen = self, look, self.values
        return found

    @property
    def is_base(self) -> bool:
        """Return whether they are no view of other such elements."""
        return self._base is None

    def now(self) -> ChosenElements:
        """The elements, to which nothing was written, as they are now, whatever is written to them later."""
        if self._base is not None and self._look is not None:
            base, look = self._base.now(), self._look
            return self.like(self.values, lambda: look(base.packed()))
        if self._packed is None:
            return self.like(self.values, self._pack)
        window = self._packed
        kept = TracedWindow.of(window) if isinstance(window, TracedWindow) else _kept(window)
        return self.like(self.values, lambda: kept)

    def like(self, values: Any, pack: Callable[[], Any]) -> ChosenElements:
        """Other elements that the same mask chooses."""
        return ChosenElements(values, self.mask, self.axis, pack)

    of_parts = TracedWindow.of_parts

    def parts(self) -> Any:
        """The elements next to each other, as what loops and branches hand on."""
        found = self.packed()
        return found.parts() if isinstance(found, TracedWindow) else None

    def packed(self) -> Any:
        """The elements next to each other."""
        if self._packed is None:
            with tracing(self.values.owner):
                self._packed = self._pack()
            self._whole = getattr(self._packed, "_value", None)
        return self._packed

    def kept(self) -> tuple[Any, ...]:
        """The values that they are made of, to put them back."""
        return self.values, self._pack, self._packed, self._whole

    def put_back(self, kept: tuple[Any, ...]) -> None:
        """Makes them of the values that they were made of."""
        self.values, self._pack, self._packed, self._whole = kept

    @property
    def _is_written(self) -> bool:
        """Return whether something was written to the elements since they were packed, or to what they show."""
        base = self._base
        if base is not None and (base._is_written or base.values is not self._seen):
            return True
        return self._packed is not None and getattr(self._packed, "_value", None) is not self._whole

    def _elements(self) -> Any:
        """The values, of which no element was written to."""
        if self._is_written:
            _not_lazy()
        return self.values

    def chosen_by(self, mask: Any, axis: int) -> bool:
        """Return whether a mask at this place in an index has chosen the elements, none of which was written to."""
        trace = current()
        assert trace is not None
        # A body of a loop knows what is outside of it by parameters of its own.
        same = trace.adopt(self.mask.node) is trace.adopt(mask.node) and self.axis == axis
        return same and not self._is_written

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
        return self.length if self.ndim == 1 else self.packed().size

    @property
    def length(self) -> Any:
        """The number of elements along the first dimension."""
        if self.axis:
            return self.values.shape[0]
        count = call_function(np.count_nonzero, (self.mask,), {})
        count.bounds = (0, self.mask.size)
        count.weak, count.scalar = int, True
        return count

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes; that of what was chosen is an integer that only the run knows."""
        found: tuple[Any, ...] = self.packed().shape
        return found

    # NumPy's protocols

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("an array whose size only the run knows is passed to code that needs its numbers", self.values)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        try:
            return self._ufunc(ufunc, method, inputs, kwargs)
        except _NotLazyError:
            return call_ufunc(ufunc, method, packed(inputs), packed(kwargs))

    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method == "reduce" and ufunc in _FOLDS and len(inputs) == 1:
            return self._reduced(_FOLDS[ufunc], {"axis": 0, **kwargs})
        if method == "reduce" and ufunc in (np.maximum, np.minimum) and len(inputs) == 1:
            return self._extreme(ufunc, {"axis": 0, **kwargs})
        if method != "__call__" or kwargs:
            _not_lazy()
        return self._of_elements(ufunc, inputs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return self._function(func, args, kwargs)
        except _NotLazyError:
            return call_function(func, packed(args), packed(kwargs))

    def _function(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func in _CHOICES and len(args) > 1 and not kwargs:  # the places where an array is true are of all of it
            return self._each(lambda *values: call_function(func, values, {}), args)
        if args and args[0] is self and len(args) <= 2:
            options = {**kwargs, "axis": args[1]} if len(args) == 2 else kwargs
            if func in _REDUCED:
                return self._reduced(func, options)
            if func in _EXTREMES:
                return self._extreme(_EXTREMES[func], options)
        _not_lazy()

    def _of_elements(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return self._product(*inputs)
        if ufunc.signature is not None:
            _not_lazy()
        return self._each(lambda *values: call_ufunc(ufunc, "__call__", values, {}), inputs)

    def _product(self, left: Any, right: Any) -> Any:
        """Rows times a matrix or a vector, each by itself."""
        if left is not self or isinstance(right, ChosenElements) or self.axis or self.ndim != 2:
            _not_lazy()
        if self.mask.ndim != 1 or np.ndim(plain(right)) not in (1, 2):
            _not_lazy()
        found = call_ufunc(np.matmul, "__call__", (self._elements(), right), {})
        kept, own = _kept(right), self.now()
        return self.like(found, lambda: call_ufunc(np.matmul, "__call__", (own.packed(), kept), {}))

    def _each(self, call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """A function of one element each: of this array, of others that the same mask chose, and of what is repeated
        for each of them.
        """
        result = call(*(self._beside(one) for one in inputs))
        kept = tuple(map(_kept, inputs))
        if isinstance(result, tuple):
            return tuple(
                self.like(one, functools.partial(lambda number: call(*packed(kept))[number], number))
                for number, one in enumerate(result)
            )
        if result.node.op.failure is not None or not self._fits(result.shape):
            _not_lazy()
        return self.like(result, lambda: call(*packed(kept)))

    def _fits(self, shape: tuple[int, ...]) -> bool:
        return bool(shape[self.axis : self.axis + self.mask.ndim] == self.mask.shape)

    def _beside(self, other: Any) -> Any:
        if isinstance(other, ChosenElements):
            if not self.chosen_by(other.mask, other.axis) or other.values.ndim != self.values.ndim:
                _not_lazy()
            return other._elements()
        if isinstance(other, TracedValue | np.ndarray):
            if len(other.shape) > self.values.ndim - self.mask.ndim - self.axis:
                _not_lazy()  # it would be repeated along other dimensions than it seems
        elif not isinstance(other, bool | int | float | complex | np.generic):
            _not_lazy()
        return other

    def _axes(self, options: dict[str, Any]) -> tuple[int, ...]:
        """The dimensions of the values that a reduction along an axis of the elements is over."""
        axis = options.pop("axis", None)
        rest = {key: one for key, one in options.items() if one is not None and one is not np._NoValue}
        if not rest.keys() <= {"dtype", "ddof"}:
            _not_lazy()
        if axis is None:
            return tuple(range(self.values.ndim))
        if type(axis) is not int or not -self.ndim <= axis < self.ndim or axis % self.ndim != self.axis:
            _not_lazy()
        return tuple(range(self.axis, self.axis + self.mask.ndim))

    def _reduced(self, function: Any, options: dict[str, Any]) -> Any:
        options = dict(options)
        axes = self._axes(options)
        return call_function(function, (self._elements(),), {**options, "axis": axes, "where": self.every})

    def _extreme(self, ufunc: Any, options: dict[str, Any]) -> Any:
        options = dict(options)
        axes, kind = self._axes(options), self.dtype.kind
        if options or kind not in "iuf":
            _not_lazy()
        info: Any = np.finfo(self.dtype) if kind == "f" else np.iinfo(self.dtype)
        worst = info.min if ufunc is np.maximum else info.max
        if kind == "f":
            worst = -np.inf if ufunc is np.maximum else np.inf
        neutral = broadcast_to_shape(np.asarray(worst, self.dtype), self.values.shape)
        found = call_ufunc(ufunc, "reduce", (select(self.every, self._elements(), neutral),), {"axis": axes})
        message = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        some = call_function(np.any, (self.mask,), {})
        result = require(found, broadcast_to_shape(some, found.shape) if found.shape else some, "value", message)
        result.scalar = not found.shape
        return result

    # Indexing

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, ChosenElements):
            index = index.packed()
        try:
            return self._at(index)
        except _NotLazyError:
            return self.packed()[index]

    def _at(self, index: Any) -> Any:
        if type(index) is tuple and not self.axis and self._keeps_all(index[:1]) and self._adds_axes(index[1:]):
            whole = (*(slice(None),) * self.mask.ndim, *index[1:])
            return self._view(call_getitem(self._elements(), whole), self.axis, lambda array: array[index])
        positions = isinstance(index, TracedValue | np.ndarray) and index.dtype.kind in "iu"
        if not self.axis or not (type(index) is int or positions):
            _not_lazy()
        values = call_getitem(self._elements(), index)
        kept = values.ndim - self.values.ndim + self.axis
        if kept < 0:
            _not_lazy()
        if not positions:
            return self._view(values, kept, lambda array: array[index])
        own, places = self.now(), _kept(index)
        return ChosenElements(values, self.mask, kept, lambda: own.packed()[places])

    @staticmethod
    def _keeps_all(index: tuple[Any, ...]) -> bool:
        return len(index) == 1 and type(index[0]) is slice and index[0] == slice(None)

    @staticmethod
    def _adds_axes(index: tuple[Any, ...]) -> bool:
        return all(one is None or type(one) in (int, slice) for one in index)

    def taken_from(self, array: Any) -> Any:
        """``array[elements]``: the rows of another array at positions that the mask chooses."""
        if self.axis or self.ndim != 1 or self.dtype.kind not in "iu" or self._is_written:
            return call_getitem(array, self.packed())
        zero = broadcast_to_shape(np.asarray(0, self.dtype), self.values.shape)
        kept, own = _kept(array), self.now()
        found = call_getitem(array, select(self.mask, self.values, zero))
        return self.like(found, lambda: call_getitem(kept, own.packed()))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.packed()[packed(index)] = packed(value)

    # Python's operators

    def _unary(self, ufunc: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self)

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", left, right)

    def _inplace(self, ufunc: Any, other: Any) -> Any:
        trace: Any = current()
        if self._packed is None and self._base is None and self.values.owner is trace:
            for trial in trace.trials:
                trial.keep(self)
            before = ChosenElements(self.values, self.mask, self.axis, self._pack)
            found = before._binary(ufunc, before, before if other is self else other)
            if isinstance(found, ChosenElements):
                if not np.can_cast(found.dtype, self.dtype, "same_kind"):
                    raise noted(_cast_error(ufunc, found.dtype, self.dtype), self.values)
                same = found.astype(self.dtype)
                self.values, self._pack = same.values, same._pack
                return self
        self.packed()._inplace(ufunc, packed(other))
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("flat", "shape"):
            refuse(f"the attribute {name} of chosen elements is assigned to", self.values, fix="use reshape")
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _METHODS:
            function = _METHODS[name]
            return lambda *args, **options: self.__array_function__(function, (), (self, *args), options)
        if name == "astype" and not self._is_written:
            return self._as_type
        if name in ("real", "imag") and not self._is_written and self.dtype.kind == "c":
            return self._view(getattr(self.values, name), self.axis, lambda array: getattr(array, name))
        if name == "copy" and not self._is_written:
            own = self.now()
            return lambda: self.like(own.values, lambda: own.packed().copy())
        return getattr(self.packed(), name)

    def _as_type(self, dtype: Any, **options: Any) -> Any:
        if options:
            return self.packed().astype(dtype, **options)
        found, own = call_method("astype", self.values, (dtype,), {}), self.now()
        return self.like(found, lambda: own.packed().astype(dtype))

    def __len__(self) -> int:
        return len(self.packed())

    def __iter__(self) -> Any:
        return iter(self.packed())

    def __contains__(self, item: Any) -> bool:
        return item in self.packed()

    def __bool__(self) -> bool:
        return bool(self.packed())

    def __str__(self) -> str:
        return str(self.packed())

    def __format__(self, spec: str) -> str:
        return format(self.packed(), spec)

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'numpy.ndarray'")


def _cast_error(ufunc: Any, found: Any, wanted: Any) -> XjitError:
    return DTypeError(
        f"numpy.{ufunc.__name__}: cannot cast the result from {found} to the output's type {wanted}",
        fix=f"use astype, or a new array of type {found}",
    )
