"""Calls that find everything as it was: nested and named arguments, objects, results of every form."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from xjit import tree
from xjit.api.entries.shortcut import shortcut
from xjit.api.function import JitFunction
from xjit.capture.guarding.flatten_text import Unpacking, can_unpack
from xjit.capture.guarding.guards import Guards

X = np.linspace(0.5, 3.0, 5)
Y = np.arange(5.0)
Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")


class Model:
    """An object with state."""

    def __init__(self) -> None:
        self.weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        self.bias = 0.1

    @xjit.jit
    def __call__(self, x: Any) -> Any:
        return x * self.weights + self.bias


class Named(str):
    """Text of another type."""


def assert_same(result: Any, expected: Any) -> None:
    result_leaves, result_tree = tree.flatten(result)
    leaves, structure = tree.flatten(expected)
    assert result_tree == structure
    for one, other in zip(result_leaves, leaves, strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other)


def without_dispatch(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every call has to find its shortcut."""

    def refuse(*args: Any) -> Any:
        raise AssertionError("looked up")

    monkeypatch.setattr(function._dispatcher, "call", refuse)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "dict": ({"a": X, "b": Y},),
    "other key first": ({"b": Y, "a": X},),
    "one key more": ({"a": X, "b": Y, "c": X},),
    "one key less": ({"a": X},),
    "another key": ({"a": X, "z": Y},),
    "a key of another type": ({"a": X, Named("b"): Y},),
    "numbers as keys": ({1: X, True + 1: Y},),
    "list": ([X, Y],),
    "tuple": ((X, Y),),
    "named tuple": (Point(X, Y),),
    "another named tuple": (Other(X, Y),),
    "longer list": ([X, Y, X],),
    "nested": ({"a": [X, (Y, None)], "b": {"c": X, "d": ()}},),
    "None elsewhere": ({"a": [X, (None, Y)], "b": {"c": X, "d": ()}},),
    "None gone": ({"a": [X, (Y,)], "b": {"c": X, "d": ()}},),
    "not empty": ({"a": [X, (Y, None)], "b": {"c": X, "d": (X,)}},),
    "numbers": ({"a": X, "b": 2.0},),
    "integers": ({"a": X, "b": 2},),
    "truth value": ({"a": X, "b": True},),
    "text": ({"a": X, "b": "text"},),
    "NumPy scalar": ({"a": X, "b": np.float32(2)},),
    "another NumPy scalar": ({"a": X, "b": np.float64(2)},),
    "NumPy truth value": ({"a": X, "b": np.bool_(True)},),
    "complex number": ({"a": X, "b": 2j},),
    "NumPy's complex number": ({"a": X, "b": np.complex64(2j)},),
    "array of one number": ({"a": X, "b": np.array(2.0)},),
    "plain": (X,),
    "two": (X, Y),
    "two and None": (X, None),
    "two and a list": (X, [Y]),
}


def describe(*args: Any, **names: Any) -> Any:
    """A result that tells how the arguments were nested."""
    text = []

    def total(value: Any) -> Any:
        text.append(type(value).__name__ if not isinstance(value, np.ndarray) else "array")
        if isinstance(value, dict):
            text.extend(f"{type(key).__name__} {key}" for key in value)
            return sum((total(one) for one in value.values()), 0.0)
        if isinstance(value, list | tuple):
            return sum((total(one) for one in value), 0.0)
        return 1.0 if value is None or isinstance(value, str) else value * 2.0

    return total(args) + total(names), "/".join(text)


@pytest.mark.filterwarnings("ignore::xjit.errors.RetraceWarning")
def test_every_structure_has_an_entry_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(describe)
    monkeypatch.setattr("xjit.api.traces.known_traces.MAXIMUM_ENTRIES", 100)
    for _ in range(2):
        for args in ARGUMENTS.values():
            assert_same(function(*args), describe(*args))
    plain = [name for name in ARGUMENTS if name not in ("numbers as keys", "a key of another type")]
    assert len(function._entries) == len(plain)
    without_dispatch(function, monkeypatch)
    for name in reversed(plain):
        assert_same(function(*ARGUMENTS[name]), describe(*ARGUMENTS[name]))


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(describe)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((X,), {"a": Y, "b": 2.0}),
        ((X,), {"b": 2.0, "a": Y}),
        ((X, Y), {"a": 2.0}),
        ((), {"a": [X, Y]}),
        ((), {"a": (X, Y)}),
        ((X, Y, X), {}),
        ((X,), {"a": None}),
    ]
    for args, names in calls:
        assert_same(function(*args, **names), describe(*args, **names))
    without_dispatch(function, monkeypatch)
    for args, names in calls:
        assert_same(function(*args, **names), describe(*args, **names))


def test_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    jitted: Any = vars(Model)["__call__"]
    assert_same(model(X), X * model.weights + 0.1)
    model.bias = 0.2
    assert_same(model(X), X * model.weights + 0.2)
    without_dispatch(jitted, monkeypatch)
    for bias in (0.3, 0.4):
        model.bias = bias
        model.weights = model.weights + 1.0
        assert_same(model(X), X * model.weights + bias)
    another = Model()
    assert_same(another(X), X * another.weights + 0.1)
    another.__class__ = type("Subclass", (Model,), {})
    with pytest.raises(AssertionError, match="looked up"):
        another(X)


@pytest.mark.filterwarnings("ignore::xjit.errors.RetraceWarning")
def test_numbers_of_one_value_and_other_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's numbers are weak: they do not change the element type of the result, NumPy's do."""
    plain = lambda x, s: x * s  # noqa: E731
    function: Any = xjit.jit(plain)
    numbers = (
        2.0,
        np.float64(2),
        np.array(2.0),
        np.float32(2),
        2,
        np.int64(2),
        2j,
        np.complex128(2j),
        np.complex64(2j),
    )
    monkeypatch.setattr("xjit.api.traces.known_traces.MAXIMUM_ENTRIES", 100)
    single = X.astype(np.float32)
    for number in (*numbers, *reversed(numbers)):
        assert_same(function(single, number), plain(single, number))
    without_dispatch(function, monkeypatch)
    for number in numbers:
        assert_same(function(single, number), plain(single, number))


class Colour(enum.Enum):
    RED = 1


def results(x: Any, y: Any, box: Any) -> Any:
    total = x + y
    return {
        "array": total,
        "again": [total, total],
        "scalar": total.sum(),
        "pair": Point(x * 2.0, "text"),
        "none": None,
        "argument": x,
        "attribute": box.value,
        "empty": (),
        "single": (y - 1.0,),
        2: total > 3.0,
        Colour.RED: y * 3.0,
        "number": 2.0 * box.number,
        "frozen": x.imag,
    }


def test_results_of_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(results)
    box = types.SimpleNamespace(value=Y, number=0.1)
    for number in (0.1, 0.2, 0.3):
        box.number = number
        assert_same(function(X, Y, box), results(X, Y, box))
    without_dispatch(function, monkeypatch)
    for number in (0.4, 0.5):
        box.number, box.value = number, box.value + 1.0
        result, expected = function(X, Y, box), results(X, Y, box)
        assert_same(result, expected)
        assert result["argument"] is X and result["attribute"] is box.value
        assert result["again"][0] is result["again"][1] is result["array"]
        assert type(result["number"]) is float
        assert not result["frozen"].flags.writeable and result["array"].flags.writeable


@pytest.mark.parametrize(
    "made", [lambda x: [x + 1.0], lambda x: (x.sum(),), lambda x: x.sum(), lambda x: {"a": x}, lambda x: None]
)
def test_small_results(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = xjit.jit(made)
    assert_same(function(X), made(X))
    without_dispatch(function, monkeypatch)
    assert_same(function(Y), made(Y))


def test_containers_that_are_leaves_or_have_other_keys() -> None:
    structure = tree.flatten((({"a": 1, 2: 3},), {}))[1]
    assert not can_unpack(structure) and not can_unpack(tree.flatten([{("a",): 1}])[1])
    assert can_unpack(tree.flatten([{"a": [1, None, {}]}])[1])


@pytest.mark.parametrize("depth", [60, 180])
def test_deeply_nested_arguments_and_results(depth: int) -> None:
    def into(x: Any) -> Any:
        for _ in range(depth):
            x = (x,)
        return x

    def out_of(x: Any) -> Any:
        while isinstance(x, tuple):
            x = x[0]
        return x

    function: Any = xjit.jit(lambda x: into(out_of(x) + 1.0))
    for _ in range(2):
        assert_same(out_of(function(into(X))), X + 1.0)
    assert function.stats().fallbacks == 0
    assert len(function._entries) == (depth < 64)


def test_text_of_nested_arguments() -> None:
    objects: list[Any] = []

    def constant(value: Any) -> str:
        objects.append(value)
        return f"k{len(objects)}"

    arguments = tree.flatten(({"a": 1, "b": (2, None)}, 3))[1]
    assert isinstance(arguments, tree.Branch)
    assert Unpacking(constant).text(arguments.children) == [
        "c0 = args[0]",
        "if type(c0) is not k1 or len(c0) != 2 or not all(map(is_, c0, k2)): return missed",
        "c1 = c0['b']",
        "if type(c1) is not k3 or len(c1) != 2: return missed",
        "if c1[1] is not None: return missed",
        "leaves = (c0['a'], c1[0], args[1], )",
    ]
    assert objects == [dict, ("a", "b"), tuple]


def test_no_entry_without_a_check_of_every_leaf() -> None:
    found, leaves = captured(lambda x, y: x + 1.0, X, Y)
    structure, kinds = tree.flatten((tuple(leaves), {}))[1], (np.ndarray,)
    assert shortcut(found, abs, structure, kinds) is not None
    unchecked = dataclasses.replace(found, guards=Guards((), found.guards.inputs, 2))
    assert shortcut(unchecked, abs, structure, kinds) is None


def test_entries_are_functions_of_their_own() -> None:
    function: Any = xjit.jit(lambda d: d["a"] + 1.0)
    assert isinstance(function, JitFunction)
    assert_same(function({"a": X}), X + 1.0)
    (entry,) = function._entries
    assert entry({"a": Y}) is not xjit.runtime.miss.MISS
    for other in ((), (Y,), ({"a": Y}, Y), ({"b": Y},), ({"a": Y.astype(int)},), ({"a": None},), ([Y],)):
        assert entry(*other) is xjit.runtime.miss.MISS
