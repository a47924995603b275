"""Makes results that belong into memory of the caller's the last version of it: a chain of updates of a parameter.

    y = update_slice x ...      stored into x      as it is: each update may change x itself
    y = f x                     stored into x      update_slice x (f x), all of it
    y = update_slice (f x) w    stored into x      the same, then the window

A value that replaces all of the memory is stored over the last version that it is made of. What a loop carries that
starts from the parameter is made in its memory, turn by turn, and so is what the branches of a choice make of it::

    y = while_loop i x {...}       stored into x      as it is: each turn changes x itself
    y = conditional i x x {...}    stored into x      as it is: each branch changes x itself, or leaves it

Where the plan finds that such a chain cannot change the parameter in place, the result is stored in another way
(:class:`Way`). Results that are returned never are memory that is written.
"""

from __future__ import annotations

import enum
import itertools
from collections import ChainMap
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node, topological
from xjit.ir.opdef import Kind
from xjit.ir.rebuilding import reading
from xjit.ir.repeated_calls import may_begin_anew, tested_first
from xjit.lazy import lazy
from xjit.ops.define.memory_order import PACK
from xjit.ops.regions.strided_slices import UPDATE_SLICE
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.passes.own_memory import copy_for
from xjit.passes.shown_memory import Shown, show_memory
from xjit.passes.shown_memory import Written as Written
from xjit.types import ArrayType, TupleType, c_order


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of a program into memory of the caller's.

    The ``chains`` say for each parameter that is written what is in its memory one after the other: it is copied and
    updated in turns. The ``kept`` are results that are made before they are stored, the ``saved`` copies of what is
    written later.
    """

    chains: dict[Node, tuple[Node, ...]]
    kept: frozenset[Node]
    saved: frozenset[Node]

    @property
    def copies(self) -> dict[Node, Node]:
        """The copies in front of the updates, each with the parameter whose memory it is to be."""
        return {copy: first for first, chain in self.chains.items() for copy in chain[::2]}

    @property
    def last(self) -> frozenset[Node]:
        """The copies in front of updates that store what is made first."""
        pairs = ((*chain[i : i + 2],) for chain in self.chains.values() for i in range(0, len(chain), 2))
        return frozenset(copy for copy, update in pairs if not self.kept.isdisjoint(update.inputs[1:2]))

    def may_end_in(self, loop: Node) -> bool:
        """Return whether memory of the caller's holds what it does behind some statement when a turn of a loop that
        changes some of it ends: nothing else changes other memory of the caller's, earlier or later than in NumPy.
        """
        made = [chain[1] for chain in self.chains.values() if len(chain) == 2]
        alone = all(one.op is PROJECT and one.inputs[0] is loop for one in made)
        return len(self.chains) == 1 or (alone and len(made) == len(self.chains))


class Way(enum.IntEnum):
    """The ways to store a result, of which the first ones move less, and the last one is always possible.

    within  as along; loops that start from the memory change it in their turns, choices in their branches
    along   over the last version of the memory that it is made of
    shared  the same, where other results that it is made of are read from the memory that they are stored into
    alone   over the memory as it is at first
    apart   made first, and stored when nothing reads the memory any more
    """

    WITHIN = 0
    ALONG = 1
    SHARED = 2
    ALONE = 3
    APART = 4


NO_STORES = Stores({}, frozenset(), frozenset())


def stores_of(graph: Graph, written: Written, ways: Mapping[int, Way] = MappingProxyType({})) -> Stores:
    """The stores of a graph that has a copy in front of each update, made in these ways."""
    chains: dict[Node, tuple[Node, ...]] = {}
    for number, place in written:
        chain = list[Node]()
        node = graph.outputs[number]
        while node is not graph.parameters[place]:
            copy = _changed(node)
            assert copy is not None, "a result is no version of a parameter"
            chain += [node, copy]
            (node,) = copy.inputs
        if chain:
            chains[node] = tuple(reversed(chain))
    kept = frozenset(graph.outputs[number].inputs[1] for number, _ in written if ways.get(number) is Way.APART)
    versions = {*chains, *itertools.chain.from_iterable(chains.values())}
    copied = (node for node in map(_base, (*kept, *graph.outputs)) if node.op is PACK and node not in versions)
    return Stores(chains, kept, frozenset(node for node in copied if _base(node.inputs[0]) in versions))


def copied_by_loops(graph: Graph, written: Written, ways: Mapping[int, Way]) -> frozenset[Node]:
    """The parameters that loops copy by themselves when they start from them: those that none changes itself."""
    within = {place for number, place in written if ways.get(number) is Way.WITHIN}
    return frozenset(one for place, one in enumerate(graph.parameters) if place not in within)


def first_ways(graph: Graph, written: Written) -> dict[int, Way]:
    """The ways to try first: what has to be tested before memory that callers see is written needs no version of it
    that is there.
    """
    replaced = any(_is_replaced(graph.outputs[number], graph.parameters[place]) for number, place in written)
    first = tested_first(graph, len(written) > 1 or replaced)
    demands = frozenset(topological(tuple(filter(may_begin_anew, first))))
    inside = tuple(node for node in first if not may_begin_anew(node))
    tested = frozenset(node for node in topological(inside) if node.op.control or node.op.kind is Kind.UPDATE)
    ways = {number: _first_way(graph.outputs[number], demands, tested) for number, _ in written}
    within = (number for number, place in written if _is_within(graph.outputs[number], graph.parameters[place]))
    return ways | {number: Way.WITHIN for number in within if ways[number] is Way.ALONG}


def _is_within(output: Node, parameter: Node) -> bool:
    """Return whether a value is made of updates of a parameter, and loops and choices that start from it, one of
    these at least.

    Nothing that a loop does to others is undone: one with effects is none of these.
    """
    versions = list(_versions(output, loops=True))
    loops = [one.inputs[0] for one in versions if one.op is PROJECT]
    last = _changed(versions[-1]) if versions else None
    return last is parameter and bool(loops) and all(loop.sequence < 0 for loop in loops)


def loops_from(graph: Graph, written: Written) -> frozenset[Node]:
    """The loops that may change memory of the caller's in their turns, as they start from what is there."""
    pairs = [(graph.outputs[number], graph.parameters[place]) for number, place in written]
    made = (one.inputs[0] for pair in pairs if _is_within(*pair) for one in _versions(pair[0], loops=True))
    return frozenset(one for one in made if one.op.control == "loop")


def _versions(node: Node, loops: bool = False) -> Iterator[Node]:
    """Yield the updates that make a value of the one that was there at first, and such results of ``loops`` and
    choices, the last one first.
    """
    while (before := _changed(node)) is not None and (loops or node.op.kind is Kind.UPDATE):
        yield node
        node = before


def _changed(node: Node) -> Node | None:
    """The value of which an update, a loop or a choice makes this one; None where none of them does."""
    if node.op.kind is Kind.UPDATE and len(node.updated) == 1:
        return node.inputs[0]
    control = node.inputs[0].op.control if node.op is PROJECT else None
    if not control or not node.aval.rank:
        return None
    made, index = node.inputs[0], node.param("index")
    found = {made.inputs[index]} if control == "loop" else set(_chosen_from(made, index))
    start = found.pop()
    if found or start is None or (start.aval.dtype, start.aval.dims) != (node.aval.dtype, node.aval.dims):
        return None
    return start if _is_read_once(made, start) else None


def _chosen_from(choice: Node, index: int) -> Iterator[Node | None]:
    """Yield for each branch the operand of which it makes a result, or which that is; None where there is none, and
    where no branch changes it.
    """
    copied = "changes" in choice.kwargs
    made = [inner.graph.outputs[index] for inner in inner_graphs(choice)]
    if all(node.op is PARAMETER for node in made):
        yield None
    for inner, result in zip(inner_graphs(choice), made, strict=True):
        node: Node | None = result
        while node is not None and node.op is not PARAMETER:
            node = _changed(node)
            node = node.inputs[0] if node is not None and copied and node.op is PACK else node
        parameters = inner.graph.parameters
        yield None if node is None else choice.inputs[inner.operands[parameters.index(node)]]


def _is_read_once(control: Node, operand: Node) -> bool:
    """Return whether a loop reads an operand as what it starts from alone, or branches of a choice read it once at
    most.
    """
    if control.op.control == "loop":
        return control.inputs.count(operand) == 1
    parts = [[control.inputs[number] for number in inner.operands] for inner in inner_graphs(control)]
    return operand is not control.inputs[0] and all(part.count(operand) <= 1 for part in parts)


def _is_replaced(output: Node, parameter: Node) -> bool:
    """Return whether a value that is made of updates replaces all of a memory.

    What reads the value does not wait until it is stored: a condition behind it may be tested before.
    """
    updates = _updates(output)
    first = updates[0].inputs[0] if updates else output
    return first is not parameter and any(node.op.kind is Kind.UPDATE for node in topological((first,)))


def _first_way(output: Node, demands: AbstractSet[Node], tested: AbstractSet[Node]) -> Way:
    """The way of one output, where demands need some nodes, and other conditions some updates and results of control.

    What control leaves in the memory is not there when such a condition fails: nothing is stored before.
    """
    made = list(topological((output,)))
    changed = (node for node in made if node in demands and node.op is not PARAMETER)
    updated = any(_may_be_version(node, output) for node in changed)
    if updated or not tested.isdisjoint(_updates(output)):
        return Way.APART
    return Way.ALONG if tested.isdisjoint(made) else Way.ALONE


def _may_be_version(node: Node, output: Node) -> bool:
    """Return whether an operation may have made what was in the memory of an output before."""
    if node.op.control:
        assert isinstance(node.type, TupleType)
        return any(one.rank for one in node.type.elements)
    return node.op.kind is Kind.UPDATE and node.type == output.type


def _updates(node: Node) -> list[Node]:
    """The updates that make a value of the one that was there at first, in order."""
    return list(_versions(node))[::-1]


def store_results(
    graph: Graph,
    views: tuple[bool, ...],
    written: Written,
    ways: Mapping[int, Way] = MappingProxyType({}),
    shown: Shown = MappingProxyType({}),
) -> tuple[Graph, tuple[bool, ...]]:
    """The graph whose written outputs are updates of parameters, and which of its outputs are views.

    The ``ways`` say how outputs are stored, where that is not the first way. The outputs ``shown`` are views of what
    is stored in the end.
    """
    if not written:
        return graph, views
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    bases = dict[Node, Node]()
    last, read_there = dict[tuple[int, int], Node | None](), set[Node]()
    for pair in written:
        known, way = set(bases), ways.get(pair[0], Way.ALONG)
        last[pair] = _follow(graph, *pair, way, numbers, bases)
        if way < Way.ALONE:
            read_there |= bases.keys() - known
    new = _on_bases(graph, bases, read_there, _read_early(graph, written) if read_there else frozenset())
    outputs = [new[node] for node in graph.outputs]
    there = dict[Node, Node]()
    for (number, _), base in sorted(last.items(), key=lambda one: numbers[graph.outputs[one[0][0]]]):
        value = made = outputs[number]
        if ways.get(number) is Way.SHARED:
            made = _read_from(there, value)
        if ways.get(number) is Way.APART:
            made = copy_for(value, value)
        outputs[number] = made if base is None else _stored(new[base], made)
        there[value] = outputs[number]
    effects = tuple(new[node] for node in graph.effects)
    stored = show_memory(replace(graph, outputs=tuple(outputs), effects=effects), shown)
    return _returned(stored, views, written, {number for number, _ in written if ways.get(number) is Way.WITHIN})


def _follow(
    graph: Graph, number: int, place: int, way: Way, numbers: Mapping[Node, int], bases: dict[Node, Node]
) -> Node | None:
    """Finds the versions of a parameter's memory that end in an output, the last ones first.

    Where a value replaces all of it, ``bases`` note for the first update of that over which version it is stored. The
    version for the output itself is returned, None where that is an update.
    """
    parameter, output = graph.parameters[place], graph.outputs[number]
    if way is Way.APART:
        return parameter
    if way is Way.WITHIN:
        return None
    lineage = _Lineage(graph, parameter, numbers, bases)
    value, last = output, None
    while value is not parameter:
        updates = _updates(value)
        first = updates[0].inputs[0] if updates else value
        if first is parameter:
            break
        if not lineage.goes_on(value):  # a value, or an update of something else: all of it is stored
            first, updates = value, []
        base = parameter if way is Way.ALONE else lineage.before(first)
        if updates:
            bases[updates[0]] = base
        else:
            last = base
        value = base
    return last


@dataclass(eq=False)
class _Lineage:
    """The nodes that may be versions of a parameter's memory: updates of it, or of values that are made of it."""

    graph: Graph
    parameter: Node
    numbers: Mapping[Node, int]
    bases: Mapping[Node, Node]
    _needed: set[Node] = field(default_factory=set)

    @lazy
    def _made_of_it(self) -> set[Node]:
        found = {self.parameter}
        for node in self.graph.nodes:
            sources = node.inputs[:1] if node.op.kind is Kind.UPDATE else node.inputs
            if not found.isdisjoint(sources):
                found.add(node)
        return found

    def goes_on(self, value: Node) -> bool:
        """Return whether a value may be an update of the parameter's memory, in which all was replaced before."""
        updates = _updates(value)
        first = updates[0].inputs[0] if updates else value
        if first is self.parameter:
            return True
        free = bool(updates) and first.op is not PARAMETER and updates[0] not in self.bases
        return free and _order(first) == _order(self.parameter)

    def before(self, value: Node) -> Node:
        """The last version that a value is made of; it comes before that in the graph."""
        self._needed.update(value.inputs)
        for number in range(self.numbers[value] - 1, -1, -1):
            node = self.graph.nodes[number]
            if node in self._needed:
                if self._is_version(node):
                    return node
                self._needed.update(node.inputs)
        return self.parameter

    def _is_version(self, node: Node) -> bool:
        alike = node.op.kind is Kind.UPDATE and node.type == self.parameter.type
        return alike and node in self._made_of_it and self.goes_on(node)


def _stored(parameter: Node, value: Node) -> Node:
    """The parameter with all of its elements replaced."""
    rank = parameter.aval.rank
    return derived(UPDATE_SLICE, (parameter, value), value, axes=(), starts=(0,) * rank, strides=(1,) * rank, n=1)


def _read_early(graph: Graph, written: Written) -> frozenset[Node]:
    """The nodes that are read by others than what is stored, or before that."""
    stored = {number for number, _ in written}
    others = (node for number, node in enumerate(graph.outputs) if number not in stored)
    return frozenset(topological((*others, *graph.effects, *tested_first(graph, True))))


def _on_bases(
    graph: Graph, bases: Mapping[Node, Node], read_there: AbstractSet[Node], early: AbstractSet[Node]
) -> dict[Node, Node]:
    """For each node the one in its place, as values are stored over versions of a parameter's memory before their
    first update. For the updates ``read_there`` nodes read such a value where it is stored, but for those that may
    be needed ``early``::

        v = x * 2                                         s = update_slice x (x * 2)
        y = update_slice v (slice v + 1)       ->         y = update_slice s (slice s + 1)
    """
    new, there = dict[Node, Node](), dict[Node, Node]()
    over = {node.inputs[0]: bases[node] for node in read_there}
    stored = ChainMap(there, new)
    for node in graph.nodes:
        read = new if node in early else stored
        inputs = tuple(read[source] for source in node.inputs)
        if node in bases and node.inputs[0] not in there:
            inputs = (_stored(new[bases[node]], inputs[0]), *inputs[1:])
        elif node in bases:
            inputs = (there[node.inputs[0]], *inputs[1:])
        new[node] = reading(node, read, inputs)
        if node in over and over[node] in new:
            there[node] = _stored(new[over[node]], new[node])
    return new


def _read_from(there: Mapping[Node, Node], value: Node) -> Node:
    """The value, made of others in the places where they have been stored; itself where that would repeat effects."""
    new: dict[Node, Node] = {}
    for node in topological((value,)):
        inputs = tuple(there.get(source, new[source]) for source in node.inputs)
        if inputs != node.inputs and node.sequence >= 0:
            return value
        new[node] = node if inputs == node.inputs else replace(node, inputs=inputs)
    return new[value]


def _order(node: Node) -> tuple[int, ...]:
    """The axes of the memory that a value has if it is stored, from the slowest to the fastest."""
    aval: ArrayType = node.aval
    return aval.order if len(aval.order) == aval.rank else c_order(aval.rank)


def _returned(
    graph: Graph, views: tuple[bool, ...], written: Written, within: AbstractSet[int]
) -> tuple[Graph, tuple[bool, ...]]:
    """The graph whose other outputs are copies where they would lie in memory that is written, but for views of what
    is there in the end.
    """
    stored = {number for number, _ in written}
    last = {graph.outputs[number] for number in stored}
    made = (_versions(graph.outputs[number], loops=number in within) for number in stored)
    updates = set(itertools.chain.from_iterable(made))
    versions = updates | {one for one in map(_changed, updates) if one is not None} | last
    outputs, shown = list(graph.outputs), list(views)
    for number, node in enumerate(outputs):
        base = _base(node)
        if number in stored or base not in versions or (views[number] and base in last):
            shown[number] &= number not in stored
        elif views[number] or node is base or node.op.flat:
            outputs[number], shown[number] = copy_for(node, node), False
    return replace(graph, outputs=tuple(outputs)), tuple(shown)


def _base(node: Node) -> Node:
    """The value in whose memory this one may lie."""
    while node.shows or node.op.flat or node.op.barrier:
        node = node.inputs[0]
    return node
