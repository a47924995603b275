"""Traces inside of the trace of a function: the user's code of one body, condition or branch."""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import Any

from xjit import tree
from xjit.capture.catching.running_code import is_traced
from xjit.capture.control.state import Place, labelled
from xjit.capture.recording.object_state import ObjectStates
from xjit.capture.rewriting.assigned_cells import assigned_cells
from xjit.capture.rewriting.runtime_protocol import content
from xjit.capture.tracers.errors_in_order import test_behind_effects, without_tested
from xjit.capture.tracers.provenance import CaptureTrace, enclosing_capture, noted, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import replace
from xjit.errors import ArgumentError, CaptureError, IndexOutOfBoundsError, ShapeError, XjitError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Node
from xjit.ir.source_location import is_own_code
from xjit.ops.control.computations import Computation
from xjit.ops.control.computations import finished as computation_of
from xjit.ops.define.core import lift
from xjit.watch import CompileLimitError


def inner_trace(name: str) -> CaptureTrace:
    """A trace inside of the current one: it shares messages, guards and the watch with the function's."""
    trace, outer = CaptureTrace(name, wrap=TracedArray, parent=current()), enclosing_capture()
    if outer is not None:
        trace.labels, trace.refusals, trace.recorder = outer.labels, outer.refusals, outer.recorder
        trace.began, trace.floating_errors, trace.restoring = outer.began, outer.floating_errors, outer.restoring
        trace.watch, trace.lift_array, trace.lengths = outer.watch, outer.lift_array, outer.lengths
        trace.error_states = outer.error_states
    return trace


class undecided:
    """A piece of the user's code that may not run: what it raises becomes a CaptureError, as only the run tells.

    The end of the time for compiling is no error of the code.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, CaptureError | CompileLimitError):
            raise noted(_refusal(error)) from error


def _refusal(error: Exception) -> CaptureError:
    name = _calls_itself() if isinstance(error, RecursionError) else ""
    if name:
        reason = f"{name} calls itself, and only the run tells how often"
        return CaptureError(reason, fix="write it as a loop, or do this outside of the function")
    words = str(error).partition("\n")[0]
    reason = f"{type(error).__name__} is raised where only the run decides if the code runs: {words:.200}"
    return CaptureError(reason, fix="look at the values outside of the function")


def _calls_itself() -> str:
    """The name of a function of the user's that calls itself again and again; empty if there is none."""
    frames = traceback.walk_stack(sys._getframe())
    codes = Counter(frame.f_code for frame, _ in frames if is_traced(frame))
    found = codes.most_common(1)
    return found[0][0].co_name if found and found[0][1] >= _MANY_CALLS else ""


_MANY_CALLS = 8
"""Calls of one function within each other that are taken for a recursion without end."""


def is_of_users(error: Exception) -> bool:
    """Return whether the user's code or NumPy would raise an error, too."""
    if isinstance(error, XjitError):
        return isinstance(error, ShapeError | ArgumentError | IndexOutOfBoundsError)
    return not is_own_code(list(traceback.walk_tb(error.__traceback__))[-1][0].f_code)


class not_assigning:
    """A piece of the user's code that may not assign attributes of objects: its trace would not hand them on.

    Nor may it assign variables of functions around the ``functions`` that it calls.
    """

    __slots__ = ("cells", "objects")

    def __init__(self, *functions: Any) -> None:
        self.cells = [(name, cell, content(cell)) for name, cell in assigned_cells(functions)]

    def __enter__(self) -> None:
        trace = enclosing_capture()
        self.objects = None if trace is None or trace.recorder is None else ObjectStates(trace.recorder)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        found = [name for name, cell, before in self.cells if content(cell) is not before]
        if self.objects is not None and self.objects.assigned():
            self.objects.restore()  # so that a further trial sees it, too
            found.append("an attribute of an object")
        if found and error is None:
            refuse(
                f"{found[-1]} is assigned where only the run decides if the code runs",
                fix="return the new value from the function that is handed to the loop or the branch",
            )


def state_parameters(trace: Trace, places: Sequence[Place]) -> list[TracedArray]:
    """New parameters of a trace for the leaves of a state, as the user's code sees them."""
    nodes = [trace.parameter(place.aval) for place in places]
    labelled(trace, nodes, places)
    return [place.seen(node, trace) for node, place in zip(nodes, places, strict=True)]


def computed(trace: Trace, results: Sequence[Any]) -> Computation:
    """The computation that a trace has recorded, for these results."""
    test_behind_effects(trace)
    with tracing(trace):
        nodes: tuple[Node, ...] = tuple(lift(trace, one) for one in results)
    found = computation_of(trace, nodes, None)
    return replace(found, graph=without_tested(found.graph))


def own_copies(values: Any, trace: Trace) -> Any:
    """Nested values as a function gets them that may write over its arguments: traced ones as new objects."""
    leaves, structure = tree.flatten(values)
    return tree.unflatten(structure, [_own(leaf, trace) for leaf in leaves])


def _own(leaf: Any, trace: Trace) -> Any:
    if not isinstance(leaf, TracedValue) or leaf.weak is not None:
        return leaf
    made = TracedArray(trace.adopt(leaf.node), trace, scalar=leaf.scalar)
    if isinstance(leaf, TracedArray) and hasattr(leaf, "known"):
        made.known = leaf.known
        leaf.tell(made)
    return made
