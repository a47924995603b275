"""Steps in Python: the call of a function as it stands, in its place in the order of all that has effects.

What a call returns is a deferred object, unless the types of the results are known: those of random numbers, of
conversions, and of libraries, which are asked by one call on arrays of the same types.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import types
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.memory.buffer import Buffer
from xjit.capture.recording.container_names import note_kept
from xjit.capture.recording.traceable import is_library
from xjit.capture.rewriting.left_out import UNKNOWN, UNKNOWN_TRUTH
from xjit.capture.splits.call_arguments import Arguments
from xjit.capture.splits.call_results import traced_results
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.labelled_arrays import Method, Operation, is_of_library
from xjit.capture.splits.memory_of_objects import Shown, make_apart, shown_by
from xjit.capture.splits.opened_containers import makes_singles
from xjit.capture.splits.purity import is_typed_by_arguments, may_keep, repeats
from xjit.capture.tracers.demands import repeats_so_far
from xjit.capture.tracers.errors_in_order import stored_so_far, test_ahead_of_effect
from xjit.capture.tracers.opaque import Opaque, target_of
from xjit.capture.tracers.provenance import CaptureTrace, position, refuse
from xjit.dataclass import dataclass
from xjit.errors import XjitError
from xjit.ir.current import current
from xjit.ops.effects.call_parts import CallParts
from xjit.ops.effects.expected_results import results_like
from xjit.ops.effects.python_call import PYTHON_CALL
from xjit.types import is_writable

MOST_STEPS = 64
"""Steps in Python that a function may be split by; those of loops of the graph count once."""


def step(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    note: XjitError | None = None,
    like: Any = None,
    label: str = "",
    kind: type | None = None,
) -> Any:
    """The result of ``function(*args, **kwargs)``, which the program will call.

    ``note`` says why it does; ``like`` is a result of the types that the call's will have, in a tuple, ``kind`` the
    class of the object that it returns, where that is known.
    """
    trace = current()
    assert isinstance(trace, CaptureTrace)
    _count(trace)
    target = target_of(function) if type(function) is Opaque else function
    where = position()
    site = (where, label or label_of(target))
    known = trace.recorder.unforeseen.get(site)
    typed = None if like is None or known else results_like(like[0])
    unknown = type(target) is DeferredObject or may_keep(target)
    if unknown:
        _check_seen(trace)
    named = dict(zip(_parameters(target), args, strict=False)) if repeats(target) else {}
    check_writes(label_of(target), getattr(target, "__name__", ""), kwargs | named)
    arguments = Arguments(trace, guarded=unknown)
    run = arguments.function(target, args, kwargs)
    shows = _shows(target, run, arguments, unknown) if typed is None else ()
    if shows and not unknown and make_apart(arguments.arrays, trace, copied):
        arguments = Arguments(trace)
        run = arguments.function(target, args, kwargs)
        shows = _shows(target, run, arguments, unknown)
    for one in arguments.containers if arguments.guarded or arguments.opened else ():
        note_kept(trace.recorder, one)
    if arguments.has_callbacks and not unknown:
        _check_seen(trace)
    if known is False:
        refuse(f"{site[1]} writes to an array that it gets, or has one", fix="pass a copy: x.copy()")
    if note is not None:
        trace.recorder.notes.append(note.located(where))
    once = not repeats(target) or arguments.has_callbacks
    if once:
        test_ahead_of_effect(trace)
    first = repeats_so_far(trace)
    looks = target is print and _may_look(kwargs.get("file"), arguments)
    alone = first and not looks and (trace.parent is None or not once or arguments.guarded or arguments.opened)
    stored = [] if alone else stored_so_far(trace)
    assert arguments.expression is not None
    parts = CallParts(arguments.expression, typed, arguments.labelled, len(stored))
    guarded = arguments.guarded or arguments.opened
    opens = arguments.opens and not (type(target) is DeferredObject and target.only_reads)
    guards = {"guarded": guarded, "sure": is_typed_by_arguments(target), "opened": opens}
    call = parts.call(site, repeats=not once, first=first, note=note, function=run, **guards)
    node = trace.add(PYTHON_CALL, (*arguments.nodes, *itertools.chain(*stored)), {"call": call}, where)
    if typed is not None:
        found = traced_results(typed, node, trace)
        if arguments.labelled and like is not None:
            _note_views(found, like[0], trace)
        return found
    trace.recorder.unknown_objects |= kind is None
    example = like[0] if like is not None and is_of_library(like[0]) else None
    plain = not unknown and _makes_arrays(target, args) and arguments.plain and not arguments.has_callbacks
    single = makes_singles(target, tree.flatten((args, kwargs), in_parts=False)[0])
    made = DeferredObject(node, trace, site[1], kind, example=example, shows=shows, plain=plain, single=single)
    for one in shows:
        one.until_dead(made)
    return made


def copied(array: Any) -> Any:
    """A copy in memory of its own, whatever equal values the graph has."""
    return step(np.copy, (array,), {}, like=(np.empty(array.shape, array.dtype),))


def _makes_arrays(target: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a function is one of NumPy's, or an operator or a method, of arrays and numbers."""
    if target is getattr:
        return args[1] in ("T", "mT", "real", "imag")
    module = getattr(target, "__module__", None) or ""
    known = isinstance(target, np.ufunc | Operation | Method | types.MethodDescriptorType)
    return repeats(target) and (known or module.partition(".")[0] == "numpy")


def _shows(target: Any, run: Any, arguments: Arguments, unknown: bool) -> tuple[Shown, ...]:
    """The arrays that an object may show which a call makes."""
    trace, inherited = arguments.trace, tuple(dict.fromkeys(arguments.shown))
    if unknown:
        for one in inherited:
            one.until_dead(trace.recorder)
    if arguments.guarded:
        return inherited
    examples = arguments.examples if arguments.is_known and not arguments.has_callbacks else None
    return *inherited, *shown_by(target, run, arguments.arrays, examples, trace)


def _parameters(function: Any) -> tuple[str, ...]:
    """The names of the parameters of a library's function, as far as they are known; of a method NumPy's function has
    them.
    """
    if isinstance(function, Method | types.MethodDescriptorType):
        function = getattr(np, function.__name__, None)
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _note_views(found: Any, example: Any, trace: CaptureTrace) -> None:
    """Notes which arrays are read-only, and which may be memory of the caller's: nobody writes to these."""
    for value, like in zip(tree.flatten(found)[0], tree.flatten(example)[0], strict=True):
        if type(like) is np.ndarray:
            buffer = Buffer(value.node, trace, frozen=not is_writable(like))
            buffer.shared = not like.flags.owndata
            value.lie_in(buffer, ())


def _check_seen(trace: CaptureTrace) -> None:
    """CaptureError if code outside might miss what the function has written to arrays from outside."""
    outer: Any = trace
    while isinstance(outer, CaptureTrace):
        if any(buffer.path is not None and node is not buffer.first for buffer, node in outer.versions.items()):
            refuse("code outside is called behind a write to an array from outside, which it may read")
        outer = outer.parent


def _may_look(file: Any, arguments: Arguments) -> bool:
    """Return whether what is printed goes to an object of the user's, whose ``write`` may look at arrays."""
    if type(file) is DeferredObject:
        return True
    found = sys.stdout if file is None else arguments.outside(file)
    owner = next((one for one in type(found).__mro__ if "write" in vars(one)), None)
    return owner is None or not is_library(owner.__module__)


def check_writes(label: str, name: str, options: dict[str, Any]) -> None:
    """CaptureError if a function is known to write to its arguments, or told to."""
    if name == "at":  # of a ufunc
        refuse(
            f"{label} writes to its argument", fix="use x[...] += y, or an array whose size is known while tracing"
        )
    if name == "shuffle":
        refuse(f"{label} writes to its argument", fix="use permutation, which returns another array")
    if name == "nan_to_num" and options.get("copy") is False:
        refuse(f"{label} writes to its argument", fix="leave copy out")
    for option, value in options.items():
        given = option in ("out", "output") and not isinstance(value, type | None)
        if given or (option.startswith("overwrite") and value):
            refuse(f"{label} writes to its argument {option}", fix=f"leave {option} out")


def go_on(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The next step, with the result of one in Python; there is nothing to say of it."""
    return step(function, args, kwargs)


def label_of(function: Any) -> str:
    """The name by which the user calls a function."""
    if type(function) is DeferredObject:
        return str(function.label)
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", None)
    if name is None:
        return str(getattr(function, "__name__", type(function).__qualname__))
    return name if module in (None, "builtins", "_operator", "operator") else f"{module}.{name}"


def _count(trace: CaptureTrace) -> None:
    """Counts the steps; CaptureError where there are too many of them."""
    recorder = trace.recorder
    recorder.python_steps += 1
    if recorder.python_steps > MOST_STEPS:
        recorder.rewriting.ask_for_loops(sys._getframe(2))
        refuse(f"more than {MOST_STEPS} steps of the function run in Python", fix="compile the parts around them")


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A function of which nothing is known; nobody notices another call of it."""

    repeats = True

    def __call__(self) -> Any:
        return None


def unknown_values() -> dict[str, Any]:
    """The functions that give functions with lines left out values of which nothing is known, by their names."""

    def unknown() -> Any:
        return step(_Unknown(), (), {}, label="a line before")

    return {UNKNOWN: unknown, UNKNOWN_TRUTH: lambda: step(bool, (unknown(),), {}, like=(True,))}
