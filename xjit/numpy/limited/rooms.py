"""Lengths that nothing bounds but the run: arrays get room by a guess, and the run looks whether it is enough."""

from __future__ import annotations

from typing import Any

from xjit import ops
from xjit.ir.current import current
from xjit.numpy.limited.arrays import number_of
from xjit.numpy.limited.run_time_integers import Integer, smallest
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.ops.dynamic.limited_windows import number


def room_for(guess: int, subject: str) -> int:
    """The elements that an array of such a length has room for.

    Raises DataDependentError where NumPy could not do the call if more were needed.
    """
    trace = current()
    found = None if trace is None or trace.lengths is None else trace.lengths.room(guess)
    if found is None:
        depends(subject, "the shape of the result", FILL)
    return found


def can_repeat() -> bool:
    """Return whether NumPy can do the call if an array is longer than there is room for."""
    trace = current()
    return trace is not None and trace.lengths is not None and trace.lengths.room(1) is not None


def expect_room(fits: Any, *, grows: bool = True) -> None:
    """Lets NumPy do the call unless a condition holds; later traces make more room if it ``grows``."""
    trace = current()
    if trace is None or trace.lengths is None:
        depends("numpy: the length of an array", "that", FILL)
    trace.lengths.expect(fits, grows=grows)


def bounded(length: Integer, guess: int, subject: str) -> Integer:
    """The length as one of an array: one that may be too long is cut to what there is room for."""
    if length.high <= guess:
        return length
    room = room_for(guess, subject)
    if length.high <= room:
        return length
    expect_room(ops.le(number_of(length), number(room)))
    return smallest(length, room)
