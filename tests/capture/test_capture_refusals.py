"""Refusals of a trace: writes that others would see, numbers that are not known, effects. All named and located."""

from __future__ import annotations

import copy
import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest

from tests.helpers.capturing import captured, check, run
from xjit.errors import CaptureError, DTypeError, ShapeError

X = np.arange(6.0).reshape(2, 3) + 1
Y = np.array([2.0, 3.0, 5.0])
SINGLE = np.array([0.5, 1.5, 2.5], np.float32)
SMALL = np.array([7, 3, 5], np.int8)


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


def test_a_view_that_is_gone_does_not_matter() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        first = y[1:].sum()
        y += 1
        return y, first

    check(function, Y)


WRITES = {
    "writes into the array": "y.resize((3, 1))",
    "where= is not supported": "np.add(x, 1, where=x > 1)",
    "hands out elements one by one": "np.nditer(y)",
}


@pytest.mark.parametrize(
    ("statement", "words"),
    [(one.strip(), words) for words, text in WRITES.items() for one in text.replace("\n", ";").split(";")],
)
def test_writes_say_where_and_what_to_do_instead(statement: str, words: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(compile(f"def function(x):\n    y = x * 2\n    {statement}\n    return y\n", "users.py", "exec"), scope)
    with pytest.raises(CaptureError, match=words) as error:
        captured(scope["function"], Y.copy())
    lines = str(error.value).splitlines()
    assert "  at users.py:3, in function" in lines
    assert lines[-1].startswith("  fix: ") and len(lines) <= 12


def test_elements_of_arrays_cannot_be_deleted() -> None:
    def function(x: Any) -> Any:
        del x[0]

    with pytest.raises(ValueError, match="cannot delete array elements"):
        captured(function, Y)


# Refusals


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: sorted([x[0], 1]), "are put in an order that only the run tells"),
        (lambda x: "%.2f" % x[0], "needs its numbers"),  # noqa: UP031
        (lambda x: math.trunc(x[0]) + int("1", base=x.astype(int)[0]), None),
        (lambda x: f"{x[0]:.2f}", "needs its numbers"),
        (lambda x: "text"[x.astype(int)[0]], "an index or a size needs the value"),
        (lambda x: memoryview(x), None),
        (lambda x: math.comb(x, 2), "math.comb"),
        (lambda x: x == None, "is compared with None"),  # noqa: E711
        (lambda x: x < decimal.Decimal(2), r"is compared with Decimal\('2'\)"),
        (lambda x: fractions.Fraction(1, 2) * x, r"is combined with Fraction\(1, 2\)"),
        (lambda x: print(x), r"print\(\): the function prints"),  # noqa: T201
        (lambda x: open("file"), "opens a file"),  # noqa: SIM115
        (lambda x: eval("x"), "runs code from text"),
        (lambda x: np.load("file"), "numpy.load reads or changes"),
        (lambda x: np.frompyfunc(abs, 1, 1)(x), "numpy.frompyfunc calls Python"),
        (lambda x: x.flat.coords, "flatiter.coords is not supported"),
        (lambda x: x.view(np.matrix), "ndarray.view: other classes of arrays are not supported"),
        (lambda x: setattr(x, "shape", (3, 1)), "assigns to an attribute by name"),
        (
            lambda x: x.__setattr__("shape", (3, 1)),
            "the shape of an array from outside of the function",
        ),
        (lambda x: copy.deepcopy([x]) and {x.sum(): 1}, None),
    ],
)
def test_what_needs_the_numbers_is_refused(function: Any, words: str | None) -> None:
    with pytest.raises(TypeError, match=words):
        captured(function, Y)


def test_a_swallowed_refusal_is_raised_at_the_end() -> None:
    def function(x: Any) -> Any:
        try:
            return "%.2f" % x[0]  # noqa: UP031
        except TypeError:
            return x

    with pytest.raises(CaptureError, match="needs its numbers"):
        captured(function, Y)


def test_messages_have_four_parts() -> None:
    def function(weights: Any) -> Any:
        total = (weights * 2.0).sum()
        return sorted([total, 1.0])

    with pytest.raises(CaptureError) as error:
        captured(function, Y)
    lines = str(error.value).splitlines()
    assert len(lines) <= 12
    assert "are put in an order" in lines[0]
    assert lines[1].startswith("  at ") and lines[1].endswith("in function")
    assert "test_capture_refusals.py" in lines[1]
    assert lines[2].startswith("  from total = (weights * 2.0).sum() -> float64, test_capture_refusals.py:")
    assert "  from argument weights: float64[3]" in lines
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
