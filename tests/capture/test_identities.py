"""``a is b`` in compiled functions: what NumPy answers, whichever arrays are passed twice, and in whatever order."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from xjit.errors import CaptureError
from xjit.inspect.statistics import Statistics

LINE = np.arange(4.0)
OTHER = LINE + 1.0
SAME = LINE
HOLDER = SimpleNamespace(array=LINE)
HELD = [LINE, OTHER]
UNSET = object()


def assert_as_numpy(function: Callable[..., Any], *calls: tuple[Any, ...], errors: Any = "ignore") -> Statistics:
    """Each order of the calls, and each call after each other one, gives NumPy's answers."""
    for order in itertools.permutations(calls):
        compiled = xjit.jit(function, errors=errors)
        for arguments in (*order, *order[::-1], *order):
            np.testing.assert_array_equal(compiled(*arguments), function(*arguments))
    assert compiled.stats().fallbacks == 0
    return compiled.stats()


PAIRS = ((LINE, LINE), (LINE, LINE.copy()), (OTHER, LINE))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a * 2 if a is b else a * b,
        lambda a, b: a * b if a is not b else a + 5,
        lambda a, b: a + 5 if id(a) == id(b) else a * b,
        lambda a, b: a + 5 if operator.is_(a, b) else a * b,
        lambda a, b: a + (len({*map(id, (a, b))})),
        lambda a, b: sum(a + 5 if one is other else a * b for one, other in itertools.combinations((a, b), 2)),
        lambda a, b: a + 5 if (lambda one: one is b)(a) else a * b,
    ],
)
def test_two_arguments(function: Any) -> None:
    assert assert_as_numpy(function, *PAIRS).traces == 2
    assert_as_numpy(function, *PAIRS[:2], errors="numpy")


def helper(one: Any, other: Any) -> bool:
    return one is other


def test_helpers_look_too() -> None:
    assert_as_numpy(lambda a, b: a * 2 if helper(a, b) else a * b, *PAIRS)


def test_three_arguments() -> None:
    def pattern(a: Any, b: Any, c: Any) -> Any:
        return a + (a is b) * 10.0 + (b is c) * 100.0 + (a is c) * 1000.0

    x, y, z = LINE, LINE.copy(), LINE.copy()
    calls = [(x, y, z), (x, x, z), (x, y, x), (x, y, y), (x, x, x)]
    compiled = xjit.jit(pattern)
    for before, after in itertools.product(calls, calls):
        for arguments in (before, after):
            np.testing.assert_array_equal(compiled(*arguments), pattern(*arguments))
    assert compiled.stats().traces == len(calls)


def test_elements_of_containers() -> None:
    def function(parts: Any, named: Any) -> Any:
        return parts[0] * 2 if parts[0] is parts[1] else parts[0] * (3 if parts[1] is named["last"] else 5)

    x, y, z = LINE, LINE.copy(), LINE.copy()
    assert_as_numpy(function, ([x, x], {"last": z}), ([x, y], {"last": y}), ([x, y], {"last": z}))


def test_searches_in_containers() -> None:
    def function(a: Any, b: Any, c: Any) -> Any:
        return a + [b, c, a].index(a) + (a in (b, a))

    x, y = LINE, LINE.copy()
    compiled = xjit.jit(function)
    np.testing.assert_array_equal(compiled(x, x, y), function(x, x, y))
    np.testing.assert_array_equal(compiled(x, x, x), function(x, x, x))
    with pytest.raises(ValueError, match="truth value of an array"):
        compiled(x, y, x)


def test_arrays_from_elsewhere() -> None:
    assert_as_numpy(lambda a: a * 2 if a is SAME else a * SAME, (LINE,), (LINE.copy(),))
    assert_as_numpy(lambda a: a * 2 if HELD[0] is a else a * HELD[1], (LINE,), (OTHER,), (LINE.copy(),))
    closed = LINE
    assert_as_numpy(lambda a: a * 2 if a is closed else a * closed, (LINE,), (LINE.copy(),))


def test_arrays_from_elsewhere_that_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(a: Any) -> Any:
        return a * 2 if HOLDER.array is SAME else a * 3

    compiled = xjit.jit(function)
    np.testing.assert_array_equal(compiled(OTHER), OTHER * 2)
    monkeypatch.setattr(HOLDER, "array", LINE.copy())
    np.testing.assert_array_equal(compiled(OTHER), OTHER * 3)
    monkeypatch.setattr(HOLDER, "array", SAME)
    np.testing.assert_array_equal(compiled(OTHER), OTHER * 2)


class Model:
    """An object of the user's with its state."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights


def test_objects_and_what_they_hold() -> None:
    def function(p: Any, q: Any) -> Any:
        return p.weights * (2 if p is q else 3 if p.weights is q.weights else 5)

    one, same, other = Model(LINE), Model(LINE), Model(LINE.copy())
    assert_as_numpy(function, (one, one), (one, same), (one, other))


def test_results_keep_their_identity() -> None:
    compiled = xjit.jit(lambda a, b: (a, b, a is b, a + b))
    for arguments in PAIRS:
        first, second, same, total = compiled(*arguments)
        assert first is arguments[0] and second is arguments[1] and same is (first is second)
        np.testing.assert_array_equal(total, arguments[0] + arguments[1])


def sentinel(a: Any, b: Any, scale: Any = UNSET, mode: Any = None) -> Any:
    if mode is None and scale is UNSET and type(a) is float and a is not True:
        return a
    return a * b


@pytest.mark.parametrize("function", [lambda a, b: a * b, sentinel, lambda a, b: np.dot(a, a) + b])
def test_functions_that_do_not_compare_arrays_have_one_trace(function: Any) -> None:
    compiled = xjit.jit(function)
    for arguments in PAIRS:
        np.testing.assert_array_equal(compiled(*arguments), function(*arguments))
    assert compiled.stats().traces == 1


def test_numbers_and_arrays_of_other_layouts_have_no_identity_to_check() -> None:
    compiled = xjit.jit(lambda x, n, m: x * 2 if n is m else x * (n + m))
    for n, m in ((2.5, 3.5), (2.5, 2.5), (3.5, 4.5)):
        compiled(LINE, n, m)
    assert compiled.stats().traces == 1
    found, _ = captured(lambda a, b: a if a is b else a * b.sum(), LINE, np.arange(5.0))
    assert found.guards.trivial


def test_checks_of_arguments_are_made_by_the_program() -> None:
    found, _ = captured(lambda a, b: a if a is b else a * b, LINE, OTHER)
    assert found.guards.trivial and found.guards.of_program()[0] == ((0, 1),)
    assert not found.guards.holds([LINE, LINE])
    assert found.guards.reason([LINE, LINE]) == "two of argument a, argument b became one object"
    found, _ = captured(lambda a, b: a if a is b else a * b, LINE, LINE)
    assert found.guards.reason([LINE, OTHER]) == "argument b and argument a are no longer one object"


def test_new_code_is_a_new_function() -> None:
    def function(x: Any) -> Any:
        return x + 1.0

    def another(x: Any) -> Any:
        return x * 3.0

    compiled, outer = xjit.jit(function), xjit.jit(lambda x: function(x) - x)
    for code, values in ((function.__code__, LINE + 1.0), (another.__code__, LINE * 3.0)):
        function.__code__ = code
        for _ in range(2):
            np.testing.assert_array_equal(compiled(LINE), values)
            np.testing.assert_array_equal(outer(LINE), values - LINE)
    assert compiled.stats().traces == outer.stats().traces == 2
    assert compiled.stats().retraces[0].startswith("the code of ")
    assert compiled.stats().retraces[0].endswith(" changed")


def behind_a_loop(a: Any, b: Any) -> Any:
    u = a
    while u[0] > 3.0:
        u = u - 1.0
    return a is u, u is not b, helper(b, u), u is None


def behind_a_branch(a: Any, b: Any) -> Any:
    u = a if b[0] > 0.0 else b
    return (a is u) * 1.0 + (b is u) * 2.0


def of_views(a: Any, b: Any) -> Any:
    u = a
    while u[0] > 3.0:
        u = u[1:2] - u
    return operator.is_(u, a), operator.is_not(u, b)


@pytest.mark.parametrize("function", [behind_a_loop, behind_a_branch, of_views])
def test_arrays_that_a_loop_or_a_branch_chooses(function: Any) -> None:
    statistics = assert_as_numpy(function, *PAIRS, (OTHER + 3.0, OTHER))
    assert statistics.traces == 2


def own_arrays(a: Any, b: Any) -> Any:
    u = v = a * 2.0
    while v[0] > 3.0:
        v = v - 1.0
    return v + 1.0 if v is u else v * b


def identities_as_numbers(a: Any, b: Any) -> Any:
    u = a
    while u[0] > 3.0:
        u = u - 1.0
    return a + 1.0 if id(u) == id(a) else a * b


@pytest.mark.parametrize("function", [own_arrays, identities_as_numbers])
def test_own_arrays_that_only_the_run_chooses(function: Any) -> None:
    with pytest.raises(CaptureError, match="only the run"):
        captured(function, LINE, OTHER)


def test_refusals_come_from_the_last_attempt() -> None:
    with pytest.raises(CaptureError, match="numbers of several types"):
        captured(lambda a, b: sorted([a.sum(), float(a is b)]), LINE, LINE)
