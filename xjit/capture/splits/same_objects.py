"""``a is b`` for what only the run tells: objects that it makes, and arrays of which it chooses one."""

from __future__ import annotations

import enum
import functools
import operator
from typing import Any

from xjit.capture.memory.origins import may_be_another, same_array
from xjit.capture.python_control.truth import as_bool, negated
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.optional_value import OptionalValue, is_present
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue


def same_object(name: str, one: Any, other: Any) -> Any:
    """``one is other``, or ``is not``: a truth value of the run where only the run makes or chooses an object."""
    if type(one) is OptionalValue and other is None:
        found = is_present(one)
        if isinstance(found, bool):
            return found is (name == "is_not")
        return negated(found) if name == "is" else as_bool(found)
    function = operator.is_ if name == "is" else operator.is_not
    if not any(type(value) is DeferredObject for value in (one, other)):
        return _of_arrays(name, one, other)
    if not any(value is None or isinstance(value, bool | enum.Enum | type) for value in (one, other)):
        refuse("an object that only the run makes is compared with another one by `is`", fix="compare values by ==")
    return step(function, (one, other), {}, like=(True,))


def _of_arrays(name: str, one: Any, other: Any) -> Any:
    same = same_array(one, other)
    if same is None:
        refuse("only the run tells if two arrays are one object", one, fix="compare values: np.array_equal(x, y)")
    if isinstance(same, TracedValue):
        return as_bool(same) if name == "is" else negated(same)
    return same is (name == "is")


def identity_of(value: Any) -> int:
    """The identity of an object of the trace; CaptureError for an array that only the run chooses."""
    if may_be_another(value):
        refuse("the identity of an array is asked for that only the run chooses", value, fix="compare arrays by `is`")
    return id(value)


OF_OBJECTS: dict[Any, Any] = {
    operator.is_: functools.partial(same_object, "is"),
    operator.is_not: functools.partial(same_object, "is_not"),
    id: identity_of,
}
"""The functions that take the place of those that tell whether objects are the same."""
