"""The iterator ``x.flat`` that user code sees while it is traced: reads copy, writes go to the array."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from xjit import ops
from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.numpy_writes import cycled, store_flat
from xjit.capture.memory.stored_numbers import held
from xjit.capture.memory.stores import as_integer, check_one_number, masked, unlinked
from xjit.capture.memory.views import link
from xjit.capture.memory.writes import check_writable, store, stored_value, write
from xjit.capture.python_control.loop_sequences import Sequence, Turns
from xjit.capture.tracers import numpy_call
from xjit.capture.tracers.provenance import located, noted, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import IndexOutOfBoundsError
from xjit.ir.context import TracedValue
from xjit.ir.source_location import is_own_code
from xjit.numpy.arrays import shaping
from xjit.numpy.selecting import gathering, indexing
from xjit.types import BOOL

_FIX = "use x.ravel(), or x[...] = v"


class TracedFlat(Sequence):
    """All elements of a traced array in row-major order, whatever the order of its memory.

    x.flat[2:5]          copy (slice (reshape x))
    x.flat[2:5] = v      the window of x.ravel() holds v, again from the first when there are no more
    for v in x.flat      a loop over the numbers of the elements

    Raises CaptureError where Python needs the numbers, or the iterator's own place.
    """

    __slots__ = ("base",)
    __array_priority__ = 1000.0

    def __init__(self, base: TracedArray) -> None:
        self.base = base

    @property
    def __class__(self) -> Any:  # what isinstance in libraries sees
        inside = is_own_code(sys._getframe(1).f_code)
        return TracedFlat if inside else np.flatiter

    @__class__.setter
    def __class__(self, value: Any) -> None:
        refuse("the class of an iterator is assigned to")

    # NumPy's protocols: functions take the elements as a new array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_call.call_ufunc(ufunc, method, _arrays(inputs), _arrays(kwargs))

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return numpy_call.call_function(func, _arrays(args), _arrays(kwargs))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("x.flat is passed to code that needs its numbers", self.base, fix="pass x.ravel()")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.flatiter, name):
            raise AttributeError(f"'numpy.flatiter' object has no attribute {name!r}")
        refuse(f"numpy.flatiter.{name} is not supported", self.base, fix=_FIX)

    def copy(self) -> Any:
        """Return a new array of the elements."""
        return numpy_call.call_method("copy", self._shown(), (), {})

    def taken_as_array(self) -> Any:
        """Return what functions take the iterator for."""
        return self.copy()

    # Elements

    def __len__(self) -> int:
        return self.base.size

    def __getitem__(self, index: Any) -> Any:
        index = _single(index)
        found = self._shown()[index]
        return numpy_call.call_method("copy", found, (), {}) if isinstance(index, slice) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        check_writable(self.base)
        index = as_integer(_single(numpy_call.known_index(index)))
        value = numpy_call.constants(value._shown() if isinstance(value, TracedFlat) else value)
        if isinstance(value, BufferView) and value.buffer is self.base.buffer:
            reason = "elements of x.flat are set to elements of x, one after the other"
            refuse(reason, self.base, fix="copy the value first")
        with located(tuple(one for one in (self.base, index, value) if isinstance(one, TracedValue))):
            if isinstance(index, TracedValue) and index.dtype == BOOL:
                self._store_where(index, value)
            else:
                self._store(index, value)

    def _shown(self) -> Any:
        """The elements in a row: a view where there is one, as NumPy's reshape has it."""
        return numpy_call.call_method("reshape", self.base, (-1,), {})

    def _store_where(self, mask: Any, value: Any) -> None:
        found = stored_value(value, self.base.dtype)
        if mask.shape != (self.base.size,) or math.prod(found.shape) != 1:
            refuse("x.flat[mask] = v, where v is no single number", self.base, fix="use np.place")
        flat = shaping.reshape(unlinked(self.base), -1)
        chosen = masked(flat, mask, ops.reshape(found, ()))
        write(self.base, ops.reshape(chosen, self.base.shape))

    def _store(self, index: Any, value: Any) -> None:
        """Stores values at an element, a slice, or an array of positions."""
        target, flat = self.base, self._shown()
        single = not isinstance(index, slice) and not indexing.has_positions([index])
        if single:
            check_one_number(value, np.zeros(1, target.dtype).flat)
            value = held(value, target.dtype)
        values = shaping.ravel(stored_value(value, target.dtype))
        own = math.prod(values.shape)
        places = self._places(index)
        count = math.prod(places.shape)
        if not own or not count:
            return
        updates = cycled(values, np.arange(count) % own, own)
        if flat.buffer is target.buffer and (single or isinstance(index, slice)):
            window = link(indexing.getitem(flat, (index, ...)), (flat,))
            store(window, ops.reshape(updates, ()) if single else updates)
        else:
            store_flat(target, shaping.ravel(places), updates)

    def _places(self, index: Any) -> Any:
        """The numbers of the elements that an index names."""
        size = self.base.size
        if isinstance(index, slice):
            return np.arange(size)[index]
        several = indexing.has_positions([index])
        if several and isinstance(index, TracedValue):
            refuse("x.flat is set at positions that only the run knows", self.base, fix="use np.put")
        try:
            return gathering.positions(index, size, 0, "indexing")
        except IndexOutOfBoundsError as error:
            if not several:
                raise
            refuse(f"x.flat is set up to a position that it does not have: {error}", self.base)

    # Loops

    def known(self) -> Any:
        """The array whose rows are the elements."""
        return self._shown()

    def turns(self) -> Turns:
        """The turns, of an element each."""
        return Turns(0, self.base.size, self._element)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._shown())

    def _element(self, number: Any) -> Any:
        """The element of a number, found along the axes, so that none but that is read."""
        position: list[Any] = []
        for size in reversed(self.base.shape):
            position.append(number % size)
            number = number // size
        return self.base[tuple(reversed(position))]


def _single(index: Any) -> Any:
    """The index of an iterator: an integer, a slice, or one array of positions or truth values."""
    if isinstance(index, tuple) and len(index) == 1:
        (index,) = index
    if index is Ellipsis:
        return slice(None)
    if isinstance(index, tuple) or index is None or isinstance(index, str | float):
        raise noted(IndexOutOfBoundsError("an index of x.flat is an integer, a slice, or one array"))
    return index


def _arrays(value: Any) -> Any:
    """The same arguments with a new array for every iterator."""
    if isinstance(value, TracedFlat):
        return value.copy()
    if type(value) in (tuple, list):
        return type(value)(map(_arrays, value))
    return {key: _arrays(one) for key, one in value.items()} if type(value) is dict else value
