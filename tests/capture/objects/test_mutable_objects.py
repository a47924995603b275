"""Objects of Python's that change where only the run decides: as in Python, compiled or not."""

from __future__ import annotations

import array
import collections
import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


class Numbers(list[int]):
    """A list of a class of its own."""


class Table(dict[Any, Any]):
    """A dict of a class of its own."""


def ordered_dict(x: Any) -> Any:
    q = collections.OrderedDict()
    for v in x:
        if v > 0:
            q[len(q)] = v
    return len(q)


def counter(x: Any) -> Any:
    q = collections.Counter()
    for v in x:
        if v > 0:
            q["a"] += 1
        else:
            q["b"] += 1
    return q["a"], q["b"]


def default_of_zero(x: Any) -> Any:
    q = collections.defaultdict(int)
    for v in x:
        if v > 0:
            q["a"] += 1
    return q["a"]


def default_of_lists(x: Any) -> Any:
    q = collections.defaultdict(list)
    for v in x:
        if v > 0:
            q["a"].append(1)
    return len(q["a"])


def array_of_python(x: Any) -> Any:
    q = array.array("d")
    for v in x:
        if v > 0:
            q.append(1.0)
    return len(q)


def bytes_of_python(x: Any) -> Any:
    q = bytearray()
    for v in x:
        if v > 0:
            q.append(1)
    return len(q)


def iterator_of_a_range(x: Any) -> Any:
    it = iter(range(100))
    n = 0
    for v in x:
        if v > 0:
            n += next(it)
    return n


def endless_count(x: Any) -> Any:
    it = itertools.count()
    n = 0
    for v in x:
        if v > 0:
            n += next(it)
    return n


def cycle(x: Any) -> Any:
    it = itertools.cycle([1, 2, 3])
    n = 0
    for v in x:
        if v > 0:
            n += next(it)
    return n


def generator(x: Any) -> Any:
    def g():
        k = 0
        while True:
            yield k
            k += 1

    it = g()
    n = 0
    for v in x:
        if v > 0:
            n += next(it)
    return n


def namespace(x: Any) -> Any:
    q = types.SimpleNamespace(n=0)
    for v in x:
        if v > 0:
            q.n += 1
    return q.n


def subclass_of_list(x: Any) -> Any:
    q = Numbers()
    for v in x:
        if v > 0:
            q.append(1)
    return len(q)


def subclass_of_dict(x: Any) -> Any:
    q = Table()
    for v in x:
        if v > 0:
            q[len(q)] = 1
    return len(q)


def fields_of_a_namespace(x: Any) -> Any:
    q = types.SimpleNamespace(n=0)
    for v in x:
        if v > 0:
            vars(q)["n"] += 1
    return q.n


def pairs(x: Any) -> Any:
    z = zip(range(30), x, strict=False)
    s = 0.0
    for k in range(10):
        if x[k] > 0:
            i, v = next(z)
    s += i * v
    return s


def cached(x: Any) -> Any:
    @functools.lru_cache(None)
    def f(k):
        return k + 1

    s = 0
    for v in x:
        if v > 0:
            s += f(3)
    return s, f.cache_info().hits


def limited_queue(x: Any) -> Any:
    q = collections.deque(maxlen=3)
    for v in x:
        if v > 0:
            q.append(1)
    return len(q)


FUNCTIONS = [
    ordered_dict,
    counter,
    default_of_zero,
    default_of_lists,
    array_of_python,
    bytes_of_python,
    iterator_of_a_range,
    endless_count,
    cycle,
    generator,
    namespace,
    subclass_of_list,
    subclass_of_dict,
    fields_of_a_namespace,
    pairs,
    cached,
    limited_queue,
]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_objects_that_branches_of_the_run_change(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled, rng = xjit.jit(function), np.random.default_rng(4)
    for size in (20, 20, 21, 40):
        x = rng.random(size) - 0.5
        assert repr(compiled(x)) == repr(function(x))


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_objects_that_long_loops_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def numbered(x: Any) -> Any:
        numbers, total = itertools.count(3), 0.0
        for v in x:
            total += v * next(numbers)
        return total

    compiled, x = xjit.jit(numbered), np.arange(500.0)
    for _ in range(3):
        assert compiled(x) == numbered(x)
