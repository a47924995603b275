"""Functions of :mod:`dataclasses` on objects and classes that are traced, as Python's own."""

from __future__ import annotations

import collections
import copy
import dataclasses
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pytest

import xjit


@dataclass
class Body:
    x: Any
    mass: float = 1.0


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class System:
    body: Body
    others: list[Any]
    named: dict[str, Any]
    pair: Pair


def system() -> System:
    line = np.arange(3.0)
    return System(Body(line, 2.0), [Body(line + 1), 3], {"a": Body(line + 2)}, Pair(line, Body(line)))


def doubled(body: Any) -> Any:
    return Body(**{name: value * 2 for name, value in asdict(body).items()})


def doubled_by_fields(body: Any) -> Any:
    return Body(*[getattr(body, one.name) * 2 for one in fields(body)])


def described(body: Any) -> Any:
    return [(one.name, one.default) for one in dataclasses.fields(Body)][1], len(fields(body)), body.x * 2


def copied(body: Any) -> Any:
    """The arrays of a tuple of fields are copies."""
    found = astuple(body)
    found[0][0] = 7.0
    return found, body.x


def made_inside(body: Any) -> Any:
    made = Body(body.x + 1, 3.0)
    return asdict(made), astuple(made), asdict(made, dict_factory=lambda pairs: [name for name, _ in pairs])


def in_parts(whole: Any) -> Any:
    return asdict(whole), astuple(whole)


def alike(found: Any, wanted: Any) -> bool:
    """Return whether two values are the same, in the types of their parts too."""
    if type(found) is not type(wanted):
        return False
    if dataclasses.is_dataclass(wanted):
        return alike(vars(found), vars(wanted))
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and alike(list(found.values()), list(wanted.values()))
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(alike, found, wanted))
    return bool(np.array_equal(found, wanted))


@pytest.mark.parametrize("function", [doubled, doubled_by_fields, described, copied, made_inside])
def test_fields_of_an_object(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for mass in (2.0, 5.0):
        body = Body(np.arange(3.0), mass)
        wanted = function(copy.deepcopy(body))
        assert alike(compiled(body), wanted)


def test_objects_within_others() -> None:
    assert alike(xjit.jit(in_parts, strict=True)(system()), in_parts(system()))


def test_other_values_have_no_fields() -> None:
    for function in (lambda x: asdict(x), lambda x: astuple(x), lambda x: fields(x)):
        with pytest.raises(TypeError) as raised:
            function(1.0)
        with pytest.raises(TypeError, match=str(raised.value).split("(", maxsplit=1)[0]):
            xjit.jit(function)(1.0)


def test_copies_of_numbers_are_numbers_of_their_class() -> None:
    compiled = xjit.jit(lambda a, b: (copy.copy(a), copy.deepcopy(a * 2), copy.deepcopy(b)), strict=True)
    for number in (2.0, 5.0):
        wanted = number, number * 2, np.float64(number)
        assert alike(compiled(number, np.float64(number)), wanted)


class Line(list[Any]):
    """A list of a class of its own."""


def of_own_classes(x: Any) -> Any:
    body = Body(collections.OrderedDict(a=x), Line([x, 1.0]))
    found = asdict(body)
    return type(found["x"]).__name__, type(found["mass"]).__name__, found["x"]["a"], astuple(body)[1][0]


def class_of_copy(body: Any) -> Any:
    return type(asdict(body)["x"]).__name__, body.mass * 2


def test_copies_of_containers_are_of_their_class() -> None:
    x = np.arange(3.0)
    assert alike(xjit.jit(of_own_classes, strict=True)(x), of_own_classes(x))
    for held in (collections.OrderedDict(a=1.0), collections.Counter(a=1), {"a": 1.0}, [1.0], Pair(1.0, 2.0)):
        body = Body(held, 2.0)
        assert alike(xjit.jit(class_of_copy, strict=True)(body), class_of_copy(body))


def test_defaultdict_is_copied_as_this_python_copies_it() -> None:
    body = Body(collections.defaultdict(int, a=1))
    try:
        wanted = class_of_copy(body)
    except TypeError as error:
        with pytest.raises(TypeError, match=str(error)):
            xjit.jit(class_of_copy)(body)
    else:
        assert alike(xjit.jit(class_of_copy)(body), wanted)
