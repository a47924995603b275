"""Calls in Python that can be described to another process, and what is bound of them there."""

from __future__ import annotations

import enum
import functools
import math
import operator
import types
from typing import Any

import numpy as np
import pytest

from xjit.api.start.bind_calls import bound_call
from xjit.api.start.call_records import CallRecord
from xjit.api.start.code_digests import UnknownCodeError
from xjit.api.start.describe_calls import call_record
from xjit.api.start.guard_records import Binder, Describer
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import global_path
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.splits.labelled_arrays import Method, Operation
from xjit.capture.splits.opened_containers import entry_in_place
from xjit.capture.splits.templates import Template
from xjit.errors import XjitError
from xjit.ir.python_terms import Expression, Term, call_of
from xjit.ir.source_location import Where
from xjit.ops.effects.call_parts import CallParts
from xjit.ops.effects.expected_results import results_like
from xjit.ops.effects.python_call import PythonCall
from xjit.ops.effects.step_functions import Failure
from xjit.ops.effects.step_functions import Test as ConditionTest
from xjit.ops.whole_arrays.runtime_check import REQUIRE

SITE = (Where("file.py", 3, "user"), "f")
COUNT = 0


def noted(value: Any) -> Any:
    global COUNT
    COUNT += 1
    return value


def decorated(x: Any) -> Any:
    def error(p: Any) -> Any:
        return p * x

    return noted(error)


(ERROR,) = (one for one in decorated.__code__.co_consts if isinstance(one, types.CodeType))


class Colour(enum.Enum):
    RED = 1


class User:
    def method(self) -> None:
        pass


GUARDS = (
    guards.identity(global_path(globals(), "noted"), noted),
    guards.identity(global_path(globals(), "User"), User),
)


def kept(call: PythonCall) -> CallRecord:
    return call_record(call, Describer(decorated, GUARDS))


def again(record: CallRecord) -> PythonCall:
    binder = Binder(decorated, ())
    binder.guards(Describer(decorated, GUARDS).records())
    return bound_call(record, binder)


def with_constant(value: Any) -> PythonCall:
    expression = Expression(Term("constant"), 0, (value,))
    return CallParts(expression).call(SITE, repeats=True)


CONSTANTS = {
    "text": "a",
    "number": -0.0,
    "nothing": None,
    "range": range(3),
    "number of NumPy": np.float32(1.5),
    "element type": np.dtype(np.float32),
    "builtin": print,
    "class": float,
    "class of NumPy": np.float32,
    "module": math,
    "operator": operator.getitem,
    "function of NumPy": np.unique,
    "ufunc": np.add,
    "function that a guard is bound to": noted,
    "class that a guard is bound to": User,
    "decorated function": decorated,
    "method": Method("mean"),
    "operator of arrays": Operation(operator.add),
    "variable without a value": UNBOUND,
    "own function": entry_in_place,
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_that_are_found_again(name: str) -> None:
    value = CONSTANTS[name]
    found = again(kept(with_constant(value))).function()
    assert found is value or (type(found) is type(value) and repr(found) == repr(value))


def test_partial_functions() -> None:
    value = functools.partial(entry_in_place, operator.iadd)
    found = again(kept(with_constant(value))).function()
    assert (found.func, found.args) == (value.func, value.args)


def test_arrays_that_the_trace_has_computed() -> None:
    writeable, frozen = np.array([1.0, -0.0, np.nan]), np.arange(6).reshape(2, 3)
    frozen.flags.writeable = False
    constants = (writeable, frozen, writeable)
    term = Term("tuple", terms=tuple(Term("constant", number) for number in range(3)))
    call = CallParts(Expression(term, 0, constants)).call(SITE, repeats=True)
    one, other, third = again(kept(call)).function()
    assert one is third and one is not writeable
    assert one.flags.writeable and not other.flags.writeable
    assert (one.tobytes(), one.dtype, one.shape) == (writeable.tobytes(), writeable.dtype, writeable.shape)
    assert (other.tobytes(), other.dtype, other.shape) == (frozen.tobytes(), frozen.dtype, frozen.shape)


def test_arrays_that_share_memory() -> None:
    array = np.ones(4)
    term = Term("tuple", terms=(Term("constant"), Term("constant", 1)))
    with pytest.raises(UnknownCodeError):
        kept(CallParts(Expression(term, 0, (array, array[1:]))).call(SITE, repeats=True))


REFUSED = {
    "user's function without a guard": lambda value: value,
    "object": User(),
    "method of an object": User().method,
    "method in C of an object": [].append,
    "method of a generator": np.random.default_rng(0).normal,
    "array of objects": np.array([None]),
    "array in another order": np.ones((2, 3)).T,
    "array in the other byte order": np.ones(2, np.dtype(np.float64).newbyteorder()),
    "member of an enumeration": Colour.RED,
    "list": [1],
    "function of a library without a version": pytest.approx,
    "partial function with names": functools.partial(entry_in_place, entry=1),
    "partial function of an object": functools.partial(entry_in_place, User()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_constants_of_one_process(name: str) -> None:
    with pytest.raises(UnknownCodeError):
        kept(with_constant(REFUSED[name]))


def test_calls_without_parts() -> None:
    with pytest.raises(UnknownCodeError, match="no parts"):
        kept(PythonCall(noted, SITE, repeats=True))


def test_tests_of_conditions_raise_the_same() -> None:
    params = {"error": "value", "message": "there is nothing"}
    test = ConditionTest((Failure(REQUIRE, params, SITE[0], False),))
    call = again(kept(CallParts(call_of(test, 1)).call(SITE, repeats=True, function=test)))
    assert call.function(True) is None
    with pytest.raises(XjitError, match="there is nothing") as caught:
        call.function(False)
    assert "file.py:3, in user" in str(caught.value)


@pytest.mark.parametrize("example", [1.5, np.float32(2.0), np.ones((2, 3)), (np.ones(2), [3, {"a": True}], None)])
def test_expected_results(example: Any) -> None:
    results = results_like(example)
    assert results is not None
    call = CallParts(call_of(noted, 1), results, copied=True).call(SITE, repeats=False, first=True, guarded=True)
    made = again(kept(call))
    assert made.parts is not None and call.parts is not None
    assert (made.parts.results, made.parts.copied) == (results, True)
    assert (made.types, made.site, made.label) == (call.types, call.site, call.label)
    assert (made.repeats, made.first, made.guarded) == (False, True, True)
    found, wanted = made.arrays(example), call.arrays(example)
    assert all(map(np.array_equal, found, wanted)) and made.arrays("text") is None


def test_callbacks_are_made_of_the_code_and_the_globals_of_this_process() -> None:
    template = Template(ERROR, globals(), "error", "About it.")
    made = again(kept(with_constant(template))).function()
    assert (made.code, made.name, made.doc) == (ERROR, "error", "About it.") and made.namespace is globals()
    assert made(None, None, [3])(2) == 6


def test_callbacks_of_unknown_code() -> None:
    with pytest.raises(UnknownCodeError, match="defines error"):
        kept(with_constant(Template(User.method.__code__, globals(), "error", None)))
    with pytest.raises(UnknownCodeError, match="globals of error"):
        kept(with_constant(Template(ERROR, {}, "error", None)))
