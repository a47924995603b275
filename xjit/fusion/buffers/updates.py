"""Updates in place: copies in front of updates that are left out, as nobody reads the operand afterwards.

    x1 = pack x0                            x1 is x0: the same buffer
    x2 = dynamic_update_slice x1 u s        only the window moves

The copy is the operand itself where the program owns the operand's buffer, the caller never sees it, and all that
reads it comes before the copy. What the update itself reads of the operand has to be the element that it replaces, at
the same step; other such values are stored first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.regions.checks import check_of
from xjit.fusion.regions.materialized import has_statements, is_given, owner, view_chain
from xjit.fusion.regions.parts import Parts
from xjit.fusion.statements import IndexedValue, Statement, Store
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.index_map import Index, are_apart, are_equal, axes_of, compose, identity, lookups_of, never_meet, relabel
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.repeated_calls import may_begin_anew, may_fail_inside
from xjit.lazy import lazy
from xjit.ops.effects.python_call import PYTHON_CALL
from xjit.passes.stored_results import NO_STORES, Stores
from xjit.target import Target
from xjit.types import TupleType


@dataclass(frozen=True, slots=True)
class InPlace:
    """The copies that are left out, each with the value that it is.

    What reads those in ``read`` has to run before the copy would. More copies could be left out if what is
    ``wanted`` were stored. Parameters that the program has to write, and cannot, are ``needed``. ``tested`` are
    the nodes that run, or whose conditions are looked at, before a copy is written to: where it is memory of the
    caller's all of them, else those that read what it was.
    """

    over: dict[Node, Node]
    read: dict[Node, tuple[Node, ...]]
    wanted: dict[Node, str]
    needed: frozenset[Node] = frozenset()
    tested: dict[Node, tuple[Node, ...]] = field(default_factory=dict)

    def check(self) -> None:
        """Raises NotInPlaceError where memory of the caller's would have to be copied."""
        if self.needed:
            raise NotInPlaceError(self.needed)


class NotInPlaceError(Exception):
    """Parameters cannot be written step by step, as something meanwhile needs what they were.

    Those with these ``results`` are to be stored when everything else is done.
    """

    def __init__(self, results: frozenset[Node]) -> None:
        super().__init__(f"what is stored into {len(results)} parameters has to be made first")
        self.results = results


def held_by(node: Node) -> Node:
    """The value whose buffer an update changes to make this one; the node itself where no update makes it."""
    made = owner(node)
    if made.op.kind is not Kind.UPDATE:
        return node
    return made.updated[node.param("index") if node.op is PROJECT else 0]


def updates_in_place(
    nodes: Sequence[Node],
    parts: Parts,
    seen: AbstractSet[Node],
    owned: AbstractSet[Node],
    layouts: Layouts,
    target: Target,
    stores: Stores = NO_STORES,
) -> InPlace:
    """Which updates change their operand.

    ``nodes`` are in the order in which they are made. The caller gets to see the values ``seen``; ``owned`` are
    parameters that the program may write over, and ``stores`` the updates that write into others.
    """
    search = _Search(nodes, parts, seen, owned, layouts, target, stores.copies)
    for node in nodes:
        for copy in node.updated:
            search.decide(copy, node)
    tested = search.tested | _tested(nodes, stores.copies)
    return InPlace(search.over, search.read, search.wanted, frozenset(search.needed), tested)


def _tested(nodes: Iterable[Node], held: Mapping[Node, Node]) -> dict[Node, tuple[Node, ...]]:
    """For copies that are memory of the caller's the nodes with conditions before it, and calls in Python: all of
    them before the first update of a parameter, then those that have come since.
    """
    found: dict[Node, tuple[Node, ...]] = {}
    earlier, fresh = list[Node](), list[Node]()
    for node in nodes:
        if node.op.failure is not None or may_begin_anew(node) or may_fail_inside(node):
            earlier.append(node)
            fresh.append(node)
        elif node in held:
            found[node] = tuple(earlier if node.inputs[0] is held[node] else fresh)
            fresh.clear()
    return found


@dataclass(eq=False, slots=True)
class _Buffer:
    """The values that are in a buffer one after the other, or at once.

    ``last`` are the two last ones that read any of them; ``fresh`` are those since the last update.
    """

    root: Node
    is_seen: bool = False
    last: tuple[tuple[int, Node | None], ...] = ()
    fresh: list[Node] = field(default_factory=list)
    shown_from: float = math.inf

    def is_read_after(self, place: int, update: Node) -> bool:
        """Return whether something but the update reads a value after this place in the graph."""
        return any(number > place and reader is not update for number, reader in self.last)

    def take(
        self, node: Node, is_seen: bool, readers: Iterable[tuple[int, Node | None]], shown_from: float = math.inf
    ) -> None:
        """Notes one more value, which an object of the run may show from a place in the graph on."""
        self.fresh.append(node)
        self.shown_from = min(self.shown_from, shown_from)
        self.is_seen |= is_seen
        self.last = tuple(sorted({*self.last, *readers}, key=_number)[-2:])


def _number(reader: tuple[int, Node | None]) -> int:
    return reader[0]


@dataclass(eq=False)
class _Search:
    nodes: Sequence[Node]
    parts: Parts
    seen: AbstractSet[Node]
    owned: AbstractSet[Node]
    layouts: Layouts
    target: Target
    held: Mapping[Node, Node]
    needed: set[Node] = field(default_factory=set)
    over: dict[Node, Node] = field(default_factory=dict)
    read: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    wanted: dict[Node, str] = field(default_factory=dict)
    buffers: dict[Node, _Buffer] = field(default_factory=dict)
    conditions: dict[Node, list[Node]] = field(default_factory=dict)
    tested: dict[Node, tuple[Node, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.readers: dict[Node, dict[tuple[int, Node | None], None]] = {}
        for node, reader, number in self._reads():
            self.readers.setdefault(node, {})[number, reader] = None
        for node in self.nodes:
            if node in self.parts.aliases or node.op.barrier:
                self._put(node, self._buffer(node.inputs[0]))

    def _reads(self) -> Iterator[tuple[Node, Node | None, int]]:
        """Yield each value that is read from memory, what is made of it, and when; None is made by conditions.

        These are checked last, but before memory of the caller's is written.
        """
        slices, statements = self.parts.slices, self.parts.statements
        for number, node in enumerate(self.nodes):
            for statement in statements.get(node, ()):
                yield from ((indexed.node, node, number) for indexed in slices.of(statement).reads)
            if not has_statements(node, self.target):
                yield from ((one, node, number) for source in node.inputs for one in {source, view_chain(source)[0]})
            if node.op.failure is not None:
                checked = number if self.held else len(self.nodes)
                for indexed in slices.of(check_of(node)).reads:
                    self.conditions.setdefault(indexed.node, []).append(node)
                    yield indexed.node, None, checked

    def _buffer(self, node: Node) -> _Buffer:
        """The buffer of a value."""
        if node not in self.buffers:
            self._put(node, _Buffer(node))
        return self.buffers[node]

    def _put(self, node: Node, buffer: _Buffer) -> None:
        self.buffers[node] = buffer
        readers = self.readers.get(node, ())
        shown_from = min((number for number, reader in readers if reader in self.showing), default=math.inf)
        buffer.take(node, node in self.seen, readers, shown_from)

    @lazy
    def showing(self) -> frozenset[Node | None]:
        """The calls in Python whose result is an object that somebody has, which may show the memory of operands."""
        read = {source for node in self.nodes for source in node.inputs} | self.seen
        calls = (node for node in self.nodes if node.op is PYTHON_CALL and node in read)
        return frozenset(node for node in calls if node.param("call").types is None)

    def decide(self, copy: Node, update: Node) -> None:
        """Leaves a copy out where that is possible."""
        source = copy.inputs[0]
        buffer = self._buffer(source)
        if self._is_free(buffer, copy, update):
            if not self._reads_elsewhere(buffer, copy, update):
                self.over[copy] = source
                self.tested[copy] = tuple(one for node in buffer.fresh for one in self._conditions_of(node, copy))
                self.read[copy], buffer.fresh = tuple(buffer.fresh), []
                self.buffers[copy] = buffer
            else:
                self._want(buffer, copy, update)
        else:
            self._want_before(buffer, copy, update)
        if copy in self.held and copy not in self.over:
            self._note_need(buffer, copy, update)
        for made in (node for node in self.results.get(update, ()) if held_by(node) is copy):
            for node in tuple(self._buffer(made).fresh):  # also the aliases of what is made
                self._put(node, self._buffer(copy))

    def _conditions_of(self, node: Node, copy: Node) -> Iterator[Node]:
        """The nodes whose conditions read a value, and come before a copy of it."""
        return (one for one in self.conditions.get(node, ()) if self.numbers[one] < self.numbers[copy])

    @lazy
    def results(self) -> dict[Node, list[Node]]:
        """The values that each update makes."""
        found: dict[Node, list[Node]] = {}
        for node in self.nodes:
            made = owner(node)
            if made.op.kind is Kind.UPDATE and not isinstance(node.type, TupleType):
                found.setdefault(made, []).append(node)
        return found

    def _note_need(self, buffer: _Buffer, copy: Node, update: Node) -> None:
        """Notes which parameter has to wait: one whose update reads this one too late, else this one itself."""
        late = [reader for number, reader in buffer.last if number > self.numbers[copy] and reader is not update]
        waiting = {self.held[one] for reader in late if reader for one in reader.updated if one in self.held}
        own = self.held[copy]
        self.needed |= waiting - {own} or {own}

    def _is_free(self, buffer: _Buffer, copy: Node, update: Node) -> bool:
        """Return whether a buffer may be written over, and nobody but the update needs it after the copy."""
        return self._is_writable(buffer, copy) and not buffer.is_read_after(self.numbers[copy], update)

    def _is_writable(self, buffer: _Buffer, copy: Node) -> bool:
        """Return whether a buffer may be written over as far as others than this program are concerned."""
        if buffer.is_seen or not (copy in self.held or self._is_own(buffer.root)):
            return False
        if copy not in self.held and buffer.shown_from < self.numbers[copy]:
            return False
        return self.layouts.strides(copy.inputs[0]) == self.layouts.strides(copy)

    def _is_own(self, root: Node) -> bool:
        """Return whether the program may write over a buffer that begins as this value."""
        if root.op is PARAMETER:
            return root in self.owned
        made = owner(root)
        return (
            root in self.parts.stored
            and not is_given(root)
            and (made.op.fresh or bool(made.op.control) or has_statements(made, self.target))
        )

    def _reads_elsewhere(self, buffer: _Buffer, copy: Node, update: Node) -> bool:
        """Return whether an update reads what it changes at another place than that which it changes there, and
        changes that, too.
        """
        for statement in self.parts.statements.get(update, ()):
            changed = _changed(update, statement)
            for indexed in self.parts.slices.of(statement).reads:
                inside = self.buffers.get(indexed.node) is buffer
                if inside and not self._is_harmless(indexed, copy, changed, statement):
                    return True
        return False

    def _is_harmless(self, indexed: IndexedValue, copy: Node, changed: Index | None, statement: Statement) -> bool:
        """Return whether an element is read at the step that changes it, or is not changed at all."""
        if changed is None:
            return False
        if are_equal(indexed.index, changed) and _are_apart(changed, statement.dims):
            return True
        alike = _lie_alike(indexed.node, copy, self.layouts)
        return alike and never_meet(indexed.index, changed, statement.dims)

    def _want(self, buffer: _Buffer, copy: Node, update: Node) -> None:
        """Asks for what an update computes of what it changes to be stored, unless the copy is less."""
        operands = [node for node in update.inputs[len(update.updated) :] if self._is_made_of(buffer, node)]
        if sum(node.aval.nbytes for node in operands) <= copy.aval.nbytes:
            self.wanted |= {node: _reason(node, update) for node in operands}

    def _want_before(self, buffer: _Buffer, copy: Node, update: Node) -> None:
        """Asks for what is read of a buffer behind its update to be stored ahead, if that is less than a copy."""
        if not self._is_writable(buffer, copy):
            return
        wanted: dict[Node, str] = {}
        for source in [node for node, one in self.buffers.items() if one is buffer]:
            for number, reader in self.readers.get(source, ()):
                if number <= self.numbers[copy] or reader is update:
                    continue
                for one in self.conditions.get(source, ()) if reader is None else (reader,):
                    found = self._windows(buffer, one)
                    if not found:
                        return
                    wanted |= {node: _reason(node, update) for node in found}
        if sum(node.aval.nbytes for node in wanted) <= copy.aval.nbytes // self.target.machine.stored_ahead:
            self.wanted |= wanted

    def _windows(self, buffer: _Buffer, reader: Node) -> list[Node]:
        """The values that a node is made of and that are windows of a buffer; nothing if it reads that otherwise."""
        found: list[Node] = []
        stack, seen = list(reader.inputs), set[Node]()
        while stack:
            top = stack.pop()
            if top in seen or top in self.parts.stored or is_given(top):
                if self.buffers.get(top) is buffer:
                    return []
                continue
            seen.add(top)
            if any(self.buffers.get(source) is buffer for source in top.inputs):
                found.append(top)
            else:
                stack += top.inputs
        return found

    def _is_made_of(self, buffer: _Buffer, node: Node) -> bool:
        """Return whether a value that is not stored is computed of what a buffer holds."""
        stack, seen = [node], {node}
        while stack:
            top = stack.pop()
            if top in self.parts.stored or is_given(top):
                if top is not node and self.buffers.get(top) is buffer:
                    return True
                continue
            stack += [source for source in top.inputs if source not in seen]
            seen.update(top.inputs)
        return False


def _changed(update: Node, statement: Statement) -> Index | None:
    """The index at which a statement changes its target; None where that is not known."""
    if update.place is None or not isinstance(statement, Store) or not statement.domain.is_whole:
        return None
    return compose(update.place, identity(statement.dims), update.inputs)


def keeps_what_is_read(
    statement: Statement,
    axes: Mapping[int, int],
    reads: Iterable[IndexedValue],
    dims: tuple[int, ...],
    layouts: Layouts,
) -> bool:
    """Return whether steps of loops of these extents may change what a statement changes in the end, though they read
    these elements before: no step changes what another one reads.

    ``axes`` are those of the loops for the statement's own.
    """
    changed = _changed(statement.target, statement)
    if changed is None or len(statement.updated) != 1:
        return False
    place, (copy,) = relabel(changed, axes), statement.updated
    return all(
        _lie_alike(one.node, copy, layouts)
        and ((are_equal(one.index, place) and are_apart(place, dims)) or never_meet(one.index, place, dims))
        for one in reads
    )


def _lie_alike(node: Node, other: Node, layouts: Layouts) -> bool:
    """Return whether elements of two values that are in one buffer lie at the same places."""
    return node.aval.shape == other.aval.shape and layouts.strides(node) == layouts.strides(other)


def _are_apart(index: Index, dims: tuple[int, ...]) -> bool:
    """Return whether each step of a statement changes another element.

    Positions that are looked up at each step may be there twice: ``x[i] = x[i] + 1`` would read a sum there.
    """
    return not any(axes_of(lookup.axes) for lookup in lookups_of(index)) or are_apart(index, dims)


def _reason(node: Node, update: Node) -> str:
    return f"{node.op.name} at {node.where} is stored: {update.op.name} changes what it is made of"
