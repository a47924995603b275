"""Entries of dicts by chosen constants: all keys are known, which of them it is only the run tells.

steps = {"left": -1, "right": 1}
steps[way]                           -1 where way == "left", else 1, of which way == "right" is demanded
counts[way] += 1                     each entry is the new number where its key is the chosen one
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.constants.constant_table import class_of_constant
from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import either_holds, is_open, truth
from xjit.capture.tracers.demands import demand
from xjit.ir.context import TracedValue


def entry_of(mapping: Mapping[Any, Any], key: ChosenConstant) -> Any:
    """``mapping[key]``: NumPy does the call where there is no such key, and raises."""
    first, *others = _keys(mapping, key) or (key,)
    found = mapping[first]
    for one in others:
        here = functools.partial(mapping.__getitem__, one)
        found = chosen(truth(key == one), here, functools.partial(_same, found))
    return found


def put_entry(mapping: dict[Any, Any], key: ChosenConstant, value: Any) -> None:
    """``mapping[key] = value``: NumPy does the call where there is no such key yet."""
    for one in _keys(mapping, key) or (key,):
        same = key == one
        if is_open(same):
            entry = mapping[one]
            mapping[one] = chosen(truth(same), functools.partial(_same, value), functools.partial(_same, entry))
        else:
            mapping[one] = value


def is_among(key: ChosenConstant, constants: Any) -> Any:
    """``key in constants``: a truth value of the run where only that tells."""
    found: Any = False
    for one in _candidates(constants, key):
        same = key == one
        if not isinstance(same, TracedValue):
            if same:
                return True
        else:
            found = either_holds(found, same) if isinstance(found, TracedValue) else same
    return found


def _keys(mapping: Mapping[Any, Any], key: ChosenConstant) -> list[Any]:
    """The keys that a constant may be, one of which it is demanded to be; none where the dict has to be asked."""
    found = _candidates(mapping, key)
    holds = is_among(key, found)
    if not isinstance(holds, TracedValue):
        return [one for one in found if (key == one) is True]
    demand(holds, goes_on=True)
    return found


def _candidates(constants: Any, key: ChosenConstant) -> list[Any]:
    return [one for one in constants if class_of_constant(one) is key.kind or type(one) is ChosenConstant]


def _same(value: Any) -> Any:
    return value
