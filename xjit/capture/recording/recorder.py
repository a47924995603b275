"""Records what the traced function reads, and decides what it gets to see of each value."""

from __future__ import annotations

import collections
import enum
import functools
import types
import weakref
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from xjit.capture.constants.constant_table import ConstantTable
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, leaf_path, object_path
from xjit.capture.guarding.guards import Guard, is_generator
from xjit.capture.guarding.identities import Identities
from xjit.capture.guarding.signature import is_object, is_plain, signature
from xjit.capture.memory.buffer import Buffer
from xjit.capture.recording.containers import check_kept, record_dict, record_list, record_set, record_tuple
from xjit.capture.recording.fresh_functions import identities_of_fresh, is_fresh, rebuild_fresh, record_partial
from xjit.capture.recording.global_reads import RecordingGlobals, rebuild
from xjit.capture.recording.module_views import MAX_CONCRETE, module_stand_in
from xjit.capture.recording.named_tuples import is_namedtuple_class, is_taken_apart, traced_tuple_class
from xjit.capture.recording.object_state import State, assigned_to
from xjit.capture.recording.objects_of_run import foreign_array, generator_of_run, object_of_run
from xjit.capture.recording.rewritten import Rewriting
from xjit.capture.recording.traceable import (
    is_plain_class,
    is_traceable,
    is_user_class,
)
from xjit.capture.recording.user_objects import (
    RecordingClass,
    RecordingObject,
    check_not_shown,
    inner_function,
    real_class,
    stand_in,
)
from xjit.capture.splits.opened_containers import Entries
from xjit.capture.substitutes.library_objects import LibraryObjects, is_sentinel
from xjit.capture.tracers.opaque import Opaque
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_builtins import traced_builtins
from xjit.capture.tracers.traced_integers import limits_of
from xjit.capture.tracers.traced_scalar import DTYPES, TracedScalar
from xjit.errors import XjitError
from xjit.ir.node import Node
from xjit.ir.source_location import Where
from xjit.numpy.rules.values import constant
from xjit.ops.effects.python_call import OBJECT_TYPE, Site
from xjit.types import FLOAT64, INT64, ArrayType, is_writable, scalar_type, type_of

_DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_CACHED_FUNCTION = type(functools.lru_cache(len))


class Recorder:
    """One run of a user's function: the values it was given, the guards, and the inputs of the graph.

    ``varying`` are places of numbers that are known to change: they are inputs, as numbers among the arguments are.
    ``identities`` tells which objects the function could see to be one. ``rewriting`` are the functions that run
    rewritten, ``operations`` counts those of all graphs, ``loops`` is what the variables of each loop were, within so
    many loops turns are traced one by one as ``unrolled`` says.
    ``python_steps`` counts what runs in Python, ``notes`` say why, ``kept`` are versions of arrays that one may keep,
    ``caught`` nodes whose errors the function would catch, and ``unforeseen`` tells of steps that were not as they
    were taken for. ``unbound`` are variables that one arm assigns, ``perhaps_unbound`` what stands in a turn for
    values that earlier turns leave in variables without one, and ``demands`` the truth value of all conditions of
    errors, once there is one, of which some are errors that the function ``raises``; ``rooms`` is that of the lengths
    of arrays in turns and arms. ``objects`` are the stand-ins that live; ``looking`` is code that may see what an
    object is, ``unknown_objects`` whether there are any; with ``objects_go_outside`` a step in Python may see these.
    ``copied`` are lists that may not change, ``lists`` those from outside, ``generator_calls`` such calls,
    ``functions`` those of the user's that run rebuilt, ``constants`` those of which the run chooses one, ``frozen``
    the places of numbers for whose values alone the trace holds.
    """

    def __init__(
        self,
        trace: CaptureTrace,
        leaves: Sequence[Any],
        where: Where,
        varying: frozenset[Path] = frozenset(),
        merging: bool = False,
        rewriting: Rewriting | None = None,
        unforeseen: Mapping[Site, bool] = MappingProxyType({}),
    ) -> None:
        self.trace = trace
        self.leaves = leaves
        self.where = where
        self._varying = varying
        self.identities = Identities(merging)
        self.guards: list[Guard] = []
        self.inputs: list[Path] = []
        self._added: set[tuple[Path, str, int]] = set()
        self._by_path: dict[Path, Any] = {}
        self._handed_out: dict[int, tuple[Any, Path]] = {}
        self.functions: dict[int, tuple[Any, Any]] = {}
        self._sealed: list[tuple[Any, dict[str, Any]]] = []
        self._classes: dict[type, RecordingClass] = {}
        self._tuple_classes: dict[type, type] = {}
        self._globals: dict[int, RecordingGlobals] = {}
        self.frozen: set[Path] = set()
        self._decided: list[Guard] = []
        self._numbers: dict[Path, int] = {}
        self._objects: dict[Path, Node] = {}
        self.remembered: list[tuple[Any, ...]] = []
        self.objects: list[weakref.ref[Any]] = []
        self.mutable: dict[int, Any] = {}
        self.operations = self.python_steps = self.unrolled = 0
        self.notes: list[XjitError] = []
        self.unknown_objects = self.objects_go_outside = self.raises = False
        self.looking: list[types.CodeType] = []
        self.unforeseen = unforeseen
        self.caught: list[tuple[Node, str]] = []
        self.kept: list[tuple[Buffer, Node]] = []
        self.copied: list[Any] = []
        self.entries: dict[str, Entries] = {}
        self.generator_calls: list[Any] = []
        self.lists: list[Any] = []
        self.loops: dict[Any, Any] = {}
        self.constants = ConstantTable()
        self.unbound: list[str] = []
        self.perhaps_unbound: set[Any] = set()
        self.demands: Buffer | None = None
        self.rooms: Buffer | None = None
        self.rewriting = rewriting or Rewriting()
        self.library = LibraryObjects(self.identities)
        self._builtins = traced_builtins(self)
        self.library.add_builtins(self._builtins)

    def add(self, guard: Guard) -> None:
        """Adds a condition for the trace to hold."""
        key = (guard.path, guard.condition, id(guard.expected))
        if key not in self._added:
            self._added.add(key)
            self.guards.append(guard)

    def freeze(self, path: Path) -> Any:
        """The value of a scalar that was read there; the trace holds for this value only."""
        value = path.read(self.leaves)
        if path not in self.frozen:
            self.frozen.add(path)
            self.decide(guards.same_value(path, value))
        return value

    def decide(self, guard: Guard) -> None:
        """Adds a condition that decided which way the trace took; it falls if the trace comes back from there."""
        self.add(guard)
        self._decided.append(guard)

    def decisions(self) -> tuple[int, frozenset[Path], int, int]:
        """The decisions so far, and how many steps run in Python."""
        return len(self._decided), frozenset(self.frozen), len(self.copied), self.python_steps

    def take_back(self, decisions: tuple[int, frozenset[Path], int, int]) -> None:
        """Forgets the decisions since."""
        count, frozen, copied, self.python_steps = decisions
        del self.copied[copied:]
        later, kept = self._decided[count:], self._decided[:count]
        gone = {id(guard) for guard in later} - {id(guard) for guard in kept}
        self.guards = [guard for guard in self.guards if id(guard) not in gone]
        self._added = {(guard.path, guard.condition, id(guard.expected)) for guard in self.guards}
        self.frozen, self._decided = set(frozen), kept

    def sizes(self) -> list[int]:
        """The sizes of the arrays among the inputs, in rising order."""
        return sorted({size for node in self.trace.parameters for size in node.aval.shape})

    def freeze_contents(self, path: Path) -> np.ndarray[Any, Any]:
        """The elements of a small array that was read there; the trace holds for these only."""
        array = np.array(path.read(self.leaves))
        array.flags.writeable = False
        self.add(guards.same_contents(path, array.tobytes()))
        return array

    def number_of(self, path: Path) -> int:
        """The number of an array from outside that a result may be, from 1."""
        return self._numbers.setdefault(path, len(self._numbers) + 1)

    def numbered(self) -> tuple[Path, ...]:
        """The arrays from outside that have numbers, in their order."""
        return tuple(self._numbers)

    def path_of(self, value: Any) -> Path | None:
        """Return the path to this very object, if it was handed out from outside."""
        known = self._handed_out.get(id(value))
        return known[1] if known is not None else None

    def guard_identities(self) -> None:
        """Guards that objects which the function could compare stay apart, as far as it looks."""
        for one, *others in self.identities.apart():
            self.add(guards.distinct_objects(one, others))
        list(map(self.add, identities_of_fresh(self)))

    def check_unchanged(self) -> None:
        """CaptureError if an object from outside was written to in a way that its stand-in did not see."""
        for value, path in self._handed_out.values():
            if issubclass(type(value), RecordingObject) and assigned_to(value):
                check_not_shown(value)
                self.identities.assigned = True
                if self.objects_go_outside:
                    refuse(f"the function assigns to attributes of {path}, and hands objects to code outside")
            check_kept(value, path)
        for rebuilt, before in self._sealed:
            now = vars(rebuilt)
            if now.keys() != before.keys() or any(now[name] is not value for name, value in before.items()):
                refuse(f"the function assigns to attributes of {rebuilt.__qualname__}", fix="return the new values")

    # What the function gets

    def argument(self, index: int, leaf: Any, label: str) -> Any:
        """Return the stand-in of one argument leaf; the dispatch key holds its signature."""
        path = leaf_path(index, f"argument {label}")
        if type(leaf) is int and self.rewriting.plain_integers:
            return self.freeze(path)
        if type(leaf) in DTYPES and signature(leaf) == (type(leaf),):
            made = self._open_number(leaf, path) if path in self._varying else None
            return self._hand_out(self._python_number(leaf, path) if made is None else made, path)
        if isinstance(leaf, np.generic):
            return self._hand_out(self._numpy_scalar(leaf, path), path)
        if is_generator(type(leaf)):
            return self._hand_out(generator_of_run(self, leaf, path), path)
        if type(leaf) is not np.ndarray:
            return self.read(leaf, path)
        known = self.identities.of_argument(leaf)
        if known is not None:
            self.add(guards.same_object(path, known.path))
            return known.seen
        seen = self._hand_out(self._array(leaf, path), path)
        self.identities.add_argument(leaf, seen, path)
        return seen

    def guard_leaf(self, path: Path) -> None:
        """Guards what the signature of an argument says that is not an input of the graph."""
        leaf = path.read(self.leaves)
        if isinstance(leaf, np.ndarray):
            self.add(guards.same_layout(path, leaf))
        elif path not in self.frozen:
            self.add(guards.same_number_type(path, type(leaf)))

    def has_varying_items(self, path: Path) -> bool:
        """Return whether a sequence holds numbers that are known to change."""
        return any(place.within(path) for place in self._varying)

    def read(self, value: Any, path: Path) -> Any:
        """Return the stand-in of a value that the function reads at a path; that it stays so becomes a guard."""
        if path in self._by_path:
            return self._by_path[path]
        seen = self._seen(value, path)
        self._by_path[path] = seen
        return seen

    def _seen(self, value: Any, path: Path) -> Any:
        if value is None or isinstance(value, bool | types.EllipsisType | enum.Enum):
            self.add(guards.identity(path, value))
            return value
        if path in self._varying and guards.is_number(value):
            self.add(guards.same_kind(path, value))
            opened = self._open_number(value, path)
            if opened is not None:
                return self._hand_out(opened, path)
            made = self._numpy_scalar if isinstance(value, np.generic) else self._python_number
            return self._hand_out(made(value, path), path)
        if is_plain(value) or isinstance(value, np.generic):
            self.add(guards.same_value(path, value))
            return value
        known = self.identities.of(value)
        if known is not None:
            self.add(guards.same_object(path, known.path))
            return known.seen
        seen = self._stand_in(value, path)
        self.identities.add(value, seen, path)
        return self._hand_out(seen, path)

    def _stand_in(self, value: Any, path: Path) -> Any:
        if isinstance(value, np.ndarray):
            return self._hidden_array(value, path)
        found = object_of_run(self, value, path)
        if found is not None:
            return found
        if isinstance(value, types.ModuleType):
            return self._module(value, path)
        if isinstance(value, type):
            return self._class(value, path)
        if isinstance(value, tuple) and is_taken_apart(type(value)):
            return record_tuple(self, value, path)
        if type(value) is list:
            return record_list(self, value, path)
        if type(value) in _DICTS:
            return record_dict(self, value, path)
        if type(value) in (set, frozenset) and all(map(is_plain, value)):
            return record_set(self, value, path)
        if type(value) is slice:
            self.add(guards.same_type(path, slice))
            return slice(
                *(self.read(getattr(value, part), path.attribute(part)) for part in ("start", "stop", "step"))
            )
        if is_object(value):
            return stand_in(self, value, path)
        return self._callable(value, path)

    def _callable(self, value: Any, path: Path) -> Any:
        if is_fresh(self, value, path):
            return rebuild_fresh(self, value, path)
        compiled = inner_function(value)
        if compiled is not None and is_traceable(compiled):
            self.add(guards.identity(path, value))
            self.add(guards.same_code(object_path(compiled, compiled.__qualname__), compiled.__code__))
            return self.function(compiled)
        if type(value) is functools.partial:
            return record_partial(self, value, path)
        if isinstance(value, types.MethodType) and inner_function(value.__func__) is not None:
            return self._method(value, path)
        if type(value) is _CACHED_FUNCTION:
            return self.read(value.__wrapped__, path.attribute("__wrapped__"))
        self.add(guards.identity(path, value))
        return self.library.seen(value, path)

    def _method(self, value: types.MethodType, path: Path) -> Any:
        self.add(guards.same_function(path, value.__func__))
        return types.MethodType(
            self.function(inner_function(value.__func__)), self.read(value.__self__, path.attribute("__self__"))
        )

    def _module(self, module: types.ModuleType, path: Path) -> Any:
        if path.steps:
            self.add(guards.identity(path, module))
        return self.library.once(module, functools.partial(module_stand_in, self, module, path))

    def _class(self, cls: type, path: Path) -> Any:
        self.add(guards.identity(path, cls))
        if is_namedtuple_class(cls):
            return self.tuple_class(cls)
        if is_user_class(cls) and not issubclass(cls, enum.Enum):
            return self.class_stand_in(cls)
        if is_plain_class(cls) or is_user_class(cls):
            return self.library.substitute(cls)
        return self.library.seen(cls, path)

    def class_of_run(self, cls: type) -> Any:
        """The stand-in of the class of an object, as its name gives it."""
        if is_namedtuple_class(cls):
            return self.tuple_class(cls)
        is_own = is_user_class(cls) and not issubclass(cls, enum.Enum)
        return self.class_stand_in(cls) if is_own else self.library.substitute(cls)

    def class_stand_in(self, cls: type) -> Any:
        """The stand-in of a user's class: always the same one."""
        if cls not in self._classes:
            self._classes[cls] = RecordingClass(State(self, cls, cls, None))
        return self._classes[cls]

    def tuple_class(self, cls: type) -> type:
        """A named tuple class as it is, or one of the same name whose methods are rebuilt."""
        if cls not in self._tuple_classes:
            self._tuple_classes[cls] = traced_tuple_class(self, cls)
        return self._tuple_classes[cls]

    # Functions

    def entry(self, function: Any) -> Any:
        """Return the function to run in place of the decorated one."""
        if isinstance(function, types.FunctionType):
            self.add(guards.same_code(object_path(function, function.__qualname__), function.__code__))
            rebuilt = self.function(function)
            if isinstance(rebuilt, Opaque):
                raise rebuilt.error().located(self.where)
            return rebuilt
        return self.read(function, object_path(function, getattr(function, "__qualname__", "the function")))

    def function(self, function: Any) -> Any:
        """The function over recording globals; functions of libraries as they are."""
        if not is_traceable(function):
            return self.library.substitute(function)
        known = self.functions.get(id(function))
        return rebuild(self, function) if known is None else known[1]

    def runtime(self) -> Any:
        """The object that the control flow of rewritten functions calls."""
        from xjit.capture.python_control.runtime import TracedRuntime

        return TracedRuntime()

    def function_of(self, rebuilt: Any) -> Any:
        """The function of the user's that another one was rebuilt of; None of others."""
        return next((function for function, other in self.functions.values() if other is rebuilt), None)

    def original(self, seen: Any) -> Any:
        """The object from outside that a stand-in stands for; anything else itself."""
        if type(seen) is RecordingClass:
            return real_class(seen)
        path = self.path_of(seen)
        if path is not None:
            return path.read(self.leaves)
        return self.function_of(seen) or self.library.original(seen)

    def remember(self, function: Any, rebuilt: Any) -> None:
        """Notes the rebuilt form of a function."""
        self.functions[id(function)] = (function, rebuilt)

    def seal(self, rebuilt: Any) -> None:
        """Notes the attributes of a rebuilt function, which the user's code must not change."""
        self._sealed.append((rebuilt, dict(vars(rebuilt))))

    def globals_of(self, namespace: dict[str, Any]) -> RecordingGlobals:
        """The recording form of a module's globals."""
        if id(namespace) not in self._globals:
            found = self._globals[id(namespace)] = RecordingGlobals(self, namespace, self._builtins)
            if self.rewriting.left_out is not None:
                from xjit.capture.splits.python_steps import unknown_values

                found.update(unknown_values())
        return self._globals[id(namespace)]

    # Arrays and numbers

    def lift(self, array: Any) -> Node:
        """The node of an array that the function made while tracing: a constant in its own memory order."""
        found: Node = constant(np.asarray(array)).node
        return found

    def _hidden_array(self, array: np.ndarray[Any, Any], path: Path) -> Any:
        if is_sentinel(array):  # numpy.ma.masked is an array
            self.add(guards.identity(path, array))
            return array
        if type(array) is not np.ndarray or not isinstance(signature(array), tuple):
            self.add(guards.identity(path, array))
            return foreign_array(array, path)
        self.add(guards.same_layout(path, array))
        value = self._array(array, path)
        if array.size <= MAX_CONCRETE:
            value.known = functools.partial(self.freeze_contents, path)
        return value

    def _array(self, array: np.ndarray[Any, Any], path: Path) -> TracedArray:
        value = TracedArray(self.parameter(path, type_of(array)), self.trace)
        self.trace.strides[value.node] = array.strides
        value.lie_in(Buffer(value.node, self.trace, path, frozen=not is_writable(array)), ())
        return value

    def _python_number(self, number: Any, path: Path) -> TracedScalar:
        return TracedScalar(
            self.parameter(path, scalar_type(DTYPES[type(number)])), self.trace, number, (path,), self
        )

    def _open_number(self, number: Any, path: Path) -> TracedArray | None:
        """A number of which Python needs no value: a float, or an integer between guarded bounds; None for others."""
        if type(number) is float:
            return TracedArray(self.parameter(path, scalar_type(FLOAT64)), self.trace, weak=float, scalar=True)
        sizes = {size for leaf in self.leaves for size in (leaf.shape if isinstance(leaf, np.ndarray) else ())}
        limits = limits_of(number, sorted(sizes)) if type(number) is int else None
        if limits is None:
            return None
        self.add(guards.outcome(path, ">=", limits[0], True))
        self.add(guards.outcome(path, "<=", limits[1], True))
        value = TracedArray(self.parameter(path, scalar_type(INT64)), self.trace, weak=int, scalar=True)
        value.bounds = self.trace.spans[value.node] = limits
        return value

    def _numpy_scalar(self, scalar: np.generic, path: Path) -> TracedArray:
        value = TracedArray(self.parameter(path, scalar_type(scalar.dtype)), self.trace, scalar=True)
        if path not in self._varying:
            value.known = functools.partial(self.freeze, path)
        return value

    def parameter(self, path: Path, type: ArrayType) -> Node:
        """The input of the graph that is read at a path."""
        node = self.trace.parameter(type, self.where)
        self.trace.labels[node] = str(path)
        self.inputs.append(path)
        return node

    def object_at(self, path: Path) -> Node:
        """The input that is the object itself which stands at a path, for steps in Python."""
        if path not in self._objects:
            self._objects[path] = self.parameter(path, OBJECT_TYPE)
        return self._objects[path]

    def _hand_out(self, value: Any, path: Path) -> Any:
        self._handed_out[id(value)] = (value, path)
        return value
