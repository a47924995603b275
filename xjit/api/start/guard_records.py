"""Guards as data: what a trace took for granted, written so that another process can find the same things and look.

A guard reads a place and compares what is there with what the trace saw.  Plain values are kept as they are.  Of a
function, a class or a module a description is kept; where a fitting one stands in the other process, the guard is
bound to it.  Places start at an argument, or at the globals, a closure cell or the attributes of something that
another guard is bound to; the decorated function itself is number -1.
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from xjit import jobs
from xjit.api.start.code_digests import UnknownCodeError, class_digest, code_digest, function_digest
from xjit.capture.guarding.access_path import Path, Root, Step
from xjit.capture.guarding.guards import LAYOUT, Guard, same
from xjit.capture.inner_functions import inner_function
from xjit.dataclass import dataclass
from xjit.llvm.digests import digest

ROOT = -1
"""The number of the decorated function among what guards are bound to."""

_SIGNS = ("<", "<=", ">", ">=", "==", "!=")
CONDITIONS = {
    "identity": "{v} is {k}",
    "value": "({v} is {k} or same({v}, {k}))",
    "type": "type({v}) is {k}",
    "items": "same(tuple({v}), {k})",
    "one of types": "type({v}) in {k}",
    "one object": "{v} is {w}",
    "two objects": "{v} is not {w}",
    "several objects": "len(set(map(id, ({v}, {w})))) == {k}",
    "code": "{v}.__code__ is {k}",
    "layout": LAYOUT,
    "integer": "type({v}) is int and {v} in {k}",
    "contents": "{v}.tobytes() == {k}",
    "length": "len({v}) == {k}",
    "keys": "same((*{v},), {k})",
    "has": "{k} in {v}",
    "has not": "{k} not in {v}",
    "no attribute": "not hasattr({v}, {k})",
    "method": "{v}.__func__ is {k}",
    "definition": "defined({v}, *{k})",
    "none of": "{v} not in {k}",
    "no arrays": "{k} not in map(type, {v})",
    "no arrays in dict": "{k} not in map(type, {v}.values())",
    **{f"{sign} is {result}": f"({{v}} {sign} {{k}}) is {result}" for sign in _SIGNS for result in (True, False)},
}
"""The conditions of guards by name: no text of a condition is taken from a record."""
_NAMES = {text: name for name, text in CONDITIONS.items()}
# Libraries that say of themselves which version they are.
_VERSIONED = ("numpy", "scipy")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype)


@dataclass(frozen=True, slots=True)
class RootRecord:
    """The start of a place: an argument leaf by its number, or something that a guard is bound to."""

    kind: Literal["leaf", "bound"]
    number: int
    part: Literal["itself", "globals", "cell", "base"] = "itself"
    name: str = ""


@dataclass(frozen=True, slots=True)
class PlaceRecord:
    """A root and the steps from it: the kind of each and its key."""

    root: RootRecord
    steps: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Want:
    """The content of a place: a plain ``value``, or by its ``kind`` names and digests, or several things."""

    kind: Literal[
        "plain",
        "range",
        "number",
        "function",
        "wrapped",
        "class",
        "named",
        "module",
        "code",
        "any",
        "tuple",
        "globals",
    ]
    words: tuple[str, ...] = ()
    value: Any = None
    items: tuple[Want, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardRecord:
    """A guard: its condition by name, its place, what is wanted there, and other places that it looks at."""

    condition: str
    place: PlaceRecord
    want: Want
    others: tuple[PlaceRecord, ...] = ()


class OtherProgramError(ValueError):
    """The content of a place is not what the record is about."""


# Describing


def described(value: Any) -> Want:
    """Return what can be said of a value to another process; UnknownCodeError where that is not enough."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, np.dtype):
        return Want("plain", value=value)
    if kind is range:
        return Want("range", value=(value.start, value.stop, value.step))
    if isinstance(value, np.generic):
        return Want("number", (value.dtype.str,), value.tobytes())
    if kind is types.CodeType:
        return Want("code", (code_digest(value),))
    if kind is types.ModuleType:
        return Want("module", (value.__name__,))
    if kind is dict and value is vars(sys.modules.get(str(value.get("__name__")), types)):
        return Want("globals", (value["__name__"],))
    if kind is tuple:
        return Want("tuple", items=tuple(map(_part, value)))
    from xjit.capture.recording.traceable import is_library

    if is_library(_module_of(value)):
        return _named(value)
    if isinstance(value, type):
        return Want("class", (class_digest(value),))
    if kind is types.FunctionType:
        _check_closure(value)
        return Want("function", (function_digest(value),))
    return _constant_of_python(value) or _wrapped(value)


def _constant_of_python(value: Any) -> Want | None:
    """An object that a module of the standard library keeps under a name, such as what stands for no default."""
    name = type(value).__module__
    if name.partition(".")[0] not in sys.stdlib_module_names or name not in sys.modules:
        return None
    names = (one for one, kept in vars(sys.modules[name]).items() if kept is value)
    found = next(names, None)
    return None if found is None else Want("named", (name, found, ""))


def _part(value: Any) -> Want:
    """An item of a tuple; what is not plain has a guard of its own where it is used."""
    return described(value) if type(value) in (*_PLAIN, tuple) else Want("any", (type(value).__qualname__,))


def _module_of(value: Any) -> str | None:
    if isinstance(value, np.ufunc):
        return "numpy"
    if isinstance(value, types.FunctionType):
        return str(value.__globals__.get("__name__"))
    named = isinstance(value, type | types.BuiltinFunctionType) or hasattr(value, "__qualname__")
    return getattr(value, "__module__", None) if named and inner_function(value) is None else None


def _named(value: Any) -> Want:
    """Something of a library, by the name under which it is found."""
    name = getattr(value, "__qualname__", None) or value.__name__
    modules = ("numpy", "scipy.special") if isinstance(value, np.ufunc) else (str(_module_of(value)),)
    for module in modules:
        found = sys.modules.get(module)
        top = module.partition(".")[0]
        try:
            leads_there = operator.attrgetter(name)(found) is value
        except AttributeError:
            continue
        if leads_there and (top in _VERSIONED or top in sys.stdlib_module_names or top == "xjit"):
            version = getattr(sys.modules[top], "__version__", "") if top in _VERSIONED else ""
            return Want("named", (module, name, version))
    raise UnknownCodeError(f"{name} of a library")


def _wrapped(value: Any) -> Want:
    """A method of any sort, a property or a compiled function, by the Python functions inside."""
    parts = [value.fget, value.fset, value.fdel] if isinstance(value, property) else [value]
    functions = [inner_function(part) for part in parts if part is not None]
    if not functions or None in functions:
        raise UnknownCodeError(f"an object of type {type(value).__qualname__}")
    made = [one for one in functions if one is not None]
    for one in made:
        _check_closure(one)
    options = repr(getattr(value, "options", None))
    return Want("wrapped", (type(value).__qualname__, digest(options, *map(function_digest, made))))


def _check_closure(function: types.FunctionType) -> None:
    if "__class__" in function.__code__.co_freevars:
        raise UnknownCodeError("super() reads a class that nothing guards")


class Describer:
    """Writes the guards of a trace of one function down.

    ``bound`` has the numbers of what guards are bound to, by their identities, ``functions`` those inside of them,
    ``arrays`` are those that calls are given as they are.
    """

    def __init__(self, function: types.FunctionType, guards: Sequence[Guard]) -> None:
        self.guards = guards
        self.roots: dict[int, RootRecord] = {}
        self.bound: dict[int, int] = {}
        self.functions: list[tuple[int, types.FunctionType]] = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        _check_closure(function)
        self._learn(ROOT, function)
        for number, guard in enumerate(guards):
            self._learn(number, _bound(guard))

    def records(self) -> tuple[GuardRecord, ...]:
        """The guards, in order."""
        return tuple(map(self._record, self.guards))

    def place(self, path: Path) -> PlaceRecord:
        """The place that a path reads."""
        steps = tuple((step.kind, step.key) for step in path.steps)
        if path.root.kind == "leaf":
            return PlaceRecord(RootRecord("leaf", path.root.origin), steps)
        return PlaceRecord(self.root(path.root.origin, str(path)), steps)

    def root(self, value: Any, text: str) -> RootRecord:
        """The start of places that read parts of something; UnknownCodeError unless a guard is bound to it."""
        root = self.roots.get(id(value))
        if root is None:
            raise UnknownCodeError(f"{text} starts at something that no guard is bound to")
        return root

    def array(self, value: np.ndarray[Any, Any]) -> int:
        """The number of an array; UnknownCodeError for one that shares memory with another."""
        for number, other in enumerate(self.arrays):
            if other is value:
                return number
            if np.may_share_memory(other, value):
                raise UnknownCodeError("an array that shares memory with another one")
        self.arrays.append(value)
        return len(self.arrays) - 1

    def _record(self, guard: Guard) -> GuardRecord:
        name = _NAMES.get(guard.condition)
        if name is None:
            raise UnknownCodeError(f"the condition {guard.condition}")
        others = tuple(map(self.place, guard.others))
        return GuardRecord(name, self.place(guard.path), _wanted(name, guard.expected), others)

    def _learn(self, number: int, value: Any) -> None:
        if value is None:
            return
        inner = None if isinstance(value, type) else inner_function(value)
        self.bound.setdefault(id(value), number)
        if isinstance(value, type):
            for base in value.__mro__:
                name = f"{base.__module__}.{base.__qualname__}"
                self.roots.setdefault(id(base), RootRecord("bound", number, "base", name))
        elif isinstance(value, types.ModuleType):
            self.roots.setdefault(id(value), RootRecord("bound", number))
            self.roots.setdefault(id(vars(value)), RootRecord("bound", number, "globals"))
        elif type(value) is dict:
            self.roots.setdefault(id(value), RootRecord("bound", number))
        elif inner is not None:
            self.functions.append((number, inner))
            self.roots.setdefault(id(inner), RootRecord("bound", number))
            self.roots.setdefault(id(inner.__globals__), RootRecord("bound", number, "globals"))
            for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
                self.roots.setdefault(id(cell), RootRecord("bound", number, "cell", name))


def _bound(guard: Guard) -> Any:
    """Return what the object is that a guard wants to find, if it is one."""
    name = _NAMES.get(guard.condition)
    if name == "definition":
        return guard.expected[1]
    return guard.expected if name in ("identity", "type", "method") else None


def _wanted(condition: str, expected: Any) -> Want:
    if condition == "definition":
        name, raw = expected
        return Want("tuple", (name,), items=(described(raw),))
    if condition == "one of types":
        return Want("tuple", items=tuple(map(described, expected)))
    if condition == "layout":
        dtype, shape, strides = expected
        return Want("plain", value=(dtype, shape, strides))
    if type(expected) is tuple and condition != "identity":
        return Want("plain", value=expected)
    return described(expected)


# Binding


class Binder:
    """Finds in this process what guards were written about, from the decorated function on."""

    def __init__(self, function: types.FunctionType, leaves: Sequence[Any]) -> None:
        self.leaves = leaves
        self.objects: dict[int, Any] = {ROOT: function}
        self.arrays: dict[int, np.ndarray[Any, Any]] = {}

    def guards(self, records: Sequence[GuardRecord]) -> tuple[Guard, ...]:
        """The guards, bound; OtherProgramError where something else stands. Reading may run code of the user."""
        waiting = dict(enumerate(records))
        made: dict[int, Guard] = {}
        while waiting:
            ready = [number for number, record in waiting.items() if self._can_bind(record)]
            if not ready:
                raise OtherProgramError("guards that start at each other")
            for number in ready:
                made[number] = self._bind(number, waiting.pop(number))
        return tuple(made[number] for number in range(len(records)))

    def path(self, place: PlaceRecord) -> Path:
        """The path of a place."""
        steps = tuple(Step(kind, key) for kind, key in place.steps)
        root = place.root
        if root.kind == "leaf":
            return Path(Root("leaf", root.number, f"argument {root.number}"), steps)
        return Path(Root("object", self.origin(root), root.name or "the function"), steps)

    def _can_bind(self, record: GuardRecord) -> bool:
        roots = (one.root for one in (record.place, *record.others))
        return all(root.kind == "leaf" or root.number in self.objects for root in roots)

    def origin(self, root: RootRecord) -> Any:
        """The object that places start from."""
        value = self.objects[root.number]
        if root.part == "base":
            return next(base for base in value.__mro__ if f"{base.__module__}.{base.__qualname__}" == root.name)
        if isinstance(value, types.ModuleType):
            return vars(value) if root.part == "globals" else value
        if type(value) is dict:
            return value
        inner = inner_function(value)
        if inner is None:
            raise OtherProgramError("something else stands where a function was")
        if root.part == "globals":
            return inner.__globals__
        if root.part == "itself":
            return inner
        return dict(zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True))[root.name]

    def _bind(self, number: int, record: GuardRecord) -> Guard:
        path, others = self.path(record.place), tuple(map(self.path, record.others))
        expected = self._expected(number, record, path)
        return Guard(path, CONDITIONS[record.condition], expected, "{path} changed", others)

    def _expected(self, number: int, record: GuardRecord, path: Path) -> Any:
        want = record.want
        if record.condition == "definition":
            (name,), (raw,) = want.words, want.items
            return name, self._fitting(number, raw, _raw(path.read(self.leaves), name))
        if record.condition in _FOUND:
            return self._fitting(number, want, _FOUND[record.condition](path.read(self.leaves)))
        if record.condition == "one of types":
            return tuple(map(_resolved, want.items))
        if record.condition == "one object":
            return None
        expected = _value(want)
        if record.condition == "value" and same(found := path.read(self.leaves), expected):
            return found  # the very object, which is compared at once
        return expected

    def _fitting(self, number: int, want: Want, found: Any) -> Any:
        """Return what was found, which the guard then asks for, if it is what is wanted."""
        if described(found) != want:
            raise OtherProgramError(f"{found!r} is not what the trace saw")
        self.objects[number] = found
        return found


_FOUND: dict[str, Callable[[Any], Any]] = {
    "identity": lambda value: value,
    "type": type,
    "code": operator.attrgetter("__code__"),
    "method": operator.attrgetter("__func__"),
}


def _raw(cls: type, name: str) -> Any:
    return next(vars(base)[name] for base in cls.__mro__ if name in vars(base))


def _resolved(want: Want) -> Any:
    if want.kind != "named":
        raise OtherProgramError("a type that no library has")
    module, name, _ = want.words
    if module.partition(".")[0] == "xjit":
        jobs.module(module)
    found = operator.attrgetter(name)(sys.modules[module])
    if described(found) != want:
        raise OtherProgramError(f"{module} is another version")
    return found


def value_of(want: Want) -> Any:
    """The value of a description that says all of it: of something plain, or of a library."""
    if want.kind == "module":
        return sys.modules[want.words[0]]
    return _resolved(want) if want.kind == "named" else _value(want)


def _value(want: Want) -> Any:
    """The value that a description is."""
    if want.kind == "plain":
        return want.value
    if want.kind == "range":
        return range(*want.value)
    if want.kind == "number":
        return np.frombuffer(want.value, np.dtype(want.words[0]))[0]
    raise OtherProgramError(f"a {want.kind} stands for a value")
