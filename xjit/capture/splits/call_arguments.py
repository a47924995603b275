"""Arguments of calls in Python: traced values among them become operands, which the call puts back in their places.

np.unique(x + 1, return_counts=True)      operands    (x + 1,)
                                          expression  call k0(p0, return_counts=k1)
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import identity
from xjit.capture.guarding.signature import is_plain
from xjit.capture.memory.buffer import BufferView
from xjit.capture.recording.containers import RecordingDict, RecordingList, SeenAs
from xjit.capture.recording.module_views import NDARRAY
from xjit.capture.recording.object_state import state_of
from xjit.capture.recording.traceable import is_library
from xjit.capture.recording.traced_ufuncs import TracedUfunc
from xjit.capture.recording.user_objects import RecordingClass, RecordingObject, real_class
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.splits.callbacks import consumes, template_of, values_of
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.memory_of_objects import Shown
from xjit.capture.splits.purity import only_reads
from xjit.capture.splits.view_arguments import shown_term, way_of_argument
from xjit.capture.tracers.chosen_elements import ChosenElements
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.limited_calls import python_integer
from xjit.capture.tracers.opaque import Opaque, target_of
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass, field
from xjit.ir.context import TracedValue
from xjit.ir.node import Node
from xjit.ir.python_terms import Expression, Term
from xjit.numpy.limited.arrays import LimitedArray, sizes_of
from xjit.ops.define.core import lift
from xjit.ops.effects.python_call import unboxed
from xjit.ops.effects.step_functions import in_doubt, kept_copy, number, read_only, read_only_object, scalar
from xjit.showing import Showing
from xjit.types import ArrayType


def _wrapped(function: Any) -> Any:
    """The function of a library that a traced one stands for; None for functions of the trace."""
    inner = getattr(function, "__wrapped__", None)
    return inner if is_library(getattr(inner, "__module__", None)) else None


_FIX = "pass arrays and numbers to this call, or make it outside of the function"
_EXAMPLE = 64
_AS_THEY_ARE = (type, np.generic, np.ndarray, np.ufunc, types.BuiltinFunctionType, types.ModuleType)
"""Kinds of values that traced code knows as they are."""


@dataclass(eq=False)
class Arguments:
    """The operands of one call, and the expression of its arguments in terms of these.

    ``examples`` are values like those that the operands will have: for a call that tells the types of results. With
    ``guarded`` the function gets arrays that it cannot write to, which nothing else will: itself it may keep them.
    ``arrays`` are those that it could write to, ``shown`` those that objects among the arguments may show, and
    ``containers`` lists and dicts of which it gets new ones.
    With ``opens`` it gets objects that may hold arrays, which nobody can keep it from writing to.
    Callbacks that the traced function makes are made of operands where they are ``consumed``.
    """

    trace: CaptureTrace
    nodes: list[Node] = field(default_factory=list)
    examples: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    arrays: list[Any] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    containers: list[Any] = field(default_factory=list)
    is_known: bool = True
    plain: bool = True
    is_typed: bool = True
    guarded: bool = False
    has_callbacks: bool = False
    consumed: bool = False
    reads: bool = False
    opened: bool = False
    opens: bool = False
    labelled: bool = False
    expression: Expression | None = None

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The call as a function of its operands."""
        self.consumed = type(function) is not DeferredObject and consumes(function)
        self.reads = type(function) is not DeferredObject and only_reads(function)
        called = self._leaf(function) if type(function) is DeferredObject else self._constant(function)
        if self.trace.error_states:
            called = self._in_state(called, self.trace.error_states[-1])
        given = [self.term(one) for one in (*args, *kwargs.values())]
        term = Term("call", terms=(called, *given), names=tuple(kwargs))
        self.expression = Expression(term, len(self.nodes), tuple(self.constants))
        return self.expression.function()

    def _in_state(self, called: Term, state: dict[str, str]) -> Term:
        """The function as one that warns of as much as the np.errstate around the call has it."""
        texts = map(self._constant, state.values())
        made = Term("call", terms=(self._constant(np.errstate), *texts), names=tuple(state))
        return Term("call", terms=(made, called))

    def term(self, value: Any) -> Term:
        """The term of a value."""
        kind = type(value)
        if kind in (list, dict):
            self.containers.append(value)
        if kind in (tuple, list, RecordingList):
            return Term("tuple" if kind is tuple else "list", terms=tuple(map(self.term, value)))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._call(real_class(kind), *value)
        if kind is dict:
            pairs = ((self._constant(key), self.term(one)) for key, one in value.items())
            return Term("dict", terms=tuple(itertools.chain(*pairs)))
        if getattr(kind, "gives_once", False):
            return self._call(iter, list(value.known()))
        if kind is slice:
            return self._call(slice, value.start, value.stop, value.step)
        return self._leaf(value)

    def _call(self, function: Any, *values: Any) -> Term:
        return Term("call", terms=(self._constant(function), *map(self.term, values)))

    def _leaf(self, value: Any) -> Term:
        if type(value) is ChosenConstant:
            number, table = value.entry
            self.is_typed = self.is_known = self.plain = False
            return self._call(table.value, number)
        if type(value) is DeferredObject:
            self.is_typed &= value.example is not None
            self.is_known &= value.example is not None
            self.plain &= value.plain
            self.labelled |= value.example is not None
            self.opened |= value.outer is not None
            if value.gathered is not None and not self.reads:
                value.gathered.change()
            return self._object(value)
        if isinstance(value, ChosenElements):
            return self.term(value.packed())
        if isinstance(value, LimitedArray):
            self.arrays.append(value)
            way = way_of_argument(value, self.trace)
            return self._limited(value) if way is None else self._view(*way)
        if is_constant(value):
            self.arrays.append(value)
            return self._operand(lift(self.trace, value), value.array, None)
        if isinstance(value, TracedValue):
            return self._traced(value)
        if type(value) is types.FunctionType and self.consumed:
            return self._callback(value) or self._constant(self.outside(value))
        found, path = self.outside(value), _changing_place(value)
        if path is None:
            return self._constant(found)
        return self._operand(self.trace.adopt(self.trace.recorder.object_at(path)), found, unboxed)

    def _object(self, value: DeferredObject) -> Term:
        """The term of an object of the run; what it shows is an operand, too."""
        for one in value.shows:
            self.shown.append(one)
            if self.trace.reaches(one.node):
                node = self.trace.adopt(one.node)
                self._operand(node, np.broadcast_to(np.zeros((), node.aval.dtype), node.aval.shape), None)
        keeps = self.guarded and value.shows
        self.opens |= bool(keeps)
        return self._operand(value.node, value.example, read_only_object if keeps else unboxed)

    def _callback(self, function: types.FunctionType) -> Term | None:
        """The term of a function that the traced one has made; None of others."""
        recorder = self.trace.recorder
        if recorder.function_of(function) is not None or _wrapped(function) is not None:
            return None
        template = template_of(function, recorder.rewriting.plain_code)
        if template is None:
            return None
        self.has_callbacks = self.guarded = recorder.objects_go_outside = True
        parts = (function.__defaults__, function.__kwdefaults__, tuple(values_of(function, template)))
        return self._call(template, *parts)

    def _traced(self, value: TracedValue) -> Term:
        node = lift(self.trace, value)
        example = example_of(value)
        if value.weak is not None:
            return self._operand(node, example, number)
        doubt = doubt_of(value)
        if doubt is not None:
            parts = self._operand(node, example, None), self._operand(lift(self.trace, doubt[0]), True, None)
            return Term("call", terms=(self._constant(in_doubt), self._constant(doubt[1]), *parts))
        if value.scalar:
            return self._operand(node, example, scalar)
        self.arrays.append(value)
        way = way_of_argument(value, self.trace) if isinstance(value, BufferView) else None
        return self._operand(node, example, self._shown(value)) if way is None else self._view(*way)

    def _view(self, base: BufferView, steps: tuple[Showing, ...], numbers: list[Node]) -> Term:
        """The term of a view of memory that others see."""
        node = self.trace.adopt(base.buffer.version(self.trace))
        whole = self._operand(node, _example(node.aval), None)
        positions = [self._operand(one, np.zeros((), one.aval.dtype), number) for one in numbers]
        view = shown_term(whole, steps, positions, self._constant)
        convert = self._shown(base)
        return view if convert is None else Term("call", terms=(self._constant(convert), view))

    def _shown(self, value: TracedValue) -> Callable[[Any], Any] | None:
        if not self.guarded:
            return None
        own = not isinstance(value, BufferView) or value.buffer.path is None
        if isinstance(value, BufferView):
            self.trace.recorder.kept.append((value.buffer, value.buffer.version(self.trace)))
        return kept_copy if own else read_only

    def _limited(self, value: LimitedArray) -> Term:
        pairs = zip(sizes_of(value), value.value.shape, strict=True)
        sizes = tuple(self._size(python_integer(size), most) for size, most in pairs)
        return Term("cut", terms=(self._leaf(value.value), *sizes))

    def _size(self, size: Any, most: int) -> Term:
        """The term of a size; that of an example is one beside which others are tried."""
        if not isinstance(size, TracedValue):
            return self._constant(size)
        return self._operand(lift(self.trace, size), example_size(most), number)

    def _operand(self, node: Node, example: Any, convert: Any) -> Term:
        operand = Term("operand", len(self.nodes))
        self.nodes.append(node)
        self.examples.append(example)
        return operand if convert is None else Term("call", terms=(self._constant(convert), operand))

    def _constant(self, value: Any) -> Term:
        self.constants.append(value)
        return Term("constant", len(self.constants) - 1)

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
                refuse("an object that the function has made is passed to code that is not traced", fix=_FIX)
            return state.target
        if kind is RecordingDict:
            return value.original
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        recorder = self.trace.recorder
        path = recorder.path_of(value)
        if path is not None:
            found = path.read(recorder.leaves)
            if isinstance(found, types.FunctionType):
                recorder.add(identity(path, found))  # which code outside calls as it is
            return found
        original = recorder.function_of(value) or (_wrapped(value) if isinstance(value, types.FunctionType) else None)
        if original is not None:
            return original
        if is_plain(value) or value is UNBOUND or isinstance(value, _AS_THEY_ARE):
            return value
        refuse(f"a value of type {type(value).__qualname__} is passed to code that is not traced", fix=_FIX)


def _changing_place(value: Any) -> Path | None:
    """The place of an object or a container of the user's, where another one may be at each call; None of others."""
    kind = type(value)
    if issubclass(kind, RecordingObject):
        return state_of(value).path
    return value.place.path if issubclass(kind, SeenAs) else None


def _may_hold_objects(value: Any) -> bool:
    """Return whether code outside may reach an object of the user's by a value."""
    return issubclass(type(value), RecordingObject | list | dict | tuple)


def example_size(most: int) -> int:
    """The size of an example of an array that has so many elements at most: few, and one more is possible."""
    return max(min(most - 1, _EXAMPLE), 0)


def example_of(value: TracedValue) -> Any:
    """A value of the type of a traced one: square matrices are well conditioned, all else is positive."""
    found = _example(value.node.aval)
    return found if value.weak is None else value.weak(1)


def _example(type: ArrayType) -> np.ndarray[Any, Any]:
    kind = "f" if type.dtype.kind in "fc" else type.dtype.kind
    found = np.ones(type.shape, type.dtype)
    if kind == "f" and type.rank >= 2 and type.shape[-1] == type.shape[-2]:
        found = found + type.shape[-1] * np.eye(type.shape[-1], dtype=type.dtype)
    return np.asarray(found, order="F" if type.order != tuple(range(type.rank)) else "C")
