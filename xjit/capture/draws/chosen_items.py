"""Items that generators choose with replacement, as draws of their positions.

rng.choice(x, 5)              x[rng.integers(0, len(x), 5)]
rng.choice(3, p=weights)      searchsorted(cumsum(weights) / sum, rng.random(), "right")

These are the steps that NumPy itself takes, so that the stream is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xjit.capture.draws.compiled_draws import compiled_draw
from xjit.capture.draws.drawn_sizes import with_sizes
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.splits.examples import example_result
from xjit.capture.tracers.limited_calls import python_integer
from xjit.capture.tracers.numpy_call import call_function
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass, replace
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray, sizes_of
from xjit.ops.define.core import lift
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import FLOAT64

_EMPTY = {
    (False, False): "a must be a positive integer",
    (False, True): "a cannot be empty",
    (True, False): "a must be greater than 0",
    (True, True): "'a' cannot be empty",
}
"""NumPy's words, by whether the generator is an old one, and whether items are chosen."""
_SAME_SIZE = "a and p must have same size"
_NAMES = ("a", "size", "replace", "p", "axis", "shuffle")
_NEAR = float(np.sqrt(np.finfo(np.float64).eps))
"""The distance from 1 that NumPy lets the sum of probabilities have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Population:
    """The items that are chosen from, and their number; without items the integers below it."""

    count: Any
    items: Any = None


def drawn_items(generator: Any, other: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the items that ``generator.choice`` returns; None where a step in Python has to call it.

    ``other`` is another generator of the same class.
    """
    given = {**dict(zip(_NAMES, args, strict=False)), **kwargs}
    known = len(args) <= len(_NAMES) and given.keys() <= set(_NAMES) and given.get("axis", 0) == 0
    if not known or given.get("replace", True) is not True:
        return None
    old = isinstance(other, np.random.RandomState)
    size, weights, population = given.get("size"), given.get("p"), _population(given.get("a"), old)
    if population is None or (population.items is not None and type(size) is tuple and not size):
        return None
    if weights is not None:
        return _by_weights(generator, other, population, weights, size)
    if type(population.count) is not int:
        words = f"{_EMPTY[old, population.items is not None]} unless no samples are taken"
        population = replace(population, count=_held(population.count, population.count > 0, words))
    name = "randint" if old else "integers"
    return _taken(population, _drawn(generator, other, name, (0, population.count), size), size)


def _by_weights(generator: Any, other: Any, population: _Population, weights: Any, size: Any) -> Any:
    if isinstance(weights, list | tuple) and all(type(one) in (int, float) for one in weights):
        weights = call_function(np.asarray, (weights,), {})
    if not isinstance(weights, TracedArray) or weights.ndim != 1 or weights.dtype != FLOAT64 or not len(weights):
        return None
    if type(population.count) is int and population.count != len(weights):
        return None
    old = isinstance(other, np.random.RandomState)
    shares = weights.cumsum()
    whole = shares[-1]
    for holds, words in _conditions(population, weights, whole, old):
        if isinstance(holds, TracedValue):
            whole = _held(whole, holds, words)
        elif not holds:
            return None
    uniform = _drawn(generator, other, "random_sample" if old else "random", (), size)
    if uniform is None:
        return None
    places = call_function(np.searchsorted, (shares / whole, uniform), {"side": "right"})
    return _taken(population, places, size)


def _conditions(population: _Population, weights: Any, whole: Any, old: bool) -> Iterator[tuple[Any, str]]:
    """Yield the conditions of probabilities, with NumPy's words for those that do not hold."""
    if type(population.count) is not int:
        yield population.count == len(weights), "'a' and 'p' must have same size" if old else _SAME_SIZE
    begin, end = ("p", "") if old else ("P", ". See Notes section of docstring for more information.")
    yield whole == whole, f"{begin}robabilities contain NaN"
    yield (weights >= 0).all(), f"{begin}robabilities are not non-negative"
    yield abs(whole - 1.0) <= _NEAR, f"{begin}robabilities do not sum to 1{end}"


def _held(number: Any, holds: Any, words: str) -> TracedArray:
    """A number with a condition, whose error is a ValueError of these words."""
    trace: Any = current()
    value = require(number, holds, "value", words)
    return TracedArray(lift(trace, value), trace, weak=getattr(number, "weak", None), scalar=True)


def _population(a: Any, old: bool) -> _Population | None:
    """Return the items to choose from; None of those that are none, or no numbers."""
    if type(a) in (int, np.int64):
        return _Population(int(a)) if a > 0 else None
    if isinstance(a, TracedValue) and not a.node.aval.rank:
        is_number = (a.scalar or a.weak is int) and a.dtype.kind in "iu"
        return _Population(a) if is_number else None
    if isinstance(a, LimitedArray):
        return _Population(python_integer(sizes_of(a)[0]), a) if len(sizes_of(a)) == 1 else None
    if isinstance(a, list | tuple) and a and {type(one) for one in a} in ({int}, {float}, {bool}):
        a = np.asarray(a)
    if isinstance(a, np.ndarray) and type(a) is np.ndarray:
        a = call_function(np.asarray, (a,), {})
    known = isinstance(a, TracedArray) and a.shape and a.shape[0] and (not old or a.ndim == 1)
    return _Population(a.shape[0], a) if known else None


def _drawn(generator: Any, other: Any, name: str, args: tuple[Any, ...], size: Any) -> Any:
    """Numbers of another method of the generator; None where the program cannot draw them."""
    method = getattr(other, name)
    args, options = with_sizes(method, args, {} if size is None else {"size": size})
    return compiled_draw(generator, name, args, options, example_result(method, args, options))


def _taken(population: _Population, places: Any, size: Any) -> Any:
    """The items in places: copies, one row of an array as well."""
    if places is None:
        return None
    if population.items is not None:
        found = population.items[places]
        return found.copy() if size is None and found.ndim else found
    return number_as(int, places) if size is None else places
