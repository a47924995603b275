"""Evenly spaced numbers whose count only the run knows: ``np.arange(i, n)``, ``np.arange(0, t, dt)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from xjit import ops
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray, limited, number_of
from xjit.numpy.limited.made_to_length import guess, is_integer, room_of
from xjit.numpy.limited.rooms import bounded, can_repeat, expect_room, room_for
from xjit.numpy.limited.run_time_integers import Integer, integer, largest, quotient
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.static import only_run_tells
from xjit.numpy.rules.values import fresh
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import FLOAT64, INT64

_INTEGERS = (int, np.int64)
_FLOATS = (float, np.float64)


def applies(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a function makes evenly spaced numbers, and only the run knows how many."""
    return _FUNCTIONS[name][0](args, kwargs) if name in _FUNCTIONS else False


def created(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> LimitedArray:
    """The array, for arguments to which this `applies`."""
    return _FUNCTIONS[name][1](*args, **kwargs)


def _is_range(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    dtype = kwargs.get("dtype")
    if not 1 <= len(args) <= 3 or not kwargs.keys() <= {"dtype"} or not any(map(only_run_tells, args)):
        return False
    if all(map(_counts, args)):
        return dtype in (None, *_INTEGERS, *_FLOATS) and (len(args) < 3 or _is_step(args[2]))
    return dtype in (None, *_FLOATS) and can_repeat() and all(_counts(one) or _is_float(one) for one in args)


def _range(*args: Any, dtype: Any = None) -> LimitedArray:
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if not all(map(_counts, args)):
        return _range_of_floats(start, stop, step)
    (first, end), width = map(_settled, (start, stop)), int(step)
    count = bounded(quotient(end - first if width > 0 else first - end, abs(width)), guess(), "numpy.arange")
    places = _places(count)
    scaled = places if width == 1 else ops.mul(places, _repeated(width, count))
    shifted = scaled if first.known == 0 else ops.add(scaled, _repeated(first.operand, count))
    return _array(cast(shifted, FLOAT64) if dtype in _FLOATS else shifted, count)


def _range_of_floats(start: Any, stop: Any, step: Any) -> LimitedArray:
    """``start + i * ((start + step) - start)``, as many as there are steps to the end, the last one not whole.

    NumPy does the call where the number of them is none that there is room for, or cannot be computed.
    """
    low, high, width = map(_wide, (start, stop, step))
    distance = ops.sub(high, low)
    steps = ops.ceil(ops.div(distance, width))
    room = room_for(guess(), "numpy.arange")
    is_some = ops.or_(ops.ne(steps, 0.0), ops.eq(distance, 0.0))
    expect_room(ops.and_(ops.le(steps, float(room)), is_some))
    count = integer(ops.convert_element_type(ops.clamp(0.0, steps, float(room)), INT64)).within(0, room)
    second = ops.add(low, width)
    places = cast(_places(count), FLOAT64)
    multiples = ops.mul(places, _repeated(ops.sub(second, low), count))
    found = ops.add(multiples, _repeated(low, count))
    for place, value in enumerate((low, second)):
        found = _with_number(found, count, integer(place), value)
    return _array(found, count)


def _is_line(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    given = dict(zip(("start", "stop", "num", "endpoint"), args, strict=False)) | dict(kwargs)
    names = {"start", "stop", "num"}
    if len(args) > 4 or not names <= given.keys() <= names | {"endpoint"} or not only_run_tells(given["num"]):
        return False
    return is_integer(given["num"]) and all(_counts(one) or _is_float(one) for one in (given["start"], given["stop"]))


def _line(start: Any, stop: Any, num: Any, endpoint: Any = True) -> LimitedArray:
    """Multiples of the step, the last one replaced by the end.

    Where the step would underflow to zero the places are divided first, and multiplied then.
    """
    low, high = _wide(start), _wide(stop)
    given = integer(num)
    if given.low < 0:
        asked = number_of(given)
        message = "Number of samples must be non-negative"
        given = integer(require(asked, ops.ge(asked, np.int64(0)), "value", message)).within(0, given.high)
    count = bounded(given, guess(), "numpy.linspace")
    parts = largest(count - 1, 1) if endpoint else largest(count, 1)
    divisor, delta = cast(number_of(parts), FLOAT64), ops.sub(high, low)
    step = ops.div(delta, divisor)
    places = cast(_places(count), FLOAT64)
    fine = ops.mul(ops.div(places, _repeated(divisor, count)), _repeated(delta, count))
    usual = ops.mul(places, _repeated(step, count))
    vanishes = ops.broadcast_in_dim(ops.eq(step, 0.0), (room_of(count),), ())
    found = ops.add(ops.select(vanishes, fine, usual), _repeated(low, count))
    if endpoint:
        # The only number of a line of one is its start.
        last = largest(count - 1, 1)
        found = _with_number(found, count, last, high)
    return _array(found, count)


def _wide(value: Any) -> Any:
    return cast(value, FLOAT64) if isinstance(value, TracedValue) else ops.constant(float(value), dtype=FLOAT64)


def _counts(value: Any) -> bool:
    """Return whether a value is an integer that may bound a range; an argument's becomes a constant."""
    return is_integer(value) or (isinstance(value, TracedValue) and value.weak is int and not only_run_tells(value))


def _settled(value: Any) -> Integer:
    return integer(value if is_integer(value) else int(value))


def _is_step(value: Any) -> bool:
    return not only_run_tells(value) and int(value) != 0


def _is_float(value: Any) -> bool:
    if not isinstance(value, TracedValue):
        return type(value) in (float, np.float64) and math.isfinite(value)
    is_scalar = value.weak is float or (value.weak is None and value.scalar)
    return is_scalar and not value.node.aval.rank and value.dtype == FLOAT64


def _places(count: Integer) -> Any:
    return iota(f"s64[{room_of(count)}]", 0)


def _repeated(number: Any, count: Integer) -> Any:
    value = number if isinstance(number, TracedValue) else ops.constant(number, dtype=INT64)
    return ops.broadcast_in_dim(value, (room_of(count),), ())


def _with_number(values: Any, count: Integer, place: Integer, number: Any) -> Any:
    here = ops.eq(_places(count), _repeated(place.operand, count))
    return ops.select(here, _repeated(number, count), values)


def _array(values: Any, count: Integer) -> LimitedArray:
    return LimitedArray(limited(fresh(values), (count,)), (count,))


_FUNCTIONS: Mapping[str, tuple[Callable[..., bool], Callable[..., LimitedArray]]] = MappingProxyType(
    {"arange": (_is_range, _range), "linspace": (_is_line, _line)}
)
