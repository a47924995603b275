"""The array that user code sees while it is traced: NumPy's protocols, methods and refusals."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from xjit.capture.catching.running_code import is_lookup, is_subscript, is_traced
from xjit.capture.guarding.access_path import object_path
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.stores import beside_mask, mask_of, unlinked
from xjit.capture.python_numbers import traced_complex, traced_floats
from xjit.capture.python_numbers.doubted_operators import call_operator
from xjit.capture.python_numbers.number_attributes import NumberAttributes, check_attribute
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers import limited_calls, traced_integers
from xjit.capture.tracers.doubts import (
    class_of_array,
    class_seen_by,
    doubt_of,
    settled_class,
    stands_for_pythons,
)
from xjit.capture.tracers.numpy_call import (
    call_attribute,
    call_function,
    call_getitem,
    call_method,
    call_numpys_ufunc,
    call_setitem,
    call_ufunc,
    packed_index,
    write_ufunc,
)
from xjit.capture.tracers.operators import COMPARISONS, PYTHON, Operators
from xjit.capture.tracers.provenance import CaptureTrace, ask_to_rewrite, enclosing_capture, refuse
from xjit.ir.context import PARAMETER, TracedValue
from xjit.ir.current import current
from xjit.ir.source_location import is_own_code
from xjit.numpy.limited.arrays import LimitedArray
from xjit.numpy.methods import ATTRIBUTES, METHODS
from xjit.numpy.ufuncs import short_power
from xjit.types import in_words

MAX_UNROLLED = 10_000
MOST_LISTED = 32
"""Elements that a list has as numbers of the graph; longer lists are ones of the run."""
_OF_PYTHON = (np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64))
"""The types of elements of as many bits as Python's numbers are computed with."""
_OPERANDS = (TracedValue, np.ndarray, np.generic, bool, int, float, complex, list, tuple)


# Attributes of traced arrays that may not be there yet.
_SLOTS = frozenset({"bounds", "code", "demanded", "known", "pace", "told", "wraps"})
_ASSIGNABLE = frozenset({"shape", "dtype", "strides", "real", "imag", "flat", "data"})


class TracedArray(Operators, NumberAttributes):
    """An array under trace; ``known`` gives the value of a NumPy scalar argument and makes it a guard.

    A ``weak`` one is a Python number that is not known while tracing, such as a result of math.sqrt; an integer is
    within ``bounds``, which a loop made so wide at some ``pace``, and those ``demanded`` unless a demand does not
    hold, or ``wraps`` at 64 bits as NumPy's do. A number of NumPy's with a ``doubt`` is one of Python's, of the type
    beside it, where a truth value says so: behind a loop that may have taken no turn. An array with a ``code`` may be
    one from outside, of this number.
    Raises CaptureError wherever Python needs the numbers themselves.
    """

    __slots__ = ("bounds", "code", "demanded", "known", "pace", "told", "wraps")
    __array_priority__ = 1000.0

    known: Callable[[], Any]
    bounds: tuple[int, int]
    demanded: tuple[int, int]
    wraps: bool
    code: TracedValue | None
    pace: traced_integers.Pace | None
    told: list[weakref.ref[TracedArray]]

    @property
    def __class__(self) -> Any:  # what the user's `match` and isinstance in libraries see
        frame = sys._getframe(1)
        return TracedArray if is_own_code(frame.f_code) else class_seen_by(frame, self)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        refuse("the class of an array is assigned to", self)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(getattr(type(one), "chooses", False) for one in inputs):
            return NotImplemented
        return call_numpys_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(getattr(one, "chooses", False) for one in types):
            return NotImplemented
        return call_function(func, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if hasattr(self, "known"):
            return np.array(self.known(), *args, **{"copy": None, **kwargs})
        refuse(
            f"{self._name()} is passed to code that needs its numbers",
            self,
            fix="use astype or NumPy functions on it, or call this code outside of the function",
        )

    def as_operand(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
        """Itself: only numbers that Python knows have a choice."""
        return self

    def constant(self) -> Any:
        """Itself: there is no value to make a constant of."""
        return self

    def _unary(self, ufunc: np.ufunc) -> Any:
        if traced_integers.is_integer(self):
            return traced_integers.unary(ufunc, self)
        return self._as_weak_as(self, call_operator(ufunc, (self,)))

    def _binary(self, ufunc: np.ufunc, left: Any, right: Any) -> Any:
        other = right if left is self else left
        if isinstance(other, LimitedArray | DeferredObject):
            return NotImplemented
        if not isinstance(other, _OPERANDS):
            return self._foreign(ufunc, left, right, other)
        if isinstance(other, list | tuple) and (self.weak is not None or (self.scalar and ufunc is np.multiply)):
            return self._with_sequence(ufunc, left, right, other)
        if traced_integers.is_integer(self):
            kind = other.weak if isinstance(other, TracedValue) else type(other)
            if kind in (bool, int):
                return traced_integers.binary(ufunc, left, right)
            if kind is float:
                number = traced_integers.as_float(self)
                if ufunc is np.power and right is self and traced_integers.has_finite_power(left, self):
                    return number._as_weak_as(left, call_ufunc(ufunc, "__call__", (left, number), {}))
                return number._binary(ufunc, *(number if one is self else one for one in (left, right)))
        if self.weak is float and stands_for_pythons(other) and ufunc in traced_floats.OPERATORS:
            return self._as_weak_as(other, traced_floats.binary(ufunc, left, right))
        if traced_complex.is_pythons(left, right):
            return traced_complex.binary(ufunc, left, right)
        if ufunc is np.power and isinstance(right, TracedArray) and right.is_argument:
            refuse("the exponent is an integer that changes from call to call", right, fix="pass a float")
        short = short_power(self, right) if ufunc is np.power and left is self else None
        return self._as_weak_as(other, call_operator(ufunc, (left, right), short))

    def _with_sequence(self, ufunc: np.ufunc, left: Any, right: Any, other: Any) -> Any:
        """With a list or a tuple: integers repeat it, other numbers of NumPy's are not multiplied with it."""
        if self.weak is None and self.dtype.kind not in "iu":
            return other * self.dtype.type()
        if self.weak is None and hasattr(self, "known"):
            return PYTHON[ufunc](*(self.known() if one is self else one for one in (left, right)))
        if type(other) is list and ufunc is np.multiply:
            ask_to_rewrite()
        numbers = "Python number" if self.weak is not None else "number"
        refuse(f"a {type(other).__name__} meets a {numbers} that is not known while tracing", self, fix="use arrays")

    @property
    def is_argument(self) -> bool:
        """Return whether this is an integer among the arguments: a known one makes a quicker power."""
        return self.weak is int and self.owner.parent is None and self.node.op is PARAMETER

    def _as_weak_as(self, other: Any, result: Any) -> Any:
        """Marks what Python computes from Python numbers, such as results of math.sqrt, as a Python number."""
        if isinstance(result, tuple):
            return tuple(self._as_weak_as(other, one) for one in result)
        of_python = self.weak is not None and (type(other) is complex or stands_for_pythons(other))
        if of_python and isinstance(result, TracedArray):
            result.weak = {"b": bool, "c": complex}.get(result.dtype.kind, float)
        return result

    def _foreign(self, ufunc: np.ufunc, left: Any, right: Any, other: Any) -> Any:
        """With a value of another library's type: NumPy's answer for a number that is known, else a refusal."""
        if not is_plain(other):
            return NotImplemented
        if self.scalar and hasattr(self, "known"):
            return PYTHON[ufunc](*(self.known() if one is self else one for one in (left, right)))
        fix = "use `is` to compare with None" if other is None else "make it a number or an array of numbers"
        verb = "compared" if ufunc in COMPARISONS else "combined"
        refuse(f"{self._name()} is {verb} with {other!r}", self, fix=fix)

    def _inplace(self, ufunc: np.ufunc, other: Any) -> Any:
        if not self.scalar and self.weak is None and isinstance(other, DeferredObject):
            from xjit.capture.splits.deferred_stores import value_of_update

            self[...] = value_of_update(self, ufunc, other)
            return self
        if self.scalar:
            return NotImplemented  # NumPy's scalars cannot change: Python goes on with the plain operator
        if getattr(type(other), "chooses", False):
            other = other.packed()
        if not isinstance(other, (*_OPERANDS, LimitedArray)):
            return NotImplemented
        if isinstance(other, LimitedArray):
            return limited_calls.write_to(ufunc, self, other)
        return write_ufunc(ufunc, self, other)

    def tell(self, result: TracedArray) -> None:
        """Notes what was computed of the elements: once they are written over its value is known no longer."""
        if not hasattr(self, "told"):
            self.told = []
        self.told.append(weakref.ref(result))

    def forget(self) -> None:
        """Forgets the value that was known: the elements were written over."""
        if hasattr(self, "known"):
            del self.known
        self.forget_results()

    def forget_results(self) -> None:
        """Forgets the values of what was computed of the elements."""
        told, self.told = getattr(self, "told", []), []
        for reference in told:
            result = reference()
            if result is not None:
                result.forget()

    # Attributes

    @property
    def device(self) -> str:
        """Return the device that NumPy names."""
        return str(np.empty(0).device)

    @property
    def flat(self) -> Any:
        """The iterator over the elements."""
        if self.scalar or self.weak is not None:
            raise AttributeError("flat")  # which __getattr__ then answers
        from xjit.capture.memory.flat_iterator import TracedFlat

        return TracedFlat(self)

    def to_device(self, device: str, /, *, stream: Any = None) -> Any:
        """The array itself; ValueError for another device than ``"cpu"`` or for a stream, as in NumPy."""
        sample: Any = np.empty(0)
        sample.to_device(device, stream=stream)
        return self

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """NumPy, as traced code gets it; ValueError for versions of the array API that it does not have."""
        trace = enclosing_capture()
        assert trace is not None
        sample: Any = np.empty(0)
        module = sample.__array_namespace__(api_version=api_version)
        return trace.recorder.read(module, object_path(module, module.__name__))

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            raise AttributeError(name)
        if self.weak is not None:
            check_attribute(self.weak, name, sys._getframe(1))
        elif self.doubt is not None and is_traced(sys._getframe(1)) and hasattr(self.dtype.type, name):
            self.check_number(name, sys._getframe(1))
            return getattr(self.certain(), name)
        if name == "item":
            return self._item
        if name == "tolist" and self.size <= MOST_LISTED:
            return self._tolist
        if name == "tolist" and self.ndim == 1 and self.dtype in _OF_PYTHON and not hasattr(self, "known"):
            return self._listed
        if name in traced_complex.PARTS and self.weak is not None:
            return traced_complex.part(self, name)
        if name in METHODS:
            return functools.partial(self._call_bound, name)
        if name in ATTRIBUTES:
            return call_attribute(name, self)
        cls = class_of_array(self)
        if name in ("__array_interface__", "__array_struct__") or not hasattr(cls, name):
            raise AttributeError(f"'{cls.__module__}.{cls.__name__}' object has no attribute {name!r}")
        if cls is not np.ndarray:  # such as is_integer of a float64
            return getattr(self._number(name, "use functions of NumPy on it"), name)
        fix = "use functions of NumPy on it, or do this outside of the compiled function"
        refuse(f"numpy.ndarray.{name} is not supported on {self._name()}", self, fix=fix)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("real", "imag", "flat") and not self.scalar:
            getattr(self, name)[...] = value
            return
        if name == "shape" and not self.scalar:
            from xjit.capture.memory.assigned_shapes import assign_shape

            assign_shape(self, value)
            return
        if name in _ASSIGNABLE:
            refuse(
                f"the attribute {name} of {self._name()} is assigned to", self, fix="use reshape, astype or np.where"
            )
        super().__setattr__(name, value)

    def _item(self, *index: Any) -> Any:
        if hasattr(self, "known"):
            return self.known().item(*index)
        from xjit.capture.python_numbers.numbers import python_number

        single = self if not index else self.reshape(-1)[index[0]] if len(index) == 1 else self[index]
        if single.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return python_number(single)

    def _tolist(self) -> Any:
        return self._item() if not self.ndim else [row.tolist() for row in self]

    def _listed(self) -> Any:
        """A list of the run with the elements, for loops to go through."""
        from xjit.capture.comprehensions.gathered import list_of

        return list_of(self)

    # Containers

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        if getattr(type(index), "chooses", False):
            return index.taken_from(self)
        found = None if self.scalar else mask_of(index, self)
        if found is not None:
            from xjit.capture.tracers.chosen_elements import ChosenElements

            mask, axis = found
            return ChosenElements(unlinked(self), unlinked(mask), axis)
        beside = None if self.scalar else beside_mask(index, self)
        if beside is not None:
            return self[beside[0]][beside[1]]
        return call_getitem(self, packed_index(index, self.ndim))

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.scalar:
            raise TypeError(f"'{self._class_name()}' object does not support item assignment")
        beside = beside_mask(index, self) if mask_of(index, self) is None else None
        if beside is not None:
            self[beside[0]][beside[1]] = value
        else:
            call_setitem(self, packed_index(index, self.ndim), value)

    def __delitem__(self, index: Any) -> NoReturn:
        raise ValueError("cannot delete array elements")

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        if len(self) > MAX_UNROLLED:
            ask_to_rewrite()
            refuse(
                f"a Python loop over {len(self)} rows of {self._name()} would be traced row by row",
                self,
                fix="use operations on whole arrays",
            )
        return (self[position] for position in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        ask_to_rewrite()
        refuse(f"`in` needs the numbers of {self._name()}", self, fix="use np.any(x == value)")

    # What would need the numbers

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        self._ask()
        return bool(self._number("a condition", "use np.where, np.maximum or np.minimum"))

    def __int__(self) -> int:
        self._ask()
        return int(self._number("int()", "use astype(int)"))

    def __float__(self) -> float:
        self._ask()
        return float(self._number("float()", "use the value as it is, or astype(float)"))

    def __complex__(self) -> complex:
        self._ask()
        return complex(self._number("complex()", "use the value as it is, or astype(complex)"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or not (self.scalar or self.ndim == 0):
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        if is_subscript(sys._getframe(1)):
            self._ask()
        return int(self._number("an index or a size", "use np.where or np.take, or a Python int"))

    def __hash__(self) -> int:
        if class_of_array(self) is np.ndarray:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        if is_lookup(sys._getframe(1)) or hasattr(self, "known"):
            return hash(self.as_key())
        self._ask()
        self._want_dicts()
        refuse(self._unknown("a hash"), self, fix="use a Python number, or an array of positions")

    def as_key(self) -> Any:
        """The number as a key of a dict from outside; CaptureError where only the run knows it."""
        self._ask()
        self._want_dicts()
        return self._number("a hash", "use a Python number, or an array of positions")

    def __round__(self, digits: int | None = None) -> Any:
        from xjit.capture.python_numbers.numbers import rounded

        if not self.scalar or self.dtype.kind == "c" or (self.weak is None and self.dtype.kind == "b"):
            name = self._class_name() if self.scalar else "numpy.ndarray"
            raise TypeError(f"type {name} doesn't define __round__ method")
        if hasattr(self, "known"):
            return round(self.known(), digits)
        if doubt_of(self) is not None:
            return round(self.certain(), digits)
        if digits is not None and self.weak is None:
            return call_method("round", self, (digits,), {})
        return rounded(self, digits)

    def __str__(self) -> str:
        self._ask()
        return str(self._number("its text", "return the value and print it outside of the function"))

    def __format__(self, spec: str) -> str:
        self._ask()
        return format(self._number("its text", "return the value and print it outside of the function"), spec)

    def __repr__(self) -> str:
        if class_of_array(self) is not np.ndarray and hasattr(self, "known"):
            return repr(self.known())
        if type(sys._getframe(1).f_globals) is not dict:  # traced code, not a debugger or a traceback
            self._ask()
            refuse(f"the text of {self._name()} needs its numbers", self, fix="print the result of the function")
        return f"<traced {in_words(self.last_node.type)}>"

    def __copy__(self) -> Any:
        return call_method("copy", self, (), {}) if self.weak is None else self

    def __deepcopy__(self, memo: Any) -> Any:
        return call_method("copy", self, (), {}) if self.weak is None else self

    def __reduce__(self) -> NoReturn:
        refuse(f"{self._name()} is pickled", self)

    def certain(self) -> Any:
        """The number as one of Python's or of NumPy's, which is known of it."""
        from xjit.capture.python_numbers.numbers import number_as

        kind = settled_class(self)
        plain = TracedArray(self.node, self.owner, scalar=True)
        return plain if kind is self.dtype.type else number_as(kind, plain)

    def _ask(self) -> None:
        """Asks for the function to be rewritten, which may do without the value."""
        if not hasattr(self, "known"):
            ask_to_rewrite()

    def _want_dicts(self) -> None:
        """Asks for dicts and sets that take numbers which are not known as keys."""
        trace = enclosing_capture()
        if not hasattr(self, "known") and trace is not None and trace.recorder is not None:
            trace.recorder.rewriting.want_dicts()

    def _number(self, purpose: str, fix: str) -> Any:
        if self.size > 1:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if hasattr(self, "known"):
            return self.known()
        pins = getattr(current(), "pins", None)
        if pins is not None:
            return pins.needed(self, purpose, self._unknown(purpose), fix)
        refuse(self._unknown(purpose), self, fix=fix)

    def _unknown(self, purpose: str) -> str:
        return f"{purpose} needs the value of {self._name()}, which is not known while tracing"

    def _class_name(self) -> str:
        cls = class_of_array(self)
        return f"numpy.{cls.__name__}" if self.weak is None else str(cls.__name__)

    def _name(self) -> str:
        return self.owner.label(self) if isinstance(self.owner, CaptureTrace) else "a traced value"

    def _call_bound(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return call_method(name, self, args, kwargs)
