"""Values that are known while tracing: what the function makes of constants alone is computed by NumPy at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xjit.ir.context import TracedValue
from xjit.types import NAMES


def is_constant(value: Any) -> bool:
    """Return whether an array's elements are known, without any guard."""
    return getattr(type(value), "holds_constants", False) and value.array is not None


def plain(value: Any) -> Any:
    """The array as code outside of the trace knows it; anything else as it is."""
    return value.array if is_constant(value) else value


def plain_arguments(value: Any) -> Any:
    """Nested arguments with plain arrays."""
    if type(value) in (tuple, list):
        return type(value)(map(plain_arguments, value))
    return {key: plain_arguments(item) for key, item in value.items()} if type(value) is dict else plain(value)


def known(value: Any) -> Any:
    """Results of NumPy's functions, arrays among them as arrays that may become traced ones."""
    from xjit.capture.tracers.known_array import KnownArray

    if type(value) in (tuple, list):
        return type(value)(map(known, value))
    return KnownArray(value) if type(value) is np.ndarray and value.dtype in NAMES else value


def known_result(value: Any, operands: Iterable[Any], again: Callable[[Any, Any], Any]) -> Any:
    """The same for a call on constants, whose results may be one of them, or views of them.

    ``again(one, other)`` calls once more, with another array in the place of one.
    """
    operands = list(operands)
    for one in operands:
        if is_constant(one) and one.array is value:
            return one
    result = known(value)
    parts = result if isinstance(result, tuple | list) else (result,)
    for place, part in enumerate(parts):
        if not is_constant(part):
            continue
        for one in operands:
            if is_constant(one) and np.may_share_memory(one.array, part.array):
                part.show(one, _derived(again, one, place if parts is result else None))
                break
    return result


def _derived(again: Callable[[Any, Any], Any], one: Any, place: int | None) -> Callable[[Any], Any]:
    def derive(other: Any) -> Any:
        result = again(one, other)
        return result if place is None else result[place]

    return derive


def is_traced(value: Any) -> bool:
    """Return whether only the run will tell a value; one that is known may become a constant instead."""
    return isinstance(value, TracedValue) and value.weak is None and not hasattr(value, "known")


def replaced(value: Any, one: Any, other: Any) -> Any:
    """Nested arguments with another value in the place of one."""
    if value is one:
        return other
    if type(value) in (tuple, list):
        return type(value)(replaced(item, one, other) for item in value)
    return {key: replaced(item, one, other) for key, item in value.items()} if type(value) is dict else value
