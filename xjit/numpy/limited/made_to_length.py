"""Arrays that are filled to a length that only the run knows: ``np.zeros(i)``, ``np.full((n, 2), 1.5)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.arrays.creation import full
from xjit.numpy.limited.arrays import LimitedArray, limited, number_of
from xjit.numpy.limited.rooms import bounded, can_repeat
from xjit.numpy.limited.run_time_integers import Integer, integer
from xjit.numpy.rules.static import only_run_tells
from xjit.ops.dynamic.limited_windows import bound_of
from xjit.ops.whole_arrays.runtime_check import require

_FILLED = {"zeros": 0, "empty": 0, "ones": 1}
_FEW = 2**10
_GENEROUS = 16
"""By how much a bound may exceed the guess: a room for more elements would be memory that hardly any call uses."""
_LONGEST = 2**31
"""A bound above which an integer is taken for no length."""


def applies(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a function makes an array whose length is an integer of the run that has a bound."""
    if name in _FILLED or (name == "full" and len(args) > 1 and _is_number(args[1])):
        args = (*args[:1], *args[2:]) if name == "full" else args
        sizes = args[0] if args and isinstance(args[0], tuple) else args[:1]
        fits = len(args) <= 2 and kwargs.keys() <= {"dtype"} and all(map(_is_size, sizes))
        return fits and any(map(only_run_tells, sizes))
    return False


def created(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> LimitedArray | Any:
    """The array, for arguments to which this `applies`."""
    given = args[0] if isinstance(args[0], tuple) else args[:1]
    sizes = tuple(map(_size, given))
    element, *rest = args[1:] if name == "full" else (_FILLED[name], *args[1:])
    dtype = kwargs.get("dtype", rest[0] if rest else None)
    value = full(tuple(map(room_of, sizes)), element, float if dtype is None and name != "full" else dtype)
    return LimitedArray(limited(value, sizes), sizes)


def room_of(size: Integer) -> int:
    """Return how many elements there is room for along an axis of such a size."""
    return size.known if size.known is not None else bound_of(size.high)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, known or of the run, for which an array may have room."""
    if not isinstance(value, TracedValue):
        return type(value) is int
    is_integer = value.weak is int or (value.weak is None and value.scalar and value.dtype.kind in "iu")
    if not only_run_tells(value) or not is_integer or value.node.aval.rank:
        return False
    found = integer(value)
    return (found.low > -_LONGEST and found.high < _LONGEST) or can_repeat()


def guess() -> int:
    """As many elements as the largest array among the arguments has, and not too few."""
    trace = current()
    return max(_FEW, 0 if trace is None or trace.lengths is None else trace.lengths.largest)


def _size(value: Any) -> Integer:
    """The size, which is not negative, and within the room that there is where nothing else bounds it."""
    found = integer(value)
    if found.low < 0:
        number = number_of(found)
        held = require(number, ops.ge(number, np.int64(0)), "value", "negative dimensions are not allowed")
        found = integer(held).within(0, found.high)
    roomy = found.high <= _GENEROUS * guess() or (found.high < _LONGEST and not can_repeat())
    return found if roomy else bounded(found, guess(), "numpy.zeros")


def _is_number(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return not value.node.aval.rank
    return isinstance(value, bool | int | float | complex)


def _is_size(value: Any) -> bool:
    return is_integer(value) and (integer(value).low >= 0 or can_repeat())


def is_length(value: Any) -> bool:
    """Return whether an integer, known or of the run, is the length of an array for which there may be room."""
    found = integer(value) if is_integer(value) else None
    return found is not None and found.low >= 0 and found.high <= _GENEROUS * guess()
