"""Steps of a compiled program that Python runs: NumPy for want of code, and what could not be captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xjit.capture.capture import Captured
from xjit.capture.rewriting.left_out import LeftOut
from xjit.capture.tracers.provenance import origin_lines
from xjit.errors import TargetError, XjitError
from xjit.fusion.plan import WHOLE, ControlKernelStep, HostStep, KernelStep
from xjit.fusion.regions.materialized import owner, view_chain
from xjit.inspect.costs import OF_VALUES, cost_of_calls, cost_of_numpy
from xjit.ir.inner_graphs import all_graphs
from xjit.ir.node import Node
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.library_calls import LIMITED_SOLVER
from xjit.ops.effects.python_call import PYTHON_CALL
from xjit.programs.lowered import Lowered
from xjit.types import in_words


def host_steps(captured: Captured, lowered: Lowered) -> dict[str, XjitError]:
    """Return messages about such steps, by the reason: the first step of each, with the user's line.

    Library calls (matrix products, sorting) are not among them: NumPy is the library there.
    """
    found = _noted_calls(captured)
    labels = {node: str(one.path) for node, one in zip(captured.graph.parameters, captured.inputs, strict=True)}
    for step in (step for part in lowered.all() for step in part.plan.steps):
        if isinstance(step, HostStep) and step.reason not in found:
            types = ", ".join(in_words(source.type) for source in step.node.inputs)
            found[step.reason] = error = TargetError(
                f"{step.node.op.name} of {types} has no compiled form: {step.reason}",
                where=step.node.where,
                origin=origin_lines(step.node.inputs, labels),
                fix="compute this step outside of the function; without strict=True NumPy runs it inside",
            )
            error.cost = cost_of_numpy(step.node)
    return found


def _noted_calls(captured: Captured) -> dict[str, XjitError]:
    """Return what was noted about calls in Python, once for each place, with what all calls there cost."""
    found: dict[str, XjitError] = {}
    places: dict[str, list[Node]] = {}
    for node in _python_calls(captured):
        note = node.param("call").note
        if note is not None:
            place = f"{note.message} {node.where}"
            found.setdefault(place, note.located(node.where))
            places.setdefault(place, []).append(node)
    on_top = set(captured.graph.nodes)
    for place, nodes in places.items():
        found[place].cost = cost_of_calls(nodes, within=nodes[0] not in on_top)
    return found


def is_split(captured: Captured) -> bool:
    """Return whether a trace has calls in Python."""
    return next(_python_calls(captured), None) is not None


def is_tried(captured: Captured, lowered: Lowered) -> bool:
    """Return whether NumPy may be quicker than a program: one that calls Python, draws, is for certain values, solves
    systems of a size that only the run knows, or makes large arrays of the caller's anew.
    """
    if any(node.op is LIMITED_SOLVER for graph in all_graphs(captured.graph) for node in graph.nodes):
        return True
    draws = any(node.op.alone is not None for node in captured.graph.nodes)
    return draws or bool(captured.pins) or is_split(captured) or _copies_back(lowered)


def _copies_back(lowered: Lowered) -> bool:
    """Return whether all of a large argument is copied, and of what is copied back perhaps little has changed.

    Of a program with loops nobody knows how little that is beside their work.
    """
    if any(node.op.control == "loop" for part in lowered.all() for node in part.graph.nodes):
        return False
    steps = lowered.plan.steps
    made = {one.target for step in steps if isinstance(step, KernelStep) for one in step.statements}
    made |= {step.node for step in steps if isinstance(step, WHOLE | ControlKernelStep)}
    updates = (one for chain in lowered.stores.chains.values() for one in chain[1::2])
    whole = (one.inputs[1] for one in updates if len(one.inputs) > 1 and one.inputs[1].aval.size == one.aval.size)
    return any(one.aval.nbytes >= _LARGE and _made_by(one) in made for one in whole)


def _made_by(node: Node) -> Node:
    """The node whose step makes the elements of a value, which may be copied and seen in other ways."""
    while (base := view_chain(node)[0]) is not node or node.op is PACK:
        node = node.inputs[0] if base is node else base
    return owner(node)


_LARGE = 1 << 20
"""Bytes of an argument whose copy may take longer than NumPy's writes."""


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
    for pin in captured.pins:
        pin.why.cost = OF_VALUES
    return tuple((pin.words, f"{name} is compiled for each value that decides: {pin.why}") for pin in captured.pins)


def _warning(name: str, step: XjitError) -> str:
    return f"{name} runs a step {'through NumPy' if isinstance(step, TargetError) else 'in Python'}: {step}"


def obstacles(traced: Callable[[LeftOut], Captured]) -> list[XjitError]:
    """Everything of a function that a split trace runs in Python, and what it cannot do at all.

    Lines of which a trace refuses one are left out of the next one, which finds what is behind them.
    """
    found: dict[str, XjitError] = {}
    left_out = LeftOut()
    for _ in range(_MOST_OBSTACLES):
        try:
            captured = traced(left_out)
        except XjitError as error:
            found |= {one.brief: one for one in error.others if one.brief not in found}
            if not left_out.follows(error):
                found.setdefault(error.brief, error)
            if not left_out.add(error):
                break
        except Exception:  # the user's own
            break
        else:
            notes = [node.param("call").note for node in _python_calls(captured)]
            found |= {one.brief: one for one in notes if one is not None and one.brief not in found}
            break
    return list(found.values())


_MOST_OBSTACLES = 16
"""Refused lines of a function that are looked for."""
