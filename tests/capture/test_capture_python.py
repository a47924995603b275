"""Python around arrays in traced functions: the standard library, numbers that are known, conditions, super."""

from __future__ import annotations

import bisect
import cmath
import fractions
import functools
import heapq
import itertools
import operator
import re
import statistics
import struct
from typing import Any

import numpy as np
import pytest

from tests.helpers.capturing import captured, check
from xjit.capture.guarding.signature import NORMALISE, signature
from xjit.errors import CaptureError

KNOTS = [1.0, 2.0, 4.0]
X = np.arange(6.0).reshape(2, 3) + 1
PURE_CALLS = {
    "bisect": lambda: bisect.bisect_left(KNOTS, 2.0),
    "functools": lambda: functools.reduce(operator.mul, KNOTS),
    "heapq": lambda: heapq.nsmallest(2, KNOTS)[1],
    "itertools": lambda: sum(itertools.accumulate(KNOTS)),
    "re": lambda: len(re.findall("a", "banana")),
    "statistics": lambda: statistics.median(KNOTS),
    "fractions": lambda: float(fractions.Fraction(1, 4)),
    "struct": lambda: struct.calcsize("<id"),
    "cmath": lambda: cmath.phase(1j),
}


@pytest.mark.parametrize("name", PURE_CALLS)
def test_functions_of_the_standard_library_that_depend_on_their_arguments_alone(name: str) -> None:
    check(lambda x: x * PURE_CALLS[name](), X)


def test_numbers_computed_from_known_ones_are_known() -> None:
    def function(s: Any, x: Any) -> Any:
        return x[: int(np.sqrt(s))] * 2 if np.maximum(s, 3.0) > 4 else x

    for number in (np.float64(1), np.float64(9), 9.0):
        check(function, number, X.ravel())


@pytest.mark.parametrize("number", [-(2**63), -(10**12), -4000, 2**62, 2**63 - 1])
def test_integers_that_int64_holds_share_a_signature(number: int) -> None:
    assert signature(number) == signature(3) != signature(2**63)


def test_code_that_needs_numbers_gets_those_that_are_known() -> None:
    check(lambda s, x: x + s.__array__(), np.float64(2), X)
    with pytest.raises(CaptureError, match="needs its numbers"):
        captured(lambda x: (x + 1).__array__(), X)


@pytest.mark.parametrize("size", [2, 3])
def test_arrays_of_several_elements_are_no_conditions(size: int) -> None:
    with pytest.raises(ValueError, match="more than one element is ambiguous"):
        captured(lambda x: x if x else -x, np.ones(size))


class Doubling:
    factor = 2.0

    def hashed(self) -> int:
        return super().__hash__()


class Offset(Doubling):
    def applied(self, x: Any) -> Any:
        return x + 1.0


class Skipping(Offset):
    def applied(self, x: Any) -> Any:
        return x * 10.0

    def of_parent(self, x: Any) -> Any:
        return super(Skipping, self).applied(x)  # noqa: UP008 - the long form is what is tested


class Last(Skipping):
    def applied(self, x: Any) -> Any:
        return x * 100.0


def test_the_parent_of_a_named_class_is_found() -> None:
    last = Last()
    check(lambda x: last.of_parent(x) + Last().of_parent(x), X)


def test_methods_of_object_are_refused() -> None:
    with pytest.raises(CaptureError, match=r"super\(\).__hash__ of Doubling is not supported"):
        captured(lambda x: x * Doubling().hashed(), X)


def test_arrays_of_strings_of_any_length_are_left_to_numpy() -> None:
    texts = np.array(["a", "bc"], np.dtypes.StringDType())
    assert signature(texts) is None
    assert signature(np.arange(3.0).astype(">f8")) is NORMALISE
    assert signature(np.zeros(3, [("a", ">f8")])) is None and signature(np.array(["a"])) is None
