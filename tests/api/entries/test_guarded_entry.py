"""Entries in native code and in text: the same arguments are missed, names are looked up, results have every form."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.api.entries import shortcut
from xjit.runtime.calls.guarded import (
    NOTHING,
    Compares,
    Form,
    GuardedProgram,
    Is,
    Named,
    OfType,
    OtherThan,
    SameFloat,
    Within,
)
from xjit.runtime.miss import MISS

X = np.linspace(0.5, 3.0, 5)
LIBRARY: Any = types.ModuleType("library")
vars(LIBRARY)["scale"] = 2.0
FACTOR = 3.0
FLAGS = (None, True, False)


def by_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcut, "guarded_entry", lambda *given: None)


def is_native(function: Any) -> bool:
    return all(type(one) is types.BuiltinFunctionType for one in function._entries)


def same(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            same(one, other)
    elif isinstance(expected, np.ndarray | np.generic):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-14, equal_nan=True)
    else:
        assert result is expected or result == expected


def sized(x: Any, n: Any) -> Any:
    return x * 2.0 if n > 2 else x + 1.0


def parity(x: Any, n: Any) -> Any:
    return x * 2.0 if n != 0 else x + 1.0


def flagged(x: Any, flag: Any) -> Any:
    return x * 2.0 if flag is True else x + 1.0 if flag is None else x - 1.0


def power(x: Any, exponent: Any) -> Any:
    return x**exponent


def named(x: Any, n: Any) -> Any:
    total = x * FACTOR
    for _ in range(2):
        total = total + np.sqrt(x)
    return total


def nothing(x: Any, n: Any) -> Any:
    x[0] = 1.0


def several(x: Any, n: Any) -> Any:
    return x * 2.0, x.sum(), "text", x, None, 3


def numbers(x: Any, n: Any) -> Any:
    return float(x.sum()), int(x.argmax()), bool(x.any()), x.max(), x.argmin(), x.astype(np.float32).sum()


RAISED = "raised"
FUNCTIONS = (sized, parity, flagged, power, named, nothing, several, numbers)
SECONDS: tuple[Any, ...] = (3, 2, 0, -1, True, None, 2.5, -0.0, np.int64(3), 2**63, -(2**63), 2**70)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except Exception:
        return RAISED


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.filterwarnings("ignore::xjit.errors.RetraceWarning", "ignore::xjit.errors.FallbackWarning")
def test_results_for_every_second_argument(function: Any, native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not native:
        by_text(monkeypatch)
    compiled: Any = xjit.jit(function)
    for _ in range(3):
        for second in SECONDS:
            x, y = X.copy(), X.copy()
            same(outcome(compiled, x, second), outcome(function, y, second))
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_such_functions_have_native_entries(function: Any) -> None:
    compiled: Any = xjit.jit(function)
    compiled(X.copy(), 3)
    assert len(compiled._entries) == 1 and is_native(compiled)
    assert compiled._entries[0](X.copy(), 3) is not MISS
    assert compiled._entries[0](X.copy()) is MISS and compiled._entries[0](X.copy(), 3, 3) is MISS


def test_a_result_that_is_an_argument_is_that_argument() -> None:
    compiled: Any = xjit.jit(several)
    for _ in range(2):
        x = X.copy()
        assert compiled(x, 3)[3] is x


def test_a_number_that_is_divided_by_needs_one_trace() -> None:
    """Bounds of arguments are those of integers: what a float must not be is asked elsewhere."""

    def over(x: Any, step: Any) -> Any:
        return x * (1.0 / step)

    x = np.arange(5.0)
    for step in (3.0, 3):
        compiled = xjit.jit(over, strict=True)
        for _ in range(4):
            np.testing.assert_array_equal(compiled(x, step), over(x, step))
        assert compiled.stats().traces == 1


def test_names_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: Any) -> Any:
        return x * LIBRARY.scale + FACTOR

    compiled: Any = xjit.jit(scaled)
    same(compiled(X), X * 2.0 + 3.0)
    monkeypatch.setattr(LIBRARY, "scale", 4.0)
    same(compiled(X), X * 4.0 + 3.0)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    same(compiled(X), X * 4.0 + 5.0)
    other: Any = types.ModuleType("other")
    other.scale = 6.0
    monkeypatch.setitem(globals(), "LIBRARY", other)
    same(compiled(X), X * 6.0 + 5.0)


def test_functions_of_modules_that_are_replaced() -> None:
    library: Any = types.ModuleType("library")
    library.root = np.sqrt
    namespace: dict[str, Any] = {"library": library}
    exec("def f(x):\n    return library.root(x)", namespace)
    compiled: Any = xjit.jit(namespace["f"])
    same(compiled(X), np.sqrt(X))
    library.root = np.exp
    same(compiled(X), np.exp(X))
    namespace["library"] = types.SimpleNamespace(root=np.cos)
    same(compiled(X), np.cos(X))
    del namespace["library"]
    with pytest.raises(NameError):
        compiled(X)


def test_a_global_in_the_place_of_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: Any = xjit.jit(named)
    same(compiled(X, 1), named(X, 1))
    assert is_native(compiled)
    monkeypatch.setitem(globals(), "range", lambda count: (1,))
    same(compiled(X, 1), X * FACTOR + np.sqrt(X))


def equal(x: Any, n: Any) -> Any:
    return x * 2.0 if n == 2 else x + 1.0


def at_most_a_float(x: Any, n: Any) -> Any:
    return x * 2.0 if n <= 2.5 else x + 1.0


def divided(x: Any, n: Any) -> Any:
    return x / n


NUMBERS: tuple[Any, ...] = (3, 2, 2.5, 2.0, math.nan, math.inf, True, np.float64(2.5), np.int64(2), None)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("function", (sized, parity, flagged, power, equal, at_most_a_float, divided))
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_a_second_call_finds_the_entry_of_the_first(function: Any, number: Any) -> None:
    compiled: Any = xjit.jit(function)
    if outcome(function, X.copy(), number) is not RAISED:
        for _ in range(3):
            same(outcome(compiled, X.copy(), number), outcome(function, X.copy(), number))
        assert compiled.stats().traces <= 1


def test_what_a_cell_holds() -> None:
    function, ahead = np.sqrt, 2.5

    def scaled(x: Any) -> Any:
        return function(x)[: int(ahead)]

    def exchange(one: Any, number: Any) -> None:
        nonlocal function, ahead
        function, ahead = one, number

    compiled: Any = xjit.jit(scaled)
    same(compiled(X), np.sqrt(X)[:2])
    assert is_native(compiled)
    exchange(np.sqrt, float("2.5"))
    assert compiled._entries[0](X) is not MISS
    exchange(np.sqrt, 3)
    same(compiled(X), np.sqrt(X)[:3])
    exchange(np.exp, 3)
    same(compiled(X), np.exp(X)[:3])
    exchange(np.sqrt, 2.5)
    same(compiled(X), np.sqrt(X)[:2])


def test_an_equal_number_under_a_name_is_as_good() -> None:
    namespace: dict[str, Any] = {"scale": 2.5}
    exec("def f(x, n):\n    return x[: int(scale)]", namespace)
    compiled: Any = xjit.jit(namespace["f"])
    same(compiled(X, 1), X[:2])
    assert is_native(compiled)
    namespace["scale"] = float("2.5")
    assert compiled._entries[0](X, 1) is not MISS
    for other in (2, 2.25, np.float64(2.5)):
        namespace["scale"] = other
        assert compiled._entries[0](X, 1) is MISS
    del namespace["scale"]
    with pytest.raises(NameError):
        compiled(X, 1)


# Conditions and forms one by one


@pytest.mark.parametrize(
    ("condition", "kept", "missed"),
    [
        (Within(0, -1, 2), [-1, 0, 2], [-2, 3, 2**64, -(2**64), 1.0, True, np.int64(1), None]),
        (OtherThan(0, 2), [-1, 3, 2**63 - 1], [2, 2**63, 1.0, True]),
        (Is(0, None), [None], [False, 0]),
        (Is(0, True), [True], [False, 1]),
        (Compares(0, "<", 2.0, True), [1.0, -math.inf], [2.0, 3.0, math.nan, 1, np.float64(1.0)]),
        (Compares(0, "<", 2.0, False), [2.0, 3.0, math.nan], [1.0, 3]),
        (Compares(0, "<=", 2.0, True), [2.0, 1.0], [3.0, math.nan]),
        (Compares(0, ">", 2.0, True), [3.0], [2.0, math.nan]),
        (Compares(0, ">=", 2.0, False), [1.0, math.nan], [2.0, 3.0]),
        (Compares(0, "==", 0.0, True), [0.0, -0.0], [1.0, math.nan]),
        (Compares(0, "!=", 0.0, True), [1.0, math.nan], [0.0, -0.0, 1]),
        (Compares(0, "!=", 0.0, False), [0.0, -0.0], [1.0, math.nan]),
        (OfType(0, float), [1.0, math.nan], [1, np.float64(1.0)]),
        (SameFloat(0, 0.0), [0.0], [-0.0, 0, np.float64(0.0), 1.0]),
        (SameFloat(0, math.nan), [math.nan], [1.0]),
    ],
)
def test_a_condition_on_an_argument(condition: Any, kept: list[Any], missed: list[Any]) -> None:
    entry = GuardedProgram(1, (condition,), (), lambda: "hit").entry()
    assert entry is not None
    assert [entry(one) for one in kept] == ["hit"] * len(kept)
    assert all(entry(one) is MISS for one in missed)


def test_conditions_on_names() -> None:
    value, namespace = object(), dict[str, Any]()
    present = GuardedProgram(0, (Named(namespace, "name", value),), (), lambda: "hit").entry()
    absent = GuardedProgram(0, (Named(namespace, "name", NOTHING),), (), lambda: "hit").entry()
    assert present is not None and absent is not None
    assert present() is MISS and absent() == "hit"
    namespace["name"] = value
    assert present() == "hit" and absent() is MISS
    namespace["name"] = object()
    assert present() is MISS and absent() is MISS


def test_an_error_of_a_key_is_the_error_of_the_lookup() -> None:
    class Key:
        def __hash__(self) -> int:
            return hash("name")

        def __eq__(self, other: object) -> bool:
            raise OSError("no comparison")

    namespace: Any = {Key(): 1}
    for wanted in (object(), NOTHING):
        entry = GuardedProgram(0, (Named(namespace, "name", wanted),), (), lambda: "hit").entry()
        assert entry is not None
        with pytest.raises(OSError, match="no comparison"):
            entry()


def test_forms() -> None:
    made = (np.array(2.5), np.array(7), np.array(True), np.array(2.5, np.float32), np.arange(3.0))
    forms = (
        Form("array", 4),
        Form("scalar", 0),
        Form("number", 0, None, float),
        Form("number", 1, None, int),
        Form("number", 2, None, bool),
        Form("number", 3, lambda array: ("other type", array.item()), float),
        Form("made", 4, np.sum),
        Form("whole", value=len),
        Form("static", value="text"),
        Form("argument", 1),
    )
    entry = GuardedProgram(2, (), (1, 0), lambda *given: (*made, given)[:5], forms, True).entry()
    assert entry is not None
    expected = (made[4], np.float64(2.5), 2.5, 7, True, ("other type", 2.5), np.float64(3.0), 5, "text", "b")
    same(entry("a", "b"), expected)
    assert entry("a", "b")[0] is made[4]


def test_inputs_are_taken_in_their_order() -> None:
    entry = GuardedProgram(3, (), (2, 0, 0), lambda *given: given).entry()
    assert entry is not None and entry(1, 2, 3) == (3, 1, 1)


def test_no_reference_is_lost_or_left() -> None:
    def fails(array: Any) -> Any:
        raise ValueError("unlucky")

    made, value, unlucky = np.array(2.5), object(), [False]
    forms = (Form("array", 0), Form("scalar", 0), Form("static", value=value), Form("argument", 0))
    program = lambda given: made  # noqa: E731
    entries = [
        GuardedProgram(1, (Is(0, value),), (0,), program, forms, False).entry(),
        GuardedProgram(1, (), (0,), program, forms[:1], False, True).entry(),
        GuardedProgram(1, (Is(0, None),), (0,), program, (*forms,)).entry(),
        GuardedProgram(1, (), (0,), program, (*forms, Form("made", 0, fails))).entry(),
    ]

    def once() -> None:
        for entry in entries:
            assert entry is not None
            try:
                entry(value)
            except ValueError:
                unlucky[0] = True

    once()
    before = [sys.getrefcount(one) for one in (made, value, MISS, program)]
    for _ in range(50):
        once()
    assert [sys.getrefcount(one) for one in (made, value, MISS, program)] == before
    assert unlucky[0]
