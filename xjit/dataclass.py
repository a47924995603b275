"""Dataclasses that are quick to define: the standard library's decorator with its meaning, at a tenth of its cost.

    from xjit.dataclass import dataclass, field, replace

    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 0

The standard library compiles the text of every method of every class, which takes long where modules have many small
classes.  Here a method is compiled when it has been called some times; until then it is interpreted, as a start from
disk makes one or two objects of most classes.  Forms that are rare in this package (``order``,
``kw_only``, ``InitVar``) are left to the standard library.  Type checkers see the standard decorator.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

MISSING = object()
_FIELDS = "__xjit_fields__"
_STANDARD_FIELDS = "__dataclass_fields__"


Value = TypeVar("Value")


def replace(value: Value, /, **changes: Any) -> Value:
    """The same as ``dataclasses.replace`` of an object of a class that is made here, and quicker."""
    changing: Any = value
    made: Value = changing.__replace__(**changes)
    return made


class Field:
    """One field: its default or what makes one, and the methods that look at it."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr", "type")

    def __init__(self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool) -> None:
        self.name, self.type = "", ""
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare

    @property
    def is_optional(self) -> bool:
        """Return whether ``__init__`` can do without a value."""
        return self.default is not MISSING or self.default_factory is not MISSING


def make_field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
) -> Any:
    """The same as ``dataclasses.field``."""
    return Field(default, default_factory, init, repr, compare)


def make_dataclass(cls: Any = None, /, **options: bool) -> Any:
    """The same as ``dataclasses.dataclass``."""
    if cls is None:
        return lambda one: make_dataclass(one, **options)
    frozen, slots, eq = options.get("frozen", False), options.get("slots", False), options.get("eq", True)
    if options.keys() - {"frozen", "slots", "eq", "weakref_slot"} or not _is_known_form(cls):
        return _standard(cls, options)
    fields = _fields_of(cls)
    if slots:
        cls = _with_slots(cls, fields, frozen, options.get("weakref_slot", False))
    _add(cls, "__init__", _Method(cls, "__init__", _init_text, _initialise))
    _add(cls, "__repr__", _representation(fields))
    _add(cls, "__replace__", _Method(cls, "__replace__", _replace_text, _with_changes))
    _add(cls, "__match_args__", tuple(name for name, one in fields.items() if one.init))
    if eq:
        _add_comparison(cls, frozen)
    if frozen:
        _freeze(cls, fields)
    setattr(cls, _FIELDS, fields)
    setattr(cls, _STANDARD_FIELDS, _StandardFields(fields))
    params = {"init": True, "repr": True, "eq": eq, "order": False, "unsafe_hash": False, "frozen": frozen}
    cls.__dataclass_params__ = types.SimpleNamespace(**params)
    return cls


def _is_known_form(cls: Any) -> bool:
    """Return whether no annotation and no base class needs the standard library."""
    special = any("InitVar" in str(text) or "KW_ONLY" in str(text) for text in cls.__annotations__.values())
    return not special and all(
        hasattr(base, _FIELDS) or not hasattr(base, _STANDARD_FIELDS) for base in cls.__bases__
    )


def _standard(cls: Any, options: Mapping[str, bool]) -> Any:
    """The class by the standard library's decorator."""
    import dataclasses

    for name, one in list(vars(cls).items()):
        if isinstance(one, Field):
            setattr(cls, name, _standard_field(one))
    made = dataclasses.dataclass(**options)(cls)
    _add(made, "__replace__", _replaced)
    return made


def _standard_field(one: Field) -> Any:
    import dataclasses

    given = {key: value for key in ("default", "default_factory") if (value := getattr(one, key)) is not MISSING}
    return dataclasses.field(init=one.init, repr=one.repr, compare=one.compare, **given)


def _fields_of(cls: Any) -> dict[str, Field]:
    """The fields of the base classes, then the new ones; their defaults stay attributes of the class."""
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= vars(base).get(_FIELDS, {})
    optional = ""
    for name, annotation in cls.__annotations__.items():
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            fields[name] = _field_of(cls, name, annotation)
    for name, one in fields.items():
        if one.init and optional and not one.is_optional:
            raise TypeError(f"non-default argument {name!r} follows default argument")
        optional = name if one.init and one.is_optional else optional
    return fields


def _field_of(cls: Any, name: str, annotation: Any) -> Field:
    given = vars(cls).get(name, MISSING)
    one = given if isinstance(given, Field) else Field(given, MISSING, True, True, True)
    one.name, one.type = name, annotation
    if one.default is not MISSING and type(one.default).__hash__ is None:
        raise ValueError(f"mutable default {type(one.default)} for field {name} is not allowed: use default_factory")
    if given is one and one.default is not MISSING:
        setattr(cls, name, one.default)
    elif given is one:
        delattr(cls, name)
    return one


def _with_slots(cls: Any, fields: Mapping[str, Field], frozen: bool, weak: bool) -> Any:
    """The class made anew with slots for its own fields."""
    names = dict(vars(cls))
    taken = set(itertools.chain(*(_slots_of(base) for base in cls.__mro__[1:])))
    slots = (*fields, *(("__weakref__",) if weak else ()))
    names["__slots__"] = tuple(name for name in slots if name not in taken)
    for name in (*fields, "__dict__", "__weakref__"):
        names.pop(name, None)
    if frozen:
        names.setdefault("__getstate__", _state(fields))
        names.setdefault("__setstate__", _set_state(fields))
    made = type(cls)(cls.__name__, cls.__bases__, names)
    made.__qualname__ = cls.__qualname__
    return made


def _slots_of(cls: type) -> Iterator[str]:
    slots = vars(cls).get("__slots__", ())
    yield from (slots,) if isinstance(slots, str) else slots


def _add(cls: Any, name: str, value: Any) -> None:
    """Sets an attribute unless the text of the class does."""
    if name not in vars(cls):
        setattr(cls, name, value)


# Methods


class _Made:
    """Stands in signatures for what is made for every object."""

    def __repr__(self) -> str:
        return "<factory>"


class _Method:
    """A method that is interpreted for a few calls. Then its text is written and compiled, and takes its place.

    ``interpret`` gets the class, the object and the arguments; it raises :class:`_UnusualCallError` where the text
    has to say what is wrong with them.
    """

    def __init__(
        self, cls: Any, name: str, write: Callable[[Any, dict[str, Any]], str], interpret: Callable[..., Any]
    ) -> None:
        self.cls = cls
        self.name = name
        self.write = write
        self.interpret = interpret
        self.left = INTERPRETED_CALLS

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if not (self.left and isinstance(instance, self.cls)):
            function = self.compiled()
            return function if instance is None else types.MethodType(function, instance)
        self.left -= 1
        return functools.partial(self._called, instance)

    def _called(self, instance: Any, /, *values: Any, **named: Any) -> Any:
        try:
            return self.interpret(self.cls, instance, *values, **named)
        except _UnusualCallError:
            pass
        return self.compiled()(instance, *values, **named)

    def compiled(self) -> Any:
        """The method as a function, which is the class's own from now on."""
        names: dict[str, Any] = {"__name__": self.cls.__module__}
        exec(compile(self.write(self.cls, names), "<xjit dataclass>", "exec", dont_inherit=True), names)
        function = names[self.name]
        function.__qualname__ = f"{self.cls.__qualname__}.{self.name}"
        setattr(self.cls, self.name, function)
        return function


INTERPRETED_CALLS = 12
"""Calls of a method until it is compiled: interpreting one costs some microseconds, compiling about a hundred."""


class _UnusualCallError(Exception):
    """Arguments are missing, or there are too many of them."""


def _initialise(cls: Any, instance: Any, /, *values: Any, **named: Any) -> None:
    """Sets the fields of an object, as the text of ``__init__`` does."""
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    given = dict(zip((name for name, one in fields.items() if one.init), values, strict=False))
    if len(given) != len(values) or not named.keys() <= fields.keys() - given.keys():
        raise _UnusualCallError
    given |= named
    put = object.__setattr__ if cls.__dataclass_params__.frozen else setattr
    for name, value in [(name, _value(cls, one, given)) for name, one in fields.items()]:
        if value is not MISSING:
            put(instance, name, value)
    if hasattr(cls, "__post_init__"):
        instance.__post_init__()


def _value(cls: Any, one: Field, given: Mapping[str, Any]) -> Any:
    """The value of a field in an object; MISSING if the class has it."""
    if one.name in given:
        if not one.init:
            raise _UnusualCallError
        return given[one.name]
    if one.default_factory is not MISSING:
        return one.default_factory()
    if one.init and one.default is MISSING:
        raise _UnusualCallError
    return one.default if one.init or "__slots__" in vars(cls) else MISSING


def _compared_values(cls: Any, instance: Any) -> tuple[Any, ...]:
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    return tuple(getattr(instance, name) for name, one in fields.items() if one.compare)


def _is_equal(cls: Any, instance: Any, other: Any) -> Any:
    if other.__class__ is not instance.__class__:
        return NotImplemented
    return _compared_values(cls, instance) == _compared_values(cls, other)


def _hash_of(cls: Any, instance: Any) -> int:
    return hash(_compared_values(cls, instance))


def _with_changes(cls: Any, instance: Any, /, **changes: Any) -> Any:
    """The object of the instance's class with other values, as the text of ``__replace__`` makes it."""
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    return instance.__class__(**{name: getattr(instance, name) for name, one in fields.items() if one.init} | changes)


def _init_text(cls: Any, names: dict[str, Any]) -> str:
    """The text of ``__init__``, of frozen points with a default for ``y``::

    def __init__(self, x: types['x'], y: types['y'] = default_y) -> None:
        put(self, 'x', x)
        put(self, 'y', y)
    """
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    names |= {"put": object.__setattr__, "made": _Made(), "types": {name: one.type for name, one in fields.items()}}
    names |= {f"default_{name}": one.default for name, one in fields.items() if one.default_factory is MISSING}
    names |= {f"make_{name}": one.default_factory for name, one in fields.items()}
    given = "".join(f", {_parameter(one)}" for one in fields.values() if one.init)
    lines = [line for one in fields.values() for line in _assignments(cls, one)]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__(self{given}) -> None:\n" + "".join(f"    {line}\n" for line in lines or ["pass"])


def _parameter(one: Field) -> str:
    default = "made" if one.default_factory is not MISSING else f"default_{one.name}"
    return f"{one.name}: types[{one.name!r}]" + (f" = {default}" if one.is_optional else "")


def _assignments(cls: Any, one: Field) -> Iterator[str]:
    if one.default_factory is not MISSING:
        value = f"make_{one.name}() if {one.name} is made else {one.name}" if one.init else f"make_{one.name}()"
    elif one.init:
        value = one.name
    elif one.default is not MISSING and "__slots__" in vars(cls):
        value = f"default_{one.name}"
    else:
        return
    frozen = cls.__dataclass_params__.frozen
    yield f"put(self, {one.name!r}, {value})" if frozen else f"self.{one.name} = {value}"


def _replace_text(cls: Any, names: dict[str, Any]) -> str:
    """The text of ``__replace__``, of points::

    def __replace__(self, /, *, x=_missing, y=_missing):
        return self.__class__(x=self.x if x is _missing else x, y=self.y if y is _missing else y)
    """
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    names["_missing"] = MISSING
    given = [name for name, one in fields.items() if one.init]
    taken = ", ".join(f"{name}=self.{name} if {name} is _missing else {name}" for name in given)
    parameters = "".join(f", {name}=_missing" for name in given)
    return f"def __replace__(self, /{', *' if given else ''}{parameters}):\n    return self.__class__({taken})\n"


def _compared(cls: Any, of: str) -> str:
    fields: dict[str, Field] = getattr(cls, _FIELDS)
    return "(" + "".join(f"{of}.{name}, " for name, one in fields.items() if one.compare) + ")"


def _eq_text(cls: Any, names: dict[str, Any]) -> str:
    return (
        "def __eq__(self, other):\n"
        "    if other.__class__ is self.__class__:\n"
        f"        return {_compared(cls, 'self')} == {_compared(cls, 'other')}\n"
        "    return NotImplemented\n"
    )


def _hash_text(cls: Any, names: dict[str, Any]) -> str:
    return f"def __hash__(self):\n    return hash({_compared(cls, 'self')})\n"


def _add_comparison(cls: Any, frozen: bool) -> None:
    explicit = vars(cls).get("__hash__") is not None
    _add(cls, "__eq__", _Method(cls, "__eq__", _eq_text, _is_equal))
    if not explicit:
        cls.__hash__ = _Method(cls, "__hash__", _hash_text, _hash_of) if frozen else None


def _representation(fields: Mapping[str, Field]) -> Callable[[Any], str]:
    shown = [name for name, one in fields.items() if one.repr]

    def __repr__(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    return __repr__


def _freeze(cls: Any, fields: Mapping[str, Field]) -> None:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in fields:
            raise _frozen(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in fields:
            raise _frozen(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def _frozen(text: str) -> AttributeError:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(text)


def _state(fields: Mapping[str, Field]) -> Callable[[Any], list[Any]]:
    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in fields]

    return __getstate__


def _set_state(fields: Mapping[str, Field]) -> Callable[[Any, Any], None]:
    def __setstate__(self: Any, state: Any) -> None:
        for name, value in zip(fields, state, strict=True):
            object.__setattr__(self, name, value)

    return __setstate__


def _replaced(self: Any, /, **changes: Any) -> Any:
    """The method ``__replace__`` of what the standard library has made, which has it from Python 3.13 on."""
    import dataclasses

    return dataclasses.replace(self, **changes)


class _StandardFields:
    """The fields that ``dataclasses.fields`` and ``dataclasses.replace`` look for, made when they do."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        self.made: Any = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if self.made is None:
            import dataclasses

            names: dict[str, Any] = {name: _standard_field(one) for name, one in self.fields.items()}
            names["__annotations__"] = {name: one.type for name, one in self.fields.items()}
            stand_in: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type("StandIn", (), names))
            self.made = getattr(stand_in, _STANDARD_FIELDS)
        return self.made


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
else:
    dataclass, field = make_dataclass, make_field
