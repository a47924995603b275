"""Attributes of numbers of Python's that only the run knows are those of their classes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import outcome

FIRST = [np.array([2.0, -3.0, 5.0]), np.array([-2.0, 3.0, 5.0])]

ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "dtype": lambda number: number.dtype,
    "shape": lambda number: number.shape,
    "ndim": lambda number: number.ndim,
    "size": lambda number: number.size,
    "itemsize": lambda number: number.itemsize,
    "nbytes": lambda number: number.nbytes,
    "transposed": lambda number: number.T,
    "sum": lambda number: number.sum(),
    "type": lambda number: number.astype(int),
    "item": lambda number: number.item(),
    "real": lambda number: number.real,
    "imaginary": lambda number: number.imag,
    "conjugate": lambda number: number.conjugate(),
    "by name": lambda number: getattr(number, "dtype"),  # noqa: B009
    "part by name": lambda number: getattr(number, "imag"),  # noqa: B009
    "by name, or none": lambda number: getattr(number, "dtype", None),
    "asked": lambda number: (hasattr(number, "dtype"), isinstance(number, np.floating), isinstance(number, float)),
}


def chosen(x: Any) -> Any:
    number = 1.0
    if x[0] > 0:
        number = x[1]
    return number


def summed(x: Any) -> Any:
    total = 0.0
    for value in x[x > 4.0] if x[0] > 0 else x[:0]:
        total += value
    return total


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: math.sqrt(x[2]),
    "integer": lambda x: len(x[x > 0]),
    "truth": lambda x: bool(x[0] > 0),
    "complex": lambda x: complex(x[0], x[1]),
    "in doubt": chosen,
    "in doubt behind a loop": summed,
    "the larger one": lambda x: max(0.0, x[0]),
}


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_have_the_attributes_of_their_classes(
    number: str, attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    make, ask = NUMBERS[number], ATTRIBUTES[attribute]

    def function(x: Any) -> Any:
        return ask(make(x))

    compiled = xjit.jit(function)
    for x in (*FIRST, FIRST[0]):
        assert quiet(compiled, x) == quiet(function, x)


def quiet(function: Callable[..., Any], x: Any) -> Any:
    """The outcome of a call, with no word of values that have programs of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
        return outcome(function, (x,))


def test_arguments_have_the_attributes_of_their_classes() -> None:
    for attribute in ATTRIBUTES.values():
        for number in (2.5, 3, True, 1j):
            assert outcome(xjit.jit(attribute, strict=True), (number,)) == outcome(attribute, (number,))
