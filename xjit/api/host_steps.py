"""Steps of a compiled program that NumPy runs, because an operation has no code for its operands."""

from __future__ import annotations

from xjit.capture.capture import Captured
from xjit.capture.tracers.provenance import origin_lines
from xjit.errors import TargetError
from xjit.fusion.plan import HostStep
from xjit.programs.lowered import Lowered


def host_steps(captured: Captured, lowered: Lowered) -> dict[str, TargetError]:
    """Return messages about such steps, by the reason: the first step of each, with the user's line.

    Library calls (matrix products, sorting) are not among them: NumPy is the library there.
    """
    labels = {node: str(one.path) for node, one in zip(captured.graph.parameters, captured.inputs, strict=True)}
    found: dict[str, TargetError] = {}
    for step in (step for part in lowered.all() for step in part.plan.steps):
        if isinstance(step, HostStep) and step.reason not in found:
            types = ", ".join(str(source.type) for source in step.node.inputs)
            found[step.reason] = TargetError(
                f"{step.node.op.name} of {types} has no compiled form: {step.reason}",
                where=step.node.where,
                origin=origin_lines(step.node.inputs, labels),
                fix="compute this step outside of the function; without strict=True NumPy runs it inside",
            )
    return found
