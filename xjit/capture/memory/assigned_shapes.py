"""Shapes that are assigned: the array itself becomes the view that ``reshape`` would return.

y = x.copy()                 y lies in its buffer as a whole
y.shape = 2, -1              y lies in the buffer by a reshape, as do other names of the array
"""

from __future__ import annotations

from typing import Any

from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.origins import code_of
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current

_INCOMPATIBLE = (
    "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
)


def assign_shape(array: Any, shape: Any) -> None:
    """Give an array another shape, in place.

    Raises NumPy's AttributeError where its memory does not allow that, and CaptureError for arrays of the caller's,
    who would see it before the program has run, and where only the run tells if the code runs.
    """
    trace = current()
    assert isinstance(trace, CaptureTrace)
    if trace.recorder is None or trace.recorder.path_of(array) is not None:
        refuse("the shape of an array from outside of the function is assigned to", array, fix="use reshape")
    if isinstance(code_of(array), TracedValue) or any(one.path is not None for one in array.buffer.kin):
        refuse(
            "the shape of an array that may be one from outside of the function is assigned to",
            array,
            fix="use reshape",
        )
    if array.owner is not trace or trace.trials:
        refuse("the shape of an array is assigned to in a loop or a branch", array, fix="use reshape")
    made = array.reshape(shape)
    if made is array:
        return
    if not isinstance(made, BufferView) or not made.is_view or made.buffer is not array.buffer:
        raise AttributeError(_INCOMPATIBLE)
    node, steps = made.node, made.steps
    array.node, array.is_view = node, True
    array.lie_in(made.buffer, steps)
