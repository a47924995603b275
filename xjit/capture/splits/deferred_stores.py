"""Stores of objects that only the run makes into arrays of the graph: a step in Python makes what is stored.

x[1:3] = found      x[1:3] = call filled(found, shape and type of x[1:3])
x += found          x[...] = call updated(x, found)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue
from xjit.ops.effects.step_functions import filled, updated


def value_of_store(window: Any, value: Any) -> Any:
    """The elements that a deferred value leaves in a window of an array."""
    if not isinstance(window, TracedValue):
        refuse("an object that only the run makes is stored where only the run tells how many elements there are")
    shape, dtype = window.shape, window.dtype
    return step(filled, (value, shape, dtype), {}, like=(np.empty(shape, dtype),))


def value_of_update(array: Any, ufunc: np.ufunc, value: Any) -> Any:
    """The elements of an array after an operator in place with a deferred value."""
    example = np.empty(array.shape, array.dtype)
    return step(updated, (array, value, ufunc.__name__), {}, like=(example,))
