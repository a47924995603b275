"""Capturing functions: what a traced run computes is what NumPy computes, and what cannot be traced is refused."""

from __future__ import annotations

import copy
import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from xjit import tree
from xjit.capture.capture import Captured, capture
from xjit.capture.signature import NORMALISE, signature
from xjit.errors import CaptureError, DTypeError, ShapeError
from xjit.ir.context import current
from xjit.ops.evaluate import evaluate_graph


def captured(function: Any, *args: Any, **kwargs: Any) -> tuple[Captured, list[Any]]:
    leaves, structure = tree.flatten((args, kwargs))
    found = capture(function, leaves, structure)
    assert found.guards.holds(leaves), found.guards.reason(leaves)
    assert current() is None
    return found, leaves


def run(found: Captured, leaves: list[Any]) -> Any:
    """The result of a captured function, its graph evaluated with NumPy."""
    values = found.guards.fetch(leaves)
    assert values is not None, found.guards.reason(leaves)
    results = evaluate_graph(found.graph, [np.asarray(value) for value in values])
    finished = []
    for output in found.outputs:
        if output.source == "graph":
            array = results[output.index]
            finished.append(output.python(array.item()) if output.python else array[()] if output.scalar else array)
        else:
            finished.append(output.value if output.path is None else output.path.read(leaves))
    return tree.unflatten(found.out_tree, finished)


def check(function: Any, *args: Any, **kwargs: Any) -> Captured:
    """Captures, evaluates and compares with NumPy, types included; then once more with other numbers."""
    found, leaves = captured(function, *args, **kwargs)
    assert_same(run(found, leaves), function(*args, **kwargs))
    others = [leaf + leaf if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    other_args, other_kwargs = tree.unflatten(tree.flatten((args, kwargs))[1], others)
    if found.guards.holds(others):
        assert_same(run(found, others), function(*other_args, **other_kwargs))
    return found


def assert_same(result: Any, expected: Any) -> None:
    result_leaves, result_tree = tree.flatten(result)
    expected_leaves, expected_tree = tree.flatten(expected)
    assert result_tree == expected_tree
    for one, other in zip(result_leaves, expected_leaves, strict=True):
        assert type(one) is type(other)
        if isinstance(other, np.ndarray | np.generic):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=1e-12)
        else:
            assert one == other


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
    with pytest.raises(CaptureError, match=r"math.floor is not supported"):
        captured(lambda x: math.floor(x[0]), Y)


def test_imports_inside_the_function_are_traced() -> None:
    def function(x: Any) -> Any:
        import math as m

        import numpy
        from numpy import zeros

        return numpy.sin(x) + zeros(3) + m.sqrt(x[0])

    check(function, Y)


def test_random_state_is_refused() -> None:
    with pytest.raises(CaptureError, match=r"numpy.random.rand draws from random state"):
        captured(lambda x: x + np.random.rand(3), Y)


def test_unsupported_functions_are_named() -> None:
    with pytest.raises(CaptureError, match=r"numpy.*convolve is not supported"):
        captured(lambda x: np.convolve(x, x), Y)
    with pytest.raises(CaptureError, match=r"ndarray.argpartition is not supported"):
        captured(lambda x: x.argpartition(1), Y)


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


def test_numpy_scalars_have_their_own_type() -> None:
    found = check(lambda x, s: (x * s, s + 1, abs(s)), SINGLE, np.float64(2.0))
    assert found.guards.holds([SINGLE, np.float64(9.0)])
    found, leaves = captured(lambda x, s: x * float(s) if s > 1 else x, SINGLE, np.float32(2.0))
    assert not found.guards.holds([SINGLE, np.float32(3.0)])
    assert_same(run(found, leaves), SINGLE * 2.0)


# In-place operators


def test_fresh_values_change_in_place_for_all_their_names() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        z = y
        y += 1
        y /= x
        np.multiply(y, 3, out=y)
        return y, z

    check(function, Y)
    found, leaves = captured(function, Y)
    first, second = run(found, leaves)
    assert first is second


def test_scalars_are_rebound() -> None:
    def function(x: Any, a: float) -> Any:
        total = x.sum()
        other = total
        total += 1
        a *= 2
        return total, other, a

    check(function, Y, 1.5)


def test_in_place_results_are_cast_by_the_same_kind_rule() -> None:
    def narrow(x: Any, y: Any) -> Any:
        z = x + 1
        z += y
        return z

    check(narrow, SINGLE, Y)
    with pytest.raises(DTypeError, match="cannot cast"):
        captured(narrow, SMALL, Y)
    with pytest.raises(ShapeError, match="does not fit"):
        captured(narrow, Y, X)


def _shared_with_view(x: Any) -> Any:
    y = x + 1
    view = y[1:]
    y += 1
    return y, view


def _through_view(x: Any) -> Any:
    y = x + 1
    view = y[1:]
    view += 1
    return y


def _argument(x: Any) -> Any:
    x += 1
    return x


def _element(x: Any) -> Any:
    y = x + 1
    y[0] = 2
    return y


def _out_of_global(x: Any) -> Any:
    return np.add(x, 1, out=Y)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_shared_with_view, "shares its memory with a view"),
        (_through_view, "shares its memory with a view"),
        (_argument, "argument x is written in place"),
        (_element, "elements of .* are assigned to"),
        (_out_of_global, "global Y is written in place"),
    ],
)
def test_writes_that_others_would_see_are_refused(function: Any, words: str) -> None:
    with pytest.raises(CaptureError, match=words) as error:
        captured(function, Y.copy())
    assert error.value.where is not None and error.value.where.function == function.__name__


def test_a_view_that_is_gone_does_not_matter() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        first = y[1:].sum()
        y += 1
        return y, first

    check(function, Y)


# Refusals


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x if x.sum() > 0 else -x, "a condition needs the value"),
        (lambda x: float(x[0]), r"float\(\) needs the value"),
        (lambda x: int(x[0]), r"int\(\) needs the value"),
        (lambda x: f"{x[0]:.2f}", "its text needs the value"),
        (lambda x: range(x.astype(int)[0]), "an index or a size needs the value"),
        (lambda x: 2.0 in x, "`in` needs the numbers"),
        (lambda x: memoryview(x), None),
        (lambda x: math.comb(x, 2), "math.comb"),
        (lambda x: x == None, "is compared with None"),  # noqa: E711
        (lambda x: print(x), r"print\(\): the function prints"),  # noqa: T201
        (lambda x: open("file"), "opens a file"),  # noqa: SIM115
        (lambda x: eval("x"), "runs code from text"),
        (lambda x: np.load("file"), "numpy.load reads or changes"),
        (lambda x: np.vectorize(abs)(x), "numpy.vectorize calls Python"),
        (lambda x: x.flat, "ndarray.flat is not supported"),
        (lambda x: copy.deepcopy([x]) and {x.sum(): 1}, None),
    ],
)
def test_what_needs_the_numbers_is_refused(function: Any, words: str | None) -> None:
    with pytest.raises(TypeError, match=words):
        captured(function, Y)


def test_a_swallowed_refusal_is_raised_at_the_end() -> None:
    def function(x: Any) -> Any:
        try:
            return float(x[0])
        except TypeError:
            return x

    with pytest.raises(CaptureError, match=r"float\(\) needs the value"):
        captured(function, Y)


def test_messages_have_four_parts() -> None:
    def function(weights: Any) -> Any:
        total = (weights * 2.0).sum()
        if total > 1:
            return weights
        return -weights

    with pytest.raises(CaptureError) as error:
        captured(function, Y)
    lines = str(error.value).splitlines()
    assert len(lines) <= 12
    assert "needs the value" in lines[0]
    assert lines[1].startswith("  at ") and lines[1].endswith("in function") and "test_capture.py" in lines[1]
    assert any("reduce" in line and "test_capture.py" in line for line in lines)
    assert "  from argument weights: f64[3]" in lines
    assert lines[-1].startswith("  fix: ")


def test_leaked_values_are_named() -> None:
    class Stop(Exception):
        pass

    def leaking(x: Any) -> Any:
        raise Stop(x + 1)

    with pytest.raises(Stop) as stop:
        captured(leaking, Y)
    leaked = stop.value.args[0]
    with pytest.raises(CaptureError, match=r"leaking is used after its trace has ended"):
        leaked + 1
    with pytest.raises(CaptureError, match=r"leaking is used after its trace has ended"):
        captured(lambda x: x + leaked, Y)


def test_errors_of_numpy_and_of_the_user_pass() -> None:
    with pytest.raises(ShapeError, match="could not be broadcast") as error:
        captured(lambda x, y: x + y, Y, np.ones(4))
    assert error.value.where is not None
    with pytest.raises(ValueError, match="truth value of an array"):
        captured(lambda x: x if x > 0 else -x, Y)
    with pytest.raises(IndexError):
        captured(lambda x: x[5], Y)
    with pytest.raises(TypeError, match="unsized"):
        captured(lambda x: len(x), np.array(1.0))
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        captured(lambda x: x.colour, Y)
    with pytest.raises(KeyError, match="missing"):
        captured(lambda x: {}["missing"], Y)


def test_changed_argument_containers_are_refused() -> None:
    def function(parts: list[Any]) -> Any:
        parts.append(parts[0])
        return parts[0]

    with pytest.raises(CaptureError, match="changes a list or dict"):
        captured(function, [Y])


# Signatures


def test_signatures() -> None:
    assert signature(Y) == (Y.dtype, (3,), (8,))
    assert signature(Y) != signature(Y[::-1]) and signature(X) != signature(np.asfortranarray(X))
    assert signature(1) == signature(2) and signature(1) != signature(1.0) != signature(True)
    assert signature(2**60) != signature(2**61)
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
        np.random.default_rng(0),
        bytearray(b"x"),
        {object()},
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_leaves_that_cannot_be_captured(leaf: Any) -> None:
    assert signature(leaf) is None
