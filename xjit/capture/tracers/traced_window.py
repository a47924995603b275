"""The array that user code sees while it is traced of a slice whose length only the run knows: ``x[:i]``."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from xjit.capture.memory.buffer import Buffer, BufferView, reader_of
from xjit.capture.memory.writes import check_home
from xjit.capture.splits.deferred import refuse_deferred
from xjit.capture.tracers import limited_calls, numpy_call
from xjit.capture.tracers.operators import Operators
from xjit.capture.tracers.provenance import ask_to_rewrite, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.source_location import is_own_code
from xjit.numpy.limited.arrays import LimitedArray, at_bounds, elements_of, root_of, sizes_of
from xjit.numpy.limited.run_time_integers import integer
from xjit.ops.define.core import lift

_OPERANDS = (TracedValue, LimitedArray, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
_COPY = "copy it where it gets the other name"
_FIX = "use an array whose size is known while tracing"


class TracedWindow(Operators, LimitedArray):
    """An array under trace along some axes of which only the run knows how many elements there are.

    Raises CaptureError wherever a function does not know such arrays, or Python needs the numbers themselves.
    """

    __slots__ = ("__weakref__", "_form", "_is_own", "_parts", "_rows", "_way", "frozen")
    __array_priority__ = 1000.0

    def show(self, row: Any) -> None:
        """Notes a view of known size, whose memory cannot be followed: nobody may write to it while it lives."""
        row.buffer.shared = True
        self.shown_by(row)

    def shown_by(self, holder: Any) -> None:
        """Notes something that may show the elements: nobody may write to them while it lives."""
        self._rows = (*(one for one in getattr(self, "_rows", ()) if one() is not None), weakref.ref(holder))

    def may_show(self, other: Any) -> bool:
        """Return whether another value is among what may show the elements."""
        return any(one() is other for one in getattr(self, "_rows", ()))

    def replace(self, value: Any) -> None:
        """Makes the elements of an array that is no part those of a value: another version of its memory.

        CaptureError where something would show them.
        """
        carried: Any = self._value
        linked = carried is not None and carried.is_linked
        if linked and any(one.is_seen for one in carried.buffer.kin):
            refuse("an array is written in place that may be one with another, as only the run tells", carried)
        if (linked and carried.buffer.is_shown) or any(one() is not None for one in getattr(self, "_rows", ())):
            refuse("an array whose size only the run knows is written to while another one may show it", fix=_FIX)
        trace: Any = current()
        buffer = self._memory()
        check_home(buffer, trace, carried)
        buffer.advance(trace, trace.adopt(value.node))

    def _memory(self) -> Buffer:
        """The buffer of an array that is no part, which nothing else lies in."""
        if not getattr(self, "_is_own", False):
            owner = self.owner
            with tracing(owner):
                assert self._value is not None
                self._value, self._is_own = owner.wrap(lift(owner, self._value), owner), True
        assert isinstance(self._value, BufferView)
        return self._value.buffer

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'numpy.ndarray'")

    @classmethod
    def of(cls, array: LimitedArray) -> TracedWindow:
        """The same array as user code sees it."""
        return cls(array._value, array.sizes, array.part)

    @classmethod
    def of_parts(cls, parts: Sequence[Any], form: Sequence[Any]) -> TracedWindow:
        """The array of a value at its bounds and its sizes; the form has those that are known."""
        value, *numbers = parts
        left = iter(numbers)
        found = cls(value, tuple(integer(next(left) if size is None else size) for size in form))
        found._form = tuple(form)
        return found

    def parts(self) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        """The value at its bounds and the sizes that only the run knows, as loops and branches hand them on, and all
        known sizes; None of what shows other arrays.
        """
        if self.part is not None:
            return None
        form = getattr(self, "_form", None) or tuple(size.known for size in self.sizes)
        found: tuple[Any, tuple[Any, ...]] | None = getattr(self, "_parts", None)
        assert self._value is not None
        trace = reader_of(current(), self.owner)
        with tracing(trace):
            version = lift(trace, self._value)
            if found is None or found[0] is not version:
                numbers = [size for size, known in zip(self.shape, form, strict=True) if known is None]
                found = self._parts = version, (self.handed_on(at_bounds(self)), *numbers)
        return found[1], form

    def handed_on(self, value: Any) -> Any:
        """A value made of all elements, marked as the array that this one is, or may be."""
        own: Any = self._value
        if own is None or value is own:
            return value
        if hasattr(own, "code") or (own.is_linked and own.buffer.kin):
            value.buffer.may_be(own.buffer.kin)
            if hasattr(own, "code"):
                value.code = own.code
        return value

    def check_one_name(self) -> None:
        """CaptureError where a body has written to an array from outside of it, which is to become its variable."""
        inner: Any = current()
        while self.part is None and inner is not None and inner is not self.owner:
            if getattr(self, "_is_own", False) and self._memory() in getattr(inner, "versions", ()):
                refuse("an array whose size only the run knows gets another name where it is written to", fix=_COPY)
            inner = inner.parent

    @property
    def __class__(self) -> Any:  # what the user's `match` and isinstance in libraries see
        inside = is_own_code(sys._getframe(1).f_code)
        return TracedWindow if inside else np.ndarray

    @__class__.setter
    def __class__(self, value: Any) -> None:
        refuse("the class of an array is assigned to")

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(getattr(type(one), "chooses", False) for one in inputs):
            return NotImplemented
        return numpy_call.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(getattr(one, "chooses", False) for one in types):
            return NotImplemented
        return numpy_call.call_function(func, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("an array whose size only the run knows is passed to code that needs its numbers", fix=_FIX)

    def __str__(self) -> str:
        self._ask_for_text()

    def __format__(self, spec: str) -> str:
        self._ask_for_text()

    def __repr__(self) -> str:
        if type(sys._getframe(1).f_globals) is dict:  # a debugger or a traceback
            return f"<traced {self.dtype} of a length of the run>"
        self._ask_for_text()

    def _ask_for_text(self) -> NoReturn:
        ask_to_rewrite()
        refuse("the text of an array whose size only the run knows needs its numbers", fix=_FIX)

    def _unary(self, ufunc: np.ufunc) -> Any:
        return numpy_call.call_ufunc(ufunc, "__call__", (self,), {})

    def _binary(self, ufunc: np.ufunc, left: Any, right: Any) -> Any:
        other = right if left is self else left
        return (
            numpy_call.call_ufunc(ufunc, "__call__", (left, right), {})
            if isinstance(other, _OPERANDS)
            else NotImplemented
        )

    def _inplace(self, ufunc: np.ufunc, other: Any) -> Any:
        refuse_deferred(other)
        if getattr(type(other), "chooses", False):
            other = other.packed()
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        self._check_own()
        return limited_calls.write_ufunc(ufunc, self, other)

    def _check_own(self) -> None:
        """CaptureError for what shows an array whose elements would not change with its own, and for parts of it."""
        if getattr(self, "frozen", False) or getattr(root_of(self), "frozen", False):
            refuse("a view of an array whose size only the run knows is written to", fix=_FIX)

    # Attributes

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, those of the run as integers of Python's that are not known while tracing."""
        return tuple(limited_calls.python_integer(size) for size in sizes_of(self))

    @property
    def size(self) -> Any:
        """The number of elements."""
        return limited_calls.python_integer(elements_of(sizes_of(self)))

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._part_of_numbers(np.real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._part_of_numbers(np.imag)

    def _part_of_numbers(self, function: Any) -> Any:
        """Parts of complex numbers: elements that are no memory of the array's, so that nothing is written there."""
        if self.dtype.kind != "c":
            refuse("parts of real numbers in an array whose size only the run knows", fix=_FIX)
        return numpy_call.call_function(function, (self,), {})

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        return numpy_call.call_function(np.transpose, (self,), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "frozen" or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        if not callable(getattr(np.ndarray, name)):
            refuse(f"numpy.ndarray.{name} of an array whose size only the run knows", fix=_FIX)

        def call(*args: Any, **kwargs: Any) -> Any:
            return numpy_call.call_method(name, self, args, kwargs)

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(np.ndarray, name):
            refuse(f"numpy.ndarray.{name} of an array whose size only the run knows is assigned to", fix=_FIX)
        object.__setattr__(self, name, value)

    # Containers

    def __getitem__(self, index: Any) -> Any:
        return numpy_call.call_getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_own()
        numpy_call.call_setitem(self, index, value)

    def __len__(self) -> NoReturn:
        refuse("len() of an array whose size only the run knows", fix="use its shape")

    def __iter__(self) -> Iterator[Any]:
        ask_to_rewrite()
        refuse("a loop over an array whose size only the run knows", fix="use operations on whole arrays")

    def __contains__(self, item: Any) -> bool:
        ask_to_rewrite()
        refuse("`in` needs the numbers of an array", fix="use np.any(x == value)")

    def __bool__(self) -> bool:
        refuse("a condition needs the numbers of an array", fix="use np.where, np.any or np.all")
