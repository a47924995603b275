"""The steps of a program before which a run of kernels ends, as conditions are looked at there."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xjit.fusion import plan as planned
from xjit.fusion.statements import Check
from xjit.ir.node import Node


def tested_before(
    steps: Iterable[planned.Step], held: Container[Node], among: Container[Node]
) -> frozenset[planned.Step]:
    """The steps from which on memory of parameters is written, and those that draw, before which conditions have
    come: the program looks at these first. Copies that are ``held`` are such memory, library steps may run ``among``
    the kernels.
    """
    found, waiting = list[planned.Step](), False
    for step in steps:
        if waiting and (_draws(step) or any(one in held for one in planned.changed_by(step))):
            found.append(step)
            waiting = False
        waiting |= _may_fail(step, among)
    return frozenset(found)


def _may_fail(step: planned.Step, among: Container[Node]) -> bool:
    """Return whether a kernel notes that a condition does not hold."""
    if isinstance(step, planned.KernelStep):
        return any(isinstance(statement, Check) for statement in step.statements)
    return isinstance(step, planned.ControlKernelStep) or (step.node in among and not _draws(step))


def _draws(step: planned.Step) -> bool:
    kernel = isinstance(step, planned.ControlKernelStep) and step.node.sequence >= 0
    return kernel or (isinstance(step, planned.LibraryStep) and step.node.op.draws is not None)
