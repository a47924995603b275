"""Steps of a compiled program that Python runs: NumPy for want of code, and what could not be captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xjit.capture.capture import Captured
from xjit.capture.tracers.provenance import origin_lines
from xjit.errors import TargetError, XjitError
from xjit.fusion.plan import HostStep
from xjit.ir.inner_graphs import all_graphs
from xjit.ir.node import Node
from xjit.ops.effects.python_call import PYTHON_CALL
from xjit.programs.lowered import Lowered


def host_steps(captured: Captured, lowered: Lowered) -> dict[str, XjitError]:
    """Return messages about such steps, by the reason: the first step of each, with the user's line.

    Library calls (matrix products, sorting) are not among them: NumPy is the library there.
    """
    found: dict[str, XjitError] = {}
    for node in _python_calls(captured):
        note = node.param("call").note
        if note is not None:
            found.setdefault(f"{note.message} {node.where}", note.located(node.where))
    labels = {node: str(one.path) for node, one in zip(captured.graph.parameters, captured.inputs, strict=True)}
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


def is_split(captured: Captured) -> bool:
    """Return whether a trace has calls in Python."""
    return next(_python_calls(captured), None) is not None


def is_tried(captured: Captured) -> bool:
    """Return whether NumPy may be quicker than a program: one that calls Python, draws, or is for certain values."""
    draws = any(node.op.alone is not None for node in captured.graph.nodes)
    return draws or bool(captured.pins) or is_split(captured)


def count_refused(captured: Captured) -> int:
    """Return how many calls in Python a trace has because something could not be captured."""
    return sum(node.param("call").note is not None for node in _python_calls(captured))


def _python_calls(captured: Captured) -> Iterator[Node]:
    for graph in all_graphs(captured.graph):
        yield from (node for node in graph.effects if node.op is PYTHON_CALL)


def warnings_of(name: str, steps: Mapping[str, XjitError]) -> tuple[tuple[str, str], ...]:
    """The warnings about steps of a function: the reason of each, and its text."""
    return tuple((reason, _warning(name, step)) for reason, step in steps.items())


def warnings_of_pins(name: str, captured: Captured) -> tuple[tuple[str, str], ...]:
    """The warnings about values of which each has a program of its own."""
    return tuple((pin.words, f"{name} is compiled for each value that decides: {pin.why}") for pin in captured.pins)


def _warning(name: str, step: XjitError) -> str:
    return f"{name} runs a step {'through NumPy' if isinstance(step, TargetError) else 'in Python'}: {step}"


def obstacles(traced: Callable[[], Captured]) -> list[XjitError]:
    """Everything of a function that a split trace runs in Python, and what it cannot do at all."""
    try:
        captured = traced()
    except XjitError as error:
        return [*error.others, error]
    except Exception:  # the user's own
        return []
    notes = [node.param("call").note for node in _python_calls(captured)]
    return [note for note in notes if note is not None]
