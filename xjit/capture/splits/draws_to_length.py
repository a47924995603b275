"""Draws of as many random numbers as only the run knows: a loop of the program that draws them one by one.

rng.normal(size=mask.sum())     out = empty(bound); for k in range(mask.sum()): out[k] = rng.normal()

NumPy's routines draw the same stream either way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.control.loops import fori_loop
from xjit.capture.splits.compiled_draws import draw_of, given_arguments, method_of
from xjit.capture.splits.examples import example_result
from xjit.capture.tracers.limited_calls import seen
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.creation import full
from xjit.numpy.limited.arrays import LimitedArray, elements_of, limited
from xjit.numpy.limited.made_to_length import is_length
from xjit.numpy.limited.run_time_integers import Integer, integer
from xjit.numpy.rules.static import only_run_tells
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import Range, bound_of, store_window
from xjit.types import FLOAT64, INT64


def drawn_to_length(generator: Any, name: str, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The numbers that a method draws, along a first axis whose size only the run knows; None of other draws, and
    where a step in Python has to do this one.

    ``function`` is the method of another generator of the same class.
    """
    method = method_of(generator, name)
    given = None if method is None or method.dims else given_arguments(method, args, kwargs)
    sizes = None if given is None else _sizes(given.pop("size", None))
    if given is None or sizes is None or any(map(_is_array, given.values())):
        return None
    draw = draw_of(generator, name, (), given, example_result(function, (), given))
    if draw is None or draw.typed.types[0].dtype not in (FLOAT64, INT64):
        return None
    bounds = tuple(size.known if size.known is not None else bound_of(size.high) for size in sizes)

    def body(k: Any, numbers: Any) -> Any:
        trace = numbers.owner
        one = trace.wrap(lift(trace, draw.done()), trace)
        return store_window(numbers, ops.reshape(one, (1,)), [Range(k, 1, 1, 1)])

    empty = full((math.prod(bounds),), 0, draw.typed.types[0].dtype)
    flat = fori_loop(0, elements_of(sizes).operand, body, empty)
    value = ops.reshape(flat, bounds) if len(bounds) > 1 else flat
    return seen(LimitedArray(limited(value, sizes), sizes), ())


def _sizes(size: Any) -> tuple[Integer, ...] | None:
    """The sizes that a draw is asked for, if the run is the first to know that along the first axis, and no other."""
    several = size if type(size) is tuple else (size,)
    if not several or not all(map(is_length, several)) or not only_run_tells(several[0]):
        return None
    found = tuple(map(integer, several))
    return found if all(one.known is not None for one in found[1:]) else None


def _is_array(value: Any) -> bool:
    traced = isinstance(value, TracedValue) and value.node.aval.rank > 0
    return traced or isinstance(value, LimitedArray | np.ndarray)
