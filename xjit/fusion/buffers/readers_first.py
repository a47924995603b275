"""The order in which nodes are made: what reads a buffer comes before the update that changes it, where it can."""

from __future__ import annotations

import heapq
from collections.abc import Container, Mapping

from xjit.dataclass import dataclass, field
from xjit.ir.node import Graph, Node, topological
from xjit.ir.repeated_calls import tested_first
from xjit.lazy import lazy
from xjit.passes.stored_results import NO_STORES, Stores


def readers_first(graph: Graph, stored: Container[Node], stores: Stores = NO_STORES) -> tuple[Node, ...]:
    """The nodes of a graph, operands before users, and updates behind all that does not need them.

    Values that are not ``stored`` are computed where they are read.
    Of several updates that could come next it is one whose operand nothing else reads any more; else one that may
    have a copy of it, as those of memory of the caller's may not; else the one whose operand the fewest others read.
    What is made first, and stored when nothing reads the memory any more, comes behind all others.
    """
    if not any(node.updated for node in graph.nodes):
        return graph.nodes
    return _Order(graph, stored, stores).found()


@dataclass(eq=False)
class _Order:
    """The nodes that are ready, copies in front of updates apart from others, and those that are ``done``."""

    graph: Graph
    stored: Container[Node]
    stores: Stores
    ready: list[int] = field(default_factory=list)
    copies: list[Node] = field(default_factory=list)
    done: dict[Node, None] = field(default_factory=dict)
    _late: dict[Node, tuple[Node, ...]] = field(default_factory=dict)

    def found(self) -> tuple[Node, ...]:
        """All nodes in order."""
        waiting = {node: len(self._needed(node)) for node in self.graph.nodes}
        for node in self.graph.nodes:
            if not waiting[node]:
                self._is_ready(node)
        while self.ready or self.copies:
            node = self.graph.nodes[heapq.heappop(self.ready)] if self.ready else self._next_copy()
            self.done[node] = None
            for user in self._users.get(node, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    self._is_ready(user)
        return tuple(self.done)

    def _is_ready(self, node: Node) -> None:
        if node in self._changed:
            self.copies.append(node)
        else:
            heapq.heappush(self.ready, self._numbers[node])

    @lazy
    def held(self) -> Mapping[Node, Node]:
        """The copies that are memory of the caller's."""
        return self.stores.copies

    @lazy
    def last(self) -> frozenset[Node]:
        """Those in front of what is made first."""
        return self.stores.last

    @lazy
    def _numbers(self) -> dict[Node, int]:
        return {node: number for number, node in enumerate(self.graph.nodes)}

    @lazy
    def _changed(self) -> dict[Node, Node]:
        """The copies in front of updates, each with its update."""
        return {copy: node for node in self.graph.nodes for copy in node.updated}

    def _needed(self, node: Node) -> set[Node]:
        """The nodes that come before one; before a copy all that its update needs, and before memory of the caller's
        is written all that is tested before.
        """
        needed = {*node.inputs} if node.after is None else {*node.inputs, node.after}
        if node in self._changed:
            update = self._changed[node]
            needed.update(source for source in self._needed(update) if source not in self._changed)
        if node in self.held and node not in self._demanded:
            needed.update(self._demands)
        return needed

    @lazy
    def _demands(self) -> tuple[Node, ...]:
        """The nodes whose conditions decide if NumPy has to do the call."""
        return tested_first(self.graph, len(self.stores.chains) > 1)

    @lazy
    def _demanded(self) -> frozenset[Node]:
        """These, and all that they are made of."""
        return frozenset(topological(self._demands))

    @lazy
    def _users(self) -> dict[Node, list[Node]]:
        users: dict[Node, list[Node]] = {}
        for node in self.graph.nodes:
            for source in self._needed(node):
                users.setdefault(source, []).append(node)
        return users

    def _next_copy(self) -> Node:
        """The copy whose operand is waited for the least; takes it out of those that are ready."""
        if len(self.copies) == 1:
            return self.copies.pop()
        found = min(self.copies, key=self._urgency)
        self.copies.remove(found)
        return found

    def _urgency(self, copy: Node) -> tuple[bool, bool, bool, int, int]:
        left = sum(node not in self.done for node in self._readers(copy))
        return copy in self.last, left > 0, copy in self.held, left, self._numbers[copy]

    def _readers(self, copy: Node) -> tuple[Node, ...]:
        """The nodes that may read the operand of a copy from memory: through values that may be computed there."""
        if copy not in self._late:
            seen: dict[Node, None] = {}
            stack, own = list(copy.inputs), (copy, self._changed[copy])
            while stack:
                for user in self._readers_of(stack.pop()):
                    if user not in seen and user not in own:
                        seen[user] = None
                        if user not in self.stored and user not in self._changed:
                            stack.append(user)
            self._late[copy] = tuple(seen)
        return self._late[copy]

    def _readers_of(self, node: Node) -> list[Node]:
        return [user for user in self._users.get(node, ()) if node in user.inputs]
