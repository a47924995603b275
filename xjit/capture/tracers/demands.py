"""Conditions that the function's code demands: where one does not hold, the code raises an error of its own.

    if x.min() < 0: raise ValueError(...)       demands  not (x.min() < 0)
    assert n > 0                                demands  n > 0

What is raised is not traced. The program tests the conditions before anybody sees what it made; if one fails, NumPy
does the call from the beginning, and raises. All demands together are one truth value, a buffer without an array:
loops carry it and end when it is false, branches choose it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.memory.buffer import Buffer
from xjit.capture.tracers.provenance import CaptureTrace, noted, position, refuse
from xjit.errors import CaptureError
from xjit.ir.context import PROJECT, Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.inner_graphs import inner_graphs, may_fail
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.python_terms import call_of
from xjit.numpy.limited.arrays import LimitedArray, sizes_of
from xjit.ops.define.core import constant, lift
from xjit.ops.effects.barrier import optimization_barrier
from xjit.ops.effects.call_parts import CallParts
from xjit.ops.effects.python_call import PYTHON_CALL, is_taken_back
from xjit.ops.effects.step_functions import TESTS
from xjit.ops.elements.elementwise import and_, not_, or_
from xjit.ops.regions.strided_slices import UPDATE_SLICE
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.runtime_check import LENGTH, MESSAGES, PINNED, REPEAT, require
from xjit.types import ArrayType, TupleType

ARMS = ("then", "otherwise")
"""The names of traces of arms."""


class DemandError(CaptureError):
    """A demand where nothing sees that it does not hold, such as in the condition of a loop."""


def demand(holds: Any, *, goes_on: bool = False) -> None:
    """Lets NumPy do the call unless a truth value of the graph holds.

    Python ``goes_on`` behind that place, where it can do what a program cannot, or what the program does behind it
    ends in any case; else it raises an error.
    """
    trace = current()
    assert isinstance(trace, CaptureTrace)
    trace.recorder.raises |= not goes_on
    buffer = demands_of(trace)
    known = buffer.version(trace)
    value = holds if known is buffer.first else and_(TracedValue(trace.adopt(known), trace), holds)
    hold(trace, lift(trace, value))


def expect(holds: Any) -> bool:
    """Lets NumPy do the call unless a truth value of the graph holds; return whether that can be done.

    It cannot in functions that a library calls, and behind effects that happen once.
    """
    trace = current()
    if not isinstance(trace, CaptureTrace) or not repeats_so_far(trace) or not can_demand(trace):
        return False
    trace.check_not_failed()
    if trace.parent is None:
        trace.expected.append(lift(trace, holds))
    else:
        demand(holds, goes_on=True)  # numbers that are wrong hold up no turn: loops stay loops on arrays
    return True


def expect_in_loop(trace: Trace, holds: Any) -> bool:
    """Expect a truth value of the graph where a loop is traced; return whether that is done."""
    return _is_in_loop(trace) and expect(holds)


def _is_in_loop(trace: Trace) -> bool:
    """Return whether a trace is not of a function, or of an arm of a branch outside of loops."""
    return any(one.name not in ARMS for one in (trace, *trace.around()) if one.parent is not None)


def repeats_so_far(trace: Trace | None) -> bool:
    """Return whether nobody would notice if what a trace has done so far were done again."""
    while isinstance(trace, CaptureTrace):
        if not all(map(is_taken_back, trace.effects)):
            return False
        trace = trace.parent
    return True


def settle(trace: CaptureTrace, conditions: Sequence[Node] = ()) -> None:
    """Tests what is demanded and expected so far, ahead of an effect that happens once: NumPy can do the call yet.

    Of an effect in a loop or a branch, what is expected ahead of that, and these ``conditions`` of errors there.
    """
    if not repeats_so_far(trace):
        return
    root = trace
    while isinstance(root.parent, CaptureTrace):
        root = root.parent
    found = demanded(root) if root is trace else None
    held = [*([] if found is None else [found.node]), *_untested(root, [*root.expected, *conditions])]
    for word, test in TESTS.items():
        own = tuple(node for node in dict.fromkeys(held) if _word_of(root, node) == word)
        if own:
            parts, site = CallParts(call_of(test, len(own))), (position(), "a test of conditions")
            call = parts.call(site, repeats=True, first=True, function=test)
            root.add(PYTHON_CALL, own, {"call": call}, position())
    if found is not None:
        demands_of(root).advance(root, demands_of(root).first)


def _word_of(trace: CaptureTrace, condition: Node) -> str:
    """The word of the error of a condition: another one where lengths of arrays are tested, or pinned values."""
    if condition in trace.pinned:
        return PINNED
    return LENGTH if condition in trace.fitting else REPEAT


def _untested(trace: CaptureTrace, conditions: Sequence[Node]) -> list[Node]:
    """The truth values that are not tested ahead of an effect."""
    calls = (one for one in trace.effects if one.op is PYTHON_CALL)
    tests = [one for one in calls if one.param("call").function in TESTS.values()]
    known = {node for one in tests for node in one.inputs}
    return [node for node in conditions if node not in known]


def hold(trace: CaptureTrace, node: Node) -> None:
    """Makes a truth value all that is demanded so far in a trace."""
    trace.check_not_failed()
    if not can_demand(trace):
        reason = "an error is raised where only the run tells if it is"
        raise noted(DemandError(reason, fix="look at the values outside of the function"))
    demands_of(trace).advance(trace, node)


def can_demand(trace: Trace | None) -> bool:
    """Return whether what is demanded in a trace is seen by the function's."""
    while isinstance(trace, CaptureTrace) and trace.recorder is not None:
        if trace.parent is None:
            return True
        if not trace.hands_on:
            return False
        trace = trace.parent
    return False


def demands_of(trace: CaptureTrace) -> Buffer:
    """The buffer of the truth value of a capture, true at first."""
    recorder = trace.recorder
    if recorder.demands is None:
        recorder.demands = Buffer(recorder.trace.scalar(np.asarray(True)), recorder.trace)
        recorder.demands.label = "the conditions of errors"
    found: Buffer = recorder.demands
    return found


def demanded(trace: Trace | None) -> TracedValue | None:
    """The truth value so far in a trace, as one of it; None where nothing is demanded."""
    if not isinstance(trace, CaptureTrace) or trace.recorder is None:
        return None
    return _version(trace.recorder.demands, trace)


def _version(buffer: Buffer | None, trace: CaptureTrace) -> TracedValue | None:
    """The truth value that a buffer without an array has in a trace; None where it is still the first one."""
    if buffer is None or buffer.version(trace) is buffer.first:
        return None
    return TracedValue(trace.adopt(buffer.version(trace)), trace)


def unless_failed(held: Any, trace: Trace) -> Any:
    """The condition for another turn of a loop: none is taken once something that is demanded does not hold."""
    found = demanded(trace)
    return held if found is None else and_(found, held)


def tested(trace: CaptureTrace) -> list[Node]:
    """The result of a program that fails unless all that is demanded holds; none where nothing is.

    Where an array in a turn is longer than there is room for, that is why.
    """
    found, fits = demanded(trace), _version(trace.recorder.rooms, trace)
    if found is None:
        return []
    if not all(map(is_taken_back, trace.effects)):
        _refuse_beside_effects()
    if fits is None:
        return [lift(trace, _tested(found, found))]
    long = require(found, fits, LENGTH, MESSAGES[LENGTH])
    return [lift(trace, _tested(long, or_(found, not_(fits))))]


def expect_room(trace: CaptureTrace, fits: Any) -> None:
    """Notes that a truth value in a turn or an arm, which is expected, is one of the length of an array."""
    recorder = trace.recorder
    if recorder.rooms is None:
        recorder.rooms = Buffer(recorder.trace.scalar(np.asarray(True)), recorder.trace)
        recorder.rooms.label = "the room of arrays"
    known = _version(recorder.rooms, trace)
    recorder.rooms.advance(trace, lift(trace, fits if known is None else and_(known, fits)))


def tested_unread(trace: CaptureTrace, results: Sequence[Node]) -> list[Node]:
    """The result of a program that fails unless what is expected holds, and the conditions of what nobody reads.

    None where there are no such conditions. NumPy raises the errors of these, too. Beside effects, which happen once,
    a test of these is one of them.
    """
    repeats, expected = all(map(is_taken_back, trace.effects)), _untested(trace, trace.expected)
    if expected and not repeats:
        _refuse_beside_effects()
    unread, whole = _unread(trace, results) if repeats else ([], [])
    conditions = dict.fromkeys([*(node.inputs[-1] for node in unread), *expected])
    if not conditions and not whole:
        return []
    value: Any = computed(trace, whole)
    for condition in conditions:
        holds = TracedValue(trace.adopt(condition), trace)
        word = _word_of(trace, condition)
        value = _tested(value, holds) if word == REPEAT else require(value, holds, word, MESSAGES[word])
    return [lift(trace, value)]


def _refuse_beside_effects() -> NoReturn:
    refuse("an error is raised, as only the run tells, beside effects that happen once")


def demand_unread(trace: CaptureTrace, values: Any) -> None:
    """Demands in a trace inside of another one, of which these values are left, the conditions of what nobody reads.

    Beside effects they are left out.
    """
    if not (trace.conditional or trace.fallible) or not can_demand(trace):
        return
    leaves = [one for leaf in tree.flatten(values)[0] for one in _parts(leaf)]
    if not all(map(is_taken_back, trace.effects)):
        return
    written = [node for buffer, node in trace.versions.items() if buffer.home is not trace]
    left = [leaf.node for leaf in leaves if isinstance(leaf, TracedValue)]
    unread, whole = _unread(trace, [*left, *written])
    if whole:
        demand(computed(trace, whole))
    for node in unread:
        condition = TracedValue(trace.adopt(node.inputs[-1]), trace)
        demand(reduce(condition, np.asarray(True), and_, range(node.inputs[-1].aval.rank)))


def _parts(leaf: Any) -> list[Any]:
    """The values of a leaf: those of an array of a size that only the run knows are its elements and sizes."""
    if not isinstance(leaf, LimitedArray):
        return [leaf]
    return [leaf.value, *(size.operand for size in sizes_of(leaf))]


def has_unread(trace: CaptureTrace, results: Sequence[Node]) -> bool:
    """Return whether results are not computed of all that has conditions."""
    return any(_unread(trace, results))


def _unread(trace: CaptureTrace, results: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """The nodes that results are not computed of: those with conditions, and those that may fail as a whole."""
    if not (trace.conditional or trace.fallible):
        return [], []
    read = _computed(results)
    conditional, whole = (dict.fromkeys(one) for one in (trace.conditional, trace.fallible))
    left = [node for node in whole if node not in read or _made(node, _shown(node, read))]
    return [node for node in conditional if node not in read], left


def _shown(node: Node, read: set[Node]) -> set[int]:
    """The results of a node that are read, by their numbers."""
    return {one.param("index") for one in read if one.op is PROJECT and one.inputs[0] is node}


def computed(trace: CaptureTrace, nodes: Sequence[Node]) -> Any:
    """True, behind what some nodes compute."""
    true = constant(np.asarray(True))
    if not nodes:
        return true
    results = [TracedValue(one, trace) for node in nodes for one in failing(trace, node)]
    return optimization_barrier((true, *results))[0]


def failing(trace: CaptureTrace, node: Node) -> list[Node]:
    """The results of a node that may fail as a whole: of a loop or a branch those made of what may fail in it.

    Others are known without any turn, as the last number of a counter is, or are computed without what nobody reads.
    """
    if not isinstance(node.type, TupleType):
        return [node]
    sizes = [one.nbytes if isinstance(one, ArrayType) else 0 for one in node.type.elements]
    return [trace.project(node, number) for number in _made(node) or [sizes.index(min(sizes))]]


def _made(node: Node, shown: Set[int] = frozenset()) -> list[int]:
    """The results of a loop or a branch that are made of what may fail, and of which the ones shown are not made."""
    if not isinstance(node.type, TupleType):
        return []
    count, graphs = len(node.type.elements), [inner.graph for inner in inner_graphs(node)]
    found = set[int]()
    for graph in graphs:
        if len(graph.outputs) != count:
            continue
        seen = _seen(graph, shown, graphs if node.op.control == "loop" else [])
        fallible = {one for one in _computed(graph.outputs) - seen if may_fail(one)}
        if fallible:
            found |= {number for number, one in enumerate(graph.outputs) if not fallible.isdisjoint(_computed([one]))}
    return sorted(found)


def _seen(body: Graph, shown: Set[int], graphs: Sequence[Graph]) -> set[Node]:
    """The nodes of a body that results are made of: in a loop, of these ``graphs``, those of earlier turns too."""
    carried = body.parameters[: len(body.outputs)] if graphs else ()
    tests = [graph for graph in graphs if graph is not body]
    wanted = {*shown}
    for test in tests:
        read = _computed(test.outputs)
        wanted |= {number for number, one in enumerate(test.parameters[: len(carried)]) if one in read}
    while True:
        seen = _computed([body.outputs[number] for number in wanted])
        more = {number for number, one in enumerate(carried) if one in seen}
        if more <= wanted:
            return seen
        wanted |= more


def _computed(results: Sequence[Node]) -> set[Node]:
    """The nodes that values are computed of: nothing is for values without elements, and what is replaced is none."""
    found = set[Node]()
    stack = list(results)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += _read_of(node)
    return found


def _read_of(node: Node) -> tuple[Node, ...]:
    """The operands of a node whose elements decide about those of its result."""
    if isinstance(node.type, TupleType):
        return node.inputs
    if not node.aval.size:
        return ()
    if node.op.kind is not Kind.UPDATE or len(node.updated) != 1:
        return node.inputs
    size = node.inputs[1].aval.size
    if not size:
        return node.inputs[:1]
    return node.inputs[1:] if node.op is UPDATE_SLICE and size == node.aval.size else node.inputs


def _tested(value: Any, holds: Any) -> Any:
    """The value; NumPy does the call from the beginning unless a condition holds everywhere."""
    return require(value, holds, REPEAT, MESSAGES[REPEAT])
