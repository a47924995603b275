"""Errors in their place among effects: steps ahead of an effect, or of a visible store, test what may fail before it.

    print("begin")
    y = x[i]            i may be out of bounds
    print("end")        a test of i, which raises NumPy's error, comes ahead of it

A program runs what has no effects when it is needed. Ahead of the first effect NumPy can still do all of the call.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Set
from typing import Any

import numpy as np

from xjit.capture.guarding.access_path import Path
from xjit.capture.recording.object_state import assigned_to, state_of
from xjit.capture.tracers.demands import failing, repeats_so_far, settle
from xjit.capture.tracers.provenance import CaptureTrace, position, refuse
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ir.node import Graph, Node
from xjit.ir.python_terms import call_of
from xjit.ir.rebuilding import reading, with_new
from xjit.ops.define.core import lift
from xjit.ops.effects.call_parts import CallParts
from xjit.ops.effects.python_call import OBJECT_TYPE, PYTHON_CALL, is_taken_back
from xjit.ops.effects.step_functions import TESTS, Failure, Storing, Test
from xjit.ops.elements.elementwise import and_
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.runtime_check import BEGUN_ANEW, REQUIRE


def test_ahead_of_effect(trace: CaptureTrace) -> None:
    """Tests all that may fail so far, ahead of an effect that happens once."""
    root, *inner = reversed(list(_around(trace)))
    if repeats_so_far(trace):
        settle(trace, [condition for condition, _ in _conditions(root)])
        _test(root, [])
    else:
        test_so_far(root)
    for one in inner:
        test_so_far(one)


def test_ahead_of_store(trace: CaptureTrace) -> None:
    """Tests what may fail so far, ahead of a store that the caller sees, where NumPy cannot do the call any more: to
    an array, or to an attribute of an object.

    Draws in compiled code do not count: loops that draw would have a step in Python in each turn.
    """
    around = list(_around(trace))
    done = not all(map(is_taken_back, (node for one in around for node in one.effects)))
    if done or any(one.behind_effects for one in around):
        for one in reversed(around):
            test_so_far(one)


def test_behind_effects(trace: Any) -> None:
    """Tests what may fail at the end of a trace that has effects: code around it may have more of them."""
    if isinstance(trace, CaptureTrace) and not all(map(is_taken_back, trace.effects)):
        test_so_far(trace)


def test_so_far(trace: CaptureTrace) -> None:
    """Tests what may fail in a trace and was not tested yet; arrays from outside have what was stored by then."""
    _test(trace, stored_so_far(trace))


def stored_so_far(trace: CaptureTrace) -> list[tuple[Node, Node]]:
    """The arrays from outside that were written to, as they are now, each with the object that the caller has."""
    written = dict.fromkeys(buffer for one in _around(trace) for buffer in one.versions if buffer.path is not None)
    return [(trace.adopt(one.version(trace)), trace.adopt(_object_at(one.path, trace))) for one in written]


def _object_at(path: Path, trace: CaptureTrace) -> Node:
    """An input of the program: what the caller has there, as the object that it is."""
    recorder = trace.recorder
    root: Trace = recorder.trace
    return root.once(("object", path), lambda: recorder.parameter(path.boxed(), OBJECT_TYPE))


def _test(trace: CaptureTrace, stored: Sequence[tuple[Node, Node]]) -> None:
    tested = {node for one in trace.effects if is_test(one) for node in one.inputs}
    new = [(condition, node) for condition, node in _conditions(trace) if condition not in tested]
    whole = [one for one in _results(trace) if one not in tested]
    if not new and not whole:
        return
    _check_nothing_assigned(trace)
    test = Test(tuple(Failure(one.op, one.kwargs, one.where, bool(one.inputs[-1].aval.rank)) for _, one in new))
    operands = (*(condition for condition, _ in new), *whole, *itertools.chain(*stored))
    parts = CallParts(call_of(test, len(new) + len(whole)), stored=len(stored))
    call = parts.call((position(), "a test of conditions"), repeats=True, function=test)
    trace.add(PYTHON_CALL, operands, {"call": call}, position())


def _check_nothing_assigned(trace: CaptureTrace) -> None:
    """CaptureError where an object from outside waits for what was assigned to it, which the error would lose.

    What a test stores are arrays. Ahead of all effects NumPy does the call, and assigns.
    """
    recorder = trace.recorder
    if all(map(is_taken_back, (node for one in _around(trace) for node in one.effects))):
        return
    for reference in recorder.objects:
        stand_in = reference()
        path = None if stand_in is None else state_of(stand_in).path
        if path is None:
            continue
        for name, value in assigned_to(stand_in).items():
            if recorder.path_of(value) != path.attribute(name):  # else changed in place
                refuse(
                    f"an error that only the run will tell may come behind an assignment to {path.attribute(name)}",
                    fix="assign at the end of the function",
                )


def is_test(node: Node) -> bool:
    """Return whether an effect is a test of conditions."""
    if node.op is not PYTHON_CALL:
        return False
    return node.param("call").function in TESTS.values() or _tests(node) is not None


def _tests(node: Node) -> Test | None:
    """The test that an effect is, if it is one."""
    function = node.param("call").function
    found = function.function if type(function) is Storing else function
    return found if type(found) is Test else None


def _conditions(trace: CaptureTrace) -> list[tuple[Node, Node]]:
    """The truth values of the conditions of a trace, and what fails where one is false."""
    found: dict[Node, Node] = {}
    for node in trace.conditional:
        if node.param("error") not in BEGUN_ANEW:
            condition = node.inputs[-1]
            with tracing(trace):
                rank = condition.aval.rank
                holds: Any = TracedValue(condition, trace)
                holds = reduce(holds, np.asarray(True), and_, range(rank)) if rank else holds
                found.setdefault(lift(trace, holds), node)
    return list(found.items())


def _results(trace: CaptureTrace) -> Iterator[Node]:
    """The results of each operation that may fail as a whole."""
    return (one for node in trace.fallible for one in failing(trace, node))


def _around(trace: Any) -> Iterator[CaptureTrace]:
    """The trace, and those around it."""
    while isinstance(trace, CaptureTrace):
        yield trace
        trace = trace.parent


def without_tested(graph: Graph) -> Graph:
    """The graph without checks of what its tests find: kernels, which come when they are needed, raise nothing then.

    test lt i n                         test lt i n
    y = look_up x (require i (lt i n))  y = look_up x i
    """
    tests = [one for one in graph.effects if is_test(one)]
    tested = {node for one in tests for node in _tested_by(one)}
    if not any(_is_tested(node, tested) for node in graph.nodes):
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if _is_tested(node, tested):
            new[node] = new[node.inputs[0]]
            continue
        new[node] = reading(node, new)
    return with_new(graph, new)


def _tested_by(test: Node) -> Iterator[Node]:
    """The conditions that a test looks at, and those of many elements that they sum up."""
    found = _tests(test)
    for node, failure in zip(test.inputs, () if found is None else found.failures, strict=False):
        yield node.inputs[0] if failure.summed else node


def _is_tested(node: Node, tested: Set[Node]) -> bool:
    return node.op is REQUIRE and node.inputs[-1] in tested and node.type == node.inputs[0].type
