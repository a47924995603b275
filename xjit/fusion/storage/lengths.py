"""Ends of kernels that would grow too long: at the narrowest place of the program, where the fewest values wait.

A thousand steps of a solver, written out, are one chain of operations without a reason to store anything. A kernel
takes as many of them as it holds and ends between two steps, where only their states are alive, not in the middle of
one, where all intermediate values are. When it is half full it looks for such a place ahead.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence

from xjit.fusion.storage.demand import Prospect
from xjit.ir.node import Node
from xjit.machine import Machine


class Lengths:
    """The borders of kernels, as positions in a list of nodes: what comes before one belongs to other kernels."""

    def __init__(self, nodes: Sequence[Node], leaves: Container[Node], machine: Machine) -> None:
        self._most = machine.kernel_operations
        computed = [node not in leaves for node in nodes]
        self._sizes = _chain_sizes(nodes, computed)
        self._waiting = _waiting(nodes, computed)

    def ends(self, position: int, prospects: Iterable[Prospect]) -> bool:
        """Return whether a value lies beyond the border of one of the kernels that would compute it."""
        return any(prospect.border > position for prospect in prospects)

    def watch(self, position: int, prospects: Iterable[Prospect]) -> None:
        """Gives a border to those of some kernels, which compute the value at a position, that grow too long."""
        most = self._most
        is_long = self._sizes[position] > most
        full = most * 7 // 8 if is_long else most  # what several results of a kernel need comes on top
        for prospect in prospects:
            if prospect.operations >= full:
                prospect.border = max(prospect.border, position)
            elif is_long and not prospect.border and prospect.operations >= most // 2:
                places = range(max(position - most // 4, 1), position + 1)
                prospect.border = min(places, key=lambda place: (self._waiting[place], place))


def by_level(nodes: Sequence[Node]) -> list[Node]:
    """The nodes in the order of the longest ways to them: what is computed at about the same time lies together."""
    levels: dict[Node, int] = {}
    for node in nodes:
        levels[node] = max((levels[source] for source in node.inputs), default=-1) + 1
    return sorted(nodes, key=levels.__getitem__)


def _chain_sizes(nodes: Sequence[Node], computed: list[bool]) -> list[int]:
    """For each value how many are connected with it by others that no kernel has to store."""
    number = {node: position for position, node in enumerate(nodes)}
    first = list(range(len(computed)))

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = place = first[first[place]]
        return place

    for place, node in enumerate(nodes):
        if computed[place]:
            for source in node.inputs:
                if computed[number[source]]:
                    first[root(number[source])] = root(place)
    sizes = [0] * len(first)
    for place in range(len(first)):
        sizes[root(place)] += 1
    return [sizes[root(place)] for place in range(len(first))]


def _waiting(nodes: Sequence[Node], computed: list[bool]) -> list[int]:
    """For each position how many values that come before it something behind it needs."""
    number = {node: position for position, node in enumerate(nodes)}
    last = list(range(len(computed)))
    for place, node in enumerate(nodes):
        for source in node.inputs:
            last[number[source]] = place
    changes = [0] * (len(computed) + 2)
    for place, until in enumerate(last):
        if computed[place]:
            changes[place + 1] += 1
            changes[until + 1] -= 1
    return list(itertools.accumulate(changes))
