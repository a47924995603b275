"""Loops inside of turns that are taken at once: all turns go through theirs side by side.

    for i in range(n):                    y = x[:n]; active = y > 1
      y = x[i]                            while any(active):
      while y > 1: y = y / 2       ->       y = select active (y / 2) y
      out[i] = y                            active = active and y > 1
                                          out[:n] = y

A turn whose loop has ended is not *active*: it keeps what it has until all have ended. No loop needs another one: a
block of them may end as soon as its own have. Loops that have as many turns everywhere need no mask.
Inside of them elements are read at places that are the same for all, or at that of the turn: what a turn has found
elsewhere may not be there any more once its loop has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from xjit import numerics
from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS
from xjit.ir.node import Graph, Node
from xjit.ir.own_graphs import own_graph
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS, reduction_graph
from xjit.passes.interpret import interpret
from xjit.passes.loop_parts import LoopParts, needed_by, parts_of, projections
from xjit.passes.turns.batched_values import Batch, Batched, Several, Value, constant
from xjit.types import BOOL, ArrayType, TupleType, array_type

Loops: TypeAlias = "Callable[[Node, Sequence[Value]], Several | None]"


def loops_of(graph: Graph, turns: int) -> Loops:
    """Return what makes of a loop in a graph those of so many turns."""
    read = projections(graph)
    return lambda node, inputs: _side_by_side(node, inputs, turns, frozenset(read.get(node, ())))


def _side_by_side(node: Node, inputs: Sequence[Value], turns: int, read: frozenset[int]) -> Several | None:
    """The last values of the loops of all turns; None where they do not go side by side."""
    loop = parts_of(node)
    if node.sequence >= 0 or loop.body.graph.effects or loop.condition.graph.effects:
        return None
    given = dict(zip(node.inputs, inputs, strict=True))
    captured = {one: given[one] for part in (loop.condition, loop.body) for one in part.operands}
    known = {one: value for one, value in captured.items() if isinstance(value, Batched)}
    starts = _starts(loop, given)
    if len(known) < len(captured) or starts is None:
        return None
    together = _LoopsOfTurns(loop, turns, starts, known, read)
    return together.results() if together.settle() else None


def _starts(loop: LoopParts, given: Mapping[Node, Value]) -> dict[int, Batched] | None:
    """The first values of what a loop carries; any will do where a first turn makes others of nothing."""
    found = dict[int, Batched]()
    seen = needed_by((*loop.body.graph.outputs, *loop.condition.graph.outputs))
    for number, one in loop.carried.items():
        value = given[one.start]
        if not isinstance(value, Batched):
            if one.before in seen or one.tested in seen or one.before.aval.rank or not _has_a_turn(loop):
                return None
            value = Batched(constant(0, one.before.aval.dtype, loop.node), uniform=True)
        found[number] = value
    return found


def _has_a_turn(loop: LoopParts) -> bool:
    """Return whether known numbers say that a loop has a first turn."""
    graph = loop.condition.graph
    needed = needed_by(graph.outputs)
    tested = {one.tested: one.start for one in loop.carried.values() if one.tested in needed}
    if any(one in needed for one in loop.condition.parameters):
        return False
    if any(start.op is not CONSTANT for start in tested.values()):
        return False
    numbers = [np.asarray(start.param("value").item(), start.aval.dtype) for start in tested.values()]
    (more,) = interpret(Graph("first", tuple(tested), graph.outputs), numbers)
    return bool(more)


@dataclass(eq=False)
class _LoopsOfTurns:
    """The loops of all turns, from their ``starts`` on, over what they have ``captured``, as one loop.

    Carried values are parameters of its body, the ``slots``; ``uniform`` ones are the same in all turns. They have
    other values ``after`` a turn, and ``more`` says which loops go on. What the body sees of what is captured is
    ``inside``.
    """

    loop: LoopParts
    turns: int
    starts: Mapping[int, Batched]
    captured: Mapping[Node, Batched]
    read: frozenset[int]
    inside: dict[Node, Batched] = field(default_factory=dict)
    uniform: set[int] = field(default_factory=set)
    slots: dict[int, Node] = field(default_factory=dict)
    after: dict[int, Batched] = field(default_factory=dict)
    more: Batched | None = None

    def settle(self) -> bool:
        """Finds out what is uniform; returns whether all values are known."""
        self.inside = {one: self._seen(value) for one, value in self.captured.items()}
        self.uniform = {number for number, one in self.starts.items() if one.uniform}
        while True:
            self.slots = {number: self._slot(number) for number in self.starts}
            if not self._take_turn() or self.more is None:
                return False
            others = {number for number in self.uniform if not self.after[number].uniform}
            if not others and not self.more.uniform:
                others = set(self.uniform)
            if not others:
                break
            self.uniform -= others
        apart = [one.before.aval for number, one in self.loop.carried.items() if number not in self.uniform]
        state = self.turns * sum(one.dtype.itemsize for one in apart)
        return not any(one.rank for one in apart) and state <= numerics.STATE_OF_TURNS_BYTES

    def results(self) -> Several | None:
        """The last values, as those of a loop; None where its first turn may come for some only."""
        assert self.more is not None, "settled before"
        batch, begun = Batch(self.turns, {}), self._condition(self.starts, self.captured)
        if begun is None or (self.more.uniform and not begun.uniform):
            return None
        if self.more.uniform:
            test = self._condition(self._held(), self.inside)
            return None if test is None else self._built(test.node, {n: one.node for n, one in self.after.items()})
        mask = self._parameter(array_type(BOOL, (self.turns,)))
        active = derived(registry["and_"], (mask, batch.spread(self.more)), self.loop.node)
        ends = dict[int, Node]()
        for number, one in self.after.items():
            new = batch.spread(one) if number not in self.uniform else one.node
            frozen = (mask, new, self.slots[number])
            ends[number] = new if number in self.uniform else derived(registry["select"], frozen, self.loop.node)
        return self._built(any_of(mask), ends, (mask, batch.spread(begun), active))

    def _built(self, test: Node, ends: dict[int, Node], mask: tuple[Node, Node, Node] | None = None) -> Several:
        """The results of the loop that goes on as the test says; a mask comes last, with its first and next value."""
        like, batch = self.loop.node, Batch(self.turns, {})
        carried = self._needed(ends, (test,) if mask is None else (test, mask[2]))
        rows = [
            (self.slots[n], self.starts[n].node if n in self.uniform else batch.spread(self.starts[n]), ends[n])
            for n in carried
        ]
        rows += [mask] if mask else []
        slots, begins, after = ([_like(one[k], one[0]) for one in rows] for k in range(3))
        of_test, of_body = self._used((test,)), self._used(after)
        graphs = (
            own_graph(Graph("condition", (*slots, *(self.inside[one].node for one in of_test)), (test,))),
            own_graph(Graph("body", (*slots, *(self.inside[one].node for one in of_body)), tuple(after))),
        )
        inputs = (*begins, *(self.captured[one].node for one in (*of_test, *of_body)))
        kept = {key: value for key, value in like.params if key == "most"}
        values = {**kept, GRAPHS: graphs, "n": len(slots), **({"masked": len(slots) - 1} if mask else {})}
        type = TupleType(tuple(one.aval for one in slots))
        whole = Node(like.op, inputs, tuple(values.items()), type, like.where)
        found: list[Value] = [None] * len(self.starts)
        for place, number in enumerate(carried):
            end = Node(PROJECT, (whole,), (("index", place),), slots[place].aval, like.where)
            found[number] = Batched(end, uniform=number in self.uniform)
        return Several(tuple(found))

    # ---- values

    def _take_turn(self) -> bool:
        """Finds the values after a turn; returns whether all are known."""
        implied = {
            number: Batched(constant(truth, BOOL, self.loop.node), uniform=True)
            for number, one in self.loop.carried.items()
            for tested, truth in _implied(self.loop.condition.graph.outputs[0])
            if tested is one.tested
        }
        before = {**self._held(), **implied}
        body, values = self.loop.body, dict[Node, Value]()
        values.update({one.before: before[number] for number, one in self.loop.carried.items()})
        values.update({p: self.inside[one] for one, p in zip(body.operands, body.parameters, strict=True)})
        batch = Batch(self.turns, values, lookups=False)
        batch.run(body.graph.nodes)
        after = {number: batch.values[node] for number, node in self.loop.after.items()}
        self.after = {number: one for number, one in after.items() if isinstance(one, Batched)}
        if len(self.after) < len(after):
            return False
        self.more = self._condition(self.after, self.inside)
        return True

    def _held(self) -> dict[int, Batched]:
        """The carried values as the body has them."""
        return {number: Batched(slot, uniform=number in self.uniform) for number, slot in self.slots.items()}

    def _condition(self, tested: Mapping[int, Batched], captured: Mapping[Node, Batched]) -> Batched | None:
        """The condition of all turns on these values."""
        condition, values = self.loop.condition, dict[Node, Value]()
        values.update({one.tested: tested[number] for number, one in self.loop.carried.items()})
        values.update({p: captured[one] for one, p in zip(condition.operands, condition.parameters, strict=True)})
        batch = Batch(self.turns, values, lookups=False)
        batch.run(condition.graph.nodes)
        found = batch.values[condition.graph.outputs[0]]
        return found if isinstance(found, Batched) else None

    # ---- parameters

    def _slot(self, number: int) -> Node:
        type = self.loop.carried[number].before.aval
        return self._parameter(type if number in self.uniform else array_type(type.dtype, (self.turns,)))

    def _seen(self, value: Batched) -> Batched:
        """A value outside as the body sees it: a number that is known, or a parameter."""
        known = value.uniform and value.node.op is CONSTANT
        return value if known else replace(value, node=self._parameter(value.node.aval))

    def _parameter(self, type: ArrayType) -> Node:
        return Node(PARAMETER, (), (("type", type),), type, self.loop.node.where)

    def _needed(self, ends: Mapping[int, Node], tests: Sequence[Node]) -> list[int]:
        """The numbers of the values that have to be carried."""
        found = set(self.read)
        while True:
            needed = needed_by((*tests, *(ends[number] for number in found)))
            more = {number for number, slot in self.slots.items() if slot in needed}
            if more <= found:
                return sorted(found)
            found |= more

    def _used(self, outputs: Sequence[Node]) -> list[Node]:
        """The captured values that a graph with these outputs reads."""
        needed = needed_by(tuple(outputs))
        return [one for one, seen in self.inside.items() if seen.node.op is PARAMETER and seen.node in needed]


def any_of(mask: Node) -> Node:
    """The truth value that some element of a mask holds."""
    reducer = REDUCERS["or"]
    graph, inputs = reduction_graph(reducer, BOOL), (mask, constant(False, BOOL, mask))
    return derived(REDUCE, inputs, mask, dims=(0,), reducer=reducer, computation=graph, n=1)


def _implied(condition: Node) -> list[tuple[Node, bool]]:
    """The values without which a condition does not hold."""
    if condition.op is PARAMETER:
        return [(condition, True)]
    if condition.op is registry["not_"] and condition.inputs[0].op is PARAMETER:
        return [(condition.inputs[0], False)]
    if condition.op is registry["and_"]:
        return [pair for source in condition.inputs for pair in _implied(source)]
    return []


def _like(node: Node, slot: Node) -> Node:
    """The value, laid out as the parameter that stands for it."""
    if node.type == slot.type or not slot.aval.rank:
        return node
    return derived(PACK, (node,), slot, order=slot.aval.order)
