"""Guards: whatever a traced function read, changing it is noticed and named, and the next trace is right."""

from __future__ import annotations

import collections
import functools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import assert_same, captured, check_mutation, run
from xjit import tree
from xjit.api.entries.shortcut import shortcut
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, Root, Step, leaf_path
from xjit.errors import CaptureError

X = np.array([1.0, 2.0, 4.0])

SCALE: Any = 2.0
WEIGHTS: Any = np.array([1.0, 2.0, 3.0])
CONFIG: Any = {"scale": 2.0, "weights": np.ones(3), "nested": {"bias": 1.0}, "unused": 1}
LAYERS: Any = [2.0, np.ones(3), "name"]
NUMBERS: Any = [1.0, 2.0, 3.0]
PAIR: Any = (np.ones(3), 2.0)
NAMES: Any = {"a", "b"}
ORDERED: Any = collections.OrderedDict(scale=2.0)
DEFAULTS: Any = collections.defaultdict(float, scale=2.0)
SPACE: Any = types.SimpleNamespace(scale=2.0, weights=np.ones(3))
MODULE: Any = types.ModuleType("settings")
MODULE.scale = 2.0
MODULE.weights = np.ones(3)


def helper(x: Any, factor: float = 3.0, *, shift: float = 0.0) -> Any:
    return x * factor * SCALE + shift


def other_helper(x: Any) -> Any:
    return x - 1


PARTIAL: Any = functools.partial(helper, factor=5.0)


@functools.lru_cache
def cached(power: int) -> float:
    return SCALE**power


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args) + SCALE

    return wrapper


@wrapped
def decorated(x: Any) -> Any:
    return x * WEIGHTS


def set_global(name: str, value: Any) -> Callable[[Any], None]:
    return lambda monkeypatch: monkeypatch.setitem(globals(), name, value)


def set_item(container: Any, key: Any, value: Any) -> Callable[[Any], None]:
    return lambda monkeypatch: monkeypatch.setitem(container, key, value)


def set_attribute(target: Any, name: str, value: Any) -> Callable[[Any], None]:
    return lambda monkeypatch: monkeypatch.setattr(target, name, value)


def set_entry(entries: list[Any], position: int, value: Any) -> Callable[[Any], None]:
    return lambda monkeypatch: entries.__setitem__(position, value)


@pytest.fixture(autouse=True)
def _restored_lists() -> Iterator[None]:
    saved = [(entries, list(entries)) for entries in (LAYERS, NUMBERS)]
    yield
    for entries, old in saved:
        entries[:] = old
    cached.cache_clear()


def delete_item(container: Any, key: Any) -> Callable[[Any], None]:
    return lambda monkeypatch: monkeypatch.delitem(container, key)


OTHER_CODE = (lambda x: x + 7).__code__

MUTATIONS = {
    "global scalar": (lambda x: x * SCALE, set_global("SCALE", 3.0), "global SCALE changed from 2.0 to 3.0"),
    "global type": (lambda x: x * SCALE, set_global("SCALE", 2), "global SCALE changed from 2.0 to 2"),
    "global sign": (lambda x: x * (SCALE - 2.0), set_global("SCALE", -0.0), "global SCALE changed"),
    "global array shape": (lambda x: x[0] * WEIGHTS, set_global("WEIGHTS", np.ones(5)), "to float64[5]"),
    "global array type": (lambda x: x * WEIGHTS, set_global("WEIGHTS", np.ones(3, "f4")), "to float32[3]"),
    "global array strides": (lambda x: x * WEIGHTS, set_global("WEIGHTS", np.ones(6)[::2]), "global WEIGHTS changed"),
    "global array to number": (lambda x: x * WEIGHTS, set_global("WEIGHTS", 2.0), "global WEIGHTS changed"),
    "helper replaced": (lambda x: helper(x), set_global("helper", other_helper), "global helper changed"),
    "helper's code": (lambda x: other_helper(x), set_attribute(other_helper, "__code__", OTHER_CODE), "the code"),
    "helper's global": (lambda x: helper(x), set_global("SCALE", 3.0), "global SCALE changed"),
    "helper's default": (helper, set_attribute(helper, "__defaults__", (4.0,)), "helper.__defaults__ changed"),
    "helper's keyword default": (
        lambda x: helper(x),
        set_attribute(helper, "__kwdefaults__", {"shift": 1.0}),
        "helper.__kwdefaults__['shift'] changed from 0.0 to 1.0",
    ),
    "builtin hidden": (lambda x: x * abs(-2.0), set_global("abs", lambda x: 7.0), "global abs was not there before"),
    "numpy replaced": (lambda x: x * np.pi, set_global("np", types.SimpleNamespace(pi=3)), "global np"),
    "dict entry": (lambda x: x * CONFIG["scale"], set_item(CONFIG, "scale", 3.0), "CONFIG['scale'] changed"),
    "dict array": (lambda x: x[0] * CONFIG["weights"], set_item(CONFIG, "weights", np.ones(2)), "CONFIG['weights']"),
    "nested dict": (lambda x: x + CONFIG["nested"]["bias"], set_item(CONFIG["nested"], "bias", 5.0), "['bias']"),
    "dict entry gone": (lambda x: x + CONFIG.get("unused", 5), delete_item(CONFIG, "unused"), "KeyError"),
    "dict entry new": (lambda x: x + CONFIG.get("extra", 1.0), set_item(CONFIG, "extra", 5.0), "was not there"),
    "dict membership": (lambda x: x if "extra" in CONFIG else -x, set_item(CONFIG, "extra", 5.0), "was not there"),
    "dict membership gone": (lambda x: x if "unused" in CONFIG else -x, delete_item(CONFIG, "unused"), "is gone"),
    "dict keys": (lambda x: x * len(CONFIG), set_item(CONFIG, "extra", 5.0), "the keys of global CONFIG changed"),
    "dict unpacked": (lambda x: x * dict(**CONFIG)["scale"], set_item(CONFIG, "scale", 3.0), "['scale'] changed"),
    "ordered dict": (lambda x: [x * v for v in ORDERED.values()], set_item(ORDERED, "scale", 3.0), "['scale']"),
    "default dict": (lambda x: x * DEFAULTS["scale"], set_item(DEFAULTS, "scale", 3.0), "DEFAULTS['scale'] changed"),
    "list entry": (lambda x: x * LAYERS[0], set_entry(LAYERS, 0, 3.0), "global LAYERS[0] changed from 2.0 to 3.0"),
    "list array": (lambda x: x[0] * LAYERS[1], set_entry(LAYERS, 1, np.ones(2)), "global LAYERS[1] changed"),
    "list of numbers": (lambda x: x * sum(NUMBERS), set_entry(NUMBERS, 1, 7.0), "changed from (1.0, 2.0, 3.0)"),
    "list length": (
        lambda x: x * len(LAYERS),
        lambda monkeypatch: monkeypatch.setitem(globals(), "LAYERS", [2.0, np.ones(3)]),
        "the length of global LAYERS",
    ),
    "tuple": (lambda x: x * PAIR[0] * PAIR[1], set_global("PAIR", (np.ones(3), 3.0)), "global PAIR[1] changed"),
    "set": (lambda x: x if "a" in NAMES else -x, set_global("NAMES", {"b"}), "global NAMES changed"),
    "module attribute": (lambda x: x * MODULE.scale, set_attribute(MODULE, "scale", 3.0), "MODULE.scale changed"),
    "module array": (lambda x: x[0] * MODULE.weights, set_attribute(MODULE, "weights", np.ones(2)), "MODULE.weights"),
    "module attribute new": (
        lambda x: x + getattr(MODULE, "extra", 1.0),
        lambda monkeypatch: monkeypatch.setattr(MODULE, "extra", 5.0, raising=False),
        "MODULE.extra was not there before",
    ),
    "namespace": (lambda x: x * SPACE.scale, set_attribute(SPACE, "scale", 3.0), "global SPACE.scale changed"),
    "partial": (lambda x: PARTIAL(x), set_global("PARTIAL", functools.partial(helper, factor=6.0)), "PARTIAL"),
    "lru_cache": (
        lambda x: x * cached(2),
        lambda monkeypatch: (monkeypatch.setitem(globals(), "SCALE", 3.0), cached.cache_clear()),
        "global SCALE changed",
    ),
    "decorator": (lambda x: decorated(x), set_global("SCALE", 3.0), "global SCALE changed"),
    "decorated": (lambda x: decorated(x), set_global("WEIGHTS", 3.0), "global WEIGHTS changed"),
    "nested function": (lambda x: [(lambda: x * SCALE)() for _ in range(2)], set_global("SCALE", 3.0), "SCALE"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_kind_of_read_is_guarded(monkeypatch: Any, name: str) -> None:
    check_mutation(monkeypatch, MUTATIONS[name], X)


def test_contents_of_hidden_arrays_are_read_again(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "WEIGHTS", np.ones(3))
    found, leaves = captured(lambda x: x * WEIGHTS, X)
    assert [one.leaf for one in found.inputs] == [0, None]
    assert str(found.inputs[1].path) == "global WEIGHTS"
    WEIGHTS[:] = 7.0
    assert_same(run(found, leaves), X * 7.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.full(3, 5.0))
    assert_same(run(found, leaves), X * 5.0)


def test_a_hidden_array_is_returned_itself() -> None:
    found, leaves = captured(lambda x: (WEIGHTS, CONFIG["weights"]), X)
    result = run(found, leaves)
    assert result[0] is WEIGHTS and result[1] is CONFIG["weights"]


def test_elements_of_small_hidden_arrays_become_guards_when_python_needs_them(monkeypatch: Any) -> None:
    def function(x: Any) -> Any:
        for position in OFFSETS * 2:  # noqa: F821
            x = x + x[position]
        return x * float(OFFSETS[1])  # noqa: F821

    monkeypatch.setitem(globals(), "OFFSETS", np.array([0, 1]))
    found, leaves = captured(function, X)
    assert_same(run(found, leaves), function(X))
    OFFSETS[0] = 1  # noqa: F821
    assert found.guards.reason(leaves) == "the elements of global OFFSETS changed"


def test_what_is_not_read_is_not_guarded(monkeypatch: Any) -> None:
    found, leaves = captured(lambda x: x * CONFIG["scale"], X)
    monkeypatch.setitem(CONFIG, "unused", 2)
    monkeypatch.setitem(globals(), "WEIGHTS", 3.0)
    assert found.guards.holds(leaves)


def test_functions_without_reads_need_no_check() -> None:
    found, leaves = captured(lambda x, y: x * 2.0 + y, X, X)
    assert found.guards.trivial and found.guards.fetch(leaves) == tuple(leaves)


def test_leaves_that_are_no_inputs_are_guarded() -> None:
    function = lambda x, n, unused, flag, mode, a: x * n * len(WEIGHTS)  # noqa: E731
    found, leaves = captured(function, X, 2, X, True, "mode", 1.5)
    assert [str(one.path) for one in found.inputs] == ["argument x", "argument n"]
    for position, other in {2: X.astype("f4"), 3: False, 4: "other", 5: 1}.items():
        assert not found.guards.holds([*leaves[:position], other, *leaves[position + 1 :]])
    assert found.guards.holds([*leaves[:5], 2.5]) and found.guards.holds([*leaves[:2], X + 1, *leaves[3:]])


# Closures


def test_closure_cells(monkeypatch: Any) -> None:
    factor, table, array = 2.0, {"k": 3.0}, np.ones(3)

    def function(x: Any) -> Any:
        return x * factor * table["k"] + array

    found, leaves = captured(function, X)
    array[:] = 5.0
    assert_same(run(found, leaves), function(X))
    factor = 4.0
    assert found.guards.reason(leaves) == "closure variable factor changed from 2.0 to 4.0"
    found, leaves = captured(function, X)
    table["k"] = 5.0
    assert found.guards.reason(leaves) == "closure variable table['k'] changed from 3.0 to 5.0"
    found, leaves = captured(function, X)
    array = np.ones((1, 3))
    assert found.guards.reason(leaves) == "closure variable array changed from float64[3] to float64[1, 3]"


def test_closures_over_functions_and_recursion() -> None:
    def inner(x: Any) -> Any:
        return x * SCALE

    def function(x: Any, depth: int) -> Any:
        return inner(x) if depth == 0 else function(x + 1, depth - 1)

    found, leaves = captured(function, X, 3)
    assert_same(run(found, leaves), function(X, 3))
    assert "global SCALE" in [str(guard.path) for guard in found.guards.guards]


def test_default_arguments(monkeypatch: Any) -> None:
    def function(x: Any, factor: Any = 2.0, *, offset: Any = WEIGHTS) -> Any:
        return x * factor + offset

    found, leaves = captured(function, X)
    assert_same(run(found, leaves), function(X))
    function.__defaults__ = (3.0,)
    assert "function.__defaults__ changed" in found.guards.reason(leaves)
    found, leaves = captured(function, X)
    assert_same(run(found, leaves), X * 3.0 + WEIGHTS)
    function.__kwdefaults__["offset"] = 1.0
    assert "__kwdefaults__['offset'] changed" in found.guards.reason(leaves)


# The records themselves


def test_same_tells_types_and_bits_apart() -> None:
    values = (0, 0.0, -0.0, False, math.nan, 1, 1.0, True, 1 + 0j, np.float32(1), np.float64(1), "1", (1,), (1.0,))
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            assert guards.same(one, other) is (i == j)


def test_paths_name_places() -> None:
    path = leaf_path(0, "argument a").item("k").attribute("x").item(3)
    assert str(path) == "argument a['k'].x[3]"
    assert path.read([{"k": types.SimpleNamespace(x=range(5))}]) == 3
    assert path == leaf_path(0, "again").item("k").attribute("x").item(3)
    assert str(Path(Root("leaf", 1, "b"), (Step("type"),))) == "b's class"


def test_guards_that_raise_do_not_hold() -> None:
    path = leaf_path(0, "argument a").attribute("x")
    found = guards.Guards((guards.same_value(path, 1),), (), 1)
    assert not found.holds([object()])
    assert "can no longer be read: AttributeError" in found.reason([object()])
    assert found.holds([types.SimpleNamespace(x=1)])


def test_entries_leave_the_layout_of_inputs_to_the_program(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "WEIGHTS", np.ones(3))
    found, leaves = captured(lambda x: x * WEIGHTS, X)
    monkeypatch.setitem(globals(), "WEIGHTS", np.ones(5))
    assert found.guards.fetch(leaves) is None
    enter = shortcut(found, lambda *values: values, tree.flatten(((X,), {}))[1], (np.ndarray,) * 2)
    assert enter is not None and enter(X)[1] is WEIGHTS


def test_numpy_scalars_are_keys_and_floats_where_python_asks_for_them() -> None:
    @xjit.jit(strict=True)
    def function(x: Any, number: Any) -> Any:
        factor = {0.5: 10.0}.get(number, 1.0) if not number.is_integer() else 2.0
        return x * factor, repr(number)

    x = np.arange(3.0)
    for number, factor in ((0.5, 10.0), (0.25, 1.0), (4.0, 2.0)):
        product, text = function(x, np.float64(number))
        np.testing.assert_array_equal(product, x * factor)
        assert text == f"np.float64({number})"


def test_arrays_and_numbers_that_are_not_known_yet_are_no_keys() -> None:
    x = np.arange(3.0)
    with pytest.raises(TypeError, match="unhashable type"):
        xjit.jit(lambda x: {x: 1})(x)
    with pytest.raises(CaptureError, match="a hash needs the value of"):
        xjit.jit(strict=True)(lambda x: {x.sum(): 1})(x)
