"""Loops that only add integers to elements of arrays add those of some turns each to arrays of their own.

    for i in range(n):                    for p in range(parts):             the parts are independent
      counts[f(x[i])] += 1         ->       for i in range(p * length, (p + 1) * length):
                                              own[p, f(x[i])] += 1
                                          counts = counts + own.sum(axis=0)

Integers wrap, so that they may be added up in any order. What a turn adds, and where, must not depend on the arrays.
Turns that are left over when all parts have as many go on behind them. Of conditions that may not hold those of one
message are allowed beside what turns demand: it does not matter then which of them is found first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Access, Kind
from xjit.ir.own_graphs import own_graph
from xjit.ir.repeated_calls import is_demand
from xjit.machine import Machine, processor
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, STORE_WINDOW, Range, split_ranges
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.reduce import REDUCE, REDUCERS, reduction_graph
from xjit.passes.loop_parts import LoopParts, needed_by, parts_of, with_control
from xjit.passes.turns.batched_values import constant
from xjit.passes.turns.blocked_turns import work_of_turn
from xjit.passes.turns.counted_turns import CountedTurns, turns_of
from xjit.types import BOOL, INT64, ArrayType, TupleType, array_type, dtype_class, scalar_type

_USUAL = processor()


def share_sums(graph: Graph, machine: Machine = _USUAL) -> Graph:
    """The graph with such loops in parts, if there is work for threads; the same object when there are none."""
    demanded = {node.inputs[-1] for node in graph.nodes if is_demand(node)}

    def share(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
        found = [number for number, one in read.items() if one in demanded]
        holds = found[0] if len(found) == 1 and node.kwargs.get("goes_on") else None
        loop = parts_of(new[node])
        turns = turns_of(loop, holds)
        if loop.node.sequence >= 0 or turns is None or turns.values.step != 1:
            return
        if len(turns.values) * work_of_turn(loop.node) < machine.blocked_work:
            return
        results = _Parts(loop, turns, holds, machine).results()
        for number, projection in read.items():
            if results:
                new[projection] = results[number]

    return with_control(graph, "loop", share)


class _NoSumsError(Exception):
    """A turn does more with an array than to add to its elements."""


# ---- a graph that adds to rows


class _Along(NamedTuple):
    """A position along an axis: an offset, and integers that are added, each some times."""

    offset: int
    terms: tuple[tuple[Node, int], ...]


@dataclass(eq=False)
class _Adding:
    """A graph that adds to elements of arrays, over arrays of which these are the rows at ``row``.

    ``new`` are its nodes as they are now, ``whole`` those that are an array, by its number. What is ``touched``
    depends on arrays otherwise, and has to be ``part`` of an addition. Of what choices have ``yielded`` the numbers
    of arrays are kept.
    """

    row: Node
    new: dict[Node, Node]
    whole: dict[Node, tuple[int, Node]]
    touched: set[Node] = field(default_factory=set)
    part: set[Node] = field(default_factory=set)
    yielded: dict[Node, list[int | None]] = field(default_factory=dict)

    def run(self, graph: Graph) -> None:
        """Finds what becomes of the nodes of a graph. Raises _NoSumsError."""
        for node in graph.nodes:
            if node not in self.new and node not in self.whole:
                self._take(node)
        outputs = (one for one in graph.outputs if one not in self.whole)
        if not self.touched <= self.part or not self.touched.isdisjoint(outputs):
            raise _NoSumsError

    def _take(self, node: Node) -> None:
        arrays = [source for source in node.inputs if source in self.whole]
        if node.op is PROJECT and node.inputs[0] in self.yielded:
            self._project(node)
        elif not arrays:
            if not self.touched.isdisjoint(node.inputs):
                self.touched.add(node)
            inputs = tuple(self.new[source] for source in node.inputs)
            same = all(one is source for one, source in zip(inputs, node.inputs, strict=True))
            self.new[node] = node if same else replace(node, inputs=inputs)
        elif node.op is PACK:
            self.whole[node] = self.whole[arrays[0]]
        elif node.access is not None and arrays == [node.inputs[0]] and node.aval.size == 1:
            self.touched.add(node)
            self.new[node] = self._element(node, node.access)
        elif node.place is not None and arrays == [node.inputs[0]]:
            self._added(node, node.place)
        elif node.op.control == "branch" and node.inputs[0] not in arrays:
            self._choice(node)
        else:
            raise _NoSumsError

    # ---- elements

    def _where(self, node: Node, access: Access) -> list[_Along]:
        """The position of one element along each axis."""
        found = [
            _Along(one.offset, tuple((node.inputs[at.source], at.times) for at in one.found)) for one in access.axes
        ]
        terms = [term for one in found for term, _ in one.terms]
        if node.limits or any(term in self.touched or term.aval.size != 1 for term in terms):
            raise _NoSumsError
        return found

    def _in_row(self, where: Sequence[_Along], operands: int) -> tuple[list[Node], dict[str, Any]]:
        """The place of an element in its row, as operands behind others and params."""
        starts = [self.row, *map(self._position, where)]
        return split_ranges([Range(one, 1, 1, 1) for one in starts], operands)

    def _position(self, along: _Along) -> Node | int:
        if not along.terms:
            return along.offset
        total = constant(along.offset, INT64, self.row)
        for term, times in along.terms:
            one = self.new[term]
            if one.aval.rank:
                one = derived(registry["reshape"], (one,), one, sizes=())
            if one.aval.dtype != INT64:
                one = derived(registry["convert_element_type"], (one,), one, new_element_type=INT64)
            if times != 1:
                one = derived(registry["mul"], (one, constant(times, INT64, one)), one)
            total = one if total.op is CONSTANT and not along.offset else derived(registry["add"], (total, one), one)
        return total

    def _element(self, node: Node, access: Access) -> Node:
        numbers, params = self._in_row(self._where(node, access), 1)
        array = self.whole[node.inputs[0]][1]
        found = derived(LIMITED_WINDOW, (array, *numbers), node, **params)
        return derived(registry["reshape"], (found,), node, sizes=node.aval.shape)

    def _added(self, node: Node, place: Access) -> None:
        """An array to one element of which something is added."""
        target, update = node.inputs[:2]
        total = self._same_element(update)
        if total.op not in (registry["add"], registry["sub"]) or update.aval.size != 1 or node.param("n") != 1:
            raise _NoSumsError
        read = [source for source in total.inputs if source in self.touched]
        if len(read) != 1 or (total.op is registry["sub"] and read != [total.inputs[0]]):
            raise _NoSumsError
        element, where = self._same_element(read[0]), self._where(node, place)
        if element.access is None or self.whole.get(element.inputs[0]) != self.whole[target]:
            raise _NoSumsError
        if self._where(element, element.access) != where:
            raise _NoSumsError
        self.part |= {total, element}
        numbers, params = self._in_row(where, 2)
        number, array = self.whole[target]
        shaped = derived(registry["reshape"], (self.new[update],), node, sizes=(1,) * array.aval.rank)
        self.whole[node] = number, derived(STORE_WINDOW, (array, shaped, *numbers), node, n=1, **params)

    def _same_element(self, node: Node) -> Node:
        """The value of one element in front of operations that move it."""
        while node.op.kind is Kind.INDEXING and node.inputs[0] not in self.whole and node.inputs[0].aval.size == 1:
            self.part.add(node)
            node = node.inputs[0]
        return node

    # ---- branches

    def number_of(self, node: Node) -> int | None:
        """The number of the array that a node is, if it is one."""
        return self.whole[node][0] if node in self.whole else None

    def now(self, node: Node) -> Node:
        """A node as it is now."""
        return self.whole[node][1] if node in self.whole else self.new[node]

    def _project(self, node: Node) -> None:
        made = self.new[node.inputs[0]]
        assert isinstance(made.type, TupleType)
        number, type = self.yielded[node.inputs[0]][node.param("index")], made.type.elements[node.param("index")]
        found = replace(node, inputs=(made,), type=type)
        if number is None:
            self.new[node] = found
        else:
            self.whole[node] = number, found

    def _choice(self, node: Node) -> None:
        """A choice whose arms add to the arrays."""
        if not self.touched.isdisjoint(node.inputs):
            raise _NoSumsError
        inputs, graphs, yields = [self.new[node.inputs[0]]], list[Graph](), list[list[int | None]]()
        changed, changes = node.kwargs.get("changes", ()), list[int]()
        for inner in inner_graphs(node):
            operands = [node.inputs[number] for number in inner.operands]
            graph, numbers = self._arm(inner.graph, operands)
            graphs.append(graph)
            yields.append(numbers)
            changes += [len(inputs) + place for place, number in enumerate(inner.operands) if number in changed]
            inputs += [*map(self.now, operands), self.row]
        if any(one != yields[0] for one in yields):
            raise _NoSumsError
        type = TupleType(tuple(one.aval for one in graphs[0].outputs))
        params = {**node.kwargs, GRAPHS: tuple(graphs), **({"changes": tuple(changes)} if changed else {})}
        self.new[node] = replace(node, inputs=tuple(inputs), params=tuple(params.items()), type=type)
        self.yielded[node] = yields[0]

    def _arm(self, graph: Graph, operands: Sequence[Node]) -> tuple[Graph, list[int | None]]:
        """An arm that adds to rows, and the numbers of the arrays that it yields."""
        row = _parameter(self.row.aval, self.row)
        given = [_parameter(self.now(one).aval, one) for one in operands]
        arm = _Adding(row, {}, {})
        for parameter, operand, now in zip(graph.parameters, operands, given, strict=True):
            if operand in self.whole:
                arm.whole[parameter] = self.whole[operand][0], now
            else:
                arm.new[parameter] = now
        arm.run(graph)
        numbers = [arm.number_of(one) for one in graph.outputs]
        return Graph(graph.name, (*given, row), tuple(map(arm.now, graph.outputs))), numbers


# ---- loops


@dataclass(eq=False)
class _Parts:
    """The turns of a loop in parts of a ``length``; the value of the number ``holds`` is what turns demand."""

    loop: LoopParts
    turns: CountedTurns
    holds: int | None
    machine: Machine

    @property
    def parts(self) -> int:
        """The number of parts: one that leaves no turns over, if there is one."""
        most = self.machine.most_pieces
        count = len(self.turns.values)
        return next((one for one in range(most, most // 4, -1) if count % one == 0), most)

    @property
    def length(self) -> int:
        """The turns of a part."""
        return len(self.turns.values) // self.parts

    @property
    def arrays(self) -> list[int]:
        """The numbers of the arrays."""
        return [number for number in self.loop.carried if number not in (self.turns.number, self.holds)]

    def results(self) -> dict[int, Node]:
        """The last values of what is carried; none where a turn does more than to add."""
        loop, arrays = self.loop, self.arrays
        avals = [loop.carried[number].before.aval for number in arrays]
        elements = sum(one.size for one in avals)
        if not arrays or any(not one.rank or dtype_class(one.dtype) != "I" for one in avals):
            return {}
        if elements * self.parts * self.machine.shared_sums > len(self.turns.values):
            return {}
        if loop.body.graph.effects or len(set(_messages(loop, self.holds))) > 1:
            return {}
        try:
            made = self._in_parts()
        except _NoSumsError:
            return {}
        return self._rest({number: self._total(number, one) for number, one in made.items()})

    def _in_parts(self) -> dict[int, Node]:
        """The values that all parts have made, as rows. Raises _NoSumsError."""
        like, body = self.loop.node, self.loop.body
        slots = [_parameter(scalar_type(INT64), like), *(_parameter(self._rows(one), like) for one in self._kept)]
        closed = [_parameter(one.aval, one) for one in body.operands]
        part, *rows = slots
        arrays = rows[: len(self.arrays)]
        found = self._part(part, arrays, closed)
        ends = [self._number("add", part, 1), *found[: len(arrays)]]
        if self.holds is not None:
            numbers, params = split_ranges([Range(part, 1, 1, 1)], 2)
            held = derived(registry["reshape"], (found[-1],), like, sizes=(1,))
            ends.append(derived(STORE_WINDOW, (rows[-1], held, *numbers), like, n=1, **params))
        starts = (constant(0, INT64, like), *map(self._begun, self._kept))
        whole = self._counting(starts, slots, ends, list(zip(body.operands, closed, strict=True)), self.parts)
        return dict(zip(self._kept, _results(whole)[1:], strict=True))

    def _part(self, part: Node, arrays: Sequence[Node], closed: Sequence[Node]) -> list[Node]:
        """The arrays to whose row the turns of a part have added, and the truth value of all that they demand."""
        loop, like = self.loop, self.loop.node
        row, begin = (_parameter(scalar_type(INT64), like) for _ in range(2))
        turn, *own = (_parameter(one, like) for one in (scalar_type(INT64), *(one.aval for one in arrays)))
        adding = _Adding(row, {one: one for one in loop.body.parameters}, {})
        adding.new[self.turns.counter] = derived(registry["add"], (begin, turn), like)
        adding.whole.update((loop.carried[k].before, (k, one)) for k, one in zip(self.arrays, own, strict=True))
        slots, starts = [turn, *own], [constant(0, INT64, like), *arrays]
        if self.holds is not None:
            adding.new[loop.carried[self.holds].before] = constant(True, BOOL, like)
            slots.append(_parameter(scalar_type(BOOL), like))
            starts.append(constant(True, BOOL, like))
        adding.run(loop.body.graph)
        if any(adding.number_of(loop.after[number]) != number for number in self.arrays):
            raise _NoSumsError
        ends = [self._number("add", turn, 1), *(adding.now(loop.after[number]) for number in self.arrays)]
        if self.holds is not None:
            ends.append(derived(registry["and_"], (slots[-1], adding.now(loop.after[self.holds])), like))
        first = self._number("add", self._number("mul", part, self.length), self.turns.values[0])
        captures = [*zip(closed, loop.body.parameters, strict=True), (part, row), (first, begin)]
        return _results(self._counting(starts, slots, ends, captures, self.length))[1:]

    def _counting(
        self,
        starts: Sequence[Node],
        slots: Sequence[Node],
        ends: Sequence[Node],
        captures: Sequence[tuple[Node, Node]],
        turns: int,
    ) -> Node:
        """A loop of so many turns, which its first value counts; pairs of what it closes over, and its parameters."""
        like, tested = self.loop.node, tuple(_parameter(one.aval, one) for one in slots)
        needed = needed_by(ends)
        captures = [(outside, inside) for outside, inside in captures if inside in needed]
        graphs = (
            own_graph(Graph("condition", tested, (self._number("lt", tested[0], turns),))),
            own_graph(Graph("body", (*slots, *(inside for _, inside in captures)), tuple(ends))),
        )
        inputs = (*starts, *(outside for outside, _ in captures))
        params = {"most": turns, GRAPHS: graphs, "n": len(slots)}
        return Node(like.op, inputs, tuple(params.items()), TupleType(tuple(one.aval for one in slots)), like.where)

    # ---- results

    def _rest(self, totals: dict[int, Node]) -> dict[int, Node]:
        """The values behind the turns that are left over when all parts are done."""
        loop, like, done = self.loop, self.loop.node, self.parts * self.length
        totals[self.turns.number] = constant(self.turns.values[0] + done, INT64, like)
        if done == len(self.turns.values):
            return totals
        starts = tuple(totals[number] for number in loop.carried)
        rest = replace(like, inputs=(*starts, *like.inputs[len(starts) :]))
        return dict(zip(loop.carried, _results(rest), strict=True))

    def _total(self, number: int, rows: Node) -> Node:
        """The value that a loop starts with, combined with what all parts have made."""
        one, like = self.loop.carried[number], self.loop.node
        held = number == self.holds
        reducer, dtype = REDUCERS["and" if held else "add"], one.before.aval.dtype
        inputs, graph = (rows, self._neutral(number)), reduction_graph(reducer, dtype)
        total = derived(REDUCE, inputs, like, dims=(0,), reducer=reducer, computation=graph, n=1)
        return _laid(derived(registry["and_" if held else "add"], (one.start, total), like), one.before.aval)

    @property
    def _kept(self) -> list[int]:
        """The numbers of what parts make."""
        return [*self.arrays, *([] if self.holds is None else [self.holds])]

    def _rows(self, number: int) -> ArrayType:
        """The type of what all parts make."""
        aval = self.loop.carried[number].before.aval
        return array_type(aval.dtype, (self.parts, *aval.shape))

    def _begun(self, number: int) -> Node:
        """The rows that parts begin with."""
        type = self._rows(number)
        neutral = self._neutral(number)
        spread = derived(registry["broadcast_in_dim"], (neutral,), neutral, dims=type.shape, mapping=())
        return _laid(spread, type)

    def _neutral(self, number: int) -> Node:
        """The number that changes nothing."""
        return constant(number == self.holds, self.loop.carried[number].before.aval.dtype, self.loop.node)

    def _number(self, name: str, node: Node, other: int) -> Node:
        return derived(registry[name], (node, constant(other, INT64, self.loop.node)), self.loop.node)


def _results(whole: Node) -> list[Node]:
    """All that an operation yields."""
    assert isinstance(whole.type, TupleType)
    return [
        Node(PROJECT, (whole,), (("index", place),), type, whole.where)
        for place, type in enumerate(whole.type.elements)
    ]


def _parameter(type: ArrayType, like: Node) -> Node:
    return Node(PARAMETER, (), (("type", type),), type, like.where)


def _laid(node: Node, type: ArrayType) -> Node:
    """The value, laid out like this type."""
    return node if node.type == type else derived(PACK, (node,), node, order=type.order)


# ---- conditions


def _messages(loop: LoopParts, holds: int | None) -> Iterator[object]:
    """Yield the errors of conditions that may not hold, but for those that turns demand."""
    seen = set() if holds is None else set(_demanded(loop.after[holds]))
    graphs = [loop.body.graph]
    while graphs:
        for node in graphs.pop().nodes:
            graphs += [inner.graph for inner in inner_graphs(node)]
            if node.op.failure is not None and node.inputs[-1] not in seen:
                yield node.kwargs.get("error"), node.kwargs.get("message")


def _demanded(node: Node) -> Iterator[Node]:
    """Yield the conditions that a truth value needs."""
    yield node
    if node.op is registry["and_"]:
        for source in node.inputs:
            yield from _demanded(source)
    if node.op is PROJECT and node.inputs[0].op.control == "branch":
        for inner in inner_graphs(node.inputs[0]):
            yield from _demanded(inner.graph.outputs[node.param("index")])
