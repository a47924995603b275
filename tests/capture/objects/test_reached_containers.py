"""Lists, dicts and sets that code changes where only the run decides, by whatever it reaches them: as in Python."""

from __future__ import annotations

import collections
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Pair = collections.namedtuple("Pair", "left right")


class Holder:
    """An object that holds a list."""

    def __init__(self) -> None:
        self.own: list[int] = []


def turns_behind_a_break(x: Any) -> Any:
    found = []
    for i in range(3):
        found.append(i)
        if x[i] > 1:
            break
    return len(found)


def rows_behind_a_break(x: Any) -> Any:
    found = [x]
    for i in range(3):
        found.append(found[-1] * 0.5)
        if x[i] > 1:
            break
    return found


def keys_behind_a_break(x: Any) -> Any:
    found = {"a": (1,)}
    for i in range(3):
        found[i] = 2
        if x[i] > 1:
            break
    return len(found)


def items_behind_a_continue(x: Any) -> Any:
    found = set()
    for i in range(3):
        if x[i] > 1:
            continue
        found.add(i)
    return sorted(found)


def method_of_a_list(x: Any) -> Any:
    found = []
    add = found.append
    for i in range(3):
        if x[i] > 1:
            add(i)
    return len(found)


def method_in_a_branch(x: Any) -> Any:
    found = []
    add = found.append
    if x[0] > 1:
        add(1)
    return len(found)


def method_of_a_set(x: Any) -> Any:
    found = set()
    add = found.add
    for i in range(3):
        add(i)
        if x[i] > 1:
            break
    return len(found)


def method_of_a_dict(x: Any) -> Any:
    found = {}
    put = found.setdefault
    for i in range(3):
        put(i, 2)
        if x[i] > 1:
            break
    return len(found)


def wrapper_of_a_method(x: Any) -> Any:
    found = {}
    put = found.__setitem__
    for i in range(3):
        put(i, 2)
        if x[i] > 1:
            break
    return len(found)


def default_by_name(x: Any) -> Any:
    found = []

    def add(value: Any, *, into: Any = found) -> None:
        into.append(value)

    for i in range(3):
        if x[i] > 1:
            add(i)
    return len(found)


def partial_of_a_function(x: Any) -> Any:
    found = []

    def add(into: Any, value: Any) -> None:
        into.append(value)

    put = functools.partial(add, found)
    for i in range(3):
        if x[i] > 1:
            put(i)
    return len(found)


def within_a_named_tuple(x: Any) -> Any:
    pair = Pair([], 1)
    if x[0] > 1:
        pair.left.append(1)
    return len(pair.left)


def within_a_namespace(x: Any) -> Any:
    space = types.SimpleNamespace(found=[])
    for i in range(3):
        if x[i] > 1:
            space.found.append(i)
    return len(space.found)


def within_a_queue(x: Any) -> Any:
    queue = collections.deque([[], [1]])
    if x[0] > 1:
        queue[0].append(1)
    return len(queue[0])


def within_an_object(x: Any) -> Any:
    holder = Holder()
    for i in range(3):
        if x[i] > 1:
            holder.own.append(i)
    return len(holder.own)


def by_values_of_a_dict(x: Any) -> Any:
    values = {"a": [], "b": []}.values()
    if x[0] > 1:
        for one in values:
            one.append(1)
    return [len(one) for one in values]


def by_a_map(x: Any) -> Any:
    found = []
    each = map(found.append, [1, 2])
    if x[0] > 1:
        list(each)
    return len(found)


def by_a_function_of_operator(x: Any) -> Any:
    found = {"a": 1}
    put = functools.partial(operator.setitem, found)
    if x[0] > 1:
        put("b", 2)
    return len(found)


def by_a_generator(x: Any) -> Any:
    found = []

    def each() -> Any:
        found.append(1)
        yield 1
        found.append(2)
        yield 2

    numbers = each()
    if x[0] > 1:
        next(numbers)
    return len(found)


FUNCTIONS = [
    *(turns_behind_a_break, rows_behind_a_break, keys_behind_a_break, items_behind_a_continue),
    *(method_of_a_list, method_in_a_branch, method_of_a_set, method_of_a_dict, wrapper_of_a_method),
    *(default_by_name, partial_of_a_function, within_a_named_tuple, within_a_namespace, within_a_queue),
    *(within_an_object, by_values_of_a_dict, by_a_map, by_a_function_of_operator, by_a_generator),
]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_containers_that_branches_of_the_run_change(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    for order in (1, -1):
        compiled = xjit.jit(function)
        for x in (np.array([3.0, 1, 5]), np.array([0.5, 1, 0]), np.array([0.5, 4, 0]))[::order]:
            assert repr(compiled(x)) == repr(function(x))
