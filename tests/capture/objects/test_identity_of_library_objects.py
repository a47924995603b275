"""Objects of libraries are the same ones, however a function comes to them."""

from __future__ import annotations

import collections
import dataclasses
import math
import types
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np
import pytest

import xjit


@dataclass
class Body:
    x: float = 1.0
    parts: list[Any] = field(default_factory=list)


class Holder:
    def __init__(self, held: Any = None) -> None:
        self.held = held


KINDS = {Body: "a body", np.ndarray: "an array", np.sin: "a sine", (Body, 1): "a pair"}


def held_array_class(x: Any, o: Any) -> Any:
    return o.held is np.ndarray, o.held is type(x), o.held is x.__class__, isinstance(x, o.held), x * 2


def held_module(x: Any, o: Any) -> Any:
    return o.held is np.linalg, o.held == np.linalg, type(o.held) is types.ModuleType, o.held.norm(x)


def held_sentinel(x: Any, o: Any) -> Any:
    return o.held is MISSING, o.held is dataclasses.MISSING, x * 2


def held_novalue(x: Any, o: Any) -> Any:
    return o.held is np._NoValue, x * 2


def held_masked(x: Any, o: Any) -> Any:
    return o.held is np.ma.masked, x * 2


def held_draw(x: Any, o: Any) -> Any:
    return o.held is np.random.default_rng, x * 2


def held_container(x: Any, o: Any) -> Any:
    same = type(o.held) is collections.OrderedDict, type(o.held) is dict, o.held.__class__ is collections.defaultdict
    return *same, o.held.__class__.__name__, isinstance(o.held, collections.OrderedDict), x * 2


def held_function(x: Any, o: Any) -> Any:
    return o.held is len, type(o.held) is types.BuiltinFunctionType, isinstance(np.sum, types.FunctionType), x * 2


def default_of_fields(x: Any, o: Any) -> Any:
    return [(one.default is MISSING, one.default_factory is MISSING) for one in fields(o.held)], x * 2


def class_of_classes(x: Any, o: Any) -> Any:
    return type(Body) is type, type(o.held) is types.SimpleNamespace, type(range(3)) is range, x * 2


def looked_up(x: Any, o: Any) -> Any:
    return KINDS[type(x)], KINDS[type(o.held)], KINDS.get(np.sin), KINDS.get(math.sin), KINDS[Body, 1], x * 2


def keys(x: Any, o: Any) -> Any:
    return [key is np.sin or key is type(o.held) for key in KINDS], [key[0] is Body for key in [*KINDS][3:]], x * 2


def branching(x: Any, o: Any) -> Any:
    """A rewritten function compares as one that is not."""
    total = 0.0
    for value in x:
        if value > 1.0 and o.held is np.ndarray:
            total += value
    return total


CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "array class": (held_array_class, np.ndarray),
    "module": (held_module, np.linalg),
    "sentinel": (held_sentinel, MISSING),
    "numpy's sentinel": (held_novalue, np._NoValue),
    "masked": (held_masked, np.ma.masked),
    "draw": (held_draw, np.random.default_rng),
    "ordered dict": (held_container, collections.OrderedDict(a=1.0)),
    "default dict": (held_container, collections.defaultdict(int, a=1)),
    "builtin": (held_function, len),
    "default of fields": (default_of_fields, Body()),
    "class of classes": (class_of_classes, types.SimpleNamespace(a=1)),
    "looked up": (looked_up, Body()),
    "keys": (keys, Body()),
    "branching": (branching, np.ndarray),
}


@pytest.mark.parametrize("case", CASES)
def test_identity_is_pythons(case: str) -> None:
    function, held = CASES[case]
    x = np.arange(4.0)
    compiled = xjit.jit(function)
    for _ in range(2):
        got, expected = compiled(x, Holder(held)), function(x, Holder(held))
        *same, line = got if isinstance(got, tuple) else (got,)
        *wanted, numpys = expected if isinstance(expected, tuple) else (expected,)
        assert same == wanted
        np.testing.assert_allclose(line, numpys, rtol=1e-12)
    assert not compiled.stats().fallbacks


class Triple(tuple[Any, ...]):
    def total(self) -> Any:
        return sum(self)


def class_of_triple(x: Any, o: Any) -> Any:
    return type(o.held) is Triple, o.held.__class__ is Triple, o.held.total(), len(o.held), x * 2


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_tuple_of_a_class_of_ones_own_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x, held = np.arange(3.0), Holder(Triple((1.0, 2.0, 3.0)))
    *same, line = xjit.jit(class_of_triple)(x, held)
    assert same == [True, True, 6.0, 3]
    np.testing.assert_array_equal(line, x * 2)
