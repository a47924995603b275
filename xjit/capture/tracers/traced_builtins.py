"""The builtins that traced code sees: type questions answered for what a value stands for, effects refused."""

from __future__ import annotations

import builtins
import functools
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xjit.capture.comprehensions.mapped import mapped, selected
from xjit.capture.control.state import NUMBERS
from xjit.capture.guarding.access_path import object_path
from xjit.capture.python_control.loop_sequences import LOOP_BUILTINS, TracedRange
from xjit.capture.python_control.truth import is_open
from xjit.capture.python_numbers.builtin_functions import BUILTINS
from xjit.capture.python_numbers.number_attributes import check_attribute
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.recording.containers import SeenAs
from xjit.capture.recording.global_reads import RecordingGlobals
from xjit.capture.recording.module_views import NDARRAY, RecordingModule, TracedNumpy, TracedOperations
from xjit.capture.recording.named_tuples import original_class
from xjit.capture.recording.object_state import state_of
from xjit.capture.recording.user_objects import (
    RecordingClass,
    RecordingObject,
    RecordingSuper,
    real_class,
)
from xjit.capture.splits.conversions import converted
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.object_comparisons import identity_of
from xjit.capture.splits.outside import refusing_or_step
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers import limited_calls
from xjit.capture.tracers.doubts import doubt_of, settled_class
from xjit.capture.tracers.opaque import Opaque, target_of
from xjit.capture.tracers.provenance import enclosing_capture, refuse
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray, sizes_of

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

# What the program may call in its place; the others look at the frame of the function, or change what it reads.
_CALLED = {"print": "prints", "input": "waits for input", "open": "opens a file"}
_REFUSED = {
    "breakpoint": "stops in the debugger",
    "exec": "runs code from text",
    "eval": "runs code from text",
    "globals": "uses its globals as a dict",
    "setattr": "assigns to an attribute by name",
    "delattr": "deletes an attribute by name",
}
_MODULES = (RecordingModule, TracedNumpy, TracedOperations)


def traced_builtins(recorder: Recorder) -> dict[str, Any]:
    """All builtins, some of them replaced."""
    table = dict(vars(builtins))
    table.update(LOOP_BUILTINS)
    table.update(BUILTINS)
    table.update({name: _refusing(name, words) for name, words in _REFUSED.items()})
    table.update({name: refusing_or_step(table[name], words) for name, words in _CALLED.items()})
    table.update(
        isinstance=_isinstance,
        issubclass=_issubclass,
        callable=_callable,
        len=_len,
        map=_map,
        filter=selected,
        hasattr=_hasattr,
        getattr=_getattr,
        super=_super,
        type=_TypeFunction(recorder),
        id=recorder.identities.looking(identity_of),
        __import__=_import_function(recorder),
    )
    return table


def _len(value: Any, /) -> Any:
    """The length of a container: of a slice between numbers of the run another one of these."""
    if isinstance(value, LimitedArray) and value.ndim:
        return limited_calls.python_integer(sizes_of(value)[0])
    if getattr(type(value), "chooses", False):
        return value.length
    if issubclass(type(value), DeferredObject):
        known = value.keyed or value.elements
        return converted(len, value) if known is None else known.count
    if issubclass(type(value), RecordingObject) and hasattr(type(value), "__len__"):
        found = value.__len__()
        return found if isinstance(found, TracedValue) and found.weak is int else len(range(found))
    return len(value)


def _map(function: Any, *iterables: Any) -> Any:
    """``map``: types of numbers convert what only the run tells, as calls of them do."""
    converts = isinstance(function, type) and function in NUMBERS and len(iterables) == 1
    each = functools.partial(_number_as, function) if converts else function
    return mapped(each, iterables)


def _number_as(kind: Any, value: Any) -> Any:
    return number_as(kind, value) if isinstance(value, TracedValue) and is_open(value) else kind(value)


def class_of(value: Any) -> Any:
    """The class of what a value stands for."""
    if isinstance(value, TracedValue):
        return settled_class(value)
    kind = type(value)
    if kind is Opaque:
        return type(target_of(value))
    if issubclass(kind, RecordingObject):
        return state_of(value).cls
    if kind is RecordingClass:
        return type(state_of(value).cls)
    if issubclass(kind, SeenAs):
        return value.seen_as
    if kind is TracedRange:
        return range
    return types.ModuleType if kind in _MODULES else original_class(type(_original(value)))


def _original(value: Any) -> Any:
    trace = enclosing_capture()
    return value if trace is None else trace.recorder.library.original(value)


def _isinstance(value: Any, classes: Any) -> Any:
    if issubclass(type(value), DeferredObject):
        return step(isinstance, (value, _real_classes(classes)), {}, like=(True,))
    if value is NDARRAY:
        return isinstance(np.ndarray, _real_classes(classes))
    if isinstance(value, TracedValue):  # whose own methods, such as those of containers, tell nothing
        return issubclass(settled_class(value), _real_classes(classes))
    return issubclass(class_of(value), _real_classes(classes)) or isinstance(_original(value), _real_classes(classes))


def _issubclass(cls: Any, classes: Any) -> bool:
    return issubclass(np.ndarray if cls is NDARRAY else real_class(cls), _real_classes(classes))


def _real_classes(classes: Any) -> Any:
    if isinstance(classes, tuple):
        return tuple(map(_real_classes, classes))
    if type(classes) is Opaque:
        return target_of(classes)
    return original_class(real_class(_original(classes)))


def _callable(value: Any) -> Any:
    if issubclass(type(value), DeferredObject):
        return step(callable, (value,), {}, like=(True,))
    return callable(target_of(value)) if type(value) is Opaque else callable(value)


def _hasattr(value: Any, name: str) -> Any:
    if issubclass(type(value), DeferredObject):
        return step(hasattr, (value, name), {}, like=(True,))
    if isinstance(value, TracedValue) and settled_class(value) is not np.ndarray:
        return hasattr(settled_class(value), name)  # a Python number has no shape, one of NumPy's no length
    return hasattr(value, name)


def _getattr(value: Any, name: str, *default: Any) -> Any:
    if issubclass(type(value), DeferredObject) and default:
        return step(getattr, (value, name, *default), {})
    if isinstance(value, TracedValue) and not default and settled_class(value) in NUMBERS:
        check_attribute(settled_class(value), name, sys._getframe(1))
    if doubt_of(value) is not None:
        value = value.certain()
    return default[0] if default and not _hasattr(value, name) else getattr(value, name)


def _super(*args: Any) -> Any:
    if args:
        start, bound = real_class(args[0]), args[1]
    else:
        frame = sys._getframe(1)
        start, bound = frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]]
    if isinstance(bound, RecordingObject) or type(bound) is RecordingClass:
        return RecordingSuper(start, bound)
    return super(start, bound)


class _TypeFunction:
    """``type(value)``; as a class to compare with it stands for ``type`` itself."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1:
            refuse("the function makes a class", fix="define the class outside of the function")
        if issubclass(type(args[0]), DeferredObject):
            return step(type, (args[0],), {})
        return self.recorder.class_of_run(class_of(args[0]))


def _import_function(recorder: Recorder) -> Any:
    def traced_import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        namespace = globals.namespace if isinstance(globals, RecordingGlobals) else globals
        module = builtins.__import__(name, namespace, None, fromlist or (), level)
        return recorder.read(module, object_path(module, f"module {module.__name__}"))

    return traced_import


def _refusing(name: str, words: str) -> Any:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(
            f"{name}(): the function {words}, which is no operation on arrays",
            *args,
            fix="do this outside of the function",
        )

    return refused
