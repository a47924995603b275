"""Results of a length that only the run knows: their padding is cut off where the program ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xjit.ops.dynamic.extents import CUT, TRIM
from xjit.programs.control_steps import slots_of
from xjit.runtime.spec import CallStep, RunStep, Step


def with_cuts(steps: Sequence[Step], spent: Sequence[tuple[int, ...]]) -> tuple[Step, ...]:
    """The steps, of which those that trim what kernels have made, and nobody reads any more, do so in its memory."""
    made = {slot for step in steps if isinstance(step, RunStep) for slot in step.results}

    def cut(step: Step, unread: tuple[int, ...]) -> Step:
        if not isinstance(step, CallStep) or step.operation.name != TRIM.name:
            return step
        source = step.inputs[0]
        others = (one for one in steps if source in slots_of(one) and one is not step)
        if source not in made or source not in unread or not all(isinstance(one, RunStep) for one in others):
            return step  # others may show its memory
        return dataclasses.replace(step, operation=dataclasses.replace(step.operation, name=CUT.name))

    return tuple(map(cut, steps, spent))
