"""Tests the conditions of all turns of a loop ahead of it, so that the loop may change an argument where it is.

    while_loop i x {                          while_loop i ok {                nothing is written here
      p = require q[i] (q[i] < n)               i + 1, ok & q[i] < n
      x[p] += 1                         ->    }
    }                                         held = require ok ok             else NumPy does the call
                                              while_loop i x {
                                                p = select held q[i] 0
                                                x[p] += 1
                                              }

If a turn failed that has written already, its argument would have to be a copy. Conditions must not need what turns
write, and be little work beside what a copy moves. That the second loop reads what was required keeps the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from xjit.dataclass import dataclass, replace
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS, in_graphs, inner_graphs, may_fail
from xjit.ir.node import Graph, Node
from xjit.ir.own_graphs import own_graph
from xjit.ir.rebuilding import reading
from xjit.ir.repeated_calls import is_demand
from xjit.machine import Machine, processor
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS, reduction_graph
from xjit.ops.whole_arrays.runtime_check import BEGUN_ANEW, MESSAGES, REPEAT, REQUIRE
from xjit.passes.loop_parts import LoopParts, needed_by, parts_of, with_control
from xjit.passes.state.required_truths import conjuncts
from xjit.passes.stored_results import Written, loops_from
from xjit.passes.turns.batched_values import constant
from xjit.passes.turns.blocked_turns import work_of_turn
from xjit.passes.turns.counted_turns import turns_of
from xjit.passes.turns.turns_at_once import take_turns_at_once
from xjit.types import BOOL, TupleType, scalar_type

_USUAL = processor()


def test_ahead(graph: Graph, written: Written, machine: Machine = _USUAL) -> Graph:
    """The graph with two loops in place of each that has conditions and changes an argument, the first of which tests
    them; the same object where there are none.
    """
    loops = frozenset[Node]() if graph.effects else loops_from(graph, written)
    if not loops:
        return graph
    demanded = {node.inputs[-1] for node in graph.nodes if is_demand(node)}

    def change(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
        held = frozenset(number for number, one in read.items() if one in demanded)
        if node in loops and (held or may_fail(node)):
            found = _results(parts_of(new[node]), held, machine)
            new.update((projection, found[number]) for number, projection in read.items() if found)

    found = with_control(graph, "loop", change)
    return graph if found is graph else take_turns_at_once(found)


class _NotAheadError(Exception):
    """A condition of a turn cannot be tested ahead."""


def _results(loop: LoopParts, demanded: AbstractSet[int], machine: Machine) -> dict[int, Node]:
    """The nodes in place of the results of a loop, by their numbers; none where it is not worth while to test ahead.

    Carried truth values of the numbers ``demanded`` have to hold in the end.
    """
    required = set(conjuncts(loop.condition.graph.outputs[0]))
    held = frozenset(number for number in demanded if loop.carried[number].tested in required)
    if not held and not may_fail(loop.node):
        return {}
    try:
        ok = _tested(loop, held)
        made = _untested(loop, held, proved := derived(REQUIRE, (ok, ok), loop.node, **_ANEW))
    except _NotAheadError:
        return {}
    if not _is_worth_while(loop, ok.inputs[0], held, machine):
        return {}
    whole = made.whole()
    return {number: _result(whole, place) for place, number in enumerate(made.carried)} | dict.fromkeys(held, proved)


_ANEW = {"error": REPEAT, "message": MESSAGES[REPEAT]}


def _is_worth_while(loop: LoopParts, tests: Node, held: AbstractSet[int], machine: Machine) -> bool:
    """Return whether to test the conditions of all turns is less than to copy what they write, as far as is known."""
    arrays = [one.before.aval for one in loop.carried.values() if one.before.aval.rank]
    elements, work = sum(one.size for one in arrays), work_of_turn(tests)
    if sum(one.nbytes for one in arrays) < machine.tested_ahead:
        return False
    turns = turns_of(loop, next(iter(held), None))
    if turns is None:
        return work <= max(machine.tested_work, work_of_turn(loop.node))
    works_on_copy = len(turns.values) * work_of_turn(loop.node) >= machine.copied_work * elements
    return not works_on_copy and len(turns.values) * work <= machine.tested_work * elements


# ---- the loop that tests


def _tested(loop: LoopParts, held: AbstractSet[int] = frozenset()) -> Node:
    """The truth value of the conditions of all turns, and of what is demanded of the carried ones ``held``.

    Raises _NotAheadError.
    """
    outside = (*loop.body.graph.effects, *loop.condition.graph.effects)
    if outside or loop.node.sequence >= 0 or any(map(may_fail, loop.condition.graph.nodes)):
        raise _NotAheadError
    like, after = loop.node, loop.after
    before, tested = _truth(like), _truth(like)
    new, found = _conditions(loop.body.graph, {loop.carried[number].before: before for number in held})
    ok = _conjunction([before, *found, *(new[after[number]] for number in sorted(held))], like)
    known = {loop.carried[number].tested: tested for number in held}
    (more,) = _replaced(loop.condition.graph, known).outputs
    more = more if held else derived(registry["and_"], (tested, more), like)
    ends = {number: new[after[number]] for number in loop.carried}
    numbers = [number for number in _needed(loop, ends, ok, more) if number not in held]
    slots = [loop.carried[number] for number in numbers]
    condition = replace(loop.condition, graph=Graph("condition", (), (more,))).used()
    body = replace(loop.body, graph=Graph("body", (), (*(ends[number] for number in numbers), ok))).used()
    graphs = (
        own_graph(
            replace(condition.graph, parameters=(*(one.tested for one in slots), tested, *condition.parameters))
        ),
        own_graph(replace(body.graph, parameters=(*(one.before for one in slots), before, *body.parameters))),
    )
    start = _conjunction([loop.carried[number].start for number in sorted(held)], like)
    inputs = (*(one.start for one in slots), start, *condition.operands, *body.operands)
    known_most = {"most": like.param("most")} if "most" in like.kwargs else {}
    params = {GRAPHS: graphs, "n": len(slots) + 1, "goes_on": True, **known_most}
    type = TupleType((*(one.before.aval for one in slots), scalar_type(BOOL)))
    return _result(replace(like, inputs=inputs, params=tuple(params.items()), type=type), len(slots))


def _needed(loop: LoopParts, ends: Mapping[int, Node], ok: Node, more: Node) -> list[int]:
    """The numbers of the carried values that conditions are made of. Raises _NotAheadError where arrays are."""
    made_of, numbers = needed_by([ok]) | needed_by([more]), list[int]()
    while True:
        found = [n for n, one in loop.carried.items() if one.before in made_of or one.tested in made_of]
        if any(loop.carried[number].before.aval.rank for number in found):
            raise _NotAheadError
        if found == numbers:
            return numbers
        numbers = found
        made_of |= needed_by([ends[number] for number in numbers])


def _conditions(graph: Graph, known: Mapping[Node, Node]) -> tuple[dict[Node, Node], list[Node]]:
    """The nodes of a graph without its conditions, and these. Raises _NotAheadError."""
    new: dict[Node, Node] = {}
    found: list[Node] = []
    for node in graph.nodes:
        made = new[node] = known[node] if node in known else reading(node, new)
        if node.op is REQUIRE and node.param("error") not in BEGUN_ANEW - {REPEAT}:
            new[node] = new[node.inputs[0]]
            found.append(_everywhere(new[node.inputs[1]]))
        elif node.sequence >= 0 or (node.op.leaves is not None and node.op.leaves(node.kwargs)):
            raise _NotAheadError
        elif may_fail(node):
            found.append(_tested_inside(made))
            new[node] = in_graphs(made, lambda one: _with_outputs(one, _conditions(one, {})[0]))
    return new, found


def _tested_inside(node: Node) -> Node:
    """The truth value of the conditions inside of an operation of control. Raises _NotAheadError."""
    if node.op.control == "loop":
        return _tested(parts_of(node))
    if node.op.control != "branch":
        raise _NotAheadError
    graphs, inputs = list[Graph](), [node.inputs[0]]
    for inner in inner_graphs(node):
        ok = _conjunction(_conditions(inner.graph, {})[1], node)
        needed = needed_by([ok])
        pairs = zip(inner.graph.parameters, inner.operands, strict=True)
        used = [(parameter, number) for parameter, number in pairs if parameter in needed]
        graphs.append(own_graph(Graph(inner.graph.name, tuple(parameter for parameter, _ in used), (ok,))))
        inputs += [node.inputs[number] for _, number in used]
    type = TupleType((scalar_type(BOOL),))
    return _result(replace(node, inputs=tuple(inputs), params=((GRAPHS, tuple(graphs)),), type=type), 0)


# ---- the loop that is left


def _untested(loop: LoopParts, held: AbstractSet[int], proved: Node) -> LoopParts:
    """The loop without its conditions, which hold if a truth value does."""
    truth, tested = _truth(loop.node), _truth(loop.node)
    walk = _Untested(truth, {loop.carried[number].before: truth for number in held})
    body = walk.changed(loop.body.graph)
    shown = constant(True, BOOL, loop.node) if walk.reads else tested
    condition = _replaced(loop.condition.graph, {loop.carried[number].tested: shown for number in held})
    if not held and not walk.reads:
        raise _NotAheadError
    loop = replace(
        loop,
        body=replace(loop.body, graph=body).with_more((proved,), (truth,)),
        condition=replace(loop.condition, graph=condition).with_more((proved,), (tested,)),
    )
    return loop.carrying(loop.carried.keys() - held)


@dataclass(eq=False)
class _Untested:
    """A graph without its conditions: values that need them are chosen where the ``truth`` holds, and so ``reads``
    are left of it.
    """

    truth: Node
    known: dict[Node, Node]
    reads: bool = False

    def changed(self, graph: Graph) -> Graph:
        """The graph without its conditions."""
        tests = [node.inputs[1] for node in graph.nodes if node.op is REQUIRE]
        new = dict(self.known) | {one: self.truth for one in tests if not one.aval.rank}
        for node in graph.nodes:
            if node in new and node not in graph.parameters:
                continue
            made = new.setdefault(node, reading(node, new))
            if node.op is REQUIRE:
                new[node] = self._chosen(new[node.inputs[0]], node)
            elif may_fail(node):
                new[node] = self._inside(made)
        return _with_outputs(graph, new)

    def _chosen(self, value: Node, like: Node) -> Node:
        """The value where the truth holds."""
        dtype, dims = value.aval.dtype, value.aval.dims
        if not value.aval.is_static or value.limits:
            raise _NotAheadError
        self.reads |= value.op is not CONSTANT
        zero, truth = constant(0, dtype, like), self.truth
        if dims:
            zero, truth = (
                derived(registry["broadcast_in_dim"], (x,), like, dims=dims, mapping=()) for x in (zero, truth)
            )
        return derived(registry["select"], (truth, value, zero), like)

    def _inside(self, node: Node) -> Node:
        """An operation of control without conditions inside of it."""
        if node.op.control == "loop":
            loop = parts_of(node)
            truth = _truth(node)
            walk = _Untested(truth, {})
            body = walk.changed(loop.body.graph)
            self.reads |= walk.reads
            return replace(loop, body=replace(loop.body, graph=body).with_more((self.truth,), (truth,))).whole()
        graphs, inputs = list[Graph](), [node.inputs[0]]
        for inner in inner_graphs(node):
            walk = _Untested(_truth(node), {})
            graph = walk.changed(inner.graph)
            self.reads |= walk.reads
            graphs.append(replace(graph, parameters=(*graph.parameters, walk.truth)))
            inputs += [*(node.inputs[number] for number in inner.operands), self.truth]
        params = {**node.kwargs, GRAPHS: tuple(graphs)}
        return replace(node, inputs=tuple(inputs), params=tuple(params.items()))


# ---- nodes


def _replaced(graph: Graph, known: Mapping[Node, Node]) -> Graph:
    """The graph with nodes in place of others, parameters included."""
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        new[node] = known[node] if node in known else reading(node, new)
    return _with_outputs(graph, new)


def _with_outputs(graph: Graph, new: Mapping[Node, Node]) -> Graph:
    return replace(graph, outputs=tuple(new[node] for node in graph.outputs))


def _truth(like: Node) -> Node:
    return Node(PARAMETER, (), (("type", scalar_type(BOOL)),), scalar_type(BOOL), like.where)


def _result(whole: Node, number: int) -> Node:
    assert isinstance(whole.type, TupleType)
    return Node(PROJECT, (whole,), (("index", number),), whole.type.elements[number], whole.where)


def _conjunction(truths: Sequence[Node], like: Node) -> Node:
    """The truth value that all of these hold."""
    if not truths:
        return constant(True, BOOL, like)
    found = truths[0]
    for one in truths[1:]:
        found = derived(registry["and_"], (found, one), like)
    return found


def _everywhere(truths: Node) -> Node:
    """Return whether all elements are true."""
    if not truths.aval.rank:
        return truths
    reducer, true = REDUCERS["and"], constant(True, BOOL, truths)
    params = {"dims": tuple(range(truths.aval.rank)), "reducer": reducer, "n": 1}
    return derived(REDUCE, (truths, true), truths, computation=reduction_graph(reducer, BOOL), **params)
