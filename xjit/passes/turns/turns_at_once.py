"""Loops whose turns are independent become operations on arrays, which have vectors and threads.

    for i in range(n):                              y = update_slice y (sin x[:n]) (0,)
      y[i] = sin x[i]                         ->    count = count + sum(select (x[:n] > 0) 1 0)
      if x[i] > 0: count += 1

Each carried value has to be one of these: the counter; an array of which a turn touches only its own part, at the
counter; an integer that is only added to; a value that is made anew in each turn, of which the last one stays; the
truth value of what turns demand. Bits are those of the loop: elements are computed by the same operations, and
integers wrap.

Where a demand does not hold the loop would end, and NumPy do the call: nobody sees what later turns make. They may be
taken where Python goes on to them, too, as behind an integer that leaves 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit import numerics
from xjit.ir.node import Graph, Node
from xjit.ir.repeated_calls import is_demand
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS, reduction_graph
from xjit.passes.loop_parts import LoopParts, parts_of, with_control
from xjit.passes.turns.batched_values import Batch, Batched, OwnParts, Value, constant
from xjit.passes.turns.carried_sums import is_sum
from xjit.passes.turns.counted_turns import CountedTurns, turns_of
from xjit.passes.turns.loops_side_by_side import loops_of
from xjit.types import BOOL


def take_turns_at_once(graph: Graph) -> Graph:
    """The graph with operations on arrays in place of such loops; the same object when there are none."""
    demanded = {node.inputs[-1] for node in graph.nodes if is_demand(node)}

    def taken(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
        _take(node, new, read, [number for number, one in read.items() if one in demanded])

    return with_control(graph, "loop", taken)


def _take(node: Node, new: dict[Node, Node], read: dict[int, Node], demanded: Sequence[int]) -> None:
    """Puts the results of all turns at once in place of those of a loop."""
    loop = parts_of(new[node])
    if loop.body.graph.effects or loop.condition.graph.effects:
        return
    holds = demanded[0] if len(demanded) == 1 and node.kwargs.get("goes_on") else None
    turns = turns_of(loop, holds)
    if turns is None or turns.values.step != 1 or len(turns.values) < numerics.FEW_TURNS:
        return
    found = _Loop(loop, turns, holds).results(set(read))
    if found is None:
        return
    for number, projection in read.items():
        new[projection] = found[number]


class _Loop:
    """A loop of independent turns; the value of the number ``holds`` is what turns demand."""

    def __init__(self, loop: LoopParts, turns: CountedTurns, holds: int | None) -> None:
        self.loop = loop
        self.turns = turns
        self.holds = holds
        self.count = len(turns.values)
        carried = loop.carried.items()
        self.sums = {number for number, _ in carried if number != turns.number and is_sum(loop, number)}
        self.arrays = {number for number, one in carried if one.before.aval.rank}

    def results(self, read: set[int]) -> dict[int, Node] | None:
        """The results that are read; None if one of them cannot be had."""
        spoiled: set[int] = set()
        loops = loops_of(self.loop.body.graph, self.count)
        while True:
            batch = Batch(self.count, self._values(spoiled), loops=loops)
            batch.run(self.loop.body.graph.nodes)
            if batch.spoiled <= spoiled:
                break
            spoiled |= batch.spoiled
        found = {number: self._result(batch, number) for number in read}
        done = {number: one for number, one in found.items() if one is not None}
        return done if len(done) == len(found) else None

    def _values(self, spoiled: set[int]) -> dict[Node, Value]:
        """The values of the parameters of the body."""
        body, like = self.loop.body, self.loop.node
        found: dict[Node, Value] = {
            inner: Batched(outer, uniform=True) for outer, inner in zip(body.operands, body.parameters, strict=True)
        }
        for number, one in self.loop.carried.items():
            if number == self.turns.number:
                found[one.before] = self._counter(one.before)
            elif number in self.arrays - spoiled:
                found[one.before] = OwnParts(number, one.start)
            elif number in self.sums:
                found[one.before] = Batched(constant(0, one.before.aval.dtype, like), uniform=True)
            elif number == self.holds:
                found[one.before] = Batched(constant(True, BOOL, like), uniform=True)
            else:
                found[one.before] = None
        return found

    def _counter(self, like: Node) -> Batched:
        first, dtype = self.turns.values[0], like.aval.dtype
        numbers = derived(registry["iota"], (), self.loop.node, dims=(self.count,), dtype=dtype, axis=0)
        if first:
            begin = constant(first, dtype, self.loop.node)
            spread = derived(registry["broadcast_in_dim"], (begin,), begin, dims=(self.count,), mapping=())
            numbers = derived(registry["add"], (numbers, spread), self.loop.node)
        return Batched(numbers, ramp=first)

    def _result(self, batch: Batch, number: int) -> Node | None:
        """The value after the last turn, laid out as the loop would have it."""
        one, after = self.loop.carried[number], batch.values[self.loop.after[number]]
        found = self._last(batch, number, after)
        if found is None or found.type == one.before.type:
            return found
        if found.aval.dims != one.before.aval.dims or found.aval.dtype != one.before.aval.dtype:
            return None
        return derived(PACK, (found,), self.loop.node, order=one.before.aval.order)

    def _last(self, batch: Batch, number: int, after: Value) -> Node | None:
        one, like = self.loop.carried[number], self.loop.node
        if number == self.turns.number:
            return constant(self.turns.values[-1] + 1, one.before.aval.dtype, like)
        if isinstance(after, OwnParts):
            return self._stored(batch, after) if after.number == number else None
        if not isinstance(after, Batched):
            return None
        if number in self.sums:
            zero = constant(0, one.before.aval.dtype, like)
            return self._folded("add", "add", one.start, zero, batch.spread(after))
        if number == self.holds:
            return self._folded("and", "and_", one.start, constant(True, BOOL, like), batch.spread(after))
        if after.uniform:
            return after.node
        ends = {"start": (self.count - 1,), "limit": (self.count,), "strides": (1,)}
        return batch.reshaped(derived(registry["slice"], (after.node,), like, **ends), one.before.aval.shape)

    def _folded(self, name: str, combined: str, start: Node, identity: Node, made: Node) -> Node:
        """The value that a loop starts with, combined with what all turns have made."""
        reducer, like, dtype = REDUCERS[name], self.loop.node, identity.aval.dtype
        graph = reduction_graph(reducer, dtype)
        total = derived(REDUCE, (made, identity), like, dims=(0,), reducer=reducer, computation=graph, n=1)
        return derived(registry[combined], (start, total), like)

    def _stored(self, batch: Batch, own: OwnParts) -> Node:
        """A carried array with what the turns have stored in their parts."""
        made = own.start
        for at, value in own.parts.items():
            axis, ramp = batch.rows[own.number]
            sizes = tuple(self.count if number == axis else 1 for number in range(made.aval.rank))
            update = batch.reshaped(batch.spread(value), sizes)
            if sizes == made.aval.shape:
                made = update
                continue
            starts = tuple(ramp if number == axis else place for number, place in enumerate(at))
            params = {"axes": (), "starts": starts, "strides": (1,) * len(starts), "n": 1}
            made = derived(registry["update_slice"], (made, update), self.loop.node, **params)
        return made
