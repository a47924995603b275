"""Arguments of calls in Python: traced values among them become operands, which the call puts back in their places.

np.unique(x + 1, return_counts=True)      operands (x + 1,)
                                          function  lambda p0: f(p0, return_counts=k0)
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import BufferView
from xjit.capture.recording.containers import RecordingDict, RecordingList
from xjit.capture.recording.module_views import NDARRAY
from xjit.capture.recording.object_state import state_of
from xjit.capture.recording.traceable import is_library
from xjit.capture.recording.traced_ufuncs import TracedUfunc
from xjit.capture.recording.user_objects import RecordingClass, RecordingObject, real_class
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.splits.callbacks import consumes, template_of, values_of
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.memory_of_objects import Shown, read_only, read_only_object
from xjit.capture.splits.purity import only_reads
from xjit.capture.tracers.chosen_elements import ChosenElements
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.limited_calls import python_integer
from xjit.capture.tracers.opaque import Opaque, target_of
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass, field
from xjit.ir.context import TracedValue
from xjit.ir.node import Node
from xjit.numpy.limited.arrays import LimitedArray, sizes_of
from xjit.ops.define.core import lift
from xjit.ops.effects.python_call import unboxed


def number(value: Any) -> Any:
    """A number of Python's, as programs hand it on: itself, or in an array of rank 0.

    >>> number(np.array(2.5)), number(3)
    (2.5, 3)
    """
    return value.item() if isinstance(value, np.ndarray | np.generic) else value


def scalar(value: Any) -> Any:
    """A number of NumPy's, in an array of rank 0.

    >>> scalar(np.array(2.5, np.float32))
    np.float32(2.5)
    """
    return np.asarray(value)[()]


def kept_copy(array: Any) -> Any:
    """A copy that nobody can write to: the program may use the memory of the array again."""
    return read_only(array.copy(order="K"))


def _wrapped(function: Any) -> Any:
    """The function of a library that a traced one stands for; None for functions of the trace."""
    inner = getattr(function, "__wrapped__", None)
    return inner if is_library(getattr(inner, "__module__", None)) else None


_AS_THEY_ARE = (type, np.generic, np.ndarray, np.ufunc, types.BuiltinFunctionType, types.ModuleType)
"""Kinds of values that traced code knows as they are."""


@dataclass(eq=False)
class Arguments:
    """The operands of one call, and the expression of its arguments in terms of these.

    ``examples`` are values like those that the operands will have: for a call that tells the types of results. With
    ``guarded`` the function gets arrays that it cannot write to, which nothing else will: itself it may keep them.
    ``arrays`` are those that it could write to, ``shown`` those that objects among the arguments may show.
    Callbacks that the traced function makes are made of operands where they are ``consumed``.
    """

    trace: CaptureTrace
    nodes: list[Node] = field(default_factory=list)
    examples: list[Any] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    arrays: list[Any] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    is_known: bool = True
    plain: bool = True
    is_typed: bool = True
    guarded: bool = False
    has_callbacks: bool = False
    consumed: bool = False
    reads: bool = False
    opened: bool = False
    labelled: bool = False

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The call as a function of its operands."""
        self.consumed = type(function) is not DeferredObject and consumes(function)
        self.reads = type(function) is not DeferredObject and only_reads(function)
        called = self._leaf(function) if type(function) is DeferredObject else self._constant(function)
        given = [self.text(one) for one in args]
        given += [f"{name}={self.text(one)}" for name, one in kwargs.items() if name.isidentifier()]
        rest = {name: one for name, one in kwargs.items() if not name.isidentifier()}
        given += [f"**{self.text(rest)}"] if rest else []
        parameters = ", ".join(f"p{number}" for number in range(len(self.nodes)))
        text = f"lambda {parameters}: {called}({', '.join(given)})"
        made: Callable[..., Any] = eval(compile(text, "<xjit call>", "eval"), self.names)
        return made

    def text(self, value: Any) -> str:
        """The expression of a value."""
        kind = type(value)
        if kind in (tuple, list, RecordingList):
            items = ", ".join(map(self.text, value))
            return f"[{items}]" if kind is not tuple else f"({items}{',' * bool(value)})"
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return f"{self._constant(real_class(kind))}({', '.join(map(self.text, value))})"
        if kind is dict:
            pairs = (f"{self._constant(key)}: {self.text(one)}" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        if kind is slice:
            return f"{self._constant(slice)}({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        return self._leaf(value)

    def _leaf(self, value: Any) -> str:
        if type(value) is DeferredObject:
            self.is_typed &= value.example is not None
            self.is_known &= value.example is not None
            self.plain &= value.plain
            self.labelled |= value.example is not None
            self.opened |= value.outer is not None
            if value.gathered is not None and not self.reads:
                value.gathered.changed = True
            return self._object(value)
        if isinstance(value, ChosenElements):
            return self.text(value.packed())
        if isinstance(value, LimitedArray):
            self.is_typed = False
            self.arrays.append(value)
            return self._limited(value)
        if is_constant(value):
            self.arrays.append(value)
            return self._operand(lift(self.trace, value), value.array, None)
        if isinstance(value, TracedValue):
            return self._traced(value)
        if type(value) is types.FunctionType and self.consumed:
            return self._callback(value) or self._constant(self.outside(value))
        return self._constant(self.outside(value))

    def _object(self, value: DeferredObject) -> str:
        """The expression of an object of the run; what it shows is an operand, too."""
        for one in value.shows:
            self.shown.append(one)
            if self.trace.reaches(one.node):
                node = self.trace.adopt(one.node)
                self._operand(node, np.broadcast_to(np.zeros((), node.aval.dtype), node.aval.shape), None)
        keeps = self.guarded and value.shows
        return self._operand(value.node, value.example, read_only_object if keeps else unboxed)

    def _callback(self, function: types.FunctionType) -> str | None:
        """The expression of a function that the traced one has made; None of others."""
        recorder = self.trace.recorder
        if recorder.original(function) is not None or _wrapped(function) is not None:
            return None
        template = template_of(function, recorder.rewriting.plain_code)
        if template is None:
            return None
        self.has_callbacks = self.guarded = recorder.objects_go_outside = True
        parts = (function.__defaults__, function.__kwdefaults__, tuple(values_of(function, template)))
        return f"{self._constant(template)}({', '.join(map(self.text, parts))})"

    def _traced(self, value: TracedValue) -> str:
        node = lift(self.trace, value)
        example = example_of(value)
        if value.weak is not None:
            return self._operand(node, example, number)
        if not value.scalar:
            self.arrays.append(value)
        return self._operand(node, example, scalar if value.scalar else self._shown(value))

    def _shown(self, value: TracedValue) -> Callable[[Any], Any] | None:
        if not self.guarded:
            return None
        own = not isinstance(value, BufferView) or value.buffer.path is None
        if isinstance(value, BufferView):
            self.trace.recorder.kept.append((value.buffer, value.buffer.version(self.trace)))
        return kept_copy if own else read_only

    def _limited(self, value: LimitedArray) -> str:
        sizes = ", ".join(f":{self._leaf(python_integer(size))}" for size in sizes_of(value))
        return f"{self._leaf(value.value)}[{sizes}]"

    def _operand(self, node: Node, example: Any, convert: Any) -> str:
        name = f"p{len(self.nodes)}"
        self.nodes.append(node)
        self.examples.append(example)
        return name if convert is None else f"{self._constant(convert)}({name})"

    def _constant(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def outside(self, value: Any) -> Any:
        """The value that a stand-in stands for, as code outside of the trace knows it."""
        kind = type(value)
        self.has_callbacks |= isinstance(value, types.FunctionType | types.MethodType)
        self.trace.recorder.objects_go_outside |= self.has_callbacks or _may_hold_objects(value)
        if kind is Opaque:
            self.plain = False
            return target_of(value)
        if value is NDARRAY:
            return np.ndarray
        if kind is TracedUfunc:
            return value.stands_for
        if kind is RecordingClass:
            return real_class(value)
        if issubclass(kind, RecordingObject):
            state = state_of(value)
            if state.path is None:
                refuse("an object that the function has made is passed to code that is not traced")
            return state.target
        if kind is RecordingDict:
            return value.original
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        recorder = self.trace.recorder
        path = recorder.path_of(value)
        if path is not None:
            return path.read(recorder.leaves)
        original = recorder.original(value) or (_wrapped(value) if isinstance(value, types.FunctionType) else None)
        if original is not None:
            return original
        if is_plain(value) or value is UNBOUND or isinstance(value, _AS_THEY_ARE):
            return value
        refuse(f"a value of type {type(value).__qualname__} is passed to code that is not traced")


def _may_hold_objects(value: Any) -> bool:
    """Return whether code outside may reach an object of the user's by a value."""
    return issubclass(type(value), RecordingObject | list | dict | tuple)


def example_of(value: TracedValue) -> Any:
    """A value of the type of a traced one: square matrices are well conditioned, all else is positive."""
    type = value.node.aval
    kind = "f" if type.dtype.kind in "fc" else type.dtype.kind
    found = np.ones(type.shape, type.dtype)
    if kind == "f" and type.rank >= 2 and type.shape[-1] == type.shape[-2]:
        found = found + type.shape[-1] * np.eye(type.shape[-1], dtype=type.dtype)
    if value.weak is not None:
        return value.weak(1)
    return np.asarray(found, order="F" if type.order != tuple(range(type.rank)) else "C")
