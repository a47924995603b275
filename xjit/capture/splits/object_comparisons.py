"""``a is b`` and ``a in items`` for what only the run tells: objects that it makes, arrays, numbers among others."""

from __future__ import annotations

import enum
import functools
import operator
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.constants.chosen_keys import is_among
from xjit.capture.control.state import NUMBERS
from xjit.capture.memory.origins import may_be_another, same_array
from xjit.capture.python_control.truth import as_bool, both_hold, either_holds, is_open, negated
from xjit.capture.splits.conversions import in_deferred
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.optional_value import OptionalValue, is_present
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray


def same_object(name: str, one: Any, other: Any) -> Any:
    """``one is other``, or ``is not``: a truth value of the run where only the run makes or chooses an object."""
    if one is None and type(other) is OptionalValue:
        one, other = other, one
    if type(one) is OptionalValue and other is None:
        found = is_present(one)
        if isinstance(found, bool):
            return found is (name == "is_not")
        return negated(found) if name == "is" else as_bool(found)
    function = operator.is_ if name == "is" else operator.is_not
    if one is other:
        return name == "is"
    choice = next((value for value in (one, other) if type(value) is ChosenConstant), None)
    if choice is not None:
        same = choice.is_one_with(other if choice is one else one)
        return same if name == "is" else negated(same) if is_open(same) else not same
    if not any(type(value) is DeferredObject for value in (one, other)):
        numbers = any(type(value) is OptionalValue or _is_number_of_run(value) for value in (one, other))
        return _of_numbers(name, one, other) if numbers else _of_arrays(name, one, other)
    if not any(value is None or isinstance(value, bool | enum.Enum | type) for value in (one, other)):
        refuse("an object that only the run makes is compared with another one by `is`", fix="compare values by ==")
    return step(function, (one, other), {}, like=(True,))


def _of_numbers(name: str, one: Any, other: Any) -> Any:
    """The same of a number of the run: each truth value is one object in Python, and one in NumPy."""
    classes = [_class_of_number(value) for value in (one, other)]
    if None in classes or (classes[0] is classes[1] and classes[0] not in _TRUTHS):
        refuse("only the run tells if two numbers are one object", one, other, fix="compare values by ==")
    if classes[0] is not classes[1]:
        return name == "is_not"
    same = one == other
    return as_bool(same) if name == "is" else negated(same)


def known_truths(value: Any) -> Any:
    """The subject of a ``match`` with ``case True``, which Python compares by ``is``."""
    leaves = tree.flatten(value)[0]
    if any(_is_number_of_run(leaf) and _class_of_number(leaf) in (None, *_TRUTHS) for leaf in leaves):
        refuse("a truth value that only the run tells is matched with True or False", value, fix="use if")
    return value


_TRUTHS = (bool, np.bool_)


def _is_number_of_run(value: Any) -> bool:
    return isinstance(value, TracedValue) and (value.weak is not None or value.scalar)


def _class_of_number(value: Any) -> type | None:
    """The class that a value has in Python; None where only the run tells it."""
    if type(value) is OptionalValue or doubt_of(value) is not None:
        return None
    if not _is_number_of_run(value):
        return type(value)
    found: type = value.weak or value.dtype.type
    return found


def _of_arrays(name: str, one: Any, other: Any) -> Any:
    same = same_array(one, other)
    if same is None:
        refuse("only the run tells if two arrays are one object", one, fix="compare values: np.array_equal(x, y)")
    if isinstance(same, TracedValue):
        return as_bool(same) if name == "is" else negated(same)
    return same is (name == "is")


def contained(name: str, value: Any, items: Any) -> Any:
    """``value in items``, or ``not_in``: a truth value of the run where that makes the items, or numbers among them.

    v in (2, 3)         v == 2 or v == 3
    v in range(a, b)    one of the numbers of the range
    v in x              np.any(x == v)
    """
    found = _among_elements(value, items) if issubclass(type(items), DeferredObject) else _among(value, items)
    if found is None:
        return in_deferred(name, value, items)
    if is_open(found):
        return as_bool(found) if name == "in" else negated(found)
    return bool(found) if name == "in" else not found


def _among_elements(value: Any, items: DeferredObject) -> Any:
    """Return whether a list of the run has an element that equals a value; None where its elements are not known."""
    from xjit.capture.comprehensions.searched import has_element

    return None if items.keyed is not None or items.elements is None else has_element(items.elements, value)


def _among(value: Any, items: Any) -> Any:
    if issubclass(type(value), ChosenConstant | DeferredObject) and type(items) is str:
        return step(operator.contains, (items, value), {}, like=(True,))
    if type(value) is ChosenConstant:
        return is_among(value, items)
    if isinstance(items, TracedValue | LimitedArray) or getattr(type(items), "chooses", False):
        return np.any(items == value)
    if type(items) is range and is_open(value):
        return _in_range(value, items)
    if type(items) in (set, frozenset) and is_open(value) and all(type(one) in NUMBERS for one in items):
        items = tuple(sorted(items, key=_by_size))
    if type(items) not in (tuple, list) or not (is_open(value) or any(map(is_open, items))):
        return value in items
    found: Any = False
    for one in items:
        same = one is value or (one is not None and value is not None and value == one)
        if not is_open(same) and same:
            return True
        if is_open(same):
            found = either_holds(found, same) if is_open(found) else same
    return found


def _in_range(value: Any, items: range) -> Any:
    if not items:
        return False
    first, last = sorted((items[0], items[-1]))
    found = both_hold(value >= first, value <= last)
    is_one = items.step in (1, -1) and value.dtype.kind in "biu"
    return found if is_one or found is False else both_hold(found, (value - first) % items.step == 0)


def _by_size(number: complex) -> tuple[float, float]:
    return number.real, number.imag


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
