"""Capturing functions: what a traced run computes is what NumPy computes, types included."""

from __future__ import annotations

import collections.abc
import copy
import decimal
import fractions
import gc
import math
import operator
import re
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tests.helpers.capturing import assert_same, captured, check, run
from xjit import jit, ops
from xjit.capture.guarding.signature import NORMALISE, signature
from xjit.errors import CaptureError

X = np.arange(6.0).reshape(2, 3) + 1
Y = np.array([2.0, 3.0, 5.0])
SINGLE = np.array([0.5, 1.5, 2.5], np.float32)
INTEGERS = np.array([7, -3, 5], np.int64)
SMALL = np.array([7, 3, 5], np.int8)


# Operators, methods, attributes


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y * 2.0 - y / x,
        lambda x, y: 2.0**y + y**2 - (-x) ** 3,
        lambda x, y: (x // y, x % y, divmod(x, y)[0]),
        lambda x, y: ((x < y) & (x >= 1) | ~(y == x), x != y),
        lambda x, y: abs(-x) + +y,
        lambda x, y: x * [1.0, 2.0, 3.0],
        lambda x, y: np.float64(2.0) * x + Y,
        lambda x, y: (x + y).sum(axis=0) / x.shape[0],
        lambda x, y: (x.T, x.reshape(3, -1), x.ravel(), x.real),
        lambda x, y: x.mean() + y.max(),
        lambda x, y: (x[0], x[:, 1], x[::-1, None], x[..., -1], x[0, 0]),
        lambda x, y: [row * 2 for row in x],
        lambda x, y: (x.dtype.itemsize, x.size, x.ndim, x.nbytes, len(x), x.itemsize),
        lambda x, y: np.where(x > y, x, 0) + np.clip(y, 2.5, None),
        lambda x, y: np.concatenate([x, y[None]]),
        lambda x, y: np.array([y, y + 1]),
        lambda x, y: x @ y,
        lambda x, y: x.astype(np.float32) * 0.1,
        lambda x, y: x.astype(int).sum(),
        lambda x, y: np.add.reduce(x, axis=1),
        lambda x, y: sum(y),
        lambda x, y: ((x.T @ x)[np.triu_indices_from(x.T @ x, 1)], x[:, :2][np.diag_indices_from(x[:, 1:])]),
        lambda x, y: (np.ndim(x), np.shape(y), np.size(x), np.result_type(x, np.int8), np.iscomplexobj(x)),
        lambda x, y: x * y[0].item() + x.mT.sum(),
        lambda x, y: copy.copy(x) + round(y.mean(), 1),
    ],
)
def test_expressions_are_numpys(function: Any) -> None:
    check(function, X, Y)


@pytest.mark.parametrize("array", [SINGLE, INTEGERS, SMALL, SINGLE > 1, SINGLE + 1j], ids=str)
def test_python_constants_promote_weakly(array: Any) -> None:
    check(lambda x: (x + 1, 2 * x, x * True, 1 - x.astype(np.complex64)), array)
    if array.dtype != np.complex64:
        check(lambda x: (x + 1.5, x > 1, x / 2), array)


def test_dtypes_of_other_arrays_do_not_change_the_type() -> None:
    check(lambda x, n: x * n, SINGLE, SMALL)


def test_layout_is_part_of_the_type() -> None:
    found, _ = captured(lambda x: x + 1, np.asfortranarray(X))
    assert found.graph.outputs[0].aval.order == (1, 0)


# Results


def test_nested_arguments_and_results() -> None:
    Point = namedtuple("Point", "x y")

    def function(parts: Any, point: Any, scale: Any = None) -> Any:
        return {"sum": parts["a"][0] + parts["b"], "pair": (point.x, None), "text": "done", "n": [1, 2.5]}

    check(function, {"a": [Y, SINGLE], "b": Y + 1}, Point(Y, 3.0), scale=None)


def test_the_argument_itself_comes_back() -> None:
    found, leaves = captured(lambda x, a: (x, a, np.asarray(x)), Y, 2.0)
    result = run(found, leaves)
    assert result[0] is Y and result[1] is leaves[1] and result[2] is Y


def test_views_and_scalars_are_marked() -> None:
    found, _ = captured(lambda x: (x[1:], x + 1, x.sum(), x.T, x.copy()), X)
    assert [output.view for output in found.outputs] == [True, False, False, True, False]
    assert [output.scalar for output in found.outputs] == [False, False, True, False, False]


def test_one_object_returned_twice_is_one_output() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        return y, y, x + 1

    found, _ = captured(function, Y)
    assert [output.index for output in found.outputs] == [0, 0, 1]


def test_constant_arrays_are_fresh_results() -> None:
    check(lambda x: (np.zeros(3), np.arange(4) * 2, np.array([1, 2])), Y)


def test_results_that_no_call_can_repeat_are_refused() -> None:
    for function in (lambda x: iter([1]), lambda x: lambda: x, lambda x: object()):
        with pytest.raises(CaptureError, match="returns an object of type"):
            captured(function, Y)


# NumPy's creation functions and math, reached through the globals


def test_creation_functions_are_traced_or_concrete() -> None:
    def function(x: Any) -> Any:
        for position in np.arange(3):
            x = x + x[position]
        return x + np.zeros((5, 1)) + np.full(3, 2.0) + np.linspace(0, 1, 3) + np.eye(3)[1]

    check(function, Y)


def test_large_constants_are_not_stored() -> None:
    found, _ = captured(lambda x: x + np.ones((300, 300)) * np.arange(90000).reshape(300, 300), np.ones(300))
    assert all(node.op.name != "constant" or node.aval.size <= 1 for node in found.graph.nodes)


def test_shape_arithmetic_stays_in_python() -> None:
    check(lambda x: x.reshape(np.prod(x.shape)) / np.sqrt(x.shape[0]), X)


def test_math_on_elements_gives_python_floats() -> None:
    def function(x: Any, a: float) -> Any:
        return x * math.sqrt(x[0]) + math.exp(a) * math.pi - math.tanh(x[1] / 2), math.sqrt(x[0]) * 2

    check(function, SINGLE, 0.5)


def test_math_refuses_arrays_and_what_needs_the_value() -> None:
    with pytest.raises(CaptureError, match=r"math.sqrt takes single real numbers"):
        captured(lambda x: math.sqrt(x), Y)
    with pytest.raises(CaptureError, match=r"math.gamma is not supported"):
        captured(lambda x: math.gamma(x[0]), Y)


def test_operations_of_this_package_take_python_numbers() -> None:
    def function(x: Any, a: float, n: int) -> Any:
        total = ops.reduce(x, np.float32(0), lambda u, v: ops.add(u, v), (0,))
        return ops.mul(ops.reshape(x, (n, 1)), a), ops.add(x, n), ops.clamp(a, x, 2.0), total

    check(function, SINGLE, 1.0, 3)


def test_imports_inside_the_function_are_traced() -> None:
    def function(x: Any) -> Any:
        import math as m

        import numpy
        from numpy import zeros

        return numpy.sin(x) + zeros(3) + m.sqrt(x[0])

    check(function, Y)


def test_random_state_is_refused() -> None:
    with pytest.raises(CaptureError, match=r"numpy.random.randn draws from random state"):
        captured(lambda x: x + np.random.randn(3), Y)


def test_unsupported_functions_are_named() -> None:
    with pytest.raises(CaptureError, match=r"numpy.*array2string is not supported"):
        captured(lambda x: np.array2string(x), Y)
    with pytest.raises(CaptureError, match=r"ndarray.dumps is not supported"):
        captured(lambda x: x.dumps(), Y)


# Python numbers


def test_floats_stay_dynamic_in_arithmetic() -> None:
    found, _ = captured(lambda x, a, b: x * a + (a * b - 1.0) + (-a), SINGLE, 0.1, 2.0)
    assert found.guards.trivial
    assert_same(run(found, [SINGLE, 0.7, 3.0]), SINGLE * 0.7 + (0.7 * 3.0 - 1.0) + (-0.7))


def test_floats_round_once_to_the_arrays_type() -> None:
    found, leaves = captured(lambda x, a: x + a, SINGLE, 0.1)
    assert run(found, leaves).tobytes() == (SINGLE + 0.1).tobytes()


def test_integers_stay_dynamic_with_floats_and_become_guards_with_narrow_integers() -> None:
    found, _ = captured(lambda x, n: x * n, SINGLE, 3)
    assert found.guards.trivial
    assert_same(run(found, [SINGLE, 5]), SINGLE * 5)
    found, leaves = captured(lambda x, n: x + n, SMALL, 3)
    assert found.guards.reason([SMALL, 4]) == "argument n changed from 3 to 4"
    assert_same(run(found, leaves), SMALL + 3)


@pytest.mark.parametrize("number", [2**24 + 1, 2**53 + 1, 2**60 + 2**36 + 1, -(2**63)])
def test_large_integers_round_as_in_numpy(number: int) -> None:
    for array in (SINGLE, Y, INTEGERS, SINGLE.astype(np.float16), SINGLE + 1j):
        found, leaves = captured(lambda x, n: (x * 0 + n, x < n), array, 1)
        with np.errstate(all="ignore"):
            result, expected = run(found, [leaves[0], number]), (array * 0 + number, array < number)
        assert [one.tobytes() for one in result] == [one.tobytes() for one in expected]


def test_integers_that_do_not_fit_raise_as_in_numpy() -> None:
    with pytest.raises(OverflowError):
        captured(lambda x, n: x + n, SMALL, 300)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.reshape(n, -1),
        lambda x, n: x[n - 1 :],
        lambda x, n: x.sum(axis=n - 2),
        lambda x, n: np.zeros((n, 3)) + x,
        lambda x, n: [x * k for k in range(n)],
        lambda x, n: x * int(n) + float(n) + n // 2 + n % 2 + 2**n,
        lambda x, n: x + len("ab" * n) + len(f"{n}"),
        lambda x, n: x + {2: 5.0}[n],
    ],
)
def test_values_that_python_needs_become_guards(function: Any) -> None:
    found = check(function, X, 2)
    assert not found.guards.holds([X, 3])


def test_comparisons_guard_the_outcome_only() -> None:
    found, _ = captured(lambda x, a: x * a if 0 < a <= 5 else -x, Y, 2.0)
    assert found.guards.holds([Y, 3.0]) and not found.guards.holds([Y, 7.0])
    assert found.guards.reason([Y, -1.0]) == "argument a > 0 is no longer True: it is -1.0"
    found, _ = captured(lambda x, mode: x if mode == "fast" else x + 1, Y, 3.0)
    assert found.guards.trivial or found.guards.holds([Y, 9.0])


def test_booleans_and_text_are_part_of_the_key() -> None:
    check(lambda x, flag, mode: x if flag and mode == "a" else -x, Y, True, "a")
    assert signature(True) != signature(False) != signature(0)


def test_python_arithmetic_keeps_pythons_rules() -> None:
    with pytest.raises(ZeroDivisionError):
        captured(lambda x, a: x * (1.0 / a), Y, 0.0)
    check(lambda x, n: x * (n**70 // 3**100), Y, 3)
    check(lambda x, a: (a + 1, a * 2.0, -a, abs(a), a / 3, round(a)), Y, 2.5)


def test_special_exponents_have_traces_of_their_own() -> None:
    found, _ = captured(lambda x, a: x**a, Y, 0.7)
    assert found.guards.holds([Y, 0.8]) and not found.guards.holds([Y, 2.0])
    check(lambda x, a: x**a, -Y, 2.0)


def test_isinstance_and_type_answer_for_the_value() -> None:
    def function(x: Any, a: Any, n: Any) -> Any:
        assert isinstance(x, np.ndarray) and type(x) is np.ndarray and not isinstance(x, list)
        assert isinstance(a, float) and type(a) is float and isinstance(n, (int, str))
        assert isinstance(x.sum(), np.floating) and not isinstance(x.sum(), np.ndarray)
        assert not hasattr(a, "shape") and hasattr(x, "shape") and callable(function)
        assert isinstance(np.ndarray, type) and issubclass(np.float64, float)
        return x * a

    check(function, Y, 2.0, 1)


BY_CLASS = {np.ndarray: 2.0, float: 3.0}


def test_the_class_of_an_array_has_its_name_and_is_a_key() -> None:
    def function(x: Any, a: Any) -> Any:
        kind = type(x)
        names = kind.__name__, kind.__qualname__, kind.__module__, repr(kind)
        return x * BY_CLASS[kind] * BY_CLASS[type(a)], names, {kind: a}[np.ndarray]

    result, *rest = jit(function, strict=True)(Y, 2.0)
    expected, *others = function(Y, 2.0)
    np.testing.assert_array_equal(result, expected)
    assert rest == others


def test_numpy_scalars_have_their_own_type() -> None:
    found = check(lambda x, s: (x * s, s + 1, abs(s)), SINGLE, np.float64(2.0))
    assert found.guards.holds([SINGLE, np.float64(9.0)])
    found, leaves = captured(lambda x, s: x * float(s) if s > 1 else x, SINGLE, np.float32(2.0))
    assert not found.guards.holds([SINGLE, np.float32(3.0)])
    assert_same(run(found, leaves), SINGLE * 2.0)


@pytest.mark.parametrize("other", [decimal.Decimal("1.5"), fractions.Fraction(3, 2), "text", None])
@pytest.mark.parametrize("compare", [operator.lt, operator.ge, operator.eq, operator.ne])
def test_numpy_scalars_meet_other_numbers_as_in_numpy(compare: Any, other: Any) -> None:
    def function(x: Any, s: Any) -> Any:
        return x + 1.0 if compare(s, other) else -x

    for number in (np.float64(1.0), np.float64(2.0)):
        try:
            check(function, Y, number)
        except TypeError as error:
            with pytest.raises(TypeError, match=re.escape(str(error))):
                function(Y, number)
    found, _ = captured(lambda x, s: x * (s * fractions.Fraction(1, 2)), Y, np.float64(2.0))
    assert not found.guards.holds([Y, np.float64(3.0)])


# Signatures


def test_signatures() -> None:
    assert signature(Y) == (Y.dtype, (3,), (8,))
    assert signature(Y) != signature(Y[::-1]) and signature(X) != signature(np.asfortranarray(X))
    assert signature(1) == signature(2) and signature(1) != signature(1.0) != signature(True)
    assert signature(2**62) == signature(1) and signature(2**63) != signature(2**64)
    assert signature(Y.astype(">f8")) == NORMALISE
    assert signature(np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64)) == NORMALISE
    assert signature(np.float32(1)) == signature(np.float32(2)) != signature(1.0)
    assert signature({1, "a"}) == signature({"a", 1}) != signature({1.0, "a"})
    assert signature(np.sin) == signature(np.sin)


@pytest.mark.parametrize(
    "leaf",
    [
        np.array([object()]),
        np.array(["text"]),
        np.array(["2020"], "M8[D]"),
        np.zeros(2, [("a", float)]),
        np.ma.masked_array([1.0]),
        np.zeros(2).view(np.recarray),
        np.zeros(2, np.longdouble),
        bytearray(b"x"),
        {object()},
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_leaves_that_cannot_be_captured(leaf: Any) -> None:
    assert signature(leaf) is None


@pytest.mark.parametrize("value", [2.0, 2, np.float64(2), np.int8(2), np.array(2.0), Y], ids=repr)
def test_what_numbers_and_arrays_are_and_have(value: Any) -> None:
    def function(x: Any) -> Any:
        total = np.sum(x)
        kinds = (collections.abc.Iterable, collections.abc.Sized, collections.abc.Hashable, float)
        names = ("__len__", "__iter__", "ndim", "shape", "real", "is_integer", "hex")
        return [
            *(isinstance(one, kind) for one in (x, total) for kind in kinds),
            *(hasattr(one, name) for one in (x, total) for name in names),
            getattr(x, "ndim", "no array"),
            getattr(x, "nonsense", None),
        ]

    assert run(*captured(function, value)) == function(value)


def test_the_text_of_an_array_needs_its_numbers() -> None:
    for function in (repr, lambda x: f"{x!r}", lambda x: "%r" % [x]):
        with pytest.raises(CaptureError, match="needs its numbers"):
            captured(lambda x: function(x + 1.0), X)  # noqa: B023


def smoothed(x: Any) -> Any:
    for _ in range(3):
        x[1:-1] = (x[:-2] + x[2:]) / 2
    return x.sum()


def until_small(x: Any) -> Any:
    while x.max() > 1:
        x = x / 2
    return x


@pytest.mark.parametrize("function", [np.sin, smoothed, until_small, lambda x: x[x > 1]])
def test_no_cycle_of_a_trace_holds_arguments(function: Any) -> None:
    compiled, x = jit(function, strict=True), np.arange(40.0)
    before = sys.getrefcount(x)
    gc.disable()
    try:
        compiled(x)
        assert sys.getrefcount(x) == before
    finally:
        gc.enable()
