"""Dicts of results whose keys are numbers among the arguments, beside Python's."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tests.capture.comprehensions.outcomes import identical
from xjit import xjit

Place = namedtuple("Place", "row column")
STEPS = np.array([0.5, 1.5, 3.0])


def a_number(x: Any, a: Any) -> Any:
    return {a: x + 1}


def in_tuples(x: Any, a: Any) -> Any:
    return {(a, "name"): x * 2, Place(a, 1): 3, (1, (2, a)): {a: x}}


def assigned(x: Any, a: Any) -> Any:
    found = {0: x}
    found[a] = x + 1
    return [found, dict.fromkeys([a, 7])]


def of_sizes(x: Any, a: Any) -> Any:
    return {len(x): x * a, x.shape: a}


def classes(key: Any) -> Any:
    return (type(key), *map(classes, key)) if isinstance(key, tuple) else type(key)


def keys_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*((key, classes(key)) for key in value), *(one for item in value.values() for one in keys_of(item))]
    return [one for item in value for one in keys_of(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("function", [a_number, in_tuples, assigned, of_sizes])
def test_keys_are_numbers_of_python(function: Any) -> None:
    compiled = xjit(function)
    x = np.arange(3.0)
    for a in (3, 4, 5, 2.5, 3.5, -0.0, True):
        found, wanted = compiled(x, a), function(x, a)
        identical(found, wanted)
        assert keys_of(found) == keys_of(wanted)


def of_constants(x: Any) -> Any:
    return {STEPS[0]: "a", "b": {(STEPS[1], 2.5): x, STEPS[2] + STEPS[1]: 3, 7: x + 1}}


def test_keys_of_constants_are_numbers_of_numpy() -> None:
    x = np.arange(3.0)
    found, wanted = xjit(of_constants)(x), of_constants(x)
    identical(found, wanted)
    assert keys_of(found) == keys_of(wanted)
