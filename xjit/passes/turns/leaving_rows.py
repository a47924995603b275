"""Loops that take rows out of the arrays that they carry keep all rows, and a mask of those that are left.

    for n in range(steps):                  on = n < steps, for all rows
      z = z * z + p                         while any(on):
      small = abs(z) < 2                      new = z * z + p; small = abs(new) < 2
      ends[index[~small]] = n          ->     ends = select on (select (not small) n ends) ends
      z, p = z[small], p[small]               z = select on new z
      index = index[small]                    n = n + 1; on = on and small and n < steps
      if len(z) == 0: break

A row that stays where it is needs no others, so that a block of rows goes through all turns while it is in the cache.
What rows have stored lies at the numbers of rows: ``index`` has to start as these. Elements are computed by the same
operations. The arrays that get shorter, and what is known of all turns, must not be read behind the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, PARAMETER
from xjit.ir.inner_graphs import GRAPHS
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.own_graphs import own_graph, written_out
from xjit.ir.spans import span_within
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.compaction import COMPACT, COUNT_CHOSEN
from xjit.ops.dynamic.limited_places import STORE_AT
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, Range, ranges_of
from xjit.ops.whole_arrays.index import LOOK_UP
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.reduce import REDUCERS
from xjit.ops.whole_arrays.runtime_check import REQUIRE
from xjit.ops.whole_arrays.scan import SCAN
from xjit.passes.loop_parts import LoopParts, needed_by, parts_of, with_control
from xjit.passes.turns.batched_values import constant, is_pure
from xjit.passes.turns.loops_side_by_side import any_of
from xjit.passes.turns.rows_apart import rows_are_apart
from xjit.types import BOOL, INT64, TupleType, array_type


def mask_leaving_rows(graph: Graph) -> Graph:
    """The graph with such loops over all rows; the same object when there are none."""
    if not any(node.op is COMPACT for loop in graph.nodes for node in _in_body(loop)):
        return graph
    return with_control(graph, "loop", _mask)


def _in_body(node: Node) -> Sequence[Node]:
    return node.param(GRAPHS)[1].nodes if node.op.control == "loop" else ()


def _mask(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts a loop over all rows, and what it yields, in place of a loop and its results."""
    loop = parts_of(new[node])
    if loop.node.sequence >= 0 or loop.body.graph.effects or loop.condition.graph.effects:
        return
    length = _length(loop)
    found = None if length is None else _Turn.of(loop, length).whole(set(read))
    if found is None or not rows_are_apart(found[0]):
        return
    whole, places = found
    new[node] = whole
    for number, projection in read.items():
        params = tuple((key, places[number] if key == "index" else value) for key, value in projection.params)
        new[projection] = replace(projection, inputs=(whole,), params=params)


def _length(loop: LoopParts) -> int | None:
    """The number of the carried value that is the length of all arrays that turns shorten."""
    befores = {one.before: number for number, one in loop.carried.items()}
    for node in loop.after.values():
        if node.op is COMPACT and node.inputs[2].op is SCAN and node.inputs[2].inputs[0].op is COUNT_CHOSEN:
            number = befores.get(node.inputs[2].inputs[0].inputs[1])
            whole = None if number is None else loop.carried[number].start
            if whole is not None and whole.op is CONSTANT and whole.param("value").item() == node.aval.shape[0]:
                return number
    return None


# ---- values of a turn


@dataclass(frozen=True, slots=True, eq=False)
class _Plain:
    """A value that has nothing to do with rows that leave."""

    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A line of elements of all rows that were left when the turn began, or of those among them that are ``chosen``,
    as one over all rows. It is the same ``everywhere`` if it repeats a number.
    """

    node: Node
    chosen: Node | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Count:
    """The number of rows that were left, or are chosen, and on the way to it the counts of blocks."""

    chosen: Node | None
    node: Node


_Value: TypeAlias = "_Plain | _Line | _Count | None"


@dataclass(eq=False)
class _Turn:
    """A turn over so many rows, of which those in the mask ``on`` are left; ``numbers`` are those of the rows.

    The carried value of the number ``length`` says how many are left.
    """

    loop: LoopParts
    length: int
    rows: int
    on: Node
    numbers: Node
    values: dict[Node, _Value] = field(default_factory=dict)

    @classmethod
    def of(cls, loop: LoopParts, length: int) -> _Turn:
        """The turns of a loop, all of whose values are found."""
        like, rows = loop.node, int(loop.carried[length].start.param("value").item())
        type = array_type(BOOL, (rows,))
        on = Node(PARAMETER, (), (("type", type),), type, like.where)
        turn = cls(loop, length, rows, on, derived(registry["iota"], (), like, dims=(rows,), dtype=INT64, axis=0))
        turn.values.update((one, _Plain(one)) for one in loop.body.parameters)
        turn.values.update((one.before, turn._begun(number)) for number, one in loop.carried.items())
        for node in loop.body.graph.nodes:
            if node not in turn.values:
                turn.values[node] = turn._value(node)
        return turn

    @property
    def chosen(self) -> Node | None:
        """The mask of the rows that are left behind the turn."""
        after = self.values[self.loop.after[self.length]]
        return after.chosen if isinstance(after, _Count) and self._is_number(after) else None

    @property
    def shortened(self) -> list[int]:
        """The numbers of the arrays that get shorter."""
        return [number for number, node in self.loop.after.items() if node.op is COMPACT]

    def _begun(self, number: int) -> _Value:
        """The value of a parameter that stands for what is carried."""
        one = self.loop.carried[number]
        if number == self.length:
            return _Count(None, one.before)
        if number not in self.shortened:
            return _Plain(one.before)
        after = self.loop.after[number]
        if after.inputs[0] is one.before and _factors(one.start) == (1, 0):
            return _Line(self.numbers)
        return _Line(one.before)

    # ---- operations

    def _value(self, node: Node) -> _Value:
        inputs = [self.values[source] for source in node.inputs]
        if node.op is CONSTANT:
            return _Plain(node)
        rule = _RULES.get(node.op.name)
        found = None if rule is None else rule(self, node, inputs)
        if found is not None:
            return found
        if all(isinstance(one, _Plain) for one in inputs):
            return self._plain(node, [one.node for one in inputs if isinstance(one, _Plain)])
        return self._elementwise(node, inputs) if node.op.kind is Kind.ELEMENTWISE else None

    def _plain(self, node: Node, inputs: Sequence[Node]) -> _Value:
        if not is_pure(node):
            return None
        same = all(one is source for one, source in zip(inputs, node.inputs, strict=True))
        found = node if same else replace(node, inputs=tuple(inputs))
        repeats = node.op is registry["broadcast_in_dim"] and not inputs[0].aval.rank
        return _Line(found, everywhere=True) if repeats and self._is_line(found) else _Plain(found)

    def _elementwise(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        lines = [one for one in inputs if isinstance(one, _Line)]
        chosen = {one.chosen for one in lines if not one.everywhere}
        if len(lines) < len(inputs) or len(chosen) > 1:
            return None
        if node.op is registry["select"] and (truth := self._truth(lines[0].node)) is not None:
            return lines[1] if truth else lines[2]
        made = derived(node.op, tuple(one.node for one in lines), node, **node.kwargs)
        return _Line(made, next(iter(chosen), None), everywhere=not chosen)

    def _window(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """The first so many elements of a line, which are all that it has."""
        line, (first,) = inputs[0], ranges_of(node)[:1] or (Range(0, 1, 0, 0),)
        counted = inputs[1] if len(inputs) == 2 and first.is_limited else None
        if not isinstance(line, _Line) or not isinstance(counted, _Count) or not self._is_number(counted):
            return None
        whole = (first.start, first.step, first.bound) == (0, 1, self.rows)
        return line if whole and (line.everywhere or line.chosen is counted.chosen) else None

    def _counted(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """The number of rows of each block that a mask chooses."""
        mask, size = inputs
        if not isinstance(mask, _Line) or mask.chosen is not None or not isinstance(size, _Count):
            return None
        return _Count(mask.node, node) if size.chosen is None and self._is_number(size) else None

    def _summed(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """Sums of counts, the last of them, and that as a number."""
        (counts,) = inputs
        if not isinstance(counts, _Count) or node.op.name not in _NEXT.get(counts.node.op.name, ()):
            return None
        if node.op is SCAN and node.param("reducer") is not REDUCERS["add"]:
            return None
        if node.op is registry["slice"] and node.param("start") != (node.inputs[0].aval.shape[0] - 1,):
            return None
        return _Count(counts.chosen, node)

    def _packed(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """The elements that a mask chooses."""
        line, mask, ends = inputs
        if not isinstance(line, _Line) or not isinstance(mask, _Line) or not isinstance(ends, _Count):
            return None
        fits = line.chosen is mask.chosen is None and ends.chosen is mask.node and ends.node.op is SCAN
        return replace(line, chosen=mask.node) if fits and node.param("bound") == self.rows else None

    def _required(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """A value that needs a condition which holds for all rows."""
        line, condition = inputs
        if not isinstance(line, _Line) or not isinstance(condition, _Line):
            return None
        return line if self._truth(condition.node) else None

    def _looked_up(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """Elements of an array at the numbers of rows: those of the rows."""
        operand, *places = inputs
        if not isinstance(operand, _Plain) or not self._is_line(operand.node) or len(places) != 1:
            return None
        (at,) = places
        own = isinstance(at, _Line) and at.node is self.numbers
        return replace(at, node=operand.node) if own and isinstance(at, _Line) else None

    def _stored(self, node: Node, inputs: Sequence[_Value]) -> _Value:
        """An array with other elements at the numbers of rows."""
        target, update, *places = inputs
        if not isinstance(target, _Plain) or not self._is_line(target.node) or len(places) != 2:
            return None
        at, size = places
        if not isinstance(update, _Line) or not isinstance(at, _Line) or not isinstance(size, _Count):
            return None
        same = at.chosen is size.chosen and (update.everywhere or update.chosen is at.chosen)
        if at.node is not self.numbers or not same or not self._is_number(size):
            return None
        made = update.node
        if at.chosen is not None:
            made = derived(registry["select"], (at.chosen, made, target.node), node)
        return _Plain(derived(registry["select"], (self.on, made, target.node), node))

    # ---- what is known

    def _is_line(self, node: Node) -> bool:
        return node.aval.dims == (self.rows,)

    def _is_number(self, count: _Count) -> bool:
        return not count.node.aval.rank

    def _truth(self, condition: Node) -> bool | None:
        """The truth value that a condition has for all rows; None if that is not known."""
        low, high = span_within(condition, {self.numbers: (0, self.rows - 1)})
        return bool(low) if low == high else None

    # ---- the loop

    def whole(self, read: set[int]) -> tuple[Node, dict[int, int]] | None:
        """The loop over all rows, and the places of the carried values that are read; None where there is none."""
        mask, after = self.chosen, self._after()
        if mask is None or not after.keys() >= set(self.shortened):
            return None
        if not all(number in after and self._is_of_rows(number, after[number]) for number in read):
            return None
        ended = {number for number in self.loop.carried if self._tells_end(number)}
        rest = [one for one in _conjuncts(self.loop.condition.graph.outputs[0]) if not self._is_implied(one, ended)]
        known = {number: one for number, one in after.items() if number not in self.shortened}
        tested = [one.tested for number, one in self.loop.carried.items() if number not in known]
        if not needed_by(rest).isdisjoint(tested):
            return None
        begins = self._conditions(rest, lambda number: self.loop.carried[number].start, self.loop.condition.operands)
        others = self.loop.condition.parameters
        follows = self._conditions(rest, lambda number: known.get(number, self.on), others)
        left = derived(registry["and_"], (self.on, self._and([mask, *map(self._spread, follows)])), self.loop.node)
        begin = self._spread(self._and(begins or [constant(True, BOOL, self.loop.node)]))
        return self._built(begin, left, after, read)

    def _after(self) -> dict[int, Node]:
        """The next values of what is carried on, over all rows; what they are not known of is left out."""
        found = dict[int, Node]()
        for number, node in self.loop.after.items():
            value, before = self.values[node], self.loop.carried[number].before
            if isinstance(value, _Plain):
                found[number] = value.node
            elif isinstance(value, _Line) and number in self.shortened and value.chosen is self.chosen:
                same = value.node in (before, self.numbers)
                kept = (self.on, value.node, before)
                found[number] = before if same else derived(registry["select"], kept, node)
        return found

    def _is_of_rows(self, number: int, node: Node) -> bool:
        """Return whether turns change elements of rows that are left alone, in an array that keeps its length."""
        before = self.loop.carried[number].before
        while node is not before:
            if node.op is PACK:
                (node,) = node.inputs
            elif node.op is registry["select"] and node.inputs[0] is self.on:
                node = node.inputs[2]
            else:
                return False
        return number not in self.shortened

    def _tells_end(self, number: int) -> bool:
        """Return whether a carried truth value is false until no rows are left."""
        one, node = self.loop.carried[number], self.loop.after[number]
        if one.before.aval != array_type(BOOL, ()) or one.start.op is not CONSTANT or one.start.param("value").item():
            return False
        if node.op is registry["or_"] and one.before in node.inputs:
            node = node.inputs[1 - node.inputs.index(one.before)]
        return _says_of_count(node, self.loop.after[self.length]) == (True, False, False)

    def _is_implied(self, node: Node, ended: set[int]) -> bool:
        """Return whether a part of the condition holds as long as rows are left."""
        if node.op is registry["not_"] and node.inputs[0] in [self.loop.carried[one].tested for one in ended]:
            return True
        return _says_of_count(node, self.loop.carried[self.length].tested) == (False, True, True)

    def _conditions(
        self, rest: Sequence[Node], value: Callable[[int], Node], captured: Sequence[Node]
    ) -> tuple[Node, ...]:
        """Parts of the condition for these carried values, and these in place of what it closes over."""
        tested = [one.tested for one in self.loop.carried.values()]
        graph = Graph("condition", (*tested, *self.loop.condition.parameters), tuple(rest))
        return written_out(graph, (*map(value, self.loop.carried), *captured), {})

    def _and(self, several: Sequence[Node]) -> Node:
        first, *others = several
        for one in others:
            first = derived(registry["and_"], (first, one), self.loop.node)
        return first

    def _spread(self, number: Node) -> Node:
        return derived(registry["broadcast_in_dim"], (number,), self.loop.node, dims=(self.rows,), mapping=())

    def _built(
        self, begin: Node, left: Node, after: dict[int, Node], read: set[int]
    ) -> tuple[Node, dict[int, int]] | None:
        """The loop that carries the mask and what is needed, and the places of what it carries."""
        loop, like = self.loop, self.loop.node
        still = {number for number, node in after.items() if node is loop.carried[number].before}
        carried = set(read)
        while True:
            needed = needed_by([left, *(after[number] for number in carried)])
            more = {number for number, one in loop.carried.items() if one.before in needed} - still - carried
            if not more:
                break
            if not more <= after.keys():
                return None
            carried |= more
        kept = sorted(carried)
        slots = (self.on, *(loop.carried[number].before for number in kept))
        ends = tuple(map(_laid, (left, *(after[number] for number in kept)), slots))
        captures = [
            *zip(loop.body.operands, loop.body.parameters, strict=True),
            *zip(loop.condition.operands, loop.condition.parameters, strict=True),
            *((loop.carried[number].start, loop.carried[number].before) for number in sorted(still)),
        ]
        needed = needed_by(ends)
        captures = [(outside, inside) for outside, inside in captures if inside in needed]
        graphs = (
            own_graph(Graph("condition", slots, (any_of(self.on),))),
            own_graph(Graph("body", (*slots, *(inside for _, inside in captures)), ends)),
        )
        starts = (_laid(begin, self.on), *(loop.carried[number].start for number in kept))
        steps = {key: value for key, value in like.params if key == "most"}
        params = {**steps, GRAPHS: graphs, "n": len(slots), "masked": 0}
        type = TupleType(tuple(one.aval for one in slots))
        inputs = (*starts, *(outside for outside, _ in captures))
        whole = Node(like.op, inputs, tuple(params.items()), type, like.where)
        return whole, {number: place for place, number in enumerate(kept, 1)}


_NEXT = {"count_chosen": ("scan",), "scan": ("slice", "reshape"), "slice": ("reshape",)}

_RULES: dict[str, Callable[[_Turn, Node, Sequence[_Value]], _Value]] = {
    LIMITED_WINDOW.name: _Turn._window,
    COUNT_CHOSEN.name: _Turn._counted,
    COMPACT.name: _Turn._packed,
    REQUIRE.name: _Turn._required,
    LOOK_UP.name: _Turn._looked_up,
    STORE_AT.name: _Turn._stored,
    **{name: _Turn._summed for names in _NEXT.values() for name in names},
}


def _conjuncts(node: Node) -> Iterator[Node]:
    """Yield the parts of a condition that all have to hold."""
    if node.op is registry["and_"]:
        for source in node.inputs:
            yield from _conjuncts(source)
    else:
        yield node


def _says_of_count(node: Node, count: Node) -> tuple[bool, ...]:
    """The truth values of a comparison of a count with a number, where the count is 0, 1 and 2; none of others."""
    if node.op is registry["not_"]:
        return tuple(not one for one in _says_of_count(node.inputs[0], count))
    if node.op not in map(registry.__getitem__, ("eq", "ne", "lt", "le", "gt", "ge")):
        return ()
    if any(one is not count and one.op is not CONSTANT for one in node.inputs):
        return ()
    found = []
    for number in range(3):
        pair = (np.asarray(number, INT64) if one is count else one.param("value").array() for one in node.inputs)
        found.append(bool(node.op.reference(*pair)))
    return tuple(found)


def _factors(node: Node, deep: int = 8) -> tuple[int, int] | None:
    """The factor and the summand that make a line of integers of the numbers of its places."""
    if node.aval.dtype != INT64 or not deep:
        return None
    if node.op is PACK or node.op is registry["broadcast_in_dim"]:
        return _factors(node.inputs[0], deep - 1)
    if node.op is registry["iota"]:
        return (1, 0) if node.aval.rank == 1 else None
    if node.op is CONSTANT:
        return _factors_of(node.param("value").array())
    if node.op not in (registry["add"], registry["mul"]):
        return None
    one, other = (_factors(source, deep - 1) for source in node.inputs)
    if one is None or other is None:
        return None
    if node.op is registry["add"]:
        return one[0] + other[0], one[1] + other[1]
    (factor, summand), (zero, times) = (one, other) if other[0] == 0 else (other, one)
    return (factor * times, summand * times) if zero == 0 else None


def _factors_of(known: Any) -> tuple[int, int] | None:
    if known.ndim == 0:
        return 0, known.item()
    return (1, 0) if known.ndim == 1 and np.array_equal(known, np.arange(known.size)) else None


def _laid(node: Node, slot: Node) -> Node:
    """The value, laid out as the parameter that stands for it."""
    if node.type == slot.type:
        return node
    return derived(PACK, (node,), slot, order=slot.aval.order)
