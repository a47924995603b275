"""Results of a length that only the run knows: memory for them alone, or their padding is cut off where programs end.

Where the program knows the length before it writes them, and their bound is large, they get memory of that length::

    ends = ...                       # a run of kernels: how many elements are chosen up to the end of each block
    s4, s5 = room(ends)              # an array of the last of them, and the view by which kernels know it
    chosen_positions(mask, ends)     # another run, into s5
    result = cut(s4)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence

from xjit.fusion.plan import LibraryStep, Plan
from xjit.ir.node import Node
from xjit.ops.dynamic.extents import CUT, TRIM
from xjit.programs.control_steps import slots_of
from xjit.runtime.spec import CallStep, RoomStep, RunStep, Step

_ROOMY = 1 << 20
"""Bytes of a bound from which on the copy out of it costs more than another run of kernels."""


def rooms_of(plan: Plan) -> Mapping[Node, Node]:
    """The values that get memory of their own length, each with the node whose last element says it: those of
    routines over blocks that nothing but one trim reads.
    """
    readers: dict[Node, list[Node]] = {}
    for node in plan.graph.nodes:
        for source in node.inputs:
            readers.setdefault(source, []).append(node)
    found: dict[Node, Node] = {}
    for node in (step.node for step in plan.steps if isinstance(step, LibraryStep) and step.node.op.in_blocks):
        routine = node.op.in_blocks and node.op.in_blocks(tuple(one.aval for one in node.inputs), node.kwargs)
        if routine is None or routine.ends is None or node.aval.nbytes < _ROOMY or node in plan.graph.outputs:
            continue
        if [one.op for one in readers.get(node, ())] == [TRIM]:
            found[node] = node.inputs[routine.ends]
    return found


def with_cuts(steps: Sequence[Step], spent: Sequence[tuple[int, ...]]) -> tuple[Step, ...]:
    """The steps, of which those that trim what kernels have made, and nobody reads any more, do so in its memory."""
    made = {slot for step in steps if isinstance(step, RunStep) for slot in step.results}
    rooms = {step.results[0] for step in steps if isinstance(step, RoomStep)}

    def cut(step: Step, unread: tuple[int, ...]) -> Step:
        if not isinstance(step, CallStep) or step.operation.name != TRIM.name:
            return step
        source = step.inputs[0]
        others = (one for one in steps if source in slots_of(one) and one is not step)
        alone = source in made and source in unread and all(isinstance(one, RunStep) for one in others)
        if not (alone or source in rooms):
            return step  # others may show its memory
        return dataclasses.replace(step, operation=dataclasses.replace(step.operation, name=CUT.name))

    return tuple(map(cut, steps, spent))


def spent_after(steps: Sequence[Step], inputs: Iterable[int], kept: Container[int]) -> tuple[tuple[int, ...], ...]:
    """After each step the slots that nothing reads any more, so that their memory is used again."""
    own = {*inputs, *(slot for step in steps for slot in step.results)}  # others belong to blocks of the steps
    last = {slot: number for number, step in enumerate(steps) for slot in slots_of(step) if slot in own}
    spent: list[list[int]] = [[] for _ in steps]
    for slot, number in last.items():
        if slot not in kept:
            spent[number].append(slot)
    return tuple(map(tuple, spent))
