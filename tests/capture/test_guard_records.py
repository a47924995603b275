"""Guards that can be described to another process, and those that are traced again there."""

from __future__ import annotations

import enum
import functools
import math
import operator
from collections import namedtuple
from decimal import Decimal
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.api.start.code_digests import UnknownCodeError, class_digest, code_digest, function_digest
from xjit.api.start.guard_records import CONDITIONS, Binder, Describer, OtherProgramError, described
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import cell_path, global_path, leaf_path, object_path

SCALE = 2.0


def plain(a: Any, by: float = 1.0) -> Any:
    return a * by * SCALE


class Base:
    offset = 1.0

    def apply(self, a: Any) -> Any:
        return a + self.offset


class Derived(Base):
    def apply(self, a: Any) -> Any:
        return super().apply(a)

    @property
    def twice(self) -> float:
        return 2.0

    @staticmethod
    def fixed(a: Any) -> Any:
        return a

    @classmethod
    def named(cls) -> str:
        return cls.__name__


class Colour(enum.Enum):
    RED = 1


class Descriptor:
    def __get__(self, instance: Any, owner: Any = None) -> float:
        return 1.0


class Described:
    value = Descriptor()


class Meta(type):
    pass


class WithMeta(metaclass=Meta):
    pass


DESCRIBED = {
    "number": 1.5,
    "text": "a",
    "nothing": None,
    "element type": np.dtype(np.float32),
    "range": range(3),
    "number of NumPy": np.float32(1.5),
    "tuple": (1, "a", (2.0,)),
    "tuple with an array": (1, np.ones(2)),
    "function": plain,
    "compiled function": xjit(plain),
    "method": Base.apply,
    "property": vars(Derived)["twice"],
    "static method": vars(Derived)["fixed"],
    "class method": vars(Derived)["named"],
    "class": Base,
    "builtin class": float,
    "builtin function": len,
    "function of NumPy": np.sum,
    "class of NumPy": np.float32,
    "ufunc": np.add,
    "function of a module": math.sqrt,
    "function of the library": operator.itemgetter,
    "module": math,
    "code": plain.__code__,
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_what_can_be_described(name: str) -> None:
    want = described(DESCRIBED[name])
    assert want == described(DESCRIBED[name])
    assert all(want != described(other) for key, other in DESCRIBED.items() if key != name)


REFUSED = {
    "member of an enumeration": Colour.RED,
    "decimal": Decimal(1),
    "partial function": functools.partial(plain, 1),
    "object": Base(),
    "list": [1],
    "array": np.ones(2),
    "method that calls super": Derived.apply,
    "class with descriptors": Described,
    "class with a metaclass": WithMeta,
    "named tuple": namedtuple("Pair", "a b"),
    "function of a test library": pytest.approx,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot(name: str) -> None:
    with pytest.raises(UnknownCodeError):
        described(REFUSED[name])


# Digests


def defined(text: str, name: str = "f", before: str = "") -> Any:
    """Return what a text defines under a name, always at the same place."""
    names: dict[str, Any] = {"__name__": "made"}
    exec(compile(before + text, "made.py", "exec"), names)
    return names[name]


BODY = "def f(a, b=1):\n    return a + 1.0 if b else (a, 'x')\n"
OTHERS = {
    "operation": BODY.replace("a +", "a -"),
    "type of a number": BODY.replace("1.0", "1"),
    "truth": BODY.replace("1.0", "True"),
    "sign of zero": BODY.replace("1.0", "-0.0"),
    "text": BODY.replace("'x'", "'y'"),
    "bytes": BODY.replace("'x'", "b'x'"),
    "name": BODY.replace("def f", "def g"),
    "argument": BODY.replace("a, b=1", "a, *, b=1"),
    "inner function": BODY.replace("return a", "return (lambda: a)()"),
    "docstring": BODY.replace("    return", "    'says'\n    return"),
    "line": "\n" + BODY,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_have_other_digests(name: str) -> None:
    other = defined(OTHERS[name], "g" if name == "name" else "f")
    assert function_digest(defined(BODY)) == function_digest(defined(BODY))
    assert function_digest(other) != function_digest(defined(BODY))


def test_inner_constants_count() -> None:
    one, other = (defined(f"def f(a):\n    return [k + {number} for k in a]\n") for number in (1, 2))
    assert code_digest(one.__code__) != code_digest(other.__code__)


def test_attributes_of_functions_count() -> None:
    one, other = defined(BODY), defined(BODY)
    other.flag = True
    assert function_digest(one) != function_digest(other)


CLASS = "class B:\n    y = 1\nclass f(B):\n    x = 1.0\n    def g(self):\n        return 1\n"
OTHER_CLASSES = {
    "attribute": CLASS.replace("x = 1.0", "x = 2.0"),
    "type of an attribute": CLASS.replace("x = 1.0", "x = 1"),
    "method": CLASS.replace("return 1", "return 2"),
    "kind of method": CLASS.replace("    def g(self)", "    g = property(lambda self: 1)\n    def h(self)"),
    "base": CLASS.replace("y = 1", "y = 2"),
    "other base": CLASS.replace("f(B)", "f"),
    "another attribute": CLASS + "    z = None\n",
}


@pytest.mark.parametrize("name", OTHER_CLASSES)
def test_other_classes_have_other_digests(name: str) -> None:
    assert class_digest(defined(CLASS)) == class_digest(defined(CLASS))
    assert class_digest(defined(OTHER_CLASSES[name])) != class_digest(defined(CLASS))


# Guards


def test_every_condition_has_a_name() -> None:
    """But those of sets, whose members are kept as keys that no other process has, of arrays with labels, which
    Python reads in steps, and of lists that are none of the arguments.
    """
    path = leaf_path(0, "a")
    others = [path.item(1), path.item(2)]
    made = [
        guards.identity(path, None),
        guards.same_value(path, 1.0),
        guards.same_type(path, float),
        guards.same_number_type(path, np.int64),
        guards.same_kind(path, 1),
        guards.same_layout(path, np.ones(2)),
        guards.same_contents(path, b""),
        guards.same_length(path, 1),
        guards.same_keys(path, ("a",)),
        guards.same_items(path, (1,)),
        guards.has_item(path, "a"),
        guards.no_item(path, "a"),
        guards.no_attribute(path, "a"),
        guards.same_code(path, plain.__code__),
        guards.same_function(path, plain),
        guards.definition(path, "offset", 1.0),
        guards.definition(path, "apply", Base.apply),
        guards.same_object(path, others[0]),
        guards.distinct_objects(path, others[:1]),
        guards.distinct_objects(path, others),
        guards.outcome(path, "<=", 1.0, True),
        guards.not_among(path, (1,)),
    ]
    assert {one.condition for one in made} <= set(CONDITIONS.values())
    constructors = {name for name, value in vars(guards).items() if isinstance(value, FunctionType)}
    makers = {name for name in constructors if getattr(guards, name).__annotations__.get("return") == "Guard"}
    assert len(makers) == 23
    members = guards.same_members(path, frozenset((1,)))
    labelled = guards.same_labelled(path, np.ones(2))
    for one in (members, labelled):
        with pytest.raises(UnknownCodeError):
            Describer(plain, [one]).records()


def test_guards_start_at_what_other_guards_are_bound_to() -> None:
    def outer(a: Any) -> Any:
        return inner(a)

    def inner(a: Any) -> Any:
        return a * factor

    factor = 3.0
    cell = outer.__closure__[0]
    inside = inner.__closure__[0]
    written = [
        guards.same_value(cell_path(inside, "factor"), factor),  # bound after the function that has the cell
        guards.identity(cell_path(cell, "inner"), inner),
        guards.same_code(object_path(inner, "inner"), inner.__code__),
        guards.same_value(global_path(inner.__globals__, "SCALE"), SCALE),
    ]
    records = Describer(outer, written).records()
    bound = Binder(outer, ()).guards(records)
    assert [one.condition for one in bound] == [one.condition for one in written]
    assert guards.Guards(bound, (), 0).holds(())
    inside.cell_contents = 4.0
    try:
        assert not guards.Guards(bound, (), 0).holds(())
        Binder(outer, ()).guards(records)  # numbers are compared by the guards themselves
    finally:
        inside.cell_contents = 3.0
    cell.cell_contents = plain
    try:
        with pytest.raises(OtherProgramError):
            Binder(outer, ()).guards(records)
    finally:
        cell.cell_contents = inner


def test_places_that_nothing_leads_to_are_not_described() -> None:
    stray = guards.same_value(global_path({"x": 1.0}, "x"), 1.0)
    with pytest.raises(UnknownCodeError, match="starts at"):
        Describer(plain, [stray]).records()
