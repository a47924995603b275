"""Objects and classes of the user: stand-ins that record which attributes are read and run methods rebuilt.

An object from outside keeps its state where it is: what is read of it is guarded, and what is assigned is set on it
behind the program. An object that is made while tracing keeps its state in its stand-in.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import sys
import types
import weakref
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, object_path
from xjit.capture.inner_functions import inner_function as inner_function
from xjit.capture.recording.global_reads import called_from_user_code
from xjit.capture.recording.object_state import STATE, State, assigned_to, fields_of, state_of
from xjit.capture.tracers.errors_in_order import test_ahead_of_store
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.ir.current import current

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

MISSING = object()
# What the interpreter looks up on the class itself, so that the class of the stand-in has to have it.
_SPECIAL = """
    __call__ __len__ __iter__ __next__ __getitem__ __contains__ __bool__ __enter__ __exit__ __reversed__ __hash__
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__
    __mod__ __rmod__ __divmod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __xor__
    __rxor__ __lshift__ __rlshift__ __rshift__ __rrshift__ __lt__ __le__ __gt__ __ge__ __eq__ __ne__ __neg__
    __pos__ __abs__ __invert__ __float__ __int__ __complex__ __index__ __round__ __str__ __repr__ __format__
    __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__ __setitem__ __delitem__
"""
_RAW_CLASS_ATTRIBUTES = (
    "__name__",
    "__qualname__",
    "__module__",
    "__doc__",
    "__mro__",
    "__bases__",
    "__abstractmethods__",
)


def lookup(cls: Any, name: str, after: type | None = None) -> tuple[type, Any]:
    """The class in the method resolution order that defines the name, and the definition, not bound to anything."""
    mro = cls.__mro__ if after is None else cls.__mro__[cls.__mro__.index(after) + 1 :]
    return next(((base, vars(base)[name]) for base in mro if name in vars(base)), (object, MISSING))


def class_path(cls: type) -> Path:
    """The path of a class; that it is this one is guarded where it was read."""
    return object_path(cls, cls.__qualname__)


class RecordingObject:
    """The stand-in of an instance of a user's class."""

    def __init__(self, state: State) -> None:
        object.__setattr__(self, STATE, state)
        state.recorder.objects.append(weakref.ref(self))

    def __getattribute__(self, name: str) -> Any:
        state = state_of(self)
        if name == "__class__":
            return _class_as_seen(state, sys._getframe(1))
        if name == "__deepcopy__" and lookup(state.cls, name)[1] is MISSING:
            return functools.partial(_deeply_copied, self)
        return _outside(self, state, name) if state.path is not None else _local(self, state, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _assign(self, state_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        refuse(f"the function deletes the attribute {name}", fix="delete it outside of the function")

    def __copy__(self) -> Any:
        from xjit.capture.substitutes.copied_objects import copied

        own = lookup(state_of(self).cls, "__copy__")[1] is not MISSING
        return RecordingObject.__getattribute__(self, "__copy__")() if own else copied(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        refuse(f"an object of class {state_of(self).cls.__qualname__} is copied", fix="copy its arrays")


def _deeply_copied(value: Any, memo: dict[int, Any]) -> Any:
    from xjit.capture.substitutes.copied_objects import deeply_copied

    return deeply_copied(value, memo)


def _class_as_seen(state: State, frame: types.FrameType) -> Any:
    """User code that reads ``__class__`` gets the stand-in; isinstance in libraries and ``match`` need the class."""
    matching = frame.f_code.co_code[frame.f_lasti] == dis.opmap["MATCH_CLASS"]
    if called_from_user_code(frame) and not matching:
        return state.recorder.class_stand_in(state.cls)
    return state.cls


def _outside(self: Any, state: State, name: str) -> Any:
    """An attribute of an object from outside; reading it is guarded."""
    assert state.path is not None
    recorder, path = state.recorder, state.path.attribute(name)
    _, raw = lookup(state.cls, name)
    own = fields_of(self)
    if name in own and not isinstance(raw, property):
        return own[name]
    if name == "__dict__":
        check_not_shown(self, read=True)
    shadowed = name in getattr(state.target, "__dict__", ()) and not isinstance(raw, property)
    shadowed = shadowed or lookup(state.cls, "__getattribute__")[0] is not object
    bound = MISSING if shadowed else _bind(self, state, raw)
    if bound is not MISSING:
        recorder.add(_unchanged(state, name, raw, path))
        return _called_if_property(raw, bound)
    try:
        value = getattr(state.target, name)
    except AttributeError:
        recorder.add(guards.no_attribute(state.path, name))
        raise
    return recorder.read(value, path)


def _unchanged(state: State, name: str, raw: Any, path: Path) -> guards.Guard:
    if isinstance(raw, types.FunctionType):
        return guards.same_function(path, raw)
    return guards.definition(class_path(state.cls), name, raw)


def _bind(self: Any, state: State, raw: Any) -> Any:
    """Code that stands in the class, rebuilt and bound; a property as a function without arguments."""
    recorder, inner = state.recorder, inner_function(raw)
    if inner is None:
        return MISSING
    if isinstance(raw, staticmethod):
        return recorder.function(inner)
    if isinstance(raw, classmethod):
        return types.MethodType(recorder.function(inner), recorder.class_stand_in(state.cls))
    return types.MethodType(recorder.function(inner), self)


def _called_if_property(raw: Any, bound: Any) -> Any:
    return bound() if isinstance(raw, property) else bound


def _local(self: Any, state: State, name: str) -> Any:
    """An attribute of an object that was made while tracing."""
    recorder, fields = state.recorder, fields_of(self)
    _, raw = lookup(state.cls, name)
    if name == "__dict__":
        refuse("the __dict__ of an object made inside of the function is used", fix="use its attributes")
    if name in fields and not isinstance(raw, property):
        return fields[name]
    bound = _bind(self, state, raw)
    if bound is not MISSING:
        recorder.add(guards.definition(class_path(state.cls), name, raw))
        return _called_if_property(raw, bound)
    if isinstance(raw, functools.cached_property):
        fields[name] = recorder.function(raw.func)(self)
        return fields[name]
    if raw is MISSING or isinstance(raw, types.MemberDescriptorType):
        return _absent(self, state, name)
    return recorder.read(getattr(state.cls, name), class_path(state.cls).attribute(name))


def _absent(self: Any, state: State, name: str) -> Any:
    _, fallback = lookup(state.cls, "__getattr__")
    if isinstance(fallback, types.FunctionType):
        return state.recorder.function(fallback)(self, name)
    raise AttributeError(f"{state.cls.__name__!r} object has no attribute {name!r}")


def check_not_shown(stand_in: Any, read: bool = False) -> None:
    """CaptureError if the function assigns to attributes of an object, and has seen the dict that holds them."""
    state = state_of(stand_in)
    state.shown |= read
    if state.shown and assigned_to(stand_in):
        refuse(f"the function uses {state.path}.__dict__ and assigns to attributes", fix="use the attributes alone")


def _assign(self: Any, state: State, name: str, value: Any) -> None:
    """Assigns an attribute as the class does it."""
    _, setter = lookup(state.cls, "__setattr__")
    _, raw = lookup(state.cls, name)
    if isinstance(setter, types.FunctionType):
        state.recorder.add(guards.definition(class_path(state.cls), "__setattr__", setter))
        state.recorder.function(setter)(self, name, value)
    elif isinstance(raw, property):
        if raw.fset is None:
            raise AttributeError(f"property {name!r} of {state.cls.__name__!r} object has no setter")
        state.recorder.add(guards.definition(class_path(state.cls), name, raw))
        state.recorder.function(raw.fset)(self, value)
    else:
        _store(self, name, value)


def _store(self: Any, name: str, value: Any) -> None:
    """Keeps the value of an attribute in the stand-in, as ``object.__setattr__`` does in the object."""
    state = state_of(self)
    _, raw = lookup(state.cls, name)
    is_slot = isinstance(raw, types.MemberDescriptorType)
    if hasattr(type(raw), "__set__") and not is_slot:
        refuse(f"{state.cls.__qualname__}.{name} does something of its own where it is assigned")
    if name.startswith("__") and name.endswith("__"):
        refuse(f"the function assigns to {name} of an object", fix="assign it outside of the function")
    if state.path is not None and not is_slot and not hasattr(state.target, "__dict__"):
        raise AttributeError(f"{state.cls.__name__!r} object has no attribute {name!r}")
    trace = current()
    if state.path is not None and isinstance(trace, CaptureTrace):
        test_ahead_of_store(trace)
    object.__setattr__(self, name, value)
    if state.path is not None:
        check_not_shown(self)


@functools.lru_cache(maxsize=512)
def _stand_in_class(cls: Hashable) -> Any:
    """A class with the special methods of the user's class, each rebuilt when it is called."""
    members: dict[str, Any] = {}
    for name in _SPECIAL.split():
        owner, raw = lookup(cls, name)
        if owner is not object:
            members[name] = _forwarder(name) if raw is not None else None
    if dataclasses.is_dataclass(cls):
        members["__dataclass_fields__"] = vars(cls).get("__dataclass_fields__")
    return type("RecordingObject", (RecordingObject,), members)


def _forwarder(name: str) -> Any:
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return RecordingObject.__getattribute__(self, name)(*args, **kwargs)

    return forward


def stand_in_of_new(recorder: Recorder, cls: Any) -> Any:
    """The stand-in of an object that the call makes, without attributes."""
    return _stand_in_class(cls)(State(recorder, cls, None, None))


def stand_in(recorder: Recorder, target: Any, path: Path) -> Any:
    """The stand-in of an object from outside."""
    cls: Any = type(target)
    recorder.add(guards.same_type(path, cls))
    return _stand_in_class(cls)(State(recorder, cls, target, path))


class RecordingClass:
    """The stand-in of a user's class: attribute reads are guarded, calling it makes an object while tracing."""

    def __init__(self, state: State) -> None:
        object.__setattr__(self, STATE, state)

    def __getattribute__(self, name: str) -> Any:
        state = state_of(self)
        recorder, cls, path = state.recorder, state.cls, class_path(state.cls)
        if name in _RAW_CLASS_ATTRIBUTES:
            return getattr(cls, name)
        if name == "__class__":
            return type(cls)
        _, raw = lookup(cls, name)
        inner = None if isinstance(raw, property) else inner_function(raw)
        if inner is not None:
            recorder.add(guards.definition(path, name, raw))
            rebuilt = recorder.function(inner)
            return types.MethodType(rebuilt, self) if isinstance(raw, classmethod) else rebuilt
        try:
            value = getattr(cls, name)
        except AttributeError:
            recorder.add(guards.no_attribute(path, name))
            raise
        return recorder.read(value, path.attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        cls = state_of(self).cls
        refuse(f"the function assigns to {cls.__qualname__}.{name}", fix="assign it outside of the function")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return construct(state_of(self), args, kwargs)

    def __getitem__(self, parameters: Any) -> Any:
        return self  # Generic[T] means the class itself

    def __or__(self, other: Any) -> Any:
        return state_of(self).cls | real_class(other)

    def __ror__(self, other: Any) -> Any:
        return real_class(other) | state_of(self).cls

    def __repr__(self) -> str:
        return repr(state_of(self).cls)


def real_class(value: Any) -> Any:
    """The class behind a stand-in; anything else itself."""
    return state_of(value).cls if type(value) is RecordingClass else value


def construct(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new object of the class, as ``cls(*args, **kwargs)`` makes it, that exists in the trace only."""
    cls, recorder = state.cls, state.recorder
    if lookup(cls, "__new__")[0] is not object or lookup(type(cls), "__call__")[0] is not type:
        refuse(f"the class {cls.__qualname__} makes its objects in a way of its own", fix="make them outside")
    if inspect.isabstract(cls):
        return cls(*args, **kwargs)  # raises the TypeError that names the abstract methods
    made = stand_in_of_new(recorder, cls)
    _, init = lookup(cls, "__init__")
    inner = inner_function(init)
    if inner is not None:
        recorder.add(guards.definition(class_path(cls), "__init__", init))
        recorder.function(inner)(made, *args, **kwargs)
    elif init is vars(object)["__init__"] and (args or kwargs):
        raise TypeError(f"{cls.__name__}() takes no arguments")
    return made


class RecordingSuper:
    """Result of ``super()`` in a rebuilt method."""

    def __init__(self, start: type, bound: Any) -> None:
        object.__setattr__(self, STATE, (start, bound))

    def __getattribute__(self, name: str) -> Any:
        start, bound = object.__getattribute__(self, STATE)
        state = state_of(bound)
        owner, raw = lookup(state.cls, name, after=start)
        if raw is MISSING:
            raise AttributeError(f"'super' object has no attribute {name!r}")
        if owner is object or raw is getattr(object, name, MISSING):
            return _of_object(bound, state, name)
        state.recorder.add(guards.definition(class_path(owner), name, raw))
        if type(bound) is RecordingClass:
            inner = inner_function(raw)
            if isinstance(raw, classmethod) and inner is not None:
                return types.MethodType(state.recorder.function(inner), bound)
        else:
            value = _bind(bound, state, raw)
            if value is not MISSING:
                return _called_if_property(raw, value)
        return state.recorder.read(getattr(owner, name), class_path(owner).attribute(name))


def _of_object(bound: Any, state: State, name: str) -> Any:
    if name == "__init__":
        return lambda *args, **kwargs: None
    if name == "__setattr__" and type(bound) is not RecordingClass:
        return functools.partial(_store, bound)
    refuse(f"super().{name} of {state.cls.__qualname__} is not supported", fix="do this outside of the function")
