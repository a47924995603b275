"""Lists, dicts and sets of the caller's that a function changes: as Python would, exactly once."""

from __future__ import annotations

import collections
import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome
from tests.capture.splits.split_calls import split
from xjit.errors import FallbackWarning

X = np.random.default_rng(3).standard_normal(30)


class State:
    """Has containers, one of them by way of a property."""

    def __init__(self) -> None:
        self.history: list[Any] = []
        self.counts: dict[Any, Any] = {"calls": 0}
        self.seen: set[Any] = set()
        self.sums: Any = collections.defaultdict(float)
        self.kinds: Any = collections.Counter()

    @property
    def last(self) -> list[Any]:
        return self.history

    def contents(self) -> Any:
        return self.history, self.counts, sorted(self.seen), dict(self.sums), dict(self.kinds)


STATE = State()
LOG: list[Any] = []
TABLE: dict[Any, Any] = {}


def appends(x: Any, s: Any, h: Any, d: Any) -> Any:
    s.history.append(x.mean())
    h.append("called")
    LOG.append(len(h))
    return x * 2


def counts(x: Any, s: Any, h: Any, d: Any) -> Any:
    s.counts["calls"] += 1
    s.sums["x"] += float(x[0])
    s.kinds["pos" if len(x) > 3 else "short"] += 1
    d["n"] = d.get("n", 0) + 1
    TABLE["n"] = d["n"]
    return x + 1, len(d)


def remembers(x: Any, s: Any, h: Any, d: Any) -> Any:
    y = x * 1.0
    if "k" in d:
        y = y + 1
    d["k"] = 1.5
    s.seen.add(len(s.history))
    s.last.insert(0, "first")
    return y


def decided_by_the_run(x: Any, s: Any, h: Any, d: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 0.5:
            h.append(i)
        elif x[i] < -1:
            d["low"] = float(x[i])
    return x.sum()


def in_order(x: Any, s: Any, h: Any, d: Any) -> Any:
    h.append(float(x.max()))
    print(h[-1], len(h))
    h += [1, 2]
    h[0] = h[1]
    del h[1]
    h.pop()
    return h, x - 1


def two_names(x: Any, s: Any, h: Any, d: Any) -> Any:
    other = h
    other.append(1)
    s.history = h
    s.history.append(2)
    return len(h), x * 3


def fails_later(x: Any, s: Any, h: Any, d: Any) -> Any:
    h.append("once")
    s.counts["calls"] += 1
    if x.sum() > -1e9:
        raise ValueError("as only the run tells")
    return x


def fails_in_a_step(x: Any, s: Any, h: Any, d: Any) -> Any:
    h.append("once")
    d["missing"] += 1
    return x


def fails_before(x: Any, s: Any, h: Any, d: Any) -> Any:
    value = d["missing"]
    h.append(value)
    return x * 2


def deep(x: Any, s: Any, h: Any, d: Any) -> Any:
    def go(n: int) -> Any:
        h.append(n)
        return x if n == 0 else go(n - 1) * 2

    return go(3)


def stores_arrays(x: Any, s: Any, h: Any, d: Any) -> Any:
    y = x * 2
    d["y"] = y
    h.append(y)
    return y


def nested(x: Any, s: Any, h: Any, d: Any) -> Any:
    d.setdefault("all", []).append(float(x[0]))
    s.sums["x"] += 1
    return x * 2


def goes_through(x: Any, s: Any, h: Any, d: Any) -> Any:
    h.append(float(x[1]))
    total = 0.0
    for one in h:
        total += one
    return total * x


def clears(x: Any, s: Any, h: Any, d: Any) -> Any:
    if len(h) > 1:
        h.clear()
    h.extend([3, float(x[2])])
    h.sort()
    d.update(a=1, b="text")
    d.pop("a")
    return np.sum(h) * x


def keeps_a_list_that_changes(x: Any, s: Any, h: Any, d: Any) -> Any:
    row = [1]
    h.append(row)
    row.append(2)
    return x * 2


def keeps_a_list_twice(x: Any, s: Any, h: Any, d: Any) -> Any:
    row = [x.sum()]
    h.append(row)
    d["row"] = {"last": row}
    h[-1].append(3)
    return x * 2


def keeps_one_list_each_turn(x: Any, s: Any, h: Any, d: Any) -> Any:
    row = [1]
    for _ in range(30):
        h.append(row)
        x = x * 0.5
    return x


def keeps_new_lists(x: Any, s: Any, h: Any, d: Any) -> Any:
    h.append([x.sum(), {"n": len(x)}])
    h.append([1])
    return x * 2


FUNCTIONS: list[Callable[..., Any]] = [
    appends,
    counts,
    remembers,
    decided_by_the_run,
    in_order,
    two_names,
    fails_later,
    fails_in_a_step,
    fails_before,
    deep,
    stores_arrays,
    nested,
    goes_through,
    clears,
    keeps_a_list_that_changes,
    keeps_a_list_twice,
    keeps_one_list_each_turn,
    keeps_new_lists,
]
SPLIT = [appends, counts, remembers, decided_by_the_run, in_order, deep, clears, keeps_new_lists]


def calls_of(function: Callable[..., Any]) -> Any:
    """The outcomes of some calls, and what they leave in the containers."""
    s, h, d = State(), list[Any](), dict[Any, Any]()
    LOG.clear()
    TABLE.clear()
    found = []
    for k in range(4):
        result = outcome(function, X + k, s, h, d)
        same = isinstance(result, tuple) and isinstance(result[0], tuple) and result[0][0] is h
        found.append((copy.deepcopy(result), same))
    return found, s.contents(), h, d, list(LOG), dict(TABLE)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_they_are_changed_as_python_does(function: Callable[..., Any]) -> None:
    wanted = calls_of(function)
    compiled = xjit.jit(function)
    with split():
        identical(calls_of(compiled), wanted)
    if function in SPLIT:
        assert compiled.stats().fallbacks == 0
        assert compiled.stats().traces <= 3


def test_one_list_as_two_arguments() -> None:
    def f(x: Any, one: Any, two: Any) -> Any:
        one.append(1)
        two.append(2)
        return x * 2, len(one)

    compiled = xjit.jit(f)
    with split():
        for _ in range(2):
            apart, both = ([], []), list[Any]()
            identical(compiled(X, *apart), f(X, [], []))
            assert apart == ([1], [2])
            assert compiled(X, both, both)[1] == 2
            assert both == [1, 2]


def test_a_growing_list_needs_one_trace() -> None:
    def f(x: Any, h: Any) -> Any:
        h.append(x.max())
        return x * 2

    compiled, h = xjit.jit(f), list[Any]()
    with split():
        for _ in range(9):
            compiled(X, h)
    assert len(h) == 9
    assert compiled.stats().traces == 1


def test_arrays_that_come_later() -> None:
    def f(x: Any, d: Any) -> Any:
        d["n"] += 1
        return x * 2

    compiled = xjit.jit(f)
    with split():
        d, wanted = {"n": 1}, {"n": 2}
        compiled(X, d)
        assert d == wanted
        array = np.zeros(3)
        d = {"n": array}
        compiled(X, d)
        assert d["n"] is array
        np.testing.assert_array_equal(array, np.ones(3))


def test_trials_change_them_once() -> None:
    def f(x: Any, h: Any) -> Any:
        h.append(len(h))
        return x * 2

    compiled, h = xjit.jit(f), list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("XJIT_TRIALS", raising=False)
        patch.setenv("XJIT_STRICT", "0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            for _ in range(40):
                compiled(X, h)
    assert h == list(range(40))
