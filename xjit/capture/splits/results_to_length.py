"""Results of calls that have as many elements as only the run knows: random numbers, and what libraries return.

rng.normal(size=mask.sum())     out = empty(bound); for k in range(mask.sum()): out[k] = rng.normal()
np.unwrap(x[mask])              call padded(call np.unwrap(x[mask]), f64, bound, mask.sum())

NumPy's routines draw the same stream either way. The lengths of what a library returns are seen in examples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xjit import ops, tree
from xjit.capture.control.loops import fori_loop
from xjit.capture.draws.compiled_draws import draw_of, given_arguments, method_of
from xjit.capture.splits.call_arguments import example_size
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.examples import example_result
from xjit.capture.splits.python_steps import label_of, step
from xjit.capture.tracers.limited_calls import python_integer, seen
from xjit.errors import XjitError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.creation import full
from xjit.numpy.limited.arrays import LimitedArray, elements_of, limited, sizes_of
from xjit.numpy.limited.made_to_length import is_length
from xjit.numpy.limited.run_time_integers import Integer, integer
from xjit.numpy.rules.static import only_run_tells
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import Range, bound_of, store_window
from xjit.ops.effects.step_functions import padded
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


def returned_to_length(
    function: Any, args: Any, kwargs: dict[str, Any], note: XjitError | None, examples: Sequence[Any]
) -> Any:
    """The array that a function of a library returns, some of whose sizes are that of arrays among the arguments.

    The ``examples`` are results for a size, for one more and for one less. None where only the run knows several
    sizes of the arrays, and where examples tell of no such result.
    """
    sizes = {size.operand.node: size for size in _sizes_within((args, kwargs))}
    if len(sizes) != 1:
        return None
    (size,) = sizes.values()
    arrays = [one[0] for one in examples if one is not None and type(one[0]) is np.ndarray]
    if len(arrays) < len(examples) or len({(one.dtype, one.ndim) for one in arrays}) > 1:
        return None
    most = bound_of(size.high)
    found = tuple(
        _size_of(dims, size, example_size(most)) for dims in zip(*(one.shape for one in arrays), strict=True)
    )
    if None in found or not arrays[0].ndim:
        return None
    made = step(function, args, kwargs, note=note)
    room = tuple(most if one is size else one for one in found)
    now = tuple(python_integer(integer(one)) for one in found)
    like = np.empty(room, arrays[0].dtype)
    value = step(padded, (made, like.dtype, room, now), {}, like=(like,), label=label_of(function))
    if type(value) is DeferredObject:
        return made
    limits = tuple(map(integer, found))
    return seen(LimitedArray(limited(value, limits), limits), ())


def _size_of(dims: tuple[int, ...], size: Integer, example: int) -> Any:
    """The size of a dimension that is so large in examples; None where these tell of none."""
    if dims == (example, example + 1, example - 1):
        return size
    return dims[0] if len(set(dims)) == 1 else None


def _sizes_within(values: Any) -> Iterator[Integer]:
    """The sizes of arrays among values that only the run knows."""
    limits = (one for one in tree.flatten(values, in_parts=False)[0] if isinstance(one, LimitedArray))
    return (size for one in limits for size in sizes_of(one) if size.known is None)


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
