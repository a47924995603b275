"""``copy.copy`` and ``copy.deepcopy`` of objects from outside, and of those that a call makes."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


@dataclasses.dataclass
class Point:
    x: np.ndarray
    n: int = 0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = np.arange(3.0)


class Own:
    """Copied in ways of its own."""

    def __init__(self) -> None:
        self.a = np.arange(3.0)

    def __copy__(self) -> Own:
        made = Own()
        made.a = self.a * 10
        return made

    def __deepcopy__(self, memo: Any) -> Own:
        made = Own()
        made.a = self.a * 100
        return made


class Reduced:
    """Copied by what it says of itself."""

    def __init__(self) -> None:
        self.a = np.arange(3.0)

    def __reduce__(self) -> Any:
        return (Reduced, ())


class Tree:
    """Refers to itself and to objects in containers."""

    def __init__(self) -> None:
        self.kids = [Point(np.arange(2.0)), Point(np.ones(2))]
        self.itself = self
        self.named = {"x": np.ones(2), "k": Point(np.zeros(1))}
        self.name = "tree"


def picture(value: Any, seen: dict[int, int] | None = None) -> Any:
    """The values and the identities of all that is in an object."""
    seen = {} if seen is None else seen
    if not isinstance(value, Point | Slotted | Own | Reduced | Tree | list | dict | np.ndarray | tuple):
        return value
    if id(value) in seen and not isinstance(value, tuple):
        return f"the {seen[id(value)]}th"
    seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.tolist())
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(picture(one, seen) for one in value)]
    names = (
        list(value)
        if isinstance(value, dict)
        else getattr(value, "__slots__", vars(value) if hasattr(value, "__dict__") else ())
    )
    parts = value if isinstance(value, dict) else {name: getattr(value, name, "none") for name in names}
    return [type(value).__name__, *((name, picture(part, seen)) for name, part in parts.items())]


def assigned(p: Any) -> Any:
    q = copy.copy(p)
    q.n += 1
    q.x = p.x * 2
    return q, p.n


def shares_its_arrays(p: Any) -> Any:
    q = copy.copy(p)
    q.x[0] = 9
    return q, q.x + p.x


def has_its_own_arrays(p: Any) -> Any:
    q = copy.deepcopy(p)
    q.x[0] = 9
    return q, p.x * 1


def assigned_before(p: Any) -> Any:
    p.x = p.x + 1
    p.extra = 5
    return copy.copy(p), copy.deepcopy(p)


def made_inside(p: Any) -> Any:
    made = Point(p.x * 2)
    other = copy.copy(made)
    other.n = 4
    made.x[0] = -1
    apart = copy.deepcopy(made)
    apart.x[1] = -5
    return made, other, apart


def in_a_loop(p: Any) -> Any:
    best = p
    for _ in range(5):
        trial = copy.copy(best)
        trial.x = trial.x * 0.5
        trial.n = trial.n + 1
        if trial.x.sum() < 1:
            best = trial
    return best


def slots(s: Any) -> Any:
    q = copy.copy(s)
    q.b = s.a + 1
    return q


def own_ways(o: Any) -> Any:
    return copy.copy(o), copy.deepcopy(o)


def in_lists(t: Any) -> Any:
    kids = copy.deepcopy(t.kids)
    kids[0].x[0] = 3
    return kids, [copy.copy(one) for one in t.kids]


def whole_trees(t: Any) -> Any:
    q = copy.deepcopy(t)
    q.kids[0].x = q.kids[1].x * 3
    q.named["x"][0] = 7
    r = copy.copy(t)
    r.name = "copy"
    return q, r, q.itself is q, r.itself is t


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        *((one, lambda: Point(np.arange(3.0))) for one in (assigned, shares_its_arrays, has_its_own_arrays)),
        *((one, lambda: Point(np.arange(3.0))) for one in (assigned_before, made_inside, in_a_loop)),
        (slots, Slotted),
        (own_ways, Own),
        *((one, Tree) for one in (in_lists, whole_trees)),
    ],
)
def test_copies(function: Any, kind: Any) -> None:
    compiled = xjit.jit(strict=True)(function)
    for _ in range(3):
        one, other = kind(), kind()
        expected = picture((function(one), one))
        assert picture((compiled(other), other)) == expected


def test_another_attribute_is_copied_too() -> None:
    compiled = xjit.jit(strict=True)(assigned)
    p = Point(np.ones(2))
    compiled(p)
    vars(p)["more"] = "more"
    assert compiled(p)[0].more == "more"


def test_classes_that_say_how_to_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def copied(r: Any) -> Any:
        return copy.copy(r).a * 2

    with pytest.warns(FallbackWarning, match="an object of class Reduced is copied in a way of its own"):
        np.testing.assert_array_equal(xjit.jit(copied)(Reduced()), np.arange(3.0) * 2)
