"""The quick dataclasses beside those of the standard library: the same classes, made by both decorators."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import pytest

from xjit.dataclass import INTERPRETED_CALLS, make_dataclass, make_field, replace

Decorator: TypeAlias = "Callable[..., Any]"
BOTH = {"quick": (make_dataclass, make_field), "standard": (dataclasses.dataclass, dataclasses.field)}


def frozen(dataclass: Decorator, field: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        kinds: ClassVar[int] = 3
        x: int
        y: tuple[int, ...] = (1,)
        names: list[str] = field(default_factory=list)
        hidden: int = field(default=0, repr=False, compare=False)

        @property
        def first(self) -> int:
            return self.y[0]

    return Point


def mutable(dataclass: Decorator, field: Any) -> Any:
    @dataclass(eq=False)
    class Point:
        """A point."""

        x: int
        y: tuple[int, ...] = (1,)
        names: list[str] = field(default_factory=list)
        made: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.made.append(self.x)

    return Point


def derived(dataclass: Decorator, field: Any) -> Any:
    @dataclass(frozen=True, slots=True, weakref_slot=True)
    class Base:
        """A base."""

        x: int
        y: tuple[int, ...] = (1,)

        def __repr__(self) -> str:
            return "base"

    @dataclass(frozen=True, slots=True, eq=False)
    class Point(Base):
        """A point."""

        names: tuple[str, ...] = ()

    return Point


def ordered(dataclass: Decorator, field: Any) -> Any:
    @dataclass(frozen=True, order=True)
    class Point:
        """A point."""

        x: int
        y: tuple[int, ...] = (1,)
        names: tuple[str, ...] = field(default=(), repr=False)

    return Point


def without_fields(dataclass: Decorator, field: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

    return Point


FORMS = (frozen, mutable, derived, ordered)


def takes_more(cls: Any) -> bool:
    """Return whether objects take attributes that are no fields; with slots the standard library refuses by a
    TypeError.
    """
    try:
        cls(1).another = 2
    except (AttributeError, TypeError):
        return False
    return True


def answer(function: Callable[[Any], Any], cls: Any) -> Any:
    """Return what a function makes of a class; a type and text if it raises."""
    try:
        return function(cls)
    except Exception as error:
        return type(error), str(error)


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "repr": lambda cls: repr(cls(1, (2,))),
    "values": lambda cls: [getattr(cls(1), one.name) for one in dataclasses.fields(cls)],
    "fresh": lambda cls: cls(1).names is cls(1).names,
    "equal": lambda cls: (cls(1, (2,)) == cls(1, (2,)), cls(1) == cls(2), cls(1) == 1),
    "hash": lambda cls: (
        len({hash(one) for one in (cls(1, (2,), ()), cls(1, (2,), ()))}),
        hash(cls(1, names=())) == hash((1, (1,), ())),
    ),
    "assign": lambda cls: setattr(cls(1), "x", 2),
    "delete": lambda cls: delattr(cls(1), "x"),
    "another": lambda cls: takes_more(cls),
    "too few": lambda cls: cls(),
    "too many": lambda cls: cls(1, (2,), [], 4, 5, 6),
    "twice": lambda cls: cls(1, x=2),
    "unknown": lambda cls: cls(1, z=2),
    "made only": lambda cls: cls(1, made=[]),
    "by name": lambda cls: repr(cls(y=(3,), x=2)),
    "signature": lambda cls: str(inspect.signature(cls)),
    "annotations": lambda cls: cls.__init__.__annotations__,
    "match": lambda cls: cls.__match_args__,
    "fields": lambda cls: [(one.name, one.type, one.init, one.repr, one.compare) for one in dataclasses.fields(cls)],
    "is one": lambda cls: (dataclasses.is_dataclass(cls), dataclasses.is_dataclass(cls(1))),
    "frozen": lambda cls: cls.__dataclass_params__.frozen,
    "replace": lambda cls: repr(dataclasses.replace(cls(1, (2,)), x=3)),
    "as a dict": lambda cls: {key: value for key, value in dataclasses.asdict(cls(1)).items() if key != "made"},
    "copy": lambda cls: repr(copy.copy(cls(1, (2,)))),
    "deep copy": lambda cls: copy.deepcopy(cls(1, (2,), [])).names,
    "slots": lambda cls: vars(cls).get("__slots__"),
    "dict": lambda cls: hasattr(cls(1), "__dict__"),
    "weak": lambda cls: weakref.ref(cls(1)) is not None,
    "state": lambda cls: vars(cls).get("__getstate__", lambda one: None)(cls(1)),
    "class attribute": lambda cls: type(vars(cls).get("y")),
    "subclass": lambda cls: repr(type("Sub", (cls,), {})(1)),
    "subclass assigns": lambda cls: setattr(type("Sub", (cls,), {})(1), "x", 2),
    "standard subclass": lambda cls: repr(
        dataclasses.dataclass(frozen=cls.__dataclass_params__.frozen)(
            type("Sub", (cls,), {"__annotations__": {"z": "int"}, "z": 4})
        )(1)
    ),
    "names": lambda cls: (cls.__init__.__qualname__, cls.__qualname__, cls.__doc__),
}


@pytest.mark.parametrize("calls", [0, INTERPRETED_CALLS], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_is_what_the_standard_library_makes(
    form: Any, question: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xjit.dataclass.INTERPRETED_CALLS", calls)
    quick, standard = (answer(QUESTIONS[question], form(*both)) for both in BOTH.values())
    assert quick == standard


def test_records_without_fields() -> None:
    for both in BOTH.values():
        cls = without_fields(*both)
        assert cls() == cls()
        assert hash(cls()) == hash(())
        assert repr(cls()).endswith("Point()")


@make_dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickles find."""

    x: int
    y: str = "a"


def test_copies_with_changes() -> None:
    cls = frozen(*BOTH["quick"])
    assert cls(1, (2,)).__replace__(x=3) == replace(cls(1, (2,)), x=3) == cls(3, (2,))
    one = cls(1, (2,), ["a"], 4)
    assert replace(one, y=(5,)).names is one.names and replace(one, y=(5,)).hidden == 4
    with pytest.raises(TypeError, match="z"):
        replace(one, z=3)


def test_copies_what_has_fields_of_any_name() -> None:
    @make_dataclass(frozen=True)
    class Typed:
        type: str
        cls: int = 0

    assert replace(Typed("a"), cls=2) == Typed("a", 2)


def test_copies_are_of_the_class_of_the_original() -> None:
    cls = frozen(*BOTH["quick"])
    derived = type("Derived", (cls,), {})
    assert type(replace(derived(1), x=2)) is derived


def test_copies_what_the_standard_library_has_made() -> None:
    @make_dataclass(frozen=True, order=True)
    class Ordered:
        x: int
        y: int = 1

    assert replace(Ordered(1, 2), x=3) == Ordered(3, 2)


def test_pickles() -> None:
    one = Kept(1, "b")  # type checkers see the standard decorator under its own name only
    assert pickle.loads(pickle.dumps(one)) == one


def test_compares_nan_as_tuples_do() -> None:
    nan = float("nan")
    cls = frozen(*BOTH["quick"])
    assert cls(nan) == cls(nan)
    assert cls(nan) != cls(float("nan"))


def test_methods_are_compiled_after_some_calls() -> None:
    cls = frozen(*BOTH["quick"])
    one, other = cls(1), cls(1, (1,), hidden=3)
    for _ in range(INTERPRETED_CALLS):
        assert not any(inspect.isfunction(vars(cls)[name]) for name in ("__eq__",))
        assert one == other
        cls(1, names=[])
    assert one == other
    assert all(inspect.isfunction(vars(cls)[name]) for name in ("__init__", "__eq__"))
    assert cls(1) == one


def test_explicit_methods_stay() -> None:
    @make_dataclass(frozen=True)
    class Odd:
        """Has methods of its own."""

        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert Odd(1) == Odd(2)
    assert hash(Odd(1)) == 7


def test_mistakes_are_seen() -> None:
    with pytest.raises(TypeError, match="non-default argument 'y'"):
        make_dataclass(type("Wrong", (), {"__annotations__": {"x": "int", "y": "int"}, "x": 1}))
    with pytest.raises(ValueError, match="mutable default"):
        make_dataclass(type("Wrong", (), {"__annotations__": {"x": "list"}, "x": []}))
