"""Builtin functions of values that only the run tells, with Python's results: extremes, orders, truths, roundings.

max(x[0], 2.0)     x[0] if only the run tells that it is larger, of the types of both
max(x)             the first of the largest, as comparisons find it: NaN is larger than nothing
sorted(x)          elements in order, as long as no NaN is among them
all(v > 0 for v in x)
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.comprehensions.generator_calls import GeneratorCall
from xjit.capture.comprehensions.mapped import Mapped, Selected
from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import as_bool, is_open, truth
from xjit.capture.python_numbers.numbers import python_number
from xjit.capture.rewriting.assigned_cells import assigned_cells
from xjit.capture.splits.attempts import attempted
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.elements.elementwise import and_, or_

MOST_SORTED = 64
"""Elements that are handed out one by one in another order; more of them are a list that only the run has."""


_EXTREMES = (builtins.min, builtins.max)
_ITERATORS = (builtins.map, builtins.zip, builtins.filter, types.GeneratorType)
"""Iterators that are gone through once, by Python."""


def _or_step(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A builtin that is captured where that is possible, and called by a step in Python else."""

    def decorate(traced: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if function is builtins.sorted and len(args) == 1 and not kwargs.keys() - {"key", "reverse"}:
                made = _sorted_list(args[0], kwargs)
                if made is not None:
                    return made
            if len(args) == 1 and not kwargs and _gives_elements(args[0]):
                return _of_elements(function, args[0])
            if len(args) == 1 and kwargs.keys() == {"key"} and function in _EXTREMES and _in_a_loop(*args, **kwargs):
                found = _extreme_by(function, args[0], kwargs["key"])
                if found is not None:
                    return found[0]
            return attempted(lambda: traced(*args, **kwargs), function, args, kwargs)

        return wrapper

    return decorate


def _gives_elements(values: Any) -> bool:
    """Return whether only the run tells how many elements there are, of which each can be traced."""
    kind = type(values)
    return kind in (GeneratorCall, Mapped, Selected) or (kind is DeferredObject and values.elements is not None)


def _in_a_loop(values: Any, key: Any) -> bool:
    """Return whether elements are looked at by a loop of the graph, not one by one: many, with keys of the run."""
    from xjit.capture.comprehensions.consumers import has_open_keys

    if isinstance(values, _ITERATORS):
        return False
    return _gives_elements(values) or has_open_keys(_runtime(), values, key, MOST_SORTED)


def _runtime() -> Any:
    from xjit.capture.python_control.runtime import TracedRuntime

    return TracedRuntime()


def _of_elements(function: Any, values: Any) -> Any:
    """The result of a builtin of values of the run, as a loop over these."""
    from xjit.capture.comprehensions.consumers import of_elements

    return of_elements(function, _runtime(), values)


def _sorted_list(values: Any, options: dict[str, Any]) -> Any:
    """The list of the elements of a list of the run in order; None where that is not traced."""
    from xjit.capture.comprehensions.sorted_lists import sorted_items, sorted_list

    if type(values) is DeferredObject and values.elements is not None:
        return sorted_list(values, _runtime(), **options)
    key = options.get("key")
    return sorted_items(values, _runtime(), **options) if _in_a_loop(values, key) else None


def _extreme_by(function: Any, values: Any, key: Any) -> Any:
    """The extreme by a key of values of the run, in a tuple; None where that is not traced."""
    from xjit.capture.comprehensions.consumers import extreme_by

    owner: Any = getattr(key, "__self__", None)
    if getattr(type(owner), "is_keyed", False) is True and key.__name__ == "get":
        key = owner.value_of  # of a key that is there
    return None if key is None else extreme_by(function, _runtime(), values, key)


def is_line(value: Any) -> bool:
    """Return whether a value is an array of numbers along one axis, none of which Python knows."""
    return isinstance(value, TracedArray) and value.ndim == 1 and value.dtype.kind in "biuf" and not _is_known(value)


def _is_known(value: Any) -> bool:
    return hasattr(value, "known")


def _is_asked(value: Any) -> bool:
    return isinstance(value, TracedValue) and is_open(value)


# Extremes


def _extreme(name: str, better: Callable[[Any, Any], Any], lowest: float, places: Any) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    @_or_step(plain)
    def extreme(*values: Any, **options: Any) -> Any:
        key, single = options.get("key"), len(values) == 1
        if single and isinstance(values[0], _ITERATORS):
            values = (tuple(values[0]),)
        if single and is_line(values[0]) and len(values[0]) and key is None:
            return _of_line(values[0], lowest, places)
        several = values
        if single and (type(values[0]) in (list, tuple, range) or is_line(values[0])):
            several = tuple(values[0])
        keys = several if key is None or len(several) < 2 else tuple(map(key, several))
        if len(several) < 2 or (single is False and "default" in options) or not any(map(_is_asked, keys)):
            return plain(*values, **options)
        best = several[0], keys[0]
        for one in zip(several[1:], keys[1:], strict=True):
            best = _better(better(one[1], best[1]), one, best, key is None)
        return best[0]

    return extreme


def _better(holds: Any, one: tuple[Any, Any], best: tuple[Any, Any], alone: bool) -> tuple[Any, Any]:
    if not is_open(holds):
        return one if holds else best
    if alone:
        found = chosen(truth(holds), lambda: one[0], lambda: best[0])
        return found, found
    pair: tuple[Any, Any] = chosen(truth(holds), lambda: one, lambda: best)
    return pair


def _of_line(values: Any, lowest: float, places: Any) -> Any:
    """The first of the largest elements: one that is NaN is never larger, and none is larger than it."""
    if values.dtype.kind != "f":
        return values[places(values)]
    missing = np.isnan(values)
    place = places(np.where(missing, values.dtype.type(lowest), values))
    return values[np.where(missing[0], 0, place)]


# Orders


@_or_step(builtins.sorted)
def _sorted(values: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    several = values if is_line(values) else list(values)
    keys = several if key is None else list(map(key, several))
    if not is_line(keys) and not any(map(_is_asked, keys)):
        return builtins.sorted(values if is_line(values) else several, key=key, reverse=reverse)
    if len(several) > MOST_SORTED:
        refuse(f"a list of {len(several)} numbers in an order that only the run tells", fix="use np.sort")
    order = _order(_line(keys), bool(reverse))
    found = _line(several)[order]
    python = not is_line(several) and several[0].weak is not None
    return [python_number(found[place]) if python else found[place] for place in range(len(several))]


def _order(keys: Any, reverse: bool) -> Any:
    """The places of numbers in their order; equal ones stay as they are. NumPy does the call where NaN is one."""
    if keys.dtype.kind == "f":
        demand(np.logical_not(np.any(np.isnan(keys))))
    if not reverse:
        return np.argsort(keys, kind="stable")
    return (len(keys) - 1 - np.argsort(keys[::-1], kind="stable"))[::-1]


def _line(values: Any) -> Any:
    """Numbers of one type as an array."""
    if is_line(values):
        return values
    kinds = {(one.weak, one.dtype) if isinstance(one, TracedValue) else type(one) for one in values}
    if len(kinds) > 1 or not all(isinstance(one, TracedArray) and one.scalar for one in values):
        refuse("numbers of several types are put in an order that only the run tells", *values, fix="use an array")
    return np.stack(values)


# Truths


def _truths(name: str, ends: bool, every: Any, combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    @_or_step(plain)
    def truths(values: Any, /) -> Any:
        if is_line(values):
            return as_bool(every(values))
        if isinstance(values, TracedArray):
            return plain(values)
        assigns = bool(assigned_cells((values,)))
        trace, found = current(), list[Any]()
        effects = 0 if trace is None else len(trace.effects)
        for one in values:
            if found and trace is not None and len(trace.effects) > effects:
                refuse(f"what {name}() goes through has effects, and only the run tells how far it goes")
            if is_open(one):
                if assigns:
                    refuse(f"{name}() calls a function that assigns variables, and only the run tells how often")
                found.append(truth(one))
            elif bool(one) is ends:
                return ends
        return as_bool(functools.reduce(combine, found)) if found else not ends

    return truths


# Sums


@_or_step(builtins.sum)
def _sum(values: Any, /, *start: Any, **named: Any) -> Any:
    return builtins.sum(values, *start, **named)


# Rounding


@_or_step(builtins.round)
def _round(number: Any, ndigits: Any = None) -> Any:
    return builtins.round(number, ndigits)


BUILTINS: dict[str, Any] = {
    "min": _extreme("min", lambda one, best: one < best, np.inf, np.argmin),
    "max": _extreme("max", lambda one, best: one > best, -np.inf, np.argmax),
    "sorted": _sorted,
    "all": _truths("all", False, np.all, and_),
    "any": _truths("any", True, np.any, or_),
    "round": _round,
    "sum": _sum,
}
"""The replacements of builtins that compare or convert numbers."""
