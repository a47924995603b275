"""Branches over the values of NumPy code: cond and switch, with JAX's arguments and meaning.

Outside of a compiled function they call one of the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed, inner_trace, not_assigning, own_copies
from xjit.capture.control.loops import truth, whole_number
from xjit.capture.control.state import OF_BRANCHES, Place, PromotionError, finished, fitted, places_of, refused
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.dataclass import replace
from xjit.errors import ArgumentError
from xjit.ir.current import current, tracing
from xjit.ops.control.conditional import branches as chosen
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import max, min
from xjit.ops.elements.select import select
from xjit.types import INT32


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """true_fun(*operands) if pred else false_fun(*operands).

    ``pred`` is a single truth value. Both functions return arrays and numbers in containers of one structure, of the
    same shapes and element types: ArgumentError, ShapeError or DTypeError otherwise. Outside of a compiled function
    the one that is not chosen is not called, and nothing is known of what it returns.

    >>> cond(True, np.negative, np.abs, np.float64(2.0))
    np.float64(-2.0)
    """
    name = "cond"
    if current() is None:
        return true_fun(*operands) if bool(pred) else false_fun(*operands)
    index = select(truth(pred, name, "pred"), np.int32(0), np.int32(1))
    return _one_of(name, index, (true_fun, false_fun), ("true_fun", "false_fun"), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """branches[index](*operands), where an index outside of them is the nearest inside.

    Results are as in :func:`cond`.

    >>> switch(7, [np.negative, np.abs, np.square], np.float64(3.0))
    np.float64(9.0)
    """
    name, last = "switch", len(branches) - 1
    if not branches:
        raise refused(ArgumentError, "xjit.switch: branches: at least one function is required; got none", ())
    if current() is None:
        return branches[np.clip(int(index), 0, last)](*operands)
    number = whole_number(index, name, "index")
    inside = convert_element_type(min(max(number, np.int64(0)), np.int64(last)), INT32)
    return _one_of(name, inside, branches, [f"branches[{k}]" for k in range(len(branches))], operands)


def _one_of(
    name: str, index: Any, functions: Sequence[Callable[..., Any]], labels: Sequence[str], operands: Sequence[Any]
) -> Any:
    """Traces all branches; their results take on the types that all of them fit."""
    traced = [_traced(function, label, operands) for function, label in zip(functions, labels, strict=True)]
    (first, result), *_ = traced
    with tracing(first):
        _, places, structure = places_of(result, name, "result")
    places = [replace(place, began=place.weak) for place in places]
    fitting = _fitting(name, traced, labels, places, structure)
    parts = [((), computed(trace, values)) for (trace, _), values in zip(traced, fitting[0], strict=True)]
    return finished(chosen(index, parts), fitting[1], structure)


def _traced(function: Callable[..., Any], label: str, operands: Sequence[Any]) -> tuple[CaptureTrace, Any]:
    trace = inner_trace(label)
    with tracing(trace), not_assigning(function):
        return trace, function(*own_copies(tuple(operands), trace))


def _fitting(
    name: str,
    traced: Sequence[tuple[CaptureTrace, Any]],
    labels: Sequence[str],
    places: Sequence[Place],
    structure: tree.Tree,
) -> tuple[list[list[Any]], Sequence[Place]]:
    """The results of all branches as values of the same places."""
    for _ in range(len(places) * len(traced) + 1):
        try:
            pairs = zip(traced, labels, strict=True)
            return [_fitted(one, places, structure, name, label) for one, label in pairs], places
        except PromotionError as promotion:
            places = promotion.places
    raise AssertionError("types are promoted only upwards")


def _fitted(
    one: tuple[CaptureTrace, Any], places: Sequence[Place], structure: tree.Tree, name: str, label: str
) -> list[Any]:
    trace, result = one
    with tracing(trace):
        return fitted(result, places, structure, name, label, OF_BRANCHES)
