"""Loops carry no more than changes: what stays as it is becomes a constant of the loop, what nobody reads goes.

    while_loop i0 a x0                        while_loop i0 x0 a
      body(i, a, x) -> i + 1, a, x * a   ->     body(i, x, a) -> i + 1, x * a

Values that are known become constants of the condition and the body, and what does not change from turn to turn is
computed before the loop. Nothing that may fail, or has an effect, is computed where it would not have been.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.dataclass import replace
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import may_fail
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.passes.loop_parts import (
    Captures,
    Carried,
    LoopParts,
    needed_by,
    parts_of,
    substituted,
    with_control,
)
from xjit.passes.state.equal_state import join_equal
from xjit.passes.state.required_truths import with_required_truths
from xjit.types import TupleType

_HOISTED = frozenset({Kind.REDUCE, Kind.SCAN, Kind.STRUCTURED})


def slim_loops(graph: Graph) -> Graph:
    """The graph with loops that carry less; the same object when there are none."""
    return with_control(with_control(graph, "loop", join_equal), "loop", _slim)


def _slim(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts a smaller loop, and what it yields, in place of a loop and its results."""
    loop = with_required_truths(_without_invariants(parts_of(new[node])))
    loop = _without_dead(_with_constants(loop), set(read))
    start = {number: one.start for number, one in parts_of(new[node]).carried.items()}
    condition, body = map(hoisted, (loop.condition, loop.body))
    found = replace(loop, condition=condition, body=body).whole()
    new[node] = found
    places = {number: place for place, number in enumerate(loop.carried)}
    for number, projection in read.items():
        if number in places:
            params = tuple((key, places[number] if key == "index" else value) for key, value in projection.params)
            new[projection] = replace(projection, inputs=(found,), params=params)
        else:
            new[projection] = start[number]


# ---- carried values


def _without_invariants(loop: LoopParts) -> LoopParts:
    """Values that the body hands on as they are, as values that the loop closes over."""
    after = loop.after
    still = {number: one for number, one in loop.carried.items() if _stays(one, after[number])}
    if not still:
        return loop
    starts = [one.start for one in still.values()]
    rest = loop.carrying(loop.carried.keys() - still.keys())
    condition = rest.condition.with_more(starts, [one.tested for one in still.values()])
    body = rest.body.with_more(starts, [one.before for one in still.values()])
    return replace(rest, condition=condition, body=body)


def _stays(one: Carried, after: Node) -> bool:
    """Return whether the value is what it started as in every turn, and laid out as the loop would have it."""
    if one.start.type != one.before.type:
        return False
    known = one.start.op is CONSTANT and after.op is CONSTANT
    return after is one.before or (known and one.start.computes == after.computes)


def _with_constants(loop: LoopParts) -> LoopParts:
    """Known values that the graphs close over, as constants inside of them."""
    return replace(loop, condition=_known_inside(loop.condition), body=_known_inside(loop.body))


def _known_inside(one: Captures) -> Captures:
    inside = {b: a for a, b in zip(one.operands, one.parameters, strict=True) if a.op is CONSTANT}
    return replace(one, graph=substituted(one.graph, inside)) if inside else one


def _without_dead(loop: LoopParts, read: set[int]) -> LoopParts:
    """Without values that nothing reads but what becomes of themselves, unless an error may come of that."""
    fails = {node for node in loop.body.graph.nodes if may_fail(node)}
    needed, after = needed_by((*loop.condition.graph.outputs, *loop.condition.graph.effects)), loop.after
    live = {number for number, one in loop.carried.items() if number in read or one.tested in needed}
    if fails:
        live |= {number for number in loop.carried if not fails.isdisjoint(needed_by([after[number]]))}
    made_of = needed_by(loop.body.graph.effects)
    while True:
        made_of |= needed_by([after[number] for number in live])
        more = {number for number, one in loop.carried.items() if one.before in made_of} - live
        if not more:
            return loop.carrying(live)
        live |= more


# ---- invariant parts


def hoisted(one: Captures) -> Captures:
    """A graph of a loop in which what does not change is a value from before the loop."""
    outer = dict(zip(one.parameters, one.operands, strict=True))
    for node in one.graph.nodes:
        if node not in outer and _may_be_early(node) and all(source in outer for source in node.inputs):
            outer[node] = node if not node.inputs else replace(node, inputs=tuple(outer[x] for x in node.inputs))
    found = list(dict.fromkeys(_worth_while(one.graph, outer)))
    if not found:
        return one
    parameters = [_parameter(node, number) for number, node in enumerate(found, len(one.parameters))]
    graph = substituted(one.graph, dict(zip(found, parameters, strict=True)))
    return replace(one, graph=graph).with_more([outer[node] for node in found], parameters)


def _may_be_early(node: Node) -> bool:
    """Return whether a node may be computed although no turn may come: it neither fails, ends late, nor is seen."""
    plain = not node.op.control and node.op.kind not in (Kind.EFFECT, Kind.COLLECTIVE) and node.sequence < 0
    return node.op is not PARAMETER and plain and node.op.failure is None and not node.op.raises


def _worth_while(graph: Graph, outer: dict[Node, Node]) -> Iterator[Node]:
    """The unchanging values that are kept between the turns: where what changes begins, if a turn saves by it.

    What only reads elsewhere, or is spread over more elements than it is made of, is as well computed again.
    """
    stack = [source for node in graph.nodes if node not in outer for source in node.inputs if source in outer]
    stack += [node for node in graph.outputs if node in outer]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen or node.op in (PARAMETER, CONSTANT):
            continue
        seen.add(node)
        if _saves(node):
            yield node
        else:
            stack += node.inputs


def _saves(node: Node) -> bool:
    made = node.inputs[0] if node.op is PROJECT else node
    if isinstance(node.type, TupleType) or node.limits:  # a value that is handed in has all elements of its type
        return False
    if made.op.kind is not Kind.ELEMENTWISE:
        return made.op.kind in _HOISTED
    leaves = [one for one in needed_by([node]) if one.op is PARAMETER]
    return node.aval.nbytes <= sum(one.aval.nbytes for one in leaves)


def _parameter(node: Node, number: int) -> Node:
    return Node(PARAMETER, (), (("capture", number), ("type", node.type)), node.type, node.where)
