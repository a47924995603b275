"""Numbers of which only the run tells if they are Python's or NumPy's, such as ``s`` behind a loop of no turns.

    s = 0.0
    for i in range(n): s += x[i]

The value is the same. The types of what is computed from it may differ, as Python's numbers give way to other types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import numpy as np

from xjit.capture.catching.running_code import is_traced
from xjit.capture.tracers.provenance import enclosing_capture, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.elements.elementwise import and_


def doubt_of(value: Any) -> tuple[TracedValue, type] | None:
    """The truth value that says if a number is Python's, and its type then; None where that is known."""
    return getattr(value, "doubt", None) if hasattr(type(value), "doubt") else None


def hand_on_doubt(ufunc: np.ufunc, inputs: Sequence[Any], result: Any) -> None:
    """Marks a result that is Python's if all operands are; CaptureError where its type depends on what they are."""
    doubts = [doubt for value in inputs if (doubt := doubt_of(value)) is not None]
    if not doubts:
        return
    doubtful = [value for value in inputs if doubt_of(value) is not None]
    others = [value for value in inputs if doubt_of(value) is None]
    types = [value.dtype for value in others if _is_numpys(value)]
    for value, (_, kind) in zip(doubtful, doubts, strict=True):
        sample = kind(1)
        if types and np.result_type(*types, value.dtype) != np.result_type(*types, sample):
            refuse("the type of a result depends on how many turns a loop takes", value, fix="convert the number")
    if types:
        return
    for one in result if isinstance(result, tuple) else (result,):
        if isinstance(one, TracedValue):
            _mark(ufunc, one, doubts, others)


def _mark(ufunc: np.ufunc, result: Any, doubts: Sequence[tuple[TracedValue, type]], others: Sequence[Any]) -> None:
    """Marks a result that is Python's if all operands are."""
    kinds = {kind for _, kind in doubts}
    kinds |= {(value.weak or float) if isinstance(value, TracedValue) else type(value) for value in others}
    kind = next(one for one in (complex, float, int, bool) if one in kinds)
    if ufunc is np.true_divide and kind in (int, bool):
        kind = float
    if result.dtype.kind == "b":
        kind = bool
    holds, *rest = [holds for holds, _ in doubts]
    for other in rest:
        holds = and_(holds, other)
    result.doubt = holds, kind


def settled(args: Any, kwargs: Any, own: Any = None) -> tuple[Any, Any]:
    """The arguments of a function of NumPy's, of which numbers in doubt are pinned where the result's type shows it.

    s = 0                                    s is an integer of Python's or a float of NumPy's
    for v in x: s = min(s, v)
    np.full(3, s), np.zeros(3) + s           the first one has either type; the second one is of floats
    """
    leaves = list(_leaves((own, args, kwargs)))
    doubtful = [value for value in leaves if doubt_of(value) is not None]
    types = [value.dtype for value in leaves if _is_numpys(value) and doubt_of(value) is None]
    if kwargs.get("dtype") is not None or all(_has_same_type(value, types) for value in doubtful):
        return args, kwargs
    return _certain(args), _certain(kwargs)


def _has_same_type(value: Any, types: Sequence[Any]) -> bool:
    """Return whether what is made of a number in doubt and of arrays of these types has one type either way."""
    kind = value.doubt[1]
    return bool(np.result_type(*types, value.dtype) == (np.result_type(*types, kind(1)) if types else np.dtype(kind)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, TracedValue):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    elif isinstance(value, np.ndarray | np.generic):
        yield value


def _certain(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(_certain, value))
    if type(value) is dict:
        return {key: _certain(item) for key, item in value.items()}
    return value if doubt_of(value) is None else value.certain()


def as_numpys(result: Any, inputs: Sequence[Any]) -> Any:
    """The result of a function of NumPy's, of which numbers are NumPy's whatever the operands are."""
    for one in result if isinstance(result, tuple) else (result,):
        if doubt_of(one) is not None and not any(one is other for other in inputs):
            one.doubt = None
    return result


def is_pythons(value: Any) -> bool:
    """Return whether a number in doubt is one of Python's, where that is pinned; CaptureError otherwise."""
    holds, kind = value.doubt
    message = f"only the run tells if a number is a {kind.__name__} of Python's"
    pins, fix = getattr(current(), "pins", None), f"convert the number: {kind.__name__}(x)"
    if pins is None:
        refuse(message, value, fix=fix)
    return bool(pins.needed(holds, "the type of a number", message, fix))


def class_of_array(value: TracedValue) -> Any:
    """The class of the array, NumPy scalar or Python number that a value stands for."""
    if value.weak is not None:
        return value.weak
    return value.dtype.type if value.scalar else np.ndarray


def class_seen_by(frame: FrameType, value: TracedValue) -> Any:
    """The same for the code of a frame, which may be a library's that is no part of the trace."""
    trace = enclosing_capture()
    if trace is None or not is_traced(frame):
        return class_of_array(value)
    return trace.recorder.class_of_run(settled_class(value))


def settled_class(value: TracedValue) -> Any:
    """The same where code looks at it: a number in doubt is pinned to be Python's or NumPy's."""
    doubt = doubt_of(value)
    return doubt[1] if doubt is not None and is_pythons(value) else class_of_array(value)


def stands_for_pythons(value: Any) -> Any:
    """Return whether a value is a number of Python's, or stands for one."""
    return value.weak if isinstance(value, TracedValue) else type(value) in (bool, int, float)


def _is_numpys(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return value.weak is None
    return isinstance(value, np.ndarray | np.generic)
