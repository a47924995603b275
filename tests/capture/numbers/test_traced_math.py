"""The math module on numbers that only the run tells: Python's numbers, and Python's errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, outcome
from tests.capture.splits.split_calls import check_split, split

VALUES = [0.0, -0.0, 0.25, 1.0, -1.0, 2.5, -7.5, 1e-310, 1e300, -1e300, math.inf, -math.inf, math.nan]

EXACT = ["sqrt", "fabs", "isnan", "isinf", "isfinite", "modf", "frexp", "degrees", "radians"]
NEAR = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
]
NEAR += ["tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc"]
WHOLE = ["floor", "ceil", "trunc"]


@pytest.mark.parametrize("name", [*EXACT, *WHOLE])
def test_functions_of_one_number(name: str) -> None:
    function = getattr(math, name)
    compiled = check_whole(lambda x: function(x[0]), *(([np.array([value])]) for value in VALUES))
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize("name", NEAR)
def test_elementary_functions_raise_as_python_does(name: str) -> None:
    function = getattr(math, name)
    compiled = xjit.jit(lambda x: function(x[0]), strict=True)
    for value in VALUES:
        found, wanted = outcome(compiled, [np.array([value])]), outcome(function, [value])
        if len(wanted) == 2:
            assert found == wanted
        else:
            number = compiled(np.array([value]))
            assert type(number) is float
            np.testing.assert_allclose(number, function(value), rtol=1e-15)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
def test_computes_in_double(dtype: Any) -> None:
    x = np.array([1, 3]).astype(dtype)
    check_whole(lambda x: (math.sqrt(x[1]), math.floor(x[1]), math.fabs(x[0])), (x,))


@pytest.mark.parametrize("name", ["fmod", "pow", "copysign", "atan2", "nextafter"])
def test_functions_of_two_numbers(name: str) -> None:
    function = getattr(math, name)
    compiled = xjit.jit(lambda x: function(x[0], x[1]), strict=True)
    for one in VALUES:
        for other in VALUES:
            found, wanted = outcome(compiled, [np.array([one, other])]), outcome(function, [one, other])
            if len(wanted) == 2:
                assert found == wanted, (one, other)
            else:
                number = compiled(np.array([one, other]))
                np.testing.assert_allclose(number, function(one, other), rtol=1e-15)


def test_what_is_made_of_several_numbers() -> None:
    def function(x: Any, n: Any) -> Any:
        near = math.isclose(x[0], x[1]), math.isclose(x[0], 2.0, rel_tol=0.5), math.isclose(x[0], 1, abs_tol=1.5)
        return near, math.log(x[0], 2), math.log(8, x[1]), math.ldexp(x[0], 3), math.gcd(n[0], n[1], 12)

    numbers = np.array([12, -18])
    for pair in ([2.0, 4.0], [4.0, 4.0 + 1e-15], [1.0, 0.5], [3.0, 1.0], [0.0, 2.0], [math.inf, math.inf]):
        check_whole(function, (np.array(pair), numbers))
    check_whole(lambda n: math.gcd(n[0], n[1]), (np.array([0, -(2**63)]),), (np.array([0, 0]),))


def test_takes_floats_of_python() -> None:
    check_whole(
        lambda x: math.sqrt(float(x[0])) + math.floor(math.sqrt(x[1]) * 2) / math.hypot(3, x[0].item()),
        (np.array([2.25, 6.25]),),
        (np.array([-2.25, 6.25]),),
    )


@pytest.mark.parametrize("name", ["gamma", "fsum", "prod", "dist", "hypot", "factorial"])
def test_other_functions_are_steps(name: str) -> None:
    calls = {
        "gamma": lambda x: math.gamma(x[0]) * 2,
        "fsum": lambda x: math.fsum(x) * x,
        "prod": lambda x: math.prod(x) * x,
        "dist": lambda x: math.dist(x, x[::-1]) + x,
        "hypot": lambda x: math.hypot(x[0], x[1], 2.0) + x,
        "factorial": lambda x: math.factorial(int(x[0])) + x,
    }
    check_split(calls[name], np.array([3.0, 0.5, 7.0]))


def test_domains_are_looked_at_behind_effects() -> None:
    def function(x: Any) -> Any:
        print("once")
        return math.sqrt(x[0])

    compiled = check_split(function, np.array([4.0]))
    with split(), pytest.raises(ValueError, match="math domain error"):
        compiled(np.array([-4.0]))


def test_loops_look_for_errors() -> None:
    def function(x: Any) -> Any:
        total = 0.0
        for value in x:
            total += math.sqrt(value)
        return total

    x = np.arange(500.0)
    compiled = xjit.jit(function, strict=True)
    np.testing.assert_allclose(compiled(x), function(x))
    x[400] = -1.0
    with pytest.raises(ValueError, match="math domain error"):
        compiled(x)
