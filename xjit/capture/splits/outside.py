"""Code outside of a split function: functions that are called as they stand, generators of random numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.draws.chosen_items import drawn_items
from xjit.capture.draws.compiled_draws import compiled_draw
from xjit.capture.draws.drawn_sizes import with_sizes
from xjit.capture.guarding.guards import is_generator
from xjit.capture.splits.attempts import attempted
from xjit.capture.splits.callbacks import is_made
from xjit.capture.splits.deferred import DeferredObject, check_drawing, is_deferred
from xjit.capture.splits.examples import OTHERS, differ, example, example_result, is_sized
from xjit.capture.splits.labelled_arrays import is_of_library
from xjit.capture.splits.memory_of_objects import lays_out
from xjit.capture.splits.purity import draws, is_clock, repeats, shuffles
from xjit.capture.splits.python_steps import check_writes, step
from xjit.capture.splits.results_to_length import drawn_to_length, returned_to_length
from xjit.capture.tracers.chosen_elements import ChosenElements
from xjit.capture.tracers.demands import repeats_so_far
from xjit.capture.tracers.numpy_call import traced_leaves
from xjit.capture.tracers.opaque import Opaque, target_of
from xjit.capture.tracers.provenance import CaptureTrace, is_splitting, noted
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import CaptureError, DataDependentError, XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.effects.step_functions import call_method

_LARGE = 2**10
_MAKERS: dict[Any, type] = {
    np.random.default_rng: np.random.Generator,
    np.random.Generator: np.random.Generator,
    np.random.RandomState: np.random.RandomState,
}


def called(opaque: Opaque, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function that a trace cannot watch."""
    target = target_of(opaque)
    if draws(target):
        return drawn(opaque, args, kwargs)
    if shuffles(target) and _is_shuffled(args):
        other = Opaque(target.__self__.permutation, *opaque.reasons())
        return shuffle(lambda *array, **options: drawn(other, array, options), *args, **kwargs)
    if target in _MAKERS:
        return step(target, args, kwargs, kind=_MAKERS[target])
    if is_clock(target):
        return step(target, args, kwargs, like=(target(),))
    return step(target, args, kwargs, note=opaque.error())


def attribute(opaque: Opaque, name: str) -> Any:
    """An attribute of an object that a trace cannot watch."""
    target = target_of(opaque)
    if is_generator(type(target)):
        return Opaque(getattr(target, name), *opaque.reasons())
    return step(getattr, (opaque, name), {})


def item(opaque: Opaque, index: Any) -> Any:
    """An item of an object that a trace cannot watch."""
    return step(operator.getitem, (opaque, index), {}, note=opaque.error())


def drawn_by(generator: DeferredObject, name: str, *args: Any, **kwargs: Any) -> Any:
    """The result of a method of a generator that only the run has."""
    assert generator.kind is not None
    if name == "shuffle" and _is_shuffled(args):
        return shuffle(functools.partial(drawn_by, generator, "permutation"), *args, **kwargs)
    check_writes(f"{generator.label}.{name}", name, kwargs)
    method = getattr(_other(generator.kind), name)
    found = drawn_to_length(generator, name, method, args, kwargs)
    if found is None and name == "choice":
        found = drawn_items(generator, _other(generator.kind), args, kwargs)
    if found is not None:
        return found
    args, kwargs = with_sizes(method, args, kwargs)
    like = _like(method, args, kwargs) if draws(method) else None
    found = compiled_draw(generator, name, args, kwargs, like)
    if found is not None:
        return found
    check_drawing(generator)
    return step(call_method, (generator, name, *args), kwargs, like=like, label=f"{generator.label}.{name}")


def part_of_generator(generator: DeferredObject, name: str) -> Any:
    """An attribute of a generator, such as the one that makes its bits: an object of the run."""
    check_drawing(generator)
    return step(getattr, (generator, name), {}, label=f"{generator.label}.{name}")


def _is_shuffled(args: tuple[Any, ...]) -> bool:
    """Return whether the first argument of ``shuffle`` is an array that a permutation may be stored into."""
    return bool(args) and isinstance(args[0], TracedArray) and args[0].ndim > 0


def shuffle(permutation: Callable[..., Any], array: Any, **options: Any) -> None:
    """Stores a permutation of an array into it, which generators draw as they shuffle the array."""
    array[...] = permutation(array, **options)


def _other(kind: type) -> Any:
    """A generator of the same class, to see what its methods return."""
    return np.random.RandomState(0) if issubclass(kind, np.random.RandomState) else np.random.default_rng(0)


def drawn(opaque: Opaque, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Random numbers, of the types of such a draw from another generator."""
    method = target_of(opaque)
    other = getattr(_other(type(method.__self__)), method.__name__)
    found = drawn_to_length(method.__self__, method.__name__, other, args, kwargs)
    if found is None and method.__name__ == "choice":
        found = drawn_items(method.__self__, other.__self__, args, kwargs)
    if found is not None:
        return found
    args, kwargs = with_sizes(other, args, kwargs)
    like = _like(other, args, kwargs)
    found = compiled_draw(method.__self__, method.__name__, args, kwargs, like)
    if found is None and not is_splitting():
        raise noted(opaque.error())
    return step(method, args, kwargs, like=like) if found is None else found


def _like(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | None:
    """The numbers of such a draw, in a tuple; of ``choice(n, 3, replace=False)`` for an n that is large enough."""
    if is_sized(method, args, kwargs):
        return None
    return example_result(method, args, kwargs) or example_result(method, args, kwargs, _LARGE)


def library(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], note: XjitError | None = None) -> Any:
    """The result of a function of a library, whose types those of the arguments decide as far as an example tells.

    One that shows arrays among the arguments is an object of the run, as a value of the graph is no view of them.
    """
    known = repeats(function) and not isinstance(note, DataDependentError)
    found = example(function, args, kwargs) if known else None
    numbers = found is not None and _has_numbers((args, kwargs))
    examples = [found, *(example(function, args, kwargs, plus) for plus in OTHERS)] if numbers else [found]
    # An example without elements shares no memory, one that has some may do so.
    shares = (known and lays_out(function)) or any(one is not None and one[1] for one in examples)
    like = None if found is None or (shares and not is_of_library(found[0])) else found[:1]
    if like is not None and _is_seen(current()) and differ([found, example(function, args, kwargs, varied=True)]):
        like = None  # NumPy cannot do the call from the beginning where the run finds another type
    if like is not None and differ(examples):
        to_length = returned_to_length(function, args, kwargs, note, examples)
        if to_length is not None:
            return to_length
        like = None
    return step(function, args, kwargs, like=like, note=note)


def _is_seen(trace: Trace | None) -> bool:
    """Return whether something that happens once may stand ahead of a step, at least in an earlier turn."""
    return isinstance(trace, CaptureTrace) and (trace.parent is not None or not repeats_so_far(trace))


def _has_numbers(values: Any) -> bool:
    """Return whether only the run knows numbers among values that the type of a result may depend on.

    These are integers of Python's and sizes of arrays, and floats beside nothing but numbers: ``min(x, 1)``.
    """
    leaves = tree.flatten(values, in_parts=False)[0]
    classes = (int,) if any(isinstance(one, TracedValue) and one.node.aval.rank for one in leaves) else (int, float)
    return any(isinstance(one, LimitedArray) or getattr(one, "weak", None) in classes for one in leaves)


@functools.lru_cache(maxsize=1024)
def splitting_function(function: Any) -> Any:
    """A function of a library as traced code gets it: what it does with traced values may become a step in Python."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not is_splitting():
            return function(*args, **kwargs)
        if is_deferred((args, kwargs)) or any(map(_is_chosen, (*args, *kwargs.values()))):
            return step(function, args, kwargs)
        made = any(map(is_made, (*args, *kwargs.values())))
        if not made and next(traced_leaves((args, kwargs)), None) is None:
            return function(*args, **kwargs)
        return attempted(lambda: function(*args, **kwargs), function, args, kwargs, final=True)

    return wrapper


def _is_chosen(value: Any) -> bool:
    return isinstance(value, ChosenElements | LimitedArray)


def refusing_or_step(function: Any, words: str) -> Callable[..., Any]:
    """A builtin that does something outside of the function: refused, or called by a step of the program."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        name = function.__name__
        error = CaptureError(
            f"{name}(): the function {words}, which is no operation on arrays",
            fix="do this outside of the function",
        )
        if not is_splitting():
            raise noted(error, *args)
        found = step(function, args, kwargs, note=error)
        return None if function is print else found

    return refused
